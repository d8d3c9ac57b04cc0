/* The row of JSON at a step: see leaves.h. */
#include "server/page/leaves.h"

#include <stdio.h>

enum { DEEPEST = 8, MOST_LEAVES = 100, POINTER_BYTES = 256 };

struct leaf_tree {
    const struct page_lanes *lanes;
    const json_t *field;
    unsigned count; /* of leaves so far */
};

/* The pointer of a member: "~" and "/" in its name are written "~0" and "~1" (RFC 6901, 3). False: it is
 * too long. */
static bool add_token(char pointer[POINTER_BYTES], size_t size, const char *name)
{
    pointer[size++] = '/';
    for (; *name && size + 3 < POINTER_BYTES; name++)
        size += (size_t)snprintf(pointer + size, 3, *name == '~' ? "~0" : *name == '/' ? "~1" : "%c", *name);
    pointer[size] = '\0';
    return !*name;
}

static void write_within(struct leaf_tree *tree, const json_t *value, char pointer[POINTER_BYTES],
                         unsigned depth);

static void write_member(struct leaf_tree *tree, const char *name, const json_t *value,
                         char pointer[POINTER_BYTES], unsigned depth)
{
    struct page *page = tree->lanes->page;
    const size_t size = strlen(pointer);
    if (size + 1 >= POINTER_BYTES || tree->count >= MOST_LEAVES)
        return;
    const bool named = add_token(pointer, size, name);
    if (json_object_size(value) || json_array_size(value)) {
        const struct page_leaves_within within = {hub_view_of(name)};
        page_leaves_within_begin(&page->out, &within);
        if (named && depth < DEEPEST)
            write_within(tree, value, pointer, depth + 1);
        page_leaves_within_end(&page->out, &within);
    } else {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
        const bool number = named && (json_is_number(value) || json_is_boolean(value));
        const struct hub_view href =
            number ? page_lanes_leaf(tree->lanes, tree->field, hub_view_of(pointer)) : HUB_VIEW("");
        if (href.size)
            page_leaf(&page->out,
                      &(struct page_leaf){hub_view_of(name), href, hub_view_of(text ? text : "")});
        else
            page_leaf_text(&page->out,
                           &(struct page_leaf_text){hub_view_of(name), hub_view_of(text ? text : "")});
        free(text);
        tree->count++;
    }
    pointer[size] = '\0';
}

static void write_within(struct leaf_tree *tree, const json_t *value, char pointer[POINTER_BYTES],
                         unsigned depth)
{
    const char *name;
    char index[24];
    size_t i;
    json_t *member;
    page_leaves_begin(&tree->lanes->page->out, NULL);
    json_object_foreach((json_t *)value, name, member) write_member(tree, name, member, pointer, depth);
    json_array_foreach(value, i, member)
    {
        snprintf(index, sizeof index, "%zu", i);
        write_member(tree, index, member, pointer, depth);
    }
    page_leaves_end(&tree->lanes->page->out, NULL);
}

void page_leaves(const struct page_lanes *lanes, const json_t *field, const json_t *row)
{
    struct leaf_tree tree = {lanes, field, 0};
    char pointer[POINTER_BYTES] = "";
    const struct page_details details = {HUB_VIEW("its numbers, as curves")};
    if (!json_object_size(row) && !json_array_size(row))
        return;
    page_details_begin(&lanes->page->out, &details);
    write_within(&tree, row, pointer, 0);
    page_details_end(&lanes->page->out, &details);
}
