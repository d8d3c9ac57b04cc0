/* Tolerant JSON: what comes out parses as strict JSON, and is left alone by a second pass. */
#include "storage/text/json.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf strict = HUB_BUF_INIT(MIB);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf again = HUB_BUF_INIT(MIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *parsed = NULL;
    struct hub_error err = {0};
    if (hub_json_strict((struct hub_view){(const char *)data, size}, &strict, NULL))
        return 0;
    if (hub_json_parse(hub_buf_view(&strict), MIB, &parsed, &err) ||
        hub_json_strict(hub_buf_view(&strict), &again, &err) ||
        !hub_view_equal(hub_buf_view(&strict), hub_buf_view(&again))) {
        fprintf(stderr, "%s: %s\n", strict.data, err.detail);
        abort();
    }
    return 0;
}
