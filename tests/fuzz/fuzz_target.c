/* Raw request targets: what is accepted has plain segments and finds its route within bounds. */
#include "server/http/http.h"

#include <stdlib.h>

static const struct hub_route routes[] = {
    {"GET", "/", NULL, "front", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets", NULL, "datasets", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}", NULL, "dataset", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}", NULL, "episode", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}/{path}", NULL, "field", HUB_FOR_ANYBODY},
    {"PUT", "/api/v1/datasets/{id}/files/{path}", NULL, "file", HUB_FOR_ANYBODY},
    {0},
};

static void check_text(const struct hub_request *request, struct hub_view text)
{
    if (text.data < request->text || text.data + text.size >= request->text + request->text_used ||
        text.data[text.size] != '\0' || strlen(text.data) != text.size)
        abort();
}

static void check_segment(const struct hub_request *request, struct hub_view segment)
{
    check_text(request, segment);
    if (segment.size == 0 || strstr(segment.data, "//") || strcmp(segment.data, "..") == 0 ||
        strstr(segment.data, "/../") || strncmp(segment.data, "../", 3) == 0 || segment.data[0] == '/')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hub_request request = {0};
    const struct hub_route *route = NULL;
    char allow[64];
    char *target = hub_view_dup((struct hub_view){(const char *)data, size});
    if (!target)
        return 0;
    if (hub_request_init(&request, HUB_GET, target, NULL) == HUB_OK) {
        for (unsigned i = 0; i < request.segment_count; i++)
            check_segment(&request, request.segments[i]);
        for (unsigned i = 0; i < request.query_count; i++) {
            check_text(&request, request.query[i].name);
            check_text(&request, request.query[i].value);
        }
        if (hub_route_find(&request, routes, &route, allow, NULL) == HUB_OK)
            for (unsigned i = 0; i < request.capture_count; i++)
                check_segment(&request, request.captures[i].value);
    }
    hub_request_dispose(&request);
    free(target);
    return 0;
}
