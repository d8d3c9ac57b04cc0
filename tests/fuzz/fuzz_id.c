/* Dataset ids: what the hub accepts is a safe relative path. */
#include "storage/ids/id.h"

#include <stdlib.h>

static void check_path(struct hub_view text)
{
    struct hub_view alias;
    uint32_t version;
    (void)hub_id_split_alias(text, &alias, &version);
    if (hub_id_compare(text, text) != 0 || alias.size > text.size)
        abort();
    if (hub_id_check(text, NULL))
        return;
    if (text.data[0] == '/' || text.data[0] == '.' || text.data[text.size - 1] == '/' ||
        memmem(text.data, text.size, "//", 2) || memmem(text.data, text.size, "/.", 2) ||
        memchr(text.data, 0, text.size))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct hub_view text = {(const char *)data, size};
    check_path(text);
    return 0;
}
