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

/* A walk over rows: the columns it is in stay at hand. */
struct walk {
    const struct hub_state *state;
    struct columns_ref *at;
    struct hub_lru_key key;
    unsigned moves; /* counts the columns it was in */
};

static void walk_dispose(struct walk *walk)
{
    if (walk->at)
        hub_lru_put(&walk->at->blob.item);
    walk->at = NULL;
}

static enum hub_status make_columns(struct hub_cached_blob *blob, void *user, struct hub_error *err)
{
    const struct walk *walk = user;
    if (hub_columns_open((struct hub_view){blob->data, blob->size}, &((struct columns_ref *)blob)->columns))
        return HUB_OK;
    return hub_blob_damaged(blob->catalog, walk->state->db, (int64_t)walk->key.a, err);
}

static enum hub_status get_row(struct walk *walk, const struct hub_dataset_episode *e,
                               struct hub_found_episode *out, struct hub_error *err)
{
    const struct hub_state *state = walk->state;
    const int64_t part = state->dataset->parts[e->part].row;
    const struct hub_lru_key key = {HUB_CACHE_EPISODES, (uint64_t)part, e->index / HUB_COLUMNS_ROWS};
    if (!walk->at || walk->key.a != key.a || walk->key.b != key.b) {
        const struct hub_blob_maker maker = {sizeof(struct columns_ref), make_columns, walk};
        struct hub_cached_blob *blob;
        char name[16];
        walk_dispose(walk);
        walk->key = key;
        walk->moves++;
        hub_columns_name(e->index, name);
        blob = hub_blob_cached(state->catalog, &key, name);
        const enum hub_status st = blob ? HUB_OK
                                        : hub_blob_load(state->catalog, state->db, part, HUB_BLOB_EPISODES,
                                                        &key, name, &maker, &blob, err);
        if (st)
            return st == HUB_NOT_FOUND ? hub_blob_damaged(state->catalog, state->db, part, err) : st;
        walk->at = (struct columns_ref *)blob;
    }
    if (e->index % HUB_COLUMNS_ROWS >= walk->at->columns.count)
        return hub_blob_damaged(state->catalog, state->db, part, err);
    hub_columns_get(&walk->at->columns, e->index % HUB_COLUMNS_ROWS, out);
    out->number = e->number;
    return HUB_OK;
}

static enum hub_status give(struct walk *walk, const struct hub_dataset_episode *e, hub_episode_each *each,
                            void *user, struct hub_error *err)
{
    const struct hub_dataset *dataset = walk->state->dataset;
    struct hub_found_episode row;
    HUB_TRY(get_row(walk, e, &row, err));
    const uint32_t file = hub_part_file(&hub_dataset_box_of(dataset)->maps[e->part], row.file);
    row.file = HUB_NONE;
    return each(user, &row, file < dataset->file_count ? dataset->files[file].path : NULL, err);
}

/* ---- keys ---- */

struct key {
    enum { KEY_INT, KEY_REAL, KEY_TEXT, KEY_NONE } kind; /* in this order */
    union {
        int64_t number;
        double real;
        struct hub_view text;
    };
};

/* Where the digits of a seed are made longer. */
struct digits {
    char text[24];
};

/* Seeds sort as numbers: within int64 as one, up to uint64 as 20 digits, else as the text it is. */
static void key_of_seed(const char *seed, struct digits *padded, struct key *key)
{
    const bool negative = seed[0] == '-';
    const char *digits = seed + negative;
    const size_t count = strlen(digits);
    const bool canonical = count && count <= 20 && strspn(digits, "0123456789") == count &&
                           (digits[0] != '0' || (count == 1 && !negative));
    key->kind = KEY_TEXT;
    key->text = hub_view_of(seed);
    if (canonical && (count < 19 || (count == 19 && strcmp(digits, "9223372036854775807") <= 0))) {
        key->kind = KEY_INT;
        key->number = strtoll(seed, NULL, 10);
    } else if (canonical && !negative && count < 20) {
        snprintf(padded->text, sizeof padded->text, "0%s", seed);
        key->text = hub_view_of(padded->text);
    }
}

static void key_of(const struct hub_found_episode *row, enum hub_episode_sort sort, struct digits *padded,
                   struct key *key)
{
    key->kind = KEY_NONE;
    switch (sort) {
    case HUB_BY_NUMBER: /* the order of ties */
        break;
    case HUB_BY_STEPS:
        key->kind = KEY_INT;
        key->number = (int64_t)row->steps;
        break;
    case HUB_BY_RETURN:
        if (row->has_return && row->episode_return == row->episode_return)
            key->kind = KEY_REAL;
        key->real = row->episode_return;
        break;
    case HUB_BY_SEED:
        if (row->seed)
            key_of_seed(row->seed, padded, key);
        break;
    case HUB_BY_TASK:
        if (row->task)
            key->kind = KEY_TEXT;
        key->text = hub_view_of(row->task);
        break;
    case HUB_BY_SUCCESS:
        if (row->success >= 0)
            key->kind = KEY_INT;
        key->number = row->success != 0;
        break;
    }
}

static int compare_text(struct hub_view a, struct hub_view b)
{
    const size_t size = HUB_MIN(a.size, b.size);
    const int order = size ? memcmp(a.data, b.data, size) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare_key(const struct key *a, const struct key *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    switch (a->kind) {
    case KEY_INT:
        return (a->number > b->number) - (a->number < b->number);
    case KEY_REAL:
        return (a->real > b->real) - (a->real < b->real);
    case KEY_TEXT:
        return compare_text(a->text, b->text);
    case KEY_NONE:
        break;
    }
    return 0;
}

static enum hub_status write_key(const struct key *key, struct hub_buf *out, struct hub_error *err)
{
    uint64_t bits;
    struct hub_view text;
    bool cut;
    out->size = 0;
    switch (key->kind) {
    case KEY_INT:
        return hub_buf_addf(out, err, "i%" PRId64, key->number);
    case KEY_REAL:
        memcpy(&bits, &key->real, sizeof bits);
        return hub_buf_addf(out, err, "r%016" PRIx64, bits);
    case KEY_TEXT:
        text = key->text;
        cut = text.size > MAX_KEY_TEXT;
        text.size = cut ? MAX_KEY_TEXT : text.size;
        HUB_TRY(hub_buf_add_text(out, cut ? "p" : "t", err));
        return hub_buf_add_view(out, text, err);
    case KEY_NONE:
        break;
    }
    return HUB_OK;
}

static enum hub_status read_key(struct hub_view text, struct key *key, struct hub_error *err)
{
    char digits[32] = "", *end = digits;
    const char letter = text.data[0];
    key->text = (struct hub_view){text.data + 1, text.size - 1};
    key->kind = KEY_TEXT;
    if (letter == 't' || letter == 'p')
        return HUB_OK;
    key->kind = letter == 'r' ? KEY_REAL : KEY_INT;
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
    struct key key;
    char *text; /* the key's own */
    bool descending;
};

/* What may be on the page, in no order until it is cut. */
struct page {
    const struct hub_episode_query *query;
    struct walk walk;
    struct item after, *items;
    struct hub_dataset_episode after_episode;
    uint32_t count, room;
    bool full;              /* when it was last cut: what comes behind items[limit] is not on the page */
    const char *split_text; /* of the row before, in the same columns, and whether the split is among them */
    unsigned split_moves;
    bool in_split;
    uint64_t total;
};

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if ((x->key.kind == KEY_NONE) != (y->key.kind == KEY_NONE))
        return x->key.kind == KEY_NONE ? 1 : -1;
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
    walk_dispose(&page->walk);
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
    if (item->key.kind != KEY_TEXT)
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

static enum hub_status check_split(struct page *page, const char *splits, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *array = NULL;
    size_t i;
    json_t *split;
    if (splits && page->split_text == splits && page->split_moves == page->walk.moves)
        return HUB_OK;
    page->split_text = splits;
    page->split_moves = page->walk.moves;
    page->in_split = false;
    if (splits)
        HUB_TRY(hub_json_parse(hub_view_of(splits), HUB_MAX_ATTRIBUTES, &array, err));
    json_array_foreach(array, i, split) if (json_is_string(split)) page->in_split =
        page->in_split || strcmp(json_string_value(split), page->query->split) == 0;
    return HUB_OK;
}

static enum hub_status look_at(struct page *page, const struct hub_dataset_episode *e, struct hub_error *err)
{
    const struct hub_episode_query *q = page->query;
    struct hub_found_episode row;
    struct digits padded;
    struct item item = {.episode = e, .descending = q->descending};
    row.steps = e->steps;
    if (q->split || (q->sort != HUB_BY_NUMBER && q->sort != HUB_BY_STEPS))
        HUB_TRY(get_row(&page->walk, e, &row, err));
    if (q->split) {
        HUB_TRY(check_split(page, row.splits, err));
        if (!page->in_split)
            return HUB_OK;
    }
    page->total++;
    key_of(&row, q->sort, &padded, &item.key);
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
    const struct hub_dataset *dataset = page->walk.state->dataset;
    const struct hub_episode_query *q = page->query;
    uint32_t from = 0, to = dataset->episode_count;
    const bool plain = q->sort == HUB_BY_NUMBER && !q->split;
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
    struct key whole;
    struct digits padded;
    struct hub_found_episode row;
    page->after_episode.number = q->after_number;
    *after = (struct item){
        .episode = &page->after_episode, .key = {.kind = KEY_NONE}, .descending = q->descending};
    if (q->sort == HUB_BY_NUMBER || q->after_is_null || !q->after_key.size)
        return HUB_OK;
    HUB_TRY(read_key(q->after_key, &after->key, err));
    const struct hub_dataset_episode *e =
        hub_dataset_find_episode(page->walk.state->dataset, q->after_number);
    if (q->after_key.data[0] == 'p' && e) {
        HUB_TRY(get_row(&page->walk, e, &row, err));
        key_of(&row, q->sort, &padded, &whole);
        if (whole.kind == KEY_TEXT && whole.text.size >= after->key.text.size &&
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
    HUB_CLEANUP(page_dispose) struct page page = {.query = query, .walk = {.state = state}};
    HUB_TRY(check_query(query, err));
    page.room = 2 * (query->limit + 1);
    HUB_TRY(hub_new(&page.items, page.room, sizeof *page.items, err));
    if (query->has_after)
        HUB_TRY(read_after(&page, err));
    HUB_TRY(look_at_all(&page, err));
    cut(&page);
    out->more = page.full;
    out->total = page.total;
    const uint32_t shown = HUB_MIN(page.count, query->limit);
    for (uint32_t i = 0; i < shown; i++)
        HUB_TRY(give(&page.walk, page.items[i].episode, each, user, err));
    return shown ? write_key(&page.items[shown - 1].key, &out->key, err) : HUB_OK;
}

enum hub_status hub_episode_one(const struct hub_state *state, int64_t number, hub_episode_each *each,
                                void *user, struct hub_error *err)
{
    HUB_CLEANUP(walk_dispose) struct walk walk = {.state = state};
    const struct hub_dataset_episode *e = hub_dataset_find_episode(state->dataset, number);
    return e ? give(&walk, e, each, user, err)
             : hub_fail_as(err, HUB_NOT_FOUND, "episode-missing", "%s has no episode %lld",
                           state->dataset->summary->id, (long long)number);
}
