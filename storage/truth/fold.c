/* Paths that differ in case or in Unicode's normal form alone: see fold.h. */
#include "storage/truth/fold.h"

#include <errno.h>
#include <stdlib.h>
#include <unicase.h>

static enum hub_status fold_segment(struct hub_view segment, struct hub_buf *out, struct hub_error *err)
{
    size_t size = 0;
    if (!segment.size)
        return HUB_OK;
    HUB_CLEANUP(hub_freep)
    uint8_t *folded =
        u8_casefold((const uint8_t *)segment.data, segment.size, NULL, UNINORM_NFC, NULL, &size);
    if (!folded)
        return errno == ENOMEM ? hub_no_memory(err) : hub_fail(err, HUB_INVALID, "the path is not UTF-8");
    return hub_buf_add(out, folded, size, err);
}

enum hub_status hub_path_fold(struct hub_view path, struct hub_buf *out, struct hub_error *err)
{
    for (size_t at = 0; at <= path.size;) {
        const char *slash = memchr(path.data + at, '/', path.size - at);
        const size_t size = slash ? (size_t)(slash - path.data) - at : path.size - at;
        HUB_TRY(fold_segment((struct hub_view){path.data + at, size}, out, err));
        if (slash)
            HUB_TRY(hub_buf_add_text(out, "/", err));
        at += size + 1;
    }
    return HUB_OK;
}
