/* Text inside HTML and XML. */
#include "server/facade/markup.h"

#include <criterion/criterion.h>

Test(markup, entities)
{
    static const struct {
        const char *text, *markup;
    } cases[] = {
        {"", ""},
        {"plain/name.txt", "plain/name.txt"},
        {"<script>", "&lt;script&gt;"},
        {"a&amp;b", "a&amp;amp;b"}, /* what looks like an entity is text */
        {"\" onload='x'", "&quot; onload=&#39;x&#39;"},
        {"]]>", "]]&gt;"},
        {"\xC3\xB6", "\xC3\xB6"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
        cr_assert_eq(hub_buf_add_text(&out, "=", NULL), HUB_OK); /* appended to what is there */
        cr_assert_eq(hub_markup_add(hub_view_of(cases[i].text), &out, NULL), HUB_OK);
        cr_expect_str_eq(out.data + 1, cases[i].markup);
    }
}

Test(markup, keeps_to_the_limit_of_the_buffer)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(8);
    struct hub_error err = {0};
    cr_expect_eq(hub_markup_add(HUB_VIEW("\"\"\"\""), &out, &err), HUB_TOO_BIG);
    cr_expect_leq(out.size, 8);
}
