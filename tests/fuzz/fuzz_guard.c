/* Header fields as lines "Name: value": the guard, and then ranges and conditions over what it lets
 * through. */
#include "server/http/guard.h"

#include <stdlib.h>
#include <strings.h>

enum { LINES = 16 };

static void check_range(const struct hub_request *request, uint64_t size)
{
    const struct hub_validators validators = {"\"e\"", 784111777};
    uint64_t first = 0, count = 0;
    bool partial = false;
    (void)hub_conditions(request, &validators);
    if (hub_range(request, &validators, size, &first, &count, &partial, NULL))
        return;
    if (count > size || first > size - count || (!partial && (first != 0 || count != size)) ||
        (partial && count == 0))
        abort();
}

static void check_facts(const struct hub_guard_request *raw, const struct hub_guard_facts *facts)
{
    unsigned hosts = 0, lengths = 0, encodings = 0;
    for (unsigned i = 0; i < raw->header_count; i++) {
        const char *name = raw->headers[i].name.data;
        hosts += strcasecmp(name, "Host") == 0;
        lengths += strcasecmp(name, "Content-Length") == 0;
        encodings += strcasecmp(name, "Transfer-Encoding") == 0;
    }
    if (hosts != 1 || lengths > 1 || encodings > 1 || (lengths && encodings) ||
        (facts->content_length && !lengths) || facts->chunked != (encodings == 1))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = hub_view_dup((struct hub_view){(const char *)data, size}), *rest = text;
    struct hub_param headers[LINES];
    unsigned n = 0;
    for (char *line = text ? strsep(&rest, "\n") : NULL; line && n < LINES; line = strsep(&rest, "\n")) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        *colon = '\0';
        headers[n++] = (struct hub_param){hub_view_of(line), hub_view_of(colon + 1)};
    }
    const struct hub_guard_request raw = {"POST", "HTTP/1.1", "/", headers, n};
    struct hub_guard_facts facts;
    if (hub_guard(&raw, &facts, NULL) == HUB_OK)
        check_facts(&raw, &facts);
    static const enum hub_method methods[] = {HUB_GET, HUB_HEAD, HUB_PUT};
    static const uint64_t sizes[] = {0, 1, 10, UINT64_MAX};
    for (size_t m = 0; m < HUB_COUNT(methods); m++)
        for (size_t s = 0; s < HUB_COUNT(sizes); s++)
            check_range(&(struct hub_request){.method = methods[m], .headers = headers, .header_count = n},
                        sizes[s]);
    free(text);
    return 0;
}
