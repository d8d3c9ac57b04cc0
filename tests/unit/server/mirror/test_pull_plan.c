/* server/mirror/pull_plan.c: which bytes of a dataset on its way may be read, and which are fetched next. */
#include "kit.h"
#include "server/mirror/pulls.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>

static struct hub_pulls pulls;

static void begin(void)
{
    kit_begin();
    pulls.mirrors = &kit.mirrors;
    hub_thread_init(&pulls.thread);
}

TestSuite(pull_plan, .init = begin, .fini = kit_end);

/* ---- one file of 1000 KiB, in segments of 256 KiB ---- */

enum { SEGMENT = 256 * 1024, SIZE = 1000 * 1024, HELD = HUB_PULL_HELD };

Test(pull_plan, bytes_may_be_read_where_all_segments_are_there)
{
    static const struct {
        uint8_t segments[4];
        uint64_t offset, size;
        bool there;
    } cases[] = {
        {{1, 0, 0, 0}, 0, SEGMENT, true},
        {{1, 0, 0, 0}, 0, SEGMENT + 1, false},
        {{1, 0, 0, 0}, SEGMENT - 1, 1, true},
        {{1, 0, 0, 0}, SEGMENT, 1, false},
        {{0, 1, 1, 0}, SEGMENT, 2 * SEGMENT, true},
        {{0, 1, 1, 0}, SEGMENT - 1, 2, false},
        {{1, 1, 1, 1}, 0, SIZE - HELD, true},
        {{1, 1, 1, 1}, 0, SIZE - HELD + 1, false}, /* its end is held back until its digest agrees */
        {{1, 1, 1, 1}, SIZE - 1, 1, false},
        {{1, 1, 1, 1}, 0, 0, true},
    };
    const struct hub_pull_plan plan = {.segment_bytes = SEGMENT};
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        uint8_t segments[4];
        memcpy(segments, cases[i].segments, sizeof segments);
        struct hub_partial_file file = {.facts = {.size = SIZE}, .segments = segments, .segment_count = 4};
        cr_expect_eq(hub_pull_is_there(&plan, &file, cases[i].offset, cases[i].size), cases[i].there, "%zu",
                     i);
        file.whole = true;
        cr_expect(hub_pull_is_there(&plan, &file, cases[i].offset, cases[i].size), "%zu", i);
    }
}

Test(pull_plan, what_is_missing_is_wanted_once)
{
    static const struct {
        uint8_t segments[4];
        uint64_t offset, size;
        uint32_t segment; /* that is wanted; 4: none */
    } cases[] = {
        {{0, 0, 0, 0}, 0, 10, 0},
        {{1, 0, 0, 0}, 0, 2 * SEGMENT, 1},
        {{0, 0, 0, 0}, 3 * SEGMENT + 5, 10, 3},
        {{1, 1, 0, 1}, 3 * SEGMENT, 10, 2}, /* what is held back needs all of the file */
        {{1, 1, 1, 1}, 0, SIZE, 4},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        uint8_t segments[4];
        memcpy(segments, cases[i].segments, sizeof segments);
        struct hub_partial_file file = {.facts = {.size = SIZE}, .segments = segments, .segment_count = 4};
        struct hub_pull_plan plan = {.segment_bytes = SEGMENT, .count = 1, .files = &file};
        hub_pull_want(&plan, 0, cases[i].offset, cases[i].size);
        hub_pull_want(&plan, 0, cases[i].offset, cases[i].size);
        cr_assert_eq(plan.wanted_count, cases[i].segment < 4, "%zu", i);
        if (plan.wanted_count)
            cr_expect_eq(plan.wanted[0].segment, cases[i].segment, "%zu", i);
    }
}

Test(pull_plan, only_so_many_are_wanted)
{
    uint8_t segments[HUB_MOST_WANTED + 4] = {0};
    struct hub_partial_file file = {
        .facts = {.size = UINT64_MAX / 2}, .segments = segments, .segment_count = HUB_COUNT(segments)};
    struct hub_pull_plan plan = {.segment_bytes = SEGMENT, .count = 1, .files = &file};
    for (uint64_t i = 0; i < HUB_COUNT(segments); i++)
        hub_pull_want(&plan, 0, i * SEGMENT, 1);
    cr_expect_eq(plan.wanted_count, HUB_MOST_WANTED);
    cr_expect_eq(plan.wanted[HUB_MOST_WANTED - 1].segment, HUB_MOST_WANTED - 1, "who came first stays");
}

/* ---- what a transfer says ---- */

/* The files "a" of three segments and "b" of none, as a transfer finds them. */
struct transfer {
    struct hub_file_facts files[2];
    struct hub_staged_file staged[2];
    uint8_t states[3];
    struct hub_transfer transfer;
    struct hub_staging staging;
};

static void make_transfer(struct transfer *t, uint64_t generation)
{
    *t = (struct transfer){
        .files = {{.path = "a", .size = 300 * KIB, .generation = generation, .modified_ns = 5},
                  {.path = "b"}},
        .staged = {{.segments = 3, .missing = 1}, {.base = 3}},
        .states = {HUB_SEGMENT_DONE, HUB_SEGMENT_MISSING, HUB_SEGMENT_TAKEN},
        .staging = HUB_STAGING_INIT};
    t->transfer.files = (struct hub_remote_files){
        .revision = "r1", .items = t->files, .count = HUB_COUNT(t->files), .bytes = 300 * KIB};
    t->staging.segment_bytes = 100 * KIB;
    t->staging.states = t->states;
    t->staging.files = t->staged;
    t->staging.tree = open(kit_path("root"), O_RDONLY | O_DIRECTORY);
    cr_assert_geq(t->staging.tree, 0);
}

static struct hub_pull *make_pull(void)
{
    struct hub_pull *pull = calloc(1, sizeof *pull + 8);
    pull->pulls = &pulls;
    pull->refs = 1;
    strcpy(pull->id, "a-v0");
    return pull;
}

static void plan_of(struct hub_pull *pull, struct transfer *t)
{
    cr_assert_eq(hub_pull_watch.planned(&t->transfer, &t->staging, pull, NULL), HUB_OK);
    hub_closep(&t->staging.tree);
}

Test(pull_plan, of_what_is_staged_only_what_is_proven_is_there)
{
    struct transfer t;
    struct hub_pull *pull = make_pull();
    make_transfer(&t, 1);
    plan_of(pull, &t);
    const struct hub_pull_plan *plan = pull->plan;
    cr_expect_eq(pull->progress.total, 300 * KIB);
    cr_expect_eq(hub_pull_count(plan), 2);
    cr_expect_eq(hub_pull_find(plan, "b"), 1);
    cr_expect_eq(hub_pull_find(plan, "c"), UINT32_MAX);
    cr_expect_eq(hub_pull_find(plan, "../a"), UINT32_MAX);
    cr_expect_eq(hub_pull_file(plan, 0)->size, 300 * KIB);
    cr_expect_str_eq(hub_pull_revision(plan), "r1", "the times of all files are not known");
    cr_expect_arr_eq(plan->files[0].segments, ((uint8_t[]){1, 0, 0}), 3);
    cr_expect_not(plan->files[0].whole);
    cr_expect(plan->files[1].whole, "it is empty");
    hub_pull_unref(pull);
}

Test(pull_plan, segments_come_and_are_lost)
{
    struct transfer t;
    struct hub_pull *pull = make_pull();
    make_transfer(&t, 1);
    plan_of(pull, &t);
    const struct hub_partial_file *a = &pull->plan->files[0];
    hub_pull_watch.segment(0, 1, pull);
    cr_expect(hub_pull_is_there(pull->plan, a, 0, 200 * KIB));
    hub_pull_watch.whole(0, pull);
    cr_expect(hub_pull_is_there(pull->plan, a, 0, 300 * KIB));
    hub_pull_watch.lost(0, pull);
    cr_expect_not(hub_pull_is_there(pull->plan, a, 0, 1),
                  "its digest did not agree: all of it is fetched again");
    cr_expect_eq(a->turn, 1, "who read before has another file");
    hub_pull_unref(pull);
}

Test(pull_plan, what_is_wanted_is_told_in_order)
{
    struct transfer t;
    struct hub_pull *pull = make_pull();
    uint32_t file = 9, segment = 9;
    make_transfer(&t, 1);
    plan_of(pull, &t);
    cr_expect_not(hub_pull_watch.wanted(0, &file, &segment, pull));
    hub_pull_want(pull->plan, 0, 200 * KIB, 1);
    hub_pull_want(pull->plan, 0, 100 * KIB, 1);
    cr_assert(hub_pull_watch.wanted(0, &file, &segment, pull));
    cr_expect(file == 0 && segment == 2);
    cr_assert(hub_pull_watch.wanted(1, &file, &segment, pull));
    cr_expect(file == 0 && segment == 1);
    cr_expect_not(hub_pull_watch.wanted(2, &file, &segment, pull));
    hub_pull_unref(pull);
}

Test(pull_plan, a_new_list_goes_on_where_the_file_is_the_same)
{
    for (unsigned change = 0; change < 4; change++) {
        struct transfer t, later;
        struct hub_pull *pull = make_pull();
        make_transfer(&t, 1);
        plan_of(pull, &t);
        struct hub_pull_plan *old = pull->plan;
        atomic_fetch_add(&old->refs, 1); /* who reads */
        make_transfer(&later, change == 1 ? 2 : 1);
        later.files[0].size += change == 2;
        if (change == 3)
            later.states[0] = HUB_SEGMENT_MISSING; /* the listed segment is missing by now */
        plan_of(pull, &later);
        cr_expect_eq(old->next, pull->plan);
        cr_expect_eq(pull->plan->files[0].turn, change != 0, "%u", change);
        cr_expect_eq(pull->plan->files[1].turn, 0);
        hub_pull_put(old);
        hub_pull_unref(pull);
    }
}
