/*
 * Pages of episodes, over the dataset's directory and the columns of its parts.
 *
 * A page lies at an episode: behind it, before it or around it in the order of the question. By number it is
 * found at once; by another key, or of some, all episodes are looked at, and those nearest to that episode
 * are kept. Episodes without the key come last in both directions; ties are in order of number, reversed
 * with the direction.
 */
#include "storage/episodes/episode_reader.h"

#include "storage/base/order.h"
#include "storage/text/number.h"

#include <inttypes.h>
#include <stdlib.h>

enum { EPISODES_BETWEEN = 1024 };

/* ---- keys ---- */

/* An episode with its key, which owns its text. */
struct page_item {
    uint32_t place; /* in the dataset, by number */
    bool is;        /* it has the key */
    bool descending, reversed;
    struct hub_value key;
};

/* Numbers before texts; what is missing sorts behind both, whatever the direction. */
static int compare_keys(const struct hub_value *a, const struct hub_value *b)
{
    const enum hub_order order = hub_value_compare(a, b);
    return order == HUB_UNORDERED ? (a->kind == HUB_VALUE_TEXT) - (b->kind == HUB_VALUE_TEXT) : (int)order;
}

static int compare_items(const void *a, const void *b)
{
    const struct page_item *x = a, *y = b;
    int order = x->is && y->is ? compare_keys(&x->key, &y->key) : 0;
    if (!order)
        order = (x->place > y->place) - (x->place < y->place);
    order = x->is != y->is ? (x->is ? -1 : 1) : x->descending ? -order : order;
    return x->reversed ? -order : order;
}

static void forget(struct page_item *item)
{
    if (item->is && item->key.kind == HUB_VALUE_TEXT)
        free((char *)item->key.text.data);
}

/* Texts outlive the columns they lie in. */
static enum hub_status own_text(struct page_item *item, struct hub_error *err)
{
    if (!item->is || item->key.kind != HUB_VALUE_TEXT)
        return HUB_OK;
    item->key.text.data = hub_view_dup(item->key.text);
    item->is = item->key.text.data;
    return hub_allocated(item->key.text.data, err);
}

/* The first `most` of those that were added, in no order until it is cut. */
struct page_list {
    struct page_item *items;
    uint32_t count, room, most;
    bool full; /* the last of them is items[most - 1] */
};

static void list_dispose(struct page_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        forget(&list->items[i]);
    free(list->items);
}

static enum hub_status list_init(struct page_list *list, uint32_t most, struct hub_error *err)
{
    list->most = most;
    list->room = 2 * most;
    return hub_new(&list->items, (size_t)list->room + 1, sizeof *list->items, err);
}

static void cut(struct page_list *list)
{
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_items);
    for (; list->count > list->most; list->count--)
        forget(&list->items[list->count - 1]);
    list->full = list->count == list->most;
}

static enum hub_status add_item(struct page_list *list, struct page_item *item, struct hub_error *err)
{
    if (!list->most || (list->full && compare_items(item, &list->items[list->most - 1]) >= 0))
        return HUB_OK;
    if (list->count == list->room)
        cut(list);
    HUB_TRY(own_text(item, err));
    list->items[list->count++] = *item;
    return HUB_OK;
}

/* ---- one look at all ---- */

struct episode_look {
    const struct hub_episode_query *query;
    struct hub_episode_reader reader;
    struct page_item at;             /* where the page lies; borrows its text while it is looked at */
    struct page_list before, behind; /* before: the nearest first */
    uint32_t looks, before_count, count;
    bool has_at, found; /* the episode it lies at is among the chosen */
    bool at_is_behind;  /* that episode comes behind, not before */
};

static void look_dispose(struct episode_look *look)
{
    list_dispose(&look->before);
    list_dispose(&look->behind);
    forget(&look->at);
    hub_episode_reader_dispose(&look->reader);
}

/* Whether one of its values under a name is this text, or the number that it spells. */
enum hub_status hub_episode_has_text(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                     enum hub_property_kind kind, struct hub_view text, bool *in,
                                     struct hub_error *err)
{
    const struct hub_value wanted = hub_value_text(text);
    struct hub_value spelt = wanted;
    struct hub_values values;
    uint64_t number;
    if (hub_number_read(wanted.text, INT64_MAX, &number))
        spelt = hub_value_uint(number);
    HUB_TRY(hub_episode_values_of(reader, e, &(struct hub_property){.kind = kind}, &values, err));
    *in = false;
    for (size_t i = 0; i < values.count && !*in; i++)
        *in = hub_value_compare(&values.first[i], &wanted) == HUB_EQUAL ||
              hub_value_compare(&values.first[i], &spelt) == HUB_EQUAL;
    return HUB_OK;
}

struct looked_at {
    struct hub_episode_reader *reader;
    const struct hub_dataset_episode *episode;
};

static enum hub_status get_values(void *user, const struct hub_property *name, struct hub_values *out,
                                  struct hub_error *err)
{
    const struct looked_at *of = user;
    return hub_episode_values_of(of->reader, of->episode, name, out, err);
}

/* Now and then, is the answer still waited for? */
static enum hub_status go_on(struct episode_look *look, struct hub_error *err)
{
    return look->looks++ % EPISODES_BETWEEN == 0 && hub_parallel_cancelled(look->query->parallel)
               ? hub_fail(err, HUB_CANCELLED, "the request for these episodes has ended")
               : HUB_OK;
}

static enum hub_status check_texts(struct episode_look *look, const struct hub_dataset_episode *e, bool *in,
                                   struct hub_error *err)
{
    const struct hub_episode_query *q = look->query;
    const struct {
        const char *text;
        enum hub_property_kind kind;
    } texts[] = {{q->name, HUB_PROPERTY_NAME}, {q->split, HUB_PROPERTY_SPLIT}, {q->task, HUB_PROPERTY_TASK}};
    for (size_t i = 0; i < HUB_COUNT(texts) && *in; i++)
        if (texts[i].text)
            HUB_TRY(
                hub_episode_has_text(&look->reader, e, texts[i].kind, hub_view_of(texts[i].text), in, err));
    return HUB_OK;
}

/* Whether the query's filters take it. */
static enum hub_status check(struct episode_look *look, const struct hub_dataset_episode *e, bool *in,
                             struct hub_error *err)
{
    const struct hub_episode_query *q = look->query;
    *in = true;
    HUB_TRY(go_on(look, err));
    if (q->name || q->split || q->task)
        HUB_TRY(check_texts(look, e, in, err));
    if (!*in || !q->where)
        return HUB_OK;
    return hub_where_holds(
        q->where, &(struct hub_episode_values){get_values, &(struct looked_at){&look->reader, e}}, in, err);
}

static enum hub_status item_of(struct episode_look *look, uint32_t place, struct page_item *out,
                               struct hub_error *err)
{
    const struct hub_episode_query *q = look->query;
    struct hub_values values = {0};
    *out = (struct page_item){.place = place, .descending = q->descending};
    if (q->sort.kind != HUB_PROPERTY_NUMBER) /* which is the order of ties */
        HUB_TRY(hub_episode_values_of(&look->reader, &look->reader.state->dataset->episodes[place], &q->sort,
                                      &values, err));
    out->is = values.count;
    if (out->is)
        out->key = *values.first;
    return HUB_OK;
}

static enum hub_status look_at(struct episode_look *look, uint32_t place, struct hub_error *err)
{
    struct page_item item;
    bool in;
    HUB_TRY(check(look, &look->reader.state->dataset->episodes[place], &in, err));
    if (!in)
        return HUB_OK;
    look->count++;
    if (look->query->sort.kind == HUB_PROPERTY_NUMBER && look->behind.full && !look->has_at)
        return HUB_OK; /* all that follow come later */
    HUB_TRY(item_of(look, place, &item, err));
    const int order = look->has_at ? compare_items(&item, &look->at) : 1;
    look->found |= order == 0;
    if (order > 0 || (order == 0 && look->at_is_behind))
        return add_item(&look->behind, &item, err);
    look->before_count++;
    item.reversed = true;
    return add_item(&look->before, &item, err);
}

/* Episodes are looked at in the direction of the page, so that ties come in order. */
static enum hub_status look_at_all(struct episode_look *look, struct hub_error *err)
{
    const uint32_t count = look->reader.state->dataset->episode_count;
    for (uint32_t i = 0; i < count; i++)
        HUB_TRY(look_at(look, look->query->descending ? count - 1 - i : i, err));
    cut(&look->before);
    cut(&look->behind);
    return HUB_OK;
}

/* ---- pages ---- */

void hub_episode_page_dispose(struct hub_episode_page *page)
{
    free(page->places);
    *page = (struct hub_episode_page){0};
}

/* Where a page begins that lies at an episode with so many before it. */
static uint32_t first_of(const struct hub_episode_query *q, uint32_t before)
{
    return q->from == HUB_PAGE_BEFORE   ? before - HUB_MIN(before, q->limit)
           : q->from == HUB_PAGE_AROUND ? before / q->limit * q->limit
                                        : before;
}

static enum hub_status begin_page(const struct hub_episode_query *q, uint32_t before, uint32_t total,
                                  struct hub_episode_page *out, struct hub_error *err)
{
    out->total = total;
    out->first = first_of(q, before);
    out->count = HUB_MIN(q->limit, total - out->first);
    return hub_new(&out->places, (size_t)out->count + 1, sizeof *out->places, err);
}

static enum hub_status not_among(const struct hub_episode_query *q, struct hub_error *err)
{
    return q->from == HUB_PAGE_AROUND
               ? hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_EPISODE_MISSING,
                             "episode %" PRId64 " is not one of the chosen episodes", q->number)
               : hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_BAD_CURSOR,
                             "the episode of this cursor no longer exists; start again without a cursor");
}

/* Without a filter and by number, places follow each other, whether the episode is still there or not. */
static enum hub_status page_by_number(const struct hub_dataset *d, const struct hub_episode_query *q,
                                      struct hub_episode_page *out, struct hub_error *err)
{
    const uint32_t n = d->episode_count;
    const uint32_t at = hub_lower_bound(&q->number, d->episodes, n, sizeof *d->episodes, hub_by_i64);
    const bool found = at < n && d->episodes[at].number == q->number;
    uint32_t before = q->descending ? n - at - (found && q->from != HUB_PAGE_BEHIND)
                                    : at + (found && q->from == HUB_PAGE_BEHIND);
    if (q->from == HUB_PAGE_AROUND && !found)
        return not_among(q, err);
    before = q->from == HUB_PAGE_FIRST ? 0 : before;
    HUB_TRY(begin_page(q, before, n, out, err));
    for (uint32_t i = 0; i < out->count; i++)
        out->places[i] = q->descending ? n - 1 - (out->first + i) : out->first + i;
    return HUB_OK;
}

/* An episode that is there, if not among the chosen, has its place in their order. By number one that is gone
 * has its place too: that of the next one. */
static enum hub_status find_at(struct episode_look *look, struct hub_error *err)
{
    const struct hub_dataset *d = look->reader.state->dataset;
    const struct hub_episode_query *q = look->query;
    const struct hub_dataset_episode *e = hub_dataset_find_episode(d, q->number);
    if (q->from == HUB_PAGE_FIRST)
        return HUB_OK;
    look->has_at = true;
    look->at_is_behind = e ? q->from != HUB_PAGE_BEHIND : !q->descending;
    if (!e && q->sort.kind == HUB_PROPERTY_NUMBER && q->from != HUB_PAGE_AROUND) {
        look->at = (struct page_item){.place = hub_lower_bound(&q->number, d->episodes, d->episode_count,
                                                               sizeof *d->episodes, hub_by_i64),
                                      .descending = q->descending};
        return HUB_OK;
    }
    if (!e)
        return not_among(q, err);
    HUB_TRY(item_of(look, (uint32_t)(e - d->episodes), &look->at, err));
    return own_text(&look->at, err);
}

static enum hub_status page_by_key(const struct hub_state *state, const struct hub_episode_query *q,
                                   struct hub_episode_page *out, struct hub_error *err)
{
    HUB_CLEANUP(look_dispose) struct episode_look look = {.query = q, .reader = {.state = state}};
    const bool back = q->from == HUB_PAGE_BEFORE || q->from == HUB_PAGE_AROUND;
    const uint32_t most = HUB_MIN(q->limit, state->dataset->episode_count);
    uint32_t filled = 0;
    HUB_TRY(list_init(&look.before, back ? most : 0, err));
    HUB_TRY(list_init(&look.behind, most, err));
    HUB_TRY(find_at(&look, err));
    HUB_TRY(look_at_all(&look, err));
    if (q->from == HUB_PAGE_AROUND && !look.found)
        return not_among(q, err);
    HUB_TRY(begin_page(q, look.before_count, look.count, out, err));
    for (uint32_t i = look.before_count - out->first; i > 0; i--)
        out->places[filled++] = look.before.items[i - 1].place;
    for (uint32_t i = 0; filled < out->count; i++)
        out->places[filled++] = look.behind.items[i].place;
    return HUB_OK;
}

enum hub_status hub_episode_page(const struct hub_state *state, const struct hub_episode_query *q,
                                 struct hub_episode_page *out, struct hub_error *err)
{
    const bool plain = q->sort.kind == HUB_PROPERTY_NUMBER && !q->split && !q->name && !q->task && !q->where;
    return plain ? page_by_number(state->dataset, q, out, err) : page_by_key(state, q, out, err);
}

enum hub_status hub_episode_page_among(const struct hub_dataset *dataset, const uint32_t *places,
                                       uint32_t count, const struct hub_episode_query *q,
                                       struct hub_episode_page *out, struct hub_error *err)
{
    uint32_t before = 0;
    while (q->from != HUB_PAGE_FIRST && before < count &&
           dataset->episodes[places[before]].number != q->number)
        before++;
    if (q->from != HUB_PAGE_FIRST && before == count)
        return not_among(q, err);
    HUB_TRY(begin_page(q, before + (q->from == HUB_PAGE_BEHIND), count, out, err));
    memcpy(out->places, places + out->first, out->count * sizeof *places);
    return HUB_OK;
}

enum hub_status hub_episode_choose(const struct hub_state *state, const struct hub_episode_query *query,
                                   bool *chosen, struct hub_error *err)
{
    HUB_CLEANUP(look_dispose) struct episode_look look = {.query = query, .reader = {.state = state}};
    for (uint32_t i = 0; i < state->dataset->episode_count; i++)
        HUB_TRY(check(&look, &state->dataset->episodes[i], &chosen[i], err));
    return HUB_OK;
}

/* ---- of single ones ---- */

enum hub_status hub_episode_describe(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                     struct hub_found_episode *out, const char **path, struct hub_error *err)
{
    const struct hub_dataset *dataset = reader->state->dataset;
    HUB_TRY(hub_episode_row(reader, e, out, err));
    const uint32_t file = hub_part_file(&hub_dataset_box_of(dataset)->maps[e->part], out->file);
    out->number = e->number;
    out->file = HUB_NONE;
    *path = file < dataset->file_count ? dataset->files[file].path : NULL;
    return HUB_OK;
}

enum hub_status hub_episode_files(const struct hub_state *state, hub_episode_file *each, void *user,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = state};
    const struct hub_dataset *dataset = state->dataset;
    for (uint32_t i = 0; i < dataset->episode_count; i++) {
        const struct hub_dataset_episode *e = &dataset->episodes[i];
        struct hub_found_episode row;
        HUB_TRY(hub_episode_row(&reader, e, &row, err));
        const uint32_t file = hub_part_file(&hub_dataset_box_of(dataset)->maps[e->part], row.file);
        each(user, i, file < dataset->file_count ? file : HUB_NONE);
    }
    return HUB_OK;
}

/* ---- splits ---- */

struct split_count {
    struct hub_episode_reader reader;
    struct hub_buf text; /* the splits of the episode before, which are likely those of the next */
    json_t *names, *counts;
};

static void split_count_dispose(struct split_count *s)
{
    hub_episode_reader_dispose(&s->reader);
    hub_buf_dispose(&s->text);
    json_decref(s->names);
    json_decref(s->counts);
}

static enum hub_status read_names(struct split_count *s, struct hub_view text, struct hub_error *err)
{
    if (s->names && hub_view_equal(text, hub_buf_view(&s->text)))
        return HUB_OK;
    json_decref(s->names);
    s->names = NULL;
    s->text.size = 0;
    HUB_TRY(hub_buf_add_view(&s->text, text, err));
    return hub_json_parse(text, s->text.limit, &s->names, err);
}

static enum hub_status count_splits(struct split_count *s, const struct hub_dataset_episode *e,
                                    struct hub_error *err)
{
    struct hub_found_episode row;
    size_t i;
    json_t *name;
    HUB_TRY(hub_episode_row(&s->reader, e, &row, err));
    HUB_TRY(read_names(s, hub_view_of(row.splits ? row.splits : "[]"), err));
    json_array_foreach(s->names, i, name)
    {
        const char *key = json_string_value(name);
        const json_int_t before = key ? json_integer_value(json_object_get(s->counts, key)) : 0;
        if (key && json_object_set_new(s->counts, key, json_integer(before + 1)))
            return hub_no_memory(err);
    }
    return HUB_OK;
}

enum hub_status hub_dataset_splits(const struct hub_state *state, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(split_count_dispose)
    struct split_count s = {.reader = {.state = state}, .text = HUB_BUF_INIT(HUB_MAX_ATTRIBUTES)};
    const struct hub_dataset *d = state->dataset;
    const size_t before = out->size;
    HUB_TRY(hub_dataset_fact(state, "splits", out, err));
    if (out->size > before || d->episode_count == 0)
        return HUB_OK;
    s.counts = json_object();
    HUB_TRY(hub_allocated(s.counts, err));
    HUB_TRY(count_splits(&s, &d->episodes[d->episode_count - 1], err));
    if (json_object_size(s.counts) == 0) /* those of a format have them all, or none has */
        return HUB_OK;
    for (uint32_t i = 0; i + 1 < d->episode_count; i++)
        HUB_TRY(count_splits(&s, &d->episodes[i], err));
    HUB_CLEANUP(hub_freep) char *text = json_dumps(s.counts, JSON_COMPACT | JSON_SORT_KEYS);
    return text ? hub_buf_add_text(out, text, err) : hub_no_memory(err);
}
