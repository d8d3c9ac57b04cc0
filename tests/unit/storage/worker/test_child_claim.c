/* storage/worker/child_claim.c: who would own the files of a directory. */
#include "storage/worker/child_state.h"

#include <criterion/criterion.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- formats ---- */

static int confidence_of_tree;

static int claim_tree(struct hub_files *listing)
{
    return hub_files_find(listing, "tree.json") != HUB_NONE ? confidence_of_tree : 0;
}

static int claim_other_tree(struct hub_files *listing)
{
    return hub_files_find(listing, "tree.json") != HUB_NONE ? 40 : 0;
}

/* The first free entry of a pattern, as a dataset of its own. */
static int claim_one(struct hub_files *listing, struct hub_claim *claim, const char *pattern, int confidence)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        char path[32];
        snprintf(path, sizeof path, "%.*s", (int)listing->entries[i].path.size,
                 listing->entries[i].path.data);
        if (!*path || fnmatch(pattern, path, 0) != 0)
            continue;
        claim->files[0] = i;
        claim->file_count = 1;
        snprintf(claim->name, sizeof claim->name, "%.20s", path);
        return confidence;
    }
    return 0;
}

static int claim_h5(struct hub_files *listing, struct hub_claim *claim)
{
    return claim_one(listing, claim, "*.h5", 60);
}

static int claim_any(struct hub_files *listing, struct hub_claim *claim)
{
    return claim_one(listing, claim, "*", 10);
}

static int claim_what_is_not_there(struct hub_files *listing, struct hub_claim *claim)
{
    claim->files[0] = listing->count;
    claim->file_count = 1;
    return 90;
}

static const struct hub_format tree = {.name = "tree", .claim_directory = claim_tree},
                               other = {.name = "other", .claim_directory = claim_other_tree},
                               h5 = {.name = "h5", .claim_files = claim_h5},
                               any = {.name = "any", .claim_files = claim_any},
                               liar = {.name = "liar", .claim_files = claim_what_is_not_there};

/* ---- a child ---- */

static struct hub_child child;

static void begin(void)
{
    confidence_of_tree = 80;
    hub_child_init(&child, -1);
    child.hint = strdup("");
}

static void end(void)
{
    hub_child_dispose(&child);
}

TestSuite(child_claim, .init = begin, .fini = end);

static void list(const char *const *paths, uint32_t count)
{
    child.entries = calloc(count, sizeof *child.entries);
    child.entry_count = count;
    for (uint32_t i = 0; i < count; i++)
        child.entries[i] = (struct hub_file_entry){.path = hub_view_of(strdup(paths[i])), .size = 1};
}

/* "format confidence name listing [files];" of all claims */
static const char *claims(void)
{
    static struct hub_buf text;
    struct hub_frame frame;
    void *room;
    size_t space;
    text = HUB_BUF_INIT(4 * KIB);
    cr_assert_eq(hub_child_claim(&child, NULL), HUB_OK);
    cr_assert_eq(hub_frame_room(&child.reader, &room, &space, NULL), HUB_OK);
    cr_assert_leq(child.writer.out.size, space);
    memcpy(room, child.writer.out.data, child.writer.out.size);
    hub_frame_filled(&child.reader, child.writer.out.size);
    cr_assert_eq(hub_buf_add_text(&text, "", NULL), HUB_OK);
    while (hub_frame_next(&child.reader, &frame, NULL) == HUB_OK && frame.type) {
        struct hub_cursor c = hub_cursor_of(frame.data, frame.size);
        cr_assert_eq(frame.type, HUB_FRAME_CLAIM);
        const unsigned confidence = hub_cursor_u8(&c);
        const struct hub_view format = hub_cursor_text(&c, 32), name = hub_cursor_text(&c, 256);
        const uint32_t listing = hub_cursor_u32(&c), count = hub_cursor_u32(&c);
        cr_assert_eq(hub_buf_addf(&text, NULL, "%.*s %u %.*s %u [", (int)format.size, format.data, confidence,
                                  (int)name.size, name.data, listing),
                     HUB_OK);
        for (uint32_t i = 0; i < count; i++)
            cr_assert_eq(hub_buf_addf(&text, NULL, "%s%u", i ? " " : "", hub_cursor_u32(&c)), HUB_OK);
        cr_assert_eq(hub_buf_add_text(&text, "];", NULL), HUB_OK);
    }
    return text.data;
}

static void expect_claims(const char *text)
{
    HUB_CLEANUP(hub_freep) const char *got = claims();
    cr_expect_str_eq(got, text);
}

static const char *const with_tree[] = {"a.h5", "b.txt", "tree.json"}, *const without_tree[] = {
                                                                           "a.h5", "b.txt", "c.h5"};

Test(child_claim, a_directory_goes_before_its_files_best_bid_first)
{
    static const struct hub_format *const formats[] = {&other, &h5, &tree, NULL};
    child.formats = formats;
    list(with_tree, HUB_COUNT(with_tree));
    expect_claims("tree 80  0 [];other 40  0 [];");
}

Test(child_claim, among_equals_the_first_of_the_list)
{
    static const struct hub_format *const formats[] = {&other, &tree, NULL};
    child.formats = formats;
    confidence_of_tree = 40;
    list(with_tree, HUB_COUNT(with_tree));
    expect_claims("other 40  0 [];tree 40  0 [];");
}

Test(child_claim, confidence_is_100_at_most)
{
    static const struct hub_format *const formats[] = {&tree, NULL};
    child.formats = formats;
    confidence_of_tree = 1000;
    list(with_tree, HUB_COUNT(with_tree));
    expect_claims("tree 100  0 [];");
}

Test(child_claim, a_declined_directory_is_claimed_by_its_files)
{
    static const struct hub_format *const formats[] = {&tree, &h5, NULL};
    child.formats = formats;
    free(child.hint);
    child.hint = strdup(HUB_HINT_FILES);
    list(with_tree, HUB_COUNT(with_tree));
    expect_claims("h5 60 a.h5 0 [0];");
}

Test(child_claim, files_are_taken_once_until_nobody_wants_one)
{
    static const struct hub_format *const formats[] = {&any, &h5, &tree, NULL};
    child.formats = formats;
    list(without_tree, HUB_COUNT(without_tree));
    expect_claims("h5 60 a.h5 0 [0];h5 60 c.h5 0 [2];any 10 b.txt 0 [1];");
}

Test(child_claim, a_claim_on_what_is_not_there_is_none)
{
    static const struct hub_format *const formats[] = {&liar, &any, NULL};
    child.formats = formats;
    list(without_tree, 1);
    expect_claims("any 10 a.h5 0 [0];");
}

Test(child_claim, several_listings_are_claimed_one_by_one)
{
    static const struct hub_format *const formats[] = {&h5, &tree, NULL};
    static const char *const paths[] = {"a.h5", "b.txt", "tree.json", "c.h5"};
    child.formats = formats;
    list(paths, HUB_COUNT(paths));
    child.part_files = calloc(3, sizeof *child.part_files);
    memcpy(child.part_files, (uint32_t[]){0, 2, 3}, 3 * sizeof *child.part_files);
    child.part_file_count = 3;
    expect_claims("h5 60 a.h5 0 [0];tree 80  1 [];h5 60 c.h5 2 [3];");
}

Test(child_claim, listings_that_overlap_are_refused)
{
    static const struct hub_format *const formats[] = {&h5, NULL};
    static const uint32_t wrong[][2] = {{1, 0}, {0, 4}};
    child.formats = formats;
    list(without_tree, HUB_COUNT(without_tree));
    child.part_files = calloc(2, sizeof *child.part_files);
    child.part_file_count = 2;
    for (size_t i = 0; i < HUB_COUNT(wrong); i++) {
        memcpy(child.part_files, wrong[i], sizeof wrong[i]);
        cr_expect_eq(hub_child_claim(&child, NULL), HUB_INVALID, "%zu", i);
    }
}
