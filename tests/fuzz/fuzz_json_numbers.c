/* Numbers inside a row of JSON: what is handed on is what its shape says, and has a path that a field can
 * have. */
#include "storage/formats/kit/json_numbers.h"
#include "storage/inspect/text.h"

#include <stdlib.h>

static enum hub_status check(void *user, const struct hub_json_value *v, struct hub_error *err)
{
    uint64_t count = 1;
    (void)user;
    (void)err;
    for (uint32_t i = 0; i < v->rank && v->kind; i++)
        count *= v->dims[i];
    if (v->rank > HUB_MAX_RANK || v->count > HUB_JSON_NUMBERS_ITEMS || (v->kind && count != v->count) ||
        !hub_path_valid(v->path))
        abort();
    return HUB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct hub_json_value value;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf strict = HUB_BUF_INIT(16 * MIB);
    char *copy = malloc(HUB_MAX(size, (size_t)1)); /* so that a byte behind the text is one too many */
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    if (hub_json_strict((struct hub_view){copy, size}, &strict, NULL) == HUB_OK &&
        hub_json_numbers((struct hub_view){copy, size}, &value, check, NULL, NULL))
        abort();
    free(copy);
    return 0;
}
