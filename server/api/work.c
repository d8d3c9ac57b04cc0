/* What an answer takes of a processor: see work.h. */
#include "server/api/work.h"

enum { HEAVY_COST_US = 20 * 1000 }; /* more than this waits in the queue of long work */

static enum hub_status takes_too_long(const struct hub_request *request, enum hub_work_of of, double us,
                                      struct hub_error *err)
{
    static const struct {
        const char *what, *remedy, *parameters[4]; /* parameters: the first one given decides, else [0] */
    } known[] = {
        [HUB_WORK_ROWS] = {"these rows",
                           "request fewer of them with start and stop, or fewer fields",
                           {"stop", "start", "fields"}},
        [HUB_WORK_EPISODES] = {"the episodes of this dataset",
                               "use fewer comparisons in where, or fewer values of each",
                               {"where", "sort", "columns", "include"}},
        [HUB_WORK_FILES] = {"the files of this dataset", "list them page by page with limit", {"limit"}},
        [HUB_WORK_OBJECTS] = {"these objects", "request fewer of them with prefix", {"prefix", "matchGlob"}},
    };
    const char *given = hub_request_any(request, known[of].parameters, HUB_COUNT(known[of].parameters));
    const char *about = given ? given : known[of].parameters[0];
    return hub_fail_about(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE, about,
                          hub_request_if_taken(request, about).data,
                          "%s take about %.0f s to go through; one answer may take %u s: %s", known[of].what,
                          us / 1e6, request->ceiling_ms / 1000, known[of].remedy);
}

bool hub_work_is_heavy(double us)
{
    return us > HEAVY_COST_US;
}

enum hub_status hub_work_admit_us(struct hub_request *request, enum hub_work_of of, double us,
                                  struct hub_error *err)
{
    if (request->ceiling_ms && us > request->ceiling_ms * 1000.0)
        return takes_too_long(request, of, us, err);
    if (hub_work_is_heavy(us) && !request->heavy)
        return hub_await_heavy(request);
    return HUB_OK;
}

enum hub_status hub_work_go_on(struct hub_request *request, enum hub_work_of of, double us,
                               struct hub_error *err)
{
    return hub_parallel_cancelled(request->parallel)
               ? hub_fail(err, HUB_CANCELLED, "the request for the answer has ended")
               : hub_work_admit_us(request, of, us, err);
}
