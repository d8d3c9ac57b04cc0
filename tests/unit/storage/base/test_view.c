/* Views of text. */
#include "storage/base/buf.h"

#include <criterion/criterion.h>

/* A view of nothing may have no address either, of which nothing may be compared. */
Test(view, beginnings_and_endings)
{
    const struct hub_view none = {NULL, 0}, name = {"a.tar", 5};
    cr_expect(hub_view_starts(none, "") && hub_view_ends(none, ""));
    cr_expect(!hub_view_starts(none, "a") && !hub_view_ends(none, ".tar"));
    cr_expect(hub_view_starts(name, "") && hub_view_starts(name, "a.") && !hub_view_starts(name, "a.tar."));
    cr_expect(hub_view_ends(name, "") && hub_view_ends(name, ".tar") && !hub_view_ends(name, ".gz"));
}

/* What is formatted goes into the room there is, or into more of it, or is taken back. */
Test(buffer, formatted)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf buf = HUB_BUF_INIT(600);
    cr_assert_eq(hub_buf_addf(&buf, NULL, "%s", ""), HUB_OK);
    cr_assert_str_eq(buf.data, "");
    cr_assert_eq(hub_buf_addf(&buf, NULL, "%0255d", 7), HUB_OK); /* all the room of the first growth */
    cr_assert_eq(hub_buf_addf(&buf, NULL, "%0300d", 8), HUB_OK);
    cr_assert_eq(hub_buf_addf(&buf, NULL, "%046d", 9), HUB_TOO_BIG);
    cr_assert(buf.size == 555 && strlen(buf.data) == 555 && buf.data[254] == '7' && buf.data[554] == '8');
    cr_assert_eq(hub_buf_addf(&buf, NULL, "%045d", 9), HUB_OK);
    cr_assert(buf.size == 600 && buf.data[599] == '9' && !buf.data[600]);
}
