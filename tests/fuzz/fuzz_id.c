/* Dataset ids: an id a grammar accepts is written back as the same id, and what the hub accepts is a safe
 * relative path. */
#include "storage/base/id.h"

#include <stdlib.h>

static void check_era(struct hub_view text, enum hub_id_era era)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MIB);
    struct hub_id id = {0}, again = {0};
    const enum hub_id_verdict verdict = hub_id_parse(text, era, &id);
    if (verdict != HUB_ID_OK && verdict != HUB_ID_MISSING_VERSION)
        return;
    if (hub_id_format(&id, era, &out, NULL) || hub_id_parse(hub_buf_view(&out), era, &again) != verdict ||
        again.version != id.version || !hub_view_equal(again.name, id.name))
        abort();
}

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
    check_era(text, HUB_ID_E4);
    check_era(text, HUB_ID_E5);
    check_path(text);
    return 0;
}
