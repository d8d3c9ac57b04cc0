/* The spelling of paths: any path comes back as it was, and is spelled as text that an id may hold. */
#include "storage/ids/spell.h"
#include "storage/text/utf8.h"

#include <stdlib.h>

typedef enum hub_status speller(struct hub_view text, struct hub_buf *out, struct hub_error *err);

static void round_trip(struct hub_view path, speller *spell, speller *unspell)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MIB), back = HUB_BUF_INIT(MIB);
    if (spell(path, &text, NULL) || !hub_utf8_printable(hub_buf_view(&text)))
        abort();
    if (!memchr(path.data, 0, path.size) &&
        (unspell(hub_buf_view(&text), &back, NULL) || !hub_view_equal(hub_buf_view(&back), path)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct hub_view path = {(const char *)data, size};
    if (size == 0 || size > 64 * KIB)
        return 0;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MIB);
    round_trip(path, hub_spell_path, hub_unspell);
    round_trip(path, hub_spell_id, hub_unspell_id);
    (void)!hub_unspell(path, &out, NULL);
    return 0;
}
