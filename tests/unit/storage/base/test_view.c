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
