/* Cursors of paged answers: any text. What is accepted must come back when it is made again. */
#include "server/api/cursor.h"
#include "storage/text/base64.h"

#include <stdlib.h>

#define SCOPE "0123456789abcdef0123456789abcdef"

static void check(const struct hub_page_cursor *cursor)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(8 * KIB);
    struct hub_page_cursor again;
    if (hub_cursor_encode(cursor, &text, NULL) ||
        hub_cursor_decode(hub_buf_view(&text), SCOPE, &again, NULL) || again.behind != cursor->behind ||
        strcmp(again.key, cursor->key) != 0 || strcmp(again.tie, cursor->tie) != 0)
        abort();
}

static void decode(const char *text)
{
    struct hub_page_cursor cursor;
    if (!hub_cursor_decode(hub_view_of(text), SCOPE, &cursor, NULL))
        check(&cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HUB_CLEANUP(hub_freep) char *text = hub_view_dup((struct hub_view){(const char *)data, size});
    if (text)
        decode(text);
    /* The same bytes as what is inside a cursor of the right scope. */
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf inside = HUB_BUF_INIT(64 * KIB), whole = HUB_BUF_INIT(128 * KIB);
    if (!hub_buf_add_text(&inside, SCOPE "\n", NULL) && !hub_buf_add(&inside, data, size, NULL) &&
        !hub_base64_encode(hub_buf_view(&inside), &whole, NULL))
        decode(whole.data);
    return 0;
}
