/* A request: target in the first line, header lines behind it. Decoded, guarded, routed; its ranges and
 * conditions against a body of 1000 bytes. */
#include "server/http/guard.h"
#include "server/http/parameter.h"

#include <stdlib.h>

enum { BODY = 1000 };

static enum hub_status handler(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    (void)request, (void)response, (void)err;
    return HUB_OK;
}

static const struct hub_route routes[] = {
    {"GET", "/api/v1/datasets", handler, "datasets", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}", handler, "dataset", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}", handler, "episode", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}/{path}", handler, "field", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}/files/{path}", handler, "file", HUB_FOR_ANYBODY},
    {"POST", "/api/v1/batch", handler, "batch", HUB_FOR_ANYBODY, .body_limit = 100},
    {0},
};

/* Cuts a line off; terminates it. */
static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    if (!*line)
        return NULL;
    *at = end ? end + 1 : line + strlen(line);
    if (end)
        *end = '\0';
    return line;
}

static unsigned read_headers(char *at, struct hub_param *headers)
{
    unsigned count = 0;
    for (char *line; count < HUB_MAX_HEADERS && (line = next_line(&at)); count++) {
        char *colon = strchr(line, ':');
        char *value = colon ? colon + 1 : line + strlen(line);
        if (colon)
            *colon = '\0';
        value += strspn(value, " ");
        headers[count] = (struct hub_param){hub_view_of(line), hub_view_of(value)};
    }
    return count;
}

static void look(struct hub_request *request)
{
    static const struct hub_parameter start = {.type = HUB_PARAM_WHOLE,
                                               .name = "start",
                                               .least = 1,
                                               .most = 9},
                                      word = {.type = HUB_PARAM_WORD, .name = "as", .words = "a bc"},
                                      list = {.type = HUB_PARAM_LIST, .name = "of", .words = "a bc"},
                                      k = {.type = HUB_PARAM_REAL, .name = "k"};
    static const struct hub_parameter *const known[] = {&start, &word, &list, &k, NULL};
    const struct hub_validators validators = {"\"abc\"", 1700000000};
    const struct hub_guard_request raw = {"GET", "HTTP/1.1", request->target, request->headers,
                                          request->header_count};
    struct hub_guard_facts facts = {0};
    const struct hub_route *route;
    uint64_t first = 0, count = BODY;
    char allow[64];
    bool partial;
    int64_t number;
    (void)!hub_guard(&raw, &facts, NULL);
    (void)!hub_route_find(request, routes, &route, allow, NULL);
    request->parameters = known;
    if (!hub_request_check(request, NULL) && hub_request_int(request, "start", &number) &&
        (number < 1 || number > 9 || hub_request_choice(request, "as") > 1 ||
         hub_request_list(request, "of") > 3))
        abort();
    (void)hub_conditions(request, &validators);
    if (!hub_range(request, &validators, BODY, &first, &count, &partial, NULL) &&
        (first > BODY || count > BODY - first))
        abort();
    for (unsigned i = 0; i < request->segment_count; i++)
        if (request->segments[i].size == 0 || memchr(request->segments[i].data, 0, request->segments[i].size))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hub_request request = {0};
    struct hub_param headers[HUB_MAX_HEADERS];
    HUB_CLEANUP(hub_freep) char *text = hub_view_dup((struct hub_view){(const char *)data, size});
    char *at = text;
    char *target = text ? next_line(&at) : NULL;
    if (target && !hub_request_init(&request, HUB_GET, target, NULL)) {
        request.headers = headers;
        request.header_count = read_headers(at, headers);
        look(&request);
    }
    hub_request_dispose(&request);
    return 0;
}
