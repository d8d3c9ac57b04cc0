/* Pages of episodes: every sort in both directions gives each episode once, in order, whatever the size of a
 * page. */
#include "tests/support/catalog_draft.h"
#include "tests/support/see_episode.h"

#include "storage/catalog/blobs.h"
#include "storage/catalog/schema.h"
#include "storage/io/fs.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>

enum { EPISODES = 57, MANY = 20000 /* in several blobs of each column */ };

static char *state;
static struct hub_catalog *catalog;

static void decorate(struct hub_found_episode *e, uint32_t i)
{
    static const char *const tasks[] = {NULL, "pick", "place"};
    char text[32];
    e->steps = 10 + i * 7 % 5;
    e->has_return = i % 4 != 3;
    e->episode_return = i == 8 ? NAN : (double)(i * 13 % 29) - 11.5;
    e->return_computed = i % 2;
    e->success = (int8_t)(i % 3) - 1;
    e->task = tasks[i % 3] ? strdup(tasks[i % 3]) : NULL;
    e->splits = i % 2 ? strdup("[\"train\"]") : strdup("[\"val\",\"all\"]");
    snprintf(text, sizeof text, "%u", 1000 - i * 3);
    e->seed = i == 1   ? strdup("18446744073709551615")
              : i == 2 ? strdup("9223372036854775808")
              : i == 3 ? NULL
              : i == 4 ? strdup("None")
                       : strdup(text);
}

static void decorate_many(struct hub_found_episode *e, uint32_t i)
{
    char text[32];
    snprintf(text, sizeof text, "%u", i * 7919 % MANY); /* each once */
    e->seed = strdup(text);
    snprintf(text, sizeof text, "{\"rank\":%u}", i * 7919 % MANY);
    e->attributes = strdup(text);
    e->has_return = true;
    e->episode_return = i * 7919 % MANY;
    e->splits = i % 10 ? strdup("[\"train\"]") : strdup("[\"val\"]");
}

static void publish(const char *id, uint32_t count,
                    void (*decorate_each)(struct hub_found_episode *e, uint32_t i))
{
    static const struct draft_field fields[] = {{"actions", HUB_FIELD_NUMBER, 2}};
    const struct hub_dataset_file files[] = {draft_file("a.h5", 1 << 20)};
    struct hub_findings *found = draft_findings(fields, 1, 0, 0, count, 5);
    for (uint32_t i = 0; i < count; i++)
        decorate_each(&found->episodes[i], i);
    const struct hub_draft_part part = {.name = "a", .found = found};
    const struct hub_draft draft = {.id = id,
                                    .path = id,
                                    .format = "x",
                                    .status = HUB_DATASET_READY,
                                    .files = files,
                                    .file_count = 1,
                                    .parts = &part,
                                    .part_count = 1,
                                    .revision = ""};
    DRAFT_OK(hub_catalog_publish(catalog, &draft, err));
    draft_findings_free(found);
}

static void set_up(void)
{
    state = draft_state();
    const struct hub_catalog_options options = {.state = state};
    DRAFT_OK(hub_catalog_open(&options, &catalog, err));
    publish("before", EPISODES, decorate);
    publish("set", EPISODES, decorate);
    publish("settle", EPISODES, decorate);
    DRAFT_OK(hub_catalog_flush(catalog, err));
}

static void tear_down(void)
{
    hub_catalog_close(catalog);
    DRAFT_OK(hub_fs_remove(AT_FDCWD, state, err));
    free(state);
}

TestSuite(episodes, .init = set_up, .fini = tear_down);

struct row {
    int64_t number;
    bool null;
    double key; /* an order-preserving number */
};

struct rows {
    struct row rows[2 * EPISODES];
    uint32_t count;
    enum hub_property_kind sort;
};

static const enum hub_property_kind sorts[] = {HUB_PROPERTY_NUMBER, HUB_PROPERTY_STEPS, HUB_PROPERTY_RETURN,
                                               HUB_PROPERTY_SEED,   HUB_PROPERTY_TASK,  HUB_PROPERTY_SUCCESS};

static double seed_order(const char *seed)
{
    return strcmp(seed, "None") == 0 ? INFINITY : strtod(seed, NULL);
}

static void collect(void *user, const struct hub_found_episode *row, const char *file)
{
    struct rows *all = user;
    struct row *r = &all->rows[all->count++];
    *r = (struct row){.number = row->number};
    switch (all->sort) {
    case HUB_PROPERTY_NUMBER:
        r->key = (double)row->number;
        break;
    case HUB_PROPERTY_STEPS:
        r->key = (double)row->steps;
        break;
    case HUB_PROPERTY_RETURN:
        r->null = !row->has_return || isnan(row->episode_return);
        r->key = r->null ? 0 : row->episode_return;
        break;
    case HUB_PROPERTY_SEED:
        r->null = !row->seed;
        r->key = row->seed ? seed_order(row->seed) : 0;
        break;
    case HUB_PROPERTY_TASK:
        r->null = !row->task;
        r->key = row->task ? row->task[1] : 0;
        break;
    case HUB_PROPERTY_SUCCESS:
        r->null = row->success < 0;
        r->key = row->success;
        break;
    default:
        cr_assert_fail("not tested");
    }
    cr_assert_str_eq(file, "a.h5");
}

static struct hub_state open_set(void)
{
    struct hub_state of_set;
    DRAFT_OK(
        hub_state_open(catalog, hub_snapshot_find(snapshot_now(catalog), HUB_VIEW("set")), &of_set, err));
    return of_set;
}

/* One page; `total` is what there are altogether. */
static struct hub_episode_page page_of(const struct hub_state *of, const struct hub_episode_query *query,
                                       episode_seen *see, void *all)
{
    struct hub_episode_page page = {0};
    DRAFT_OK(hub_episode_page(of, query, &page, err));
    for (uint32_t i = 0; i < page.count; i++)
        DRAFT_OK(see_episode(of, of->dataset->episodes[page.places[i]].number, see, all, err));
    return page;
}

/* Page after page; how many episodes there were. */
static uint32_t walk_all(const struct hub_state *of, struct hub_episode_query query, episode_seen *see,
                         void *all)
{
    uint32_t seen = 0, total = 1;
    while (seen < total) {
        struct hub_episode_page page = page_of(of, &query, see, all);
        cr_assert_eq(page.first, seen);
        cr_assert_eq(page.count, HUB_MIN(query.limit, page.total - seen));
        seen += page.count;
        total = page.total;
        query.from = HUB_PAGE_BEHIND;
        query.number = page.count ? of->dataset->episodes[page.places[page.count - 1]].number : 0;
        hub_episode_page_dispose(&page);
    }
    return seen;
}

static void walk(struct rows *all, enum hub_property_kind sort, bool descending, const char *split,
                 uint32_t limit)
{
    const struct hub_episode_query query = {
        .sort = {.kind = sort}, .descending = descending, .split = split, .limit = limit};
    HUB_CLEANUP(hub_state_close) struct hub_state set = open_set();
    *all = (struct rows){.sort = sort};
    cr_assert_eq(walk_all(&set, query, collect, all), all->count);
}

static void expect_order(const struct rows *all, bool descending)
{
    for (uint32_t i = 1; i < all->count; i++) {
        const struct row *a = &all->rows[i - 1], *b = &all->rows[i];
        cr_assert(!a->null || b->null, "nulls come last");
        if (a->null != b->null)
            continue;
        const bool less = a->key < b->key || (a->key == b->key && a->number < b->number);
        cr_assert(descending != less, "sort %d: %lld %lld", (int)all->sort, (long long)a->number,
                  (long long)b->number);
    }
}

Test(episodes, each_once_in_order)
{
    static const uint32_t limits[] = {1, 7, 57, 1000};
    for (size_t s = 0; s < HUB_COUNT(sorts); s++) {
        for (unsigned i = 0; i < 2 * HUB_COUNT(limits); i++) {
            struct rows all;
            walk(&all, sorts[s], i % 2, NULL, limits[i / 2]);
            cr_assert_eq(all.count, EPISODES);
            expect_order(&all, i % 2);
        }
    }
}

/* Back from each episode, and around it: what a walk has there. */
Test(episodes, pages_lie_before_and_around_an_episode)
{
    enum { LIMIT = 7 };
    for (unsigned i = 0; i < 4 * HUB_COUNT(sorts); i++) {
        struct hub_episode_query query = {
            .sort = {.kind = sorts[i / 4]}, .descending = i % 2, .limit = LIMIT};
        struct rows all;
        query.split = i & 2 ? "train" : NULL;
        walk(&all, sorts[i / 4], i % 2, query.split, LIMIT);
        HUB_CLEANUP(hub_state_close) struct hub_state set = open_set();
        for (uint32_t at = 0; at < 2 * all.count; at++) {
            const uint32_t place = at / 2, back = place < LIMIT ? 0 : place - LIMIT;
            query.from = at % 2 ? HUB_PAGE_AROUND : HUB_PAGE_BEFORE;
            query.number = all.rows[place].number;
            HUB_CLEANUP(hub_episode_page_dispose)
            struct hub_episode_page page = page_of(&set, &query, NULL, NULL);
            cr_assert_eq(page.first, at % 2 ? place / LIMIT * LIMIT : back);
            cr_assert_eq(page.total, all.count);
            cr_assert_eq(page.count, HUB_MIN((uint32_t)LIMIT, all.count - page.first));
            for (uint32_t k = 0; k < page.count; k++)
                cr_assert_eq(page.places[k], all.rows[page.first + k].number, "sort %u at %u", i, at);
        }
    }
}

/* A page goes on behind an episode that the filter leaves out, where it would be. */
Test(episodes, pages_lie_at_episodes_that_are_not_chosen)
{
    struct hub_episode_query query = {.sort = {.kind = HUB_PROPERTY_STEPS},
                                      .split = "val",
                                      .limit = 5,
                                      .from = HUB_PAGE_BEHIND,
                                      .number = 5};
    struct rows all = {.sort = HUB_PROPERTY_STEPS};
    struct hub_episode_page page = {0};
    struct hub_error err = {0};
    HUB_CLEANUP(hub_state_close) struct hub_state set = open_set();
    page = page_of(&set, &query, collect, &all);
    cr_expect_eq(page.total, 29);
    cr_expect(all.rows[0].key > 10 || (all.rows[0].key == 10 && all.rows[0].number > 5));
    hub_episode_page_dispose(&page);
    query.from = HUB_PAGE_AROUND;
    cr_expect_eq(hub_episode_page(&set, &query, &page, &err), HUB_NOT_FOUND);
    cr_expect_eq(err.problem, HUB_PROBLEM_EPISODE_MISSING);
    query.number = EPISODES;
    query.from = HUB_PAGE_BEHIND;
    cr_expect_eq(hub_episode_page(&set, &query, &page, &err), HUB_INVALID);
    cr_expect_eq(err.problem, HUB_PROBLEM_BAD_CURSOR);
    query = (struct hub_episode_query){.limit = 5, .from = HUB_PAGE_BEFORE, .number = EPISODES + 9};
    page = page_of(&set, &query, NULL, NULL); /* by number it has a place though it is gone */
    cr_expect(page.first == EPISODES - 5 && page.count == 5);
    hub_episode_page_dispose(&page);
    query = (struct hub_episode_query){.limit = 5, .split = "train", .from = HUB_PAGE_BEHIND, .number = -3};
    page = page_of(&set, &query, NULL, NULL);
    cr_expect(page.first == 0 && page.count == 5 && page.places[0] == 1);
    hub_episode_page_dispose(&page);
    query = (struct hub_episode_query){
        .limit = 5, .split = "train", .from = HUB_PAGE_BEHIND, .number = 99, .descending = true};
    page = page_of(&set, &query, NULL, NULL);
    cr_expect(page.first == 0 && page.count == 5 && page.places[0] == EPISODES - 2);
    hub_episode_page_dispose(&page);
}

static void publish_long_tasks(const char *id)
{
    static const struct draft_field fields[] = {{"actions", HUB_FIELD_NUMBER, 2}};
    const struct hub_dataset_file files[] = {draft_file("a.h5", 1 << 20)};
    struct hub_findings *found = draft_findings(fields, 1, 0, 0, EPISODES, 5);
    for (uint32_t i = 0; i < EPISODES; i++) { /* what tells them apart comes late, and some are equal */
        found->episodes[i].task = malloc(3000);
        char *task = (char *)found->episodes[i].task;
        memset(task, 'x', 2990);
        snprintf(task + 2990, 10, "%02u", i * 7 % 20);
    }
    const struct hub_draft_part part = {.name = "a", .found = found};
    const struct hub_draft draft = {.id = id,
                                    .path = id,
                                    .format = "x",
                                    .status = HUB_DATASET_READY,
                                    .files = files,
                                    .file_count = 1,
                                    .parts = &part,
                                    .part_count = 1,
                                    .revision = ""};
    DRAFT_OK(hub_catalog_publish(catalog, &draft, err));
    DRAFT_OK(hub_catalog_flush(catalog, err));
    draft_findings_free(found);
}

static void collect_long(void *user, const struct hub_found_episode *row, const char *file)
{
    struct rows *all = user;
    (void)file;
    all->rows[all->count++] =
        (struct row){.number = row->number, .key = strtod(row->task + strspn(row->task, "x"), NULL)};
}

Test(episodes, long_texts_are_paged_too)
{
    publish_long_tasks("long");
    for (unsigned turn = 0; turn < 2; turn++) {
        const struct hub_episode_query query = {
            .sort = {.kind = HUB_PROPERTY_TASK}, .descending = turn, .limit = 5};
        struct rows all = {.sort = HUB_PROPERTY_TASK};
        struct hub_state of_long;
        const struct hub_snapshot *snapshot = snapshot_now(catalog);
        DRAFT_OK(hub_state_open(catalog, hub_snapshot_find(snapshot, HUB_VIEW("long")), &of_long, err));
        cr_assert_eq(walk_all(&of_long, query, collect_long, &all), EPISODES);
        hub_state_close(&of_long);
        cr_assert_eq(all.count, EPISODES);
        expect_order(&all, turn);
    }
}

Test(episodes, of_one_split)
{
    for (size_t s = 0; s < HUB_COUNT(sorts); s++) {
        struct rows all;
        walk(&all, sorts[s], s % 2, "train", 5);
        cr_assert_eq(all.count, 28);
        expect_order(&all, s % 2);
        for (uint32_t i = 0; i < all.count; i++)
            cr_expect_eq(all.rows[i].number % 2, 1);
    }
    struct rows all = {.count = 0};
    const struct hub_episode_query query = {.split = "test", .limit = 5};
    HUB_CLEANUP(hub_state_close) struct hub_state set = open_set();
    HUB_CLEANUP(hub_episode_page_dispose) struct hub_episode_page page = page_of(&set, &query, collect, &all);
    cr_expect(all.count == 0 && page.total == 0 && page.count == 0);
}

static void decorate_sets(struct hub_found_episode *e, uint32_t i)
{
    static const char *const splits[] = {NULL, "[]", "[\"train\"]", "[\"train\",\"a b\"]",
                                         "[\"a b\",\"train\"]"};
    static const char *const attributes[] = {NULL, "{\"note\":\"tasks\"}",
                                             "{\"tasks\":[\"pick\",\"place\",3,\"pick\"]}", "{\"tasks\":[]}",
                                             "{\"tasks\":\"none\"}"};
    e->splits = splits[i % 5] ? strdup(splits[i % 5]) : NULL;
    e->attributes = attributes[i / 5 % 5] ? strdup(attributes[i / 5 % 5]) : NULL;
    e->task = i % 2 ? strdup("pick") : NULL;
}

static void expect_texts(const struct hub_values *has, const char *first, const char *second)
{
    cr_assert_eq(has->count, (size_t)((first != NULL) + (second != NULL)));
    cr_assert(!first || hub_view_is(has->first[0].text, first));
    cr_assert(!second || hub_view_is(has->first[1].text, second));
}

/* Splits and tasks are sets, whatever their JSON looks like: they are parsed when the part is indexed. */
Test(episodes, sets_of_texts)
{
    static const char *const splits[][2] = {
        {NULL, NULL}, {NULL, NULL}, {"train", NULL}, {"train", "a b"}, {"a b", "train"}};
    publish("sets", EPISODES, decorate_sets);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    HUB_CLEANUP(hub_state_close) struct hub_state sets = {0};
    DRAFT_OK(hub_state_open(catalog, hub_snapshot_find(snapshot_now(catalog), HUB_VIEW("sets")), &sets, err));
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = &sets};
    for (uint32_t i = 0; i < EPISODES; i++) {
        const struct hub_dataset_episode *e = &sets.dataset->episodes[i];
        struct hub_values has;
        DRAFT_OK(
            hub_episode_values_of(&reader, e, &(struct hub_property){.kind = HUB_PROPERTY_SPLIT}, &has, err));
        expect_texts(&has, splits[i % 5][0], splits[i % 5][1]);
        DRAFT_OK(
            hub_episode_values_of(&reader, e, &(struct hub_property){.kind = HUB_PROPERTY_TASK}, &has, err));
        expect_texts(&has, i % 2 ? "pick" : NULL, i % 2 && i / 5 % 5 == 2 ? "place" : NULL);
    }
}

/* Columns of names lie in places of their own; two of one place take turns. */
Test(episodes, names_of_one_index_take_turns)
{
    publish("many", MANY, decorate_many);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    HUB_CLEANUP(hub_state_close) struct hub_state many = {0};
    DRAFT_OK(hub_state_open(catalog, hub_snapshot_find(snapshot_now(catalog), HUB_VIEW("many")), &many, err));
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = &many};
    for (uint32_t i = 0; i < 100; i++) {
        const struct hub_property name = {
            .kind = HUB_PROPERTY_ATTRIBUTE, .of = hub_view_of(i % 2 ? "rank" : "tank"), .index = i % 3};
        struct hub_values has;
        DRAFT_OK(hub_episode_values_of(&reader, &many.dataset->episodes[i], &name, &has, err));
        cr_assert_eq(has.count, i % 2);
        cr_assert(!has.count || has.first->number == i * 7919 % MANY);
    }
}

Test(episodes, of_one_task)
{
    HUB_CLEANUP(hub_state_close) struct hub_state set = open_set();
    for (size_t s = 0; s < HUB_COUNT(sorts); s++) {
        struct rows all = {.sort = sorts[s]};
        const struct hub_episode_query query = {.sort = {.kind = all.sort}, .task = "place", .limit = 1000};
        struct hub_episode_page page = page_of(&set, &query, collect, &all);
        cr_assert_eq(all.count, EPISODES / 3);
        cr_expect_eq(page.total, EPISODES / 3);
        for (uint32_t i = 0; i < all.count; i++)
            cr_expect_eq(all.rows[i].number % 3, 2);
        expect_order(&all, false);
        hub_episode_page_dispose(&page);
    }
}

static void expect_next(void *user, const struct hub_found_episode *row, const char *file)
{
    char text[32];
    (void)file;
    const uint32_t place = (*(uint32_t *)user)++;
    cr_assert_eq(row->episode_return, place);
    snprintf(text, sizeof text, "%u", place);
    cr_assert_str_eq(row->seed, text);
    snprintf(text, sizeof text, "episode_%lld", (long long)row->number);
    cr_assert_str_eq(row->name, text);
}

static struct hub_state open_many(void)
{
    struct hub_state many;
    DRAFT_OK(hub_state_open(catalog, hub_snapshot_find(snapshot_now(catalog), HUB_VIEW("many")), &many, err));
    return many;
}

Test(episodes, many)
{
    publish("many", MANY, decorate_many);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    HUB_CLEANUP(hub_state_close) struct hub_state many = open_many();
    static const struct hub_property sorts[] = {
        {.kind = HUB_PROPERTY_RETURN},
        {.kind = HUB_PROPERTY_SEED},
        {.kind = HUB_PROPERTY_ATTRIBUTE, .of = {"rank", 4}}}; /* of a column that is made of the rows */
    for (size_t i = 0; i < HUB_COUNT(sorts); i++) {
        const struct hub_episode_query query = {.sort = sorts[i], .limit = 1000};
        uint32_t count = 0;
        cr_expect_eq(walk_all(&many, query, expect_next, &count), MANY);
        cr_expect_eq(count, MANY);
    }
}

/* Episodes are sorted and chosen by narrow columns: those of the page alone are read whole. */
Test(episodes, a_sort_reads_keys_and_the_rows_of_its_page)
{
    char path[4096];
    struct hub_db *db;
    publish("many", MANY, decorate_many);
    hub_catalog_close(catalog);
    snprintf(path, sizeof path, "%s/%s", state, hub_index_name);
    DRAFT_OK(hub_db_open(path, HUB_DB_WRITE, &db, err));
    DRAFT_OK(hub_db_exec(db, "DELETE FROM blobs WHERE name LIKE '%.rows' AND name <> '0.rows'", err));
    hub_db_close(db);
    const struct hub_catalog_options options = {.state = state};
    DRAFT_OK(hub_catalog_open(&options, &catalog, err));
    HUB_CLEANUP(hub_state_close) struct hub_state many = open_many();
    struct hub_episode_query query = {.sort = {.kind = HUB_PROPERTY_RETURN}, .limit = 1, .split = "val"};
    struct hub_error err;
    struct hub_episode_page page = page_of(&many, &query, NULL, NULL); /* episode 0 */
    cr_expect_eq(page.total, MANY / 10);
    hub_episode_page_dispose(&page);
    query.limit = 2;
    DRAFT_OK(hub_episode_page(&many, &query, &page, err));
    cr_expect_eq(see_episode(&many, many.dataset->episodes[page.places[1]].number, NULL, NULL, &err),
                 HUB_CORRUPT);
    hub_episode_page_dispose(&page);
}

static void expect_one(void *user, const struct hub_found_episode *row, const char *file)
{
    (void)file;
    struct hub_found_episode e = {.success = -1};
    decorate(&e, *(const uint32_t *)user);
    cr_expect_eq(row->number, *(const uint32_t *)user);
    cr_expect_eq(row->steps, e.steps);
    cr_expect_eq(row->has_return, e.has_return);
    cr_expect(!e.has_return || row->episode_return == e.episode_return || isnan(e.episode_return));
    cr_expect_eq(isnan(row->episode_return), e.has_return && isnan(e.episode_return));
    cr_expect_eq(row->return_computed, e.return_computed);
    cr_expect_eq(row->success, e.success);
    cr_expect_eq(row->terminated, -1);
    cr_expect(e.seed ? strcmp(row->seed, e.seed) == 0 : !row->seed);
    cr_expect(e.task ? strcmp(row->task, e.task) == 0 : !row->task);
    cr_expect_str_eq(row->splits, e.splits);
    cr_expect_null(row->attributes);
    free((void *)e.seed);
    free((void *)e.task);
    free((void *)e.splits);
}

Test(episodes, one)
{
    HUB_CLEANUP(hub_state_close) struct hub_state set = open_set();
    for (uint32_t i = 0; i < EPISODES; i++)
        DRAFT_OK(see_episode(&set, i, expect_one, &i, err));
}
