/* Headers of a request: see attempt.h. */
#include "storage/net/attempt.h"

#include <stdio.h>

enum hub_status hub_attempt_header(struct hub_transport_slot *s, const char *name, const char *value)
{
    char line[2048];
    const int n = snprintf(line, sizeof line, "%s: %s", name, value);
    struct curl_slist *list = n > 0 && n < (int)sizeof line ? curl_slist_append(s->headers, line) : NULL;
    HUB_TRY(hub_allocated(list, &s->error));
    s->headers = list;
    return HUB_OK;
}
