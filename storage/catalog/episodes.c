/* Pages of episodes, over the dataset's directory and the columns of its parts.
 *
 * Pages go by key: a page begins strictly after the last key. By number it is found at once; by another key,
 * or of one split, all rows are looked at, and those that the page may show are kept. Episodes without the
 * key come last in both directions; ties are in order of number, reversed with the direction.
 *
 * A key in a cursor is a letter and the value: "i12", "r3fe8..." (bits of the double), "tTEXT", "pTEXT" for
 * the first bytes of a long text, whose rest the episode itself tells; empty: it has none. */
#include "storage/catalog/columns.h"

#include "storage/base/json.h"
#include "storage/base/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_PAGE = 1000, MAX_KEY_TEXT = 512 };

/* ---- rows ---- */

struct columns_ref {
    struct hub_cached_blob blob; /* first */
    struct hub_columns columns;
};

/* Reads one column: the blob it is in stays at hand. */
struct column_cursor {
    const struct hub_state *state;
    enum hub_episode_column column;
    struct columns_ref *at;
    int64_t part;
    uint32_t run;
    unsigned moves; /* counts the blobs it was in */
};

static void column_cursor_dispose(struct column_cursor *cursor)
{
    if (cursor->at)
        hub_lru_put(&cursor->at->blob.item);
    cursor->at = NULL;
}

static enum hub_status make_columns(struct hub_cached_blob *blob, void *user, struct hub_error *err)
{
    const struct column_cursor *cursor = user;
    struct hub_columns *columns = &((struct columns_ref *)blob)->columns;
    if (hub_columns_open((struct hub_view){blob->data, blob->size}, cursor->column, columns))
        return HUB_OK;
    return hub_blob_damaged(blob->catalog, cursor->state->db, cursor->part, err);
}

static enum hub_status move_to(struct column_cursor *cursor, int64_t part, uint32_t run, uint32_t index,
                               struct hub_error *err)
{
    const struct hub_state *state = cursor->state;
    const struct hub_blob_maker maker = {sizeof(struct columns_ref), make_columns, cursor};
    const struct hub_lru_key key = {HUB_CACHE_EPISODES, (uint64_t)part, (uint64_t)cursor->column << 32 | run};
    char name[HUB_COLUMN_NAME];
    column_cursor_dispose(cursor);
    cursor->part = part;
    cursor->run = run;
    cursor->moves++;
    hub_columns_name(cursor->column, index, name);
    const struct hub_blob_id id = {state->catalog, state->db, part, HUB_BLOB_EPISODES, name};
    struct hub_cached_blob *blob = hub_blob_cached(state->catalog, &key, name);
    const enum hub_status st = blob ? HUB_OK : hub_blob_load(&id, &key, &maker, &blob, err);
    if (st)
        return st == HUB_NOT_FOUND ? hub_blob_damaged(state->catalog, state->db, part, err) : st;
    cursor->at = (struct columns_ref *)blob;
    return HUB_OK;
}

/* Where the episode lies: in cursor->at, at this place. */
static enum hub_status find(struct column_cursor *cursor, const struct hub_dataset_episode *e,
                            uint32_t *place, struct hub_error *err)
{
    const int64_t part = cursor->state->dataset->parts[e->part].row;
    const uint32_t rows = hub_columns_run(cursor->column), run = e->index / rows;
    if (!cursor->at || cursor->part != part || cursor->run != run)
        HUB_TRY(move_to(cursor, part, run, e->index, err));
    *place = e->index % rows;
    return *place < cursor->at->columns.count
               ? HUB_OK
               : hub_blob_damaged(cursor->state->catalog, cursor->state->db, part, err);
}

static enum hub_status get_key(struct column_cursor *cursor, const struct hub_dataset_episode *e,
                               struct hub_key *out, struct hub_error *err)
{
    uint32_t place;
    HUB_TRY(find(cursor, e, &place, err));
    hub_columns_key(&cursor->at->columns, place, out);
    return HUB_OK;
}

static enum hub_status give(struct column_cursor *cursor, const struct hub_dataset_episode *e,
                            hub_episode_each *each, void *user, struct hub_error *err)
{
    const struct hub_dataset *dataset = cursor->state->dataset;
    struct hub_found_episode row;
    uint32_t place;
    HUB_TRY(find(cursor, e, &place, err));
    hub_columns_row(&cursor->at->columns, place, &row);
    row.number = e->number;
    const uint32_t file = hub_part_file(&hub_dataset_box_of(dataset)->maps[e->part], row.file);
    row.file = HUB_NONE;
    return each(user, &row, file < dataset->file_count ? dataset->files[file].path : NULL, err);
}

/* ---- keys ---- */

static const enum hub_episode_column column_of[] = {
    [HUB_BY_RETURN] = HUB_COLUMN_RETURN,
    [HUB_BY_SEED] = HUB_COLUMN_SEED,
    [HUB_BY_TASK] = HUB_COLUMN_TASK,
    [HUB_BY_SUCCESS] = HUB_COLUMN_SUCCESS,
};

static int compare_text(struct hub_view a, struct hub_view b)
{
    const size_t size = HUB_MIN(a.size, b.size);
    const int order = size ? memcmp(a.data, b.data, size) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare_key(const struct hub_key *a, const struct hub_key *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    switch (a->kind) {
    case HUB_KEY_INT:
        return (a->number > b->number) - (a->number < b->number);
    case HUB_KEY_REAL:
        return (a->real > b->real) - (a->real < b->real);
    case HUB_KEY_TEXT:
        return compare_text(a->text, b->text);
    case HUB_KEY_NONE:
        break;
    }
    return 0;
}

static enum hub_status write_key(const struct hub_key *key, struct hub_buf *out, struct hub_error *err)
{
    uint64_t bits;
    struct hub_view text;
    bool cut;
    out->size = 0;
    switch (key->kind) {
    case HUB_KEY_INT:
        return hub_buf_addf(out, err, "i%" PRId64, key->number);
    case HUB_KEY_REAL:
        memcpy(&bits, &key->real, sizeof bits);
        return hub_buf_addf(out, err, "r%016" PRIx64, bits);
    case HUB_KEY_TEXT:
        text = key->text;
        cut = text.size > MAX_KEY_TEXT;
        text.size = cut ? MAX_KEY_TEXT : text.size;
        HUB_TRY(hub_buf_add_text(out, cut ? "p" : "t", err));
        return hub_buf_add_view(out, text, err);
    case HUB_KEY_NONE:
        break;
    }
    return HUB_OK;
}

static enum hub_status read_key(struct hub_view text, struct hub_key *key, struct hub_error *err)
{
    char digits[32] = "", *end = digits;
    const char letter = text.data[0];
    key->text = (struct hub_view){text.data + 1, text.size - 1};
    key->kind = HUB_KEY_TEXT;
    if (letter == 't' || letter == 'p')
        return HUB_OK;
    key->kind = letter == 'r' ? HUB_KEY_REAL : HUB_KEY_INT;
    if (text.size >= 2 && text.size <= sizeof digits) {
        memcpy(digits, text.data + 1, text.size - 1);
        if (letter == 'i')
            key->number = strtoll(digits, &end, 10);
        else if (letter == 'r')
            key->number = (int64_t)strtoull(digits, &end, 16); /* the bits of `real` */
    }
    return end > digits && end == digits + text.size - 1
               ? HUB_OK
               : hub_fail_as(err, HUB_INVALID, "bad-cursor", "the cursor does not belong to this listing");
}

/* ---- the page ---- */

struct item {
    const struct hub_dataset_episode *episode;
    struct hub_key key;
    char *text; /* the key's own */
    bool descending;
};

/* What may be on the page, in no order until it is cut. */
struct page {
    const struct hub_episode_query *query;
    struct column_cursor rows, keys, splits, tasks;
    char *task;    /* the text of the one that is asked for */
    bool has_list; /* of the dataset's tasks: then an episode may have several */
    struct item after, *items;
    struct hub_dataset_episode after_episode;
    uint32_t count, room;
    bool full; /* when it was last cut: what comes behind items[limit] is not on the page */
    struct {
        const char *text;
        unsigned moves;
        bool in;
    } known[16]; /* whether the split is among them */
    uint64_t total;
};

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if ((x->key.kind == HUB_KEY_NONE) != (y->key.kind == HUB_KEY_NONE))
        return x->key.kind == HUB_KEY_NONE ? 1 : -1;
    int order = compare_key(&x->key, &y->key);
    if (!order)
        order = (x->episode->number > y->episode->number) - (x->episode->number < y->episode->number);
    return x->descending ? -order : order;
}

static void page_dispose(struct page *page)
{
    for (uint32_t i = 0; i < page->count; i++)
        free(page->items[i].text);
    free(page->items);
    free(page->after.text);
    column_cursor_dispose(&page->rows);
    column_cursor_dispose(&page->keys);
    column_cursor_dispose(&page->splits);
    column_cursor_dispose(&page->tasks);
    free(page->task);
}

/* Only the best, and one more that tells that there are more. */
static void cut(struct page *page)
{
    qsort(page->items, page->count, sizeof *page->items, compare_items);
    for (; page->count > page->query->limit + 1; page->count--)
        free(page->items[page->count - 1].text);
    page->full = page->count > page->query->limit;
}

/* Texts outlive the columns they lie in. */
static enum hub_status own_text(struct item *item, struct hub_error *err)
{
    if (item->key.kind != HUB_KEY_TEXT)
        return HUB_OK;
    item->text = hub_view_dup(item->key.text);
    item->key.text.data = item->text;
    return hub_allocated(item->text, err);
}

static enum hub_status add_item(struct page *page, struct item *item, struct hub_error *err)
{
    if (page->query->has_after && compare_items(item, &page->after) <= 0)
        return HUB_OK;
    if (page->full && compare_items(item, &page->items[page->query->limit]) >= 0)
        return HUB_OK;
    if (page->count == page->room)
        cut(page);
    HUB_TRY(own_text(item, err));
    page->items[page->count++] = *item;
    return HUB_OK;
}

static bool is_among(const json_t *texts, const char *wanted)
{
    bool found = false;
    for (size_t i = 0; i < json_array_size(texts) && !found; i++) {
        const char *text = json_string_value(json_array_get(texts, i));
        found = text && strcmp(text, wanted) == 0;
    }
    return found;
}

static enum hub_status has_split(const char *splits, const char *wanted, bool *has, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *array = NULL;
    HUB_TRY(hub_json_parse(hub_view_of(splits), HUB_MAX_ATTRIBUTES, &array, err));
    *has = is_among(array, wanted);
    return HUB_OK;
}

/* Many episodes have the same splits: what was found out of a text holds for as long as it lies there. */
static enum hub_status check_split(struct page *page, const struct hub_dataset_episode *e, bool *in,
                                   struct hub_error *err)
{
    struct hub_key key;
    *in = false;
    HUB_TRY(get_key(&page->splits, e, &key, err));
    if (key.kind != HUB_KEY_TEXT)
        return HUB_OK;
    const size_t slot = (size_t)(key.text.data - page->splits.at->columns.texts) % HUB_COUNT(page->known);
    if (page->known[slot].text != key.text.data || page->known[slot].moves != page->splits.moves) {
        HUB_TRY(has_split(key.text.data, page->query->split, &page->known[slot].in, err));
        page->known[slot].text = key.text.data;
        page->known[slot].moves = page->splits.moves;
    }
    *in = page->known[slot].in;
    return HUB_OK;
}

/* A name is asked for now and then: its own rows are read for it. */
static enum hub_status check_name(struct page *page, const struct hub_dataset_episode *e, bool *in,
                                  struct hub_error *err)
{
    struct hub_found_episode row;
    uint32_t place;
    HUB_TRY(find(&page->rows, e, &place, err));
    hub_columns_row(&page->rows.at->columns, place, &row);
    *in = row.name && strcmp(row.name, page->query->name) == 0;
    return HUB_OK;
}

/* An episode of several tasks has the first as its own, and all in its attributes. */
static enum hub_status check_task(struct page *page, const struct hub_dataset_episode *e, bool *in,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *attributes = NULL;
    struct hub_found_episode row;
    struct hub_key key;
    uint32_t place;
    HUB_TRY(get_key(&page->tasks, e, &key, err));
    *in = key.kind == HUB_KEY_TEXT && hub_view_is(key.text, page->task);
    if (*in || !page->has_list)
        return HUB_OK;
    HUB_TRY(find(&page->rows, e, &place, err));
    hub_columns_row(&page->rows.at->columns, place, &row);
    if (!row.attributes || !strstr(row.attributes, "\"tasks\""))
        return HUB_OK;
    HUB_TRY(hub_json_parse(hub_view_of(row.attributes), HUB_MAX_ATTRIBUTES, &attributes, err));
    *in = is_among(json_object_get(attributes, "tasks"), page->task);
    return HUB_OK;
}

/* By its text, or by its number in the dataset's list. */
static enum hub_status read_task(struct page *page, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf fact = HUB_BUF_INIT((size_t)HUB_MAX_TEXT);
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    const char *wanted = page->query->task, *text = wanted;
    char *end;
    const long long number = strtoll(wanted, &end, 10);
    HUB_TRY(hub_dataset_fact(page->tasks.state, "tasks", &fact, err));
    page->has_list = fact.size;
    if (fact.size && *wanted && !*end) {
        HUB_TRY(hub_json_parse(hub_buf_view(&fact), fact.limit, &list, err));
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *task = json_array_get(list, i);
            const char *its = json_string_value(json_object_get(task, "task"));
            if (its && json_integer_value(json_object_get(task, "index")) == number)
                text = its;
        }
    }
    return hub_dup(&page->task, text, err);
}

static enum hub_status key_of(struct page *page, const struct hub_dataset_episode *e, struct hub_key *key,
                              struct hub_error *err)
{
    *key = (struct hub_key){.kind = HUB_KEY_NONE}; /* by number: the order of ties */
    if (page->query->sort == HUB_BY_STEPS)
        *key = (struct hub_key){.kind = HUB_KEY_INT, .number = (int64_t)e->steps};
    return page->keys.column ? get_key(&page->keys, e, key, err) : HUB_OK;
}

static enum hub_status look_at(struct page *page, const struct hub_dataset_episode *e, struct hub_error *err)
{
    struct item item = {.episode = e, .descending = page->query->descending};
    bool in = true;
    if (page->query->name)
        HUB_TRY(check_name(page, e, &in, err));
    if (in && page->query->split)
        HUB_TRY(check_split(page, e, &in, err));
    if (in && page->task)
        HUB_TRY(check_task(page, e, &in, err));
    if (!in)
        return HUB_OK;
    page->total++;
    HUB_TRY(key_of(page, e, &item.key, err));
    return add_item(page, &item, err);
}

/* First index whose number is not before `number`. */
static uint32_t place_of(const struct hub_dataset *dataset, int64_t number)
{
    return hub_lower_bound(&number, dataset->episodes, dataset->episode_count, sizeof *dataset->episodes,
                           hub_by_i64);
}

/* Those that come into question are looked at in the direction of the page, so that ties come in order. */
static enum hub_status look_at_all(struct page *page, struct hub_error *err)
{
    const struct hub_dataset *dataset = page->rows.state->dataset;
    const struct hub_episode_query *q = page->query;
    uint32_t from = 0, to = dataset->episode_count;
    const bool plain = q->sort == HUB_BY_NUMBER && !q->split && !q->name && !q->task;
    if (plain && q->has_after && q->descending)
        to = place_of(dataset, q->after_number);
    else if (plain && q->has_after)
        from = place_of(dataset, q->after_number);
    for (uint32_t left = to - from; left && !(plain && page->count > q->limit); left--)
        HUB_TRY(look_at(page, &dataset->episodes[q->descending ? from + left - 1 : to - left], err));
    if (plain)
        page->total = dataset->episode_count;
    return HUB_OK;
}

/* Where the page begins. The rest of a long text is the episode's; when it has another by now, the page goes
 * on from the part that is known. */
static enum hub_status read_after(struct page *page, struct hub_error *err)
{
    const struct hub_episode_query *q = page->query;
    struct item *after = &page->after;
    struct hub_key whole;
    page->after_episode.number = q->after_number;
    *after = (struct item){
        .episode = &page->after_episode, .key = {.kind = HUB_KEY_NONE}, .descending = q->descending};
    if (q->sort == HUB_BY_NUMBER || q->after_is_null || !q->after_key.size)
        return HUB_OK;
    HUB_TRY(read_key(q->after_key, &after->key, err));
    const struct hub_dataset_episode *e =
        hub_dataset_find_episode(page->rows.state->dataset, q->after_number);
    if (q->after_key.data[0] == 'p' && e) {
        HUB_TRY(key_of(page, e, &whole, err));
        if (whole.kind == HUB_KEY_TEXT && whole.text.size >= after->key.text.size &&
            memcmp(whole.text.data, after->key.text.data, after->key.text.size) == 0)
            after->key = whole;
    }
    return own_text(after, err);
}

static enum hub_status check_query(const struct hub_episode_query *q, struct hub_error *err)
{
    if ((unsigned)q->sort > HUB_BY_SUCCESS)
        return hub_fail(err, HUB_INVALID, "unknown sort %d", (int)q->sort);
    if (!q->limit || q->limit > MAX_PAGE)
        return hub_fail(err, HUB_INVALID, "a page has 1 to %d episodes", MAX_PAGE);
    return HUB_OK;
}

enum hub_status hub_episode_page(const struct hub_state *state, const struct hub_episode_query *query,
                                 hub_episode_each *each, void *user, struct hub_episode_page *out,
                                 struct hub_error *err)
{
    HUB_CLEANUP(page_dispose)
    struct page page = {.query = query,
                        .rows = {.state = state},
                        .keys = {.state = state},
                        .splits = {.state = state, .column = HUB_COLUMN_SPLITS},
                        .tasks = {.state = state, .column = HUB_COLUMN_TASK}};
    HUB_TRY(check_query(query, err));
    page.keys.column = column_of[query->sort];
    page.room = 2 * (query->limit + 1);
    HUB_TRY(hub_new(&page.items, page.room, sizeof *page.items, err));
    if (query->task)
        HUB_TRY(read_task(&page, err));
    if (query->has_after)
        HUB_TRY(read_after(&page, err));
    HUB_TRY(look_at_all(&page, err));
    cut(&page);
    out->more = page.full;
    out->total = page.total;
    const uint32_t shown = HUB_MIN(page.count, query->limit);
    for (uint32_t i = 0; i < shown; i++)
        HUB_TRY(give(&page.rows, page.items[i].episode, each, user, err));
    return shown ? write_key(&page.items[shown - 1].key, &out->key, err) : HUB_OK;
}

enum hub_status hub_episode_one(const struct hub_state *state, int64_t number, hub_episode_each *each,
                                void *user, struct hub_error *err)
{
    HUB_CLEANUP(column_cursor_dispose) struct column_cursor cursor = {.state = state};
    const struct hub_dataset_episode *e = hub_dataset_find_episode(state->dataset, number);
    return e ? give(&cursor, e, each, user, err)
             : hub_fail_as(err, HUB_NOT_FOUND, "episode-missing", "%s has no episode %lld",
                           state->dataset->summary->id, (long long)number);
}
