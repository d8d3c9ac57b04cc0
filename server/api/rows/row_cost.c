/* What the rows of an answer cost before they are read: see row_cost.h. */
#include "server/api/rows/row_cost.h"

#include "server/api/work.h"
#include "storage/text/uri.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    INLINE_COST_US = 250,      /* more than this is a worker's */
    INLINE_BYTES = 256 * 1024, /* so is more than this to encode */
};
#define PRICED_BYTES (512 * MIB)    /* of rows at once, of which there may be more */
#define GUESSED_BYTES UINT64_C(512) /* of a row of varying length */

static uint64_t cost_of(const struct hub_selection *s, const struct hub_encoding *e)
{
    return s->cost_us + (e->as->writer->nanoseconds ? e->as->writer->nanoseconds(e) / 1000 : 0);
}

enum hub_status hub_rows_price(const struct hub_plan *of, uint64_t first, uint64_t stop, double *us,
                               struct hub_error *err)
{
    struct hub_plan plan = *of;
    const uint64_t row_bytes = HUB_MAX(hub_variant_row_bytes(plan.variant), GUESSED_BYTES);
    const uint64_t most = HUB_MAX(PRICED_BYTES / row_bytes, UINT64_C(1));
    plan.files = NULL;
    for (uint64_t at = first; at < stop; at += plan.slice.count) {
        plan.slice = (struct hub_slice){of->slice.start + at, HUB_MIN(most, stop - at), 1};
        HUB_TRY(hub_plan_price(&plan, err));
        *us += plan.cost_us;
    }
    return HUB_OK;
}

bool hub_rows_are_small(const struct hub_selection *s, const struct hub_encoding *e)
{
    return cost_of(s, e) <= INLINE_COST_US && s->bytes_out <= INLINE_BYTES;
}

/* A file that holds the rows, for who would rather have all of it; NULL: not a file of the dataset. */
static const char *file_of(const struct hub_selection *s)
{
    const uint32_t number = s->files.count ? s->files.items[0].number : HUB_SIDE_FILE;
    return number == HUB_SIDE_FILE ? NULL : s->dataset->files[number].path;
}

/* What of the question decided how much is read. */
static const char *about_rows(const struct hub_request *request)
{
    static const char *const names[] = {"step", "stop", "start", "row", "fields"};
    const char *given = hub_request_any(request, names, HUB_COUNT(names));
    return given ? given : "stop";
}

static enum hub_status too_long(const struct hub_request *request, const struct hub_selection *s,
                                uint64_t cost_us, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(16 * KIB);
    const char *file = file_of(s), *about = about_rows(request);
    HUB_TRY(hub_buf_add_text(&url, "/api/v1/datasets/", err));
    HUB_TRY(hub_uri_encode_path(hub_view_of(s->dataset->summary->id), &url, err));
    HUB_TRY(hub_buf_add_text(&url, "/files", err));
    if (file) {
        HUB_TRY(hub_buf_add_text(&url, "/", err));
        HUB_TRY(hub_uri_encode_path(hub_view_of(file), &url, err));
    }
    return hub_fail_about(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE, about,
                          hub_request_if_taken(request, about).data,
                          "these rows take about %" PRIu64
                          " s to decode; one answer may take %u s: request a narrower slice with start and "
                          "stop, or download %s",
                          cost_us / 1000000, request->ceiling_ms / 1000, url.data);
}

enum hub_status hub_rows_admit(struct hub_request *request, const struct hub_selection *s,
                               const struct hub_encoding *e, struct hub_error *err)
{
    const uint64_t cost_us = cost_of(s, e);
    if (request->ceiling_ms && cost_us > request->ceiling_ms * UINT64_C(1000))
        return too_long(request, s, cost_us, err);
    if (hub_work_is_heavy((double)cost_us) && !request->heavy && request->method != HUB_HEAD)
        return hub_await_heavy(request);
    return request->may_block || request->method == HUB_HEAD || hub_rows_are_small(s, e) ? HUB_OK : HUB_AGAIN;
}
