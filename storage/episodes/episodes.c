/*
 * Pages of episodes, over the dataset's directory and the columns of its parts.
 *
 * Pages go by key: a page begins strictly after the last key. By number it is found at once; by another
 * key, or of one split, all rows are looked at, and those that the page may show are kept. Episodes without
 * the key come last in both directions; ties are in order of number, reversed with the direction.
 *
 * A key in a cursor is a letter and the value: "i12", "u18446744073709551615", "r3fe8..." (bits of the
 * double), "tTEXT", "pTEXT" for the first bytes of a long text, whose rest the episode itself tells; empty:
 * it has none.
 */
#include "storage/episodes/episode_reader.h"

#include "storage/base/order.h"
#include "storage/text/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_PAGE = 1000, MAX_KEY_TEXT = 512, EPISODES_BETWEEN = 1024 };

/* ---- keys ---- */

/* Numbers before texts; what is missing sorts behind both, whatever the direction. */
struct key {
    bool is;
    struct hub_value value;
};

static int compare_key(const struct key *a, const struct key *b)
{
    const enum hub_order order = a->is && b->is ? hub_value_compare(&a->value, &b->value) : HUB_EQUAL;
    return order == HUB_UNORDERED ? (a->value.kind == HUB_VALUE_TEXT) - (b->value.kind == HUB_VALUE_TEXT)
                                  : (int)order;
}

static enum hub_status write_key(const struct key *key, struct hub_buf *out, struct hub_error *err)
{
    uint64_t bits;
    struct hub_view text;
    bool cut;
    out->size = 0;
    if (!key->is)
        return HUB_OK;
    switch (key->value.kind) {
    case HUB_VALUE_INT:
        return hub_buf_addf(out, err, "i%" PRId64, key->value.number);
    case HUB_VALUE_UINT:
        return hub_buf_addf(out, err, "u%" PRIu64, key->value.large);
    case HUB_VALUE_REAL:
        memcpy(&bits, &key->value.real, sizeof bits);
        return hub_buf_addf(out, err, "r%016" PRIx64, bits);
    case HUB_VALUE_TEXT:
        break;
    }
    text = key->value.text;
    cut = text.size > MAX_KEY_TEXT;
    text.size = cut ? MAX_KEY_TEXT : text.size;
    HUB_TRY(hub_buf_add_text(out, cut ? "p" : "t", err));
    return hub_buf_add_view(out, text, err);
}

static bool read_number(char letter, const char *digits, struct hub_value *out)
{
    char *end;
    *out = (struct hub_value){.kind = HUB_VALUE_INT};
    if (letter == 'i') {
        out->number = strtoll(digits, &end, 10);
    } else if (letter == 'u') {
        *out = hub_value_uint(strtoull(digits, &end, 10));
    } else {
        out->kind = HUB_VALUE_REAL;
        const uint64_t bits = strtoull(digits, &end, 16);
        memcpy(&out->real, &bits, sizeof bits);
    }
    return end > digits && *end == '\0' && (out->kind != HUB_VALUE_REAL || out->real == out->real);
}

static enum hub_status read_key(struct hub_view text, struct key *key, struct hub_error *err)
{
    char digits[32] = "";
    const char letter = text.data[0];
    key->is = true;
    key->value = hub_value_text((struct hub_view){text.data + 1, text.size - 1});
    if (letter == 't' || letter == 'p')
        return HUB_OK;
    if (text.size <= sizeof digits)
        memcpy(digits, text.data + 1, text.size - 1);
    return strchr("iur", letter) && read_number(letter, digits, &key->value)
               ? HUB_OK
               : hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_BAD_CURSOR,
                             "the cursor does not belong to this listing");
}

/* ---- the page ---- */

static enum hub_status give(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                            hub_episode_each *each, void *user, struct hub_error *err)
{
    const struct hub_dataset *dataset = reader->state->dataset;
    struct hub_found_episode row;
    HUB_TRY(hub_episode_row(reader, e, &row, err));
    row.number = e->number;
    const uint32_t file = hub_part_file(&hub_dataset_box_of(dataset)->maps[e->part], row.file);
    row.file = HUB_NONE;
    return each(user, &row, file < dataset->file_count ? dataset->files[file].path : NULL, err);
}

struct ranked_episode {
    const struct hub_dataset_episode *episode;
    struct key key;
    char *text; /* the key's own */
    bool descending;
};

/* What may be on the page, in no order until it is cut. */
struct episode_page {
    const struct hub_episode_query *query;
    struct hub_episode_reader reader;
    struct ranked_episode after, *items;
    struct hub_dataset_episode after_episode;
    uint32_t count, room;
    bool full; /* when it was last cut: what comes behind items[limit] is not on the page */
    uint32_t looks;
    uint64_t total;
};

static int compare_items(const void *a, const void *b)
{
    const struct ranked_episode *x = a, *y = b;
    if (x->key.is != y->key.is)
        return x->key.is ? -1 : 1;
    int order = compare_key(&x->key, &y->key);
    if (!order)
        order = (x->episode->number > y->episode->number) - (x->episode->number < y->episode->number);
    return x->descending ? -order : order;
}

static void page_dispose(struct episode_page *page)
{
    for (uint32_t i = 0; i < page->count; i++)
        free(page->items[i].text);
    free(page->items);
    free(page->after.text);
    hub_episode_reader_dispose(&page->reader);
}

/* Only the best, and one more that tells that there are more. */
static void cut(struct episode_page *page)
{
    qsort(page->items, page->count, sizeof *page->items, compare_items);
    for (; page->count > page->query->limit + 1; page->count--)
        free(page->items[page->count - 1].text);
    page->full = page->count > page->query->limit;
}

/* Texts outlive the columns they lie in. */
static enum hub_status own_text(struct ranked_episode *item, struct hub_error *err)
{
    if (!item->key.is || item->key.value.kind != HUB_VALUE_TEXT)
        return HUB_OK;
    item->text = hub_view_dup(item->key.value.text);
    item->key.value.text.data = item->text;
    return hub_allocated(item->text, err);
}

static enum hub_status add_item(struct episode_page *page, struct ranked_episode *item, struct hub_error *err)
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

static enum hub_status has_text(struct episode_page *page, const struct hub_dataset_episode *e,
                                enum hub_property_kind kind, const char *text, bool *in,
                                struct hub_error *err)
{
    return hub_episode_has_text(&page->reader, e, kind, hub_view_of(text), in, err);
}

static enum hub_status key_of(struct episode_page *page, const struct hub_dataset_episode *e, struct key *key,
                              struct hub_error *err)
{
    struct hub_values values = {0};
    *key = (struct key){0};
    if (page->query->sort.kind != HUB_PROPERTY_NUMBER) /* which is the order of ties */
        HUB_TRY(hub_episode_values_of(&page->reader, e, &page->query->sort, &values, err));
    key->is = values.count;
    if (key->is)
        key->value = *values.first;
    return HUB_OK;
}

struct page_episode {
    struct episode_page *page;
    const struct hub_dataset_episode *episode;
};

static enum hub_status get_values(void *user, const struct hub_property *name, struct hub_values *out,
                                  struct hub_error *err)
{
    const struct page_episode *asked = user;
    return hub_episode_values_of(&asked->page->reader, asked->episode, name, out, err);
}

/* Now and then, is the answer still waited for? */
static enum hub_status go_on(struct episode_page *page, struct hub_error *err)
{
    return page->looks++ % EPISODES_BETWEEN == 0 && hub_parallel_cancelled(page->query->parallel)
               ? hub_fail(err, HUB_CANCELLED, "the request for these episodes has ended")
               : HUB_OK;
}

/* Whether the query's filters take it. */
static enum hub_status check(struct episode_page *page, const struct hub_dataset_episode *e, bool *in,
                             struct hub_error *err)
{
    const struct hub_episode_query *q = page->query;
    *in = true;
    HUB_TRY(go_on(page, err));
    if (q->name)
        HUB_TRY(has_text(page, e, HUB_PROPERTY_NAME, q->name, in, err));
    if (*in && q->split)
        HUB_TRY(has_text(page, e, HUB_PROPERTY_SPLIT, q->split, in, err));
    if (*in && q->task)
        HUB_TRY(has_text(page, e, HUB_PROPERTY_TASK, q->task, in, err));
    if (!*in || !q->where)
        return HUB_OK;
    return hub_where_holds(
        q->where, &(struct hub_episode_values){get_values, &(struct page_episode){page, e}}, in, err);
}

static enum hub_status look_at(struct episode_page *page, const struct hub_dataset_episode *e,
                               struct hub_error *err)
{
    struct ranked_episode item = {.episode = e, .descending = page->query->descending};
    bool in;
    HUB_TRY(check(page, e, &in, err));
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
static enum hub_status look_at_all(struct episode_page *page, struct hub_error *err)
{
    const struct hub_dataset *dataset = page->reader.state->dataset;
    const struct hub_episode_query *q = page->query;
    uint32_t from = 0, to = dataset->episode_count;
    const bool plain = q->sort.kind == HUB_PROPERTY_NUMBER && !q->split && !q->name && !q->task && !q->where;
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
static enum hub_status read_after(struct episode_page *page, struct hub_error *err)
{
    const struct hub_episode_query *q = page->query;
    struct ranked_episode *after = &page->after;
    struct key whole;
    page->after_episode.number = q->after_number;
    *after = (struct ranked_episode){.episode = &page->after_episode, .descending = q->descending};
    if (q->sort.kind == HUB_PROPERTY_NUMBER || q->after_is_null || !q->after_key.size)
        return HUB_OK;
    HUB_TRY(read_key(q->after_key, &after->key, err));
    const struct hub_dataset_episode *e =
        hub_dataset_find_episode(page->reader.state->dataset, q->after_number);
    if (q->after_key.data[0] == 'p' && e) {
        HUB_TRY(key_of(page, e, &whole, err));
        const struct hub_view begins = after->key.value.text;
        if (whole.is && whole.value.kind == HUB_VALUE_TEXT && whole.value.text.size >= begins.size &&
            memcmp(whole.value.text.data, begins.data, begins.size) == 0)
            after->key = whole;
    }
    return own_text(after, err);
}

/* Those that are shown, and one more where there are more. */
static enum hub_status fill(struct episode_page *page, struct hub_error *err)
{
    page->room = 2 * (page->query->limit + 1);
    HUB_TRY(hub_new(&page->items, page->room, sizeof *page->items, err));
    if (page->query->has_after)
        HUB_TRY(read_after(page, err));
    HUB_TRY(look_at_all(page, err));
    cut(page);
    return HUB_OK;
}

enum hub_status hub_episode_page(const struct hub_state *state, const struct hub_episode_query *query,
                                 hub_episode_each *each, void *user, struct hub_episode_page *out,
                                 struct hub_error *err)
{
    HUB_CLEANUP(page_dispose)
    struct episode_page page = {.query = query, .reader = {.state = state}};
    if (!query->limit || query->limit > MAX_PAGE)
        return hub_fail(err, HUB_INVALID, "a page has 1 to %d episodes", MAX_PAGE);
    HUB_TRY(fill(&page, err));
    out->more = page.full;
    out->total = page.total;
    const uint32_t shown = HUB_MIN(page.count, query->limit);
    for (uint32_t i = 0; i < shown; i++)
        HUB_TRY(give(&page.reader, page.items[i].episode, each, user, err));
    return shown ? write_key(&page.items[shown - 1].key, &out->key, err) : HUB_OK;
}

enum hub_status hub_episode_order(const struct hub_state *state, const struct hub_episode_query *query,
                                  uint32_t **places, uint32_t *count, struct hub_error *err)
{
    struct hub_episode_query all = *query;
    HUB_CLEANUP(page_dispose) struct episode_page page = {.query = &all, .reader = {.state = state}};
    all.limit = HUB_MIN(query->limit, state->dataset->episode_count);
    HUB_TRY(fill(&page, err));
    const uint32_t chosen = HUB_MIN(page.count, all.limit);
    HUB_TRY(hub_new(places, chosen, sizeof **places, err));
    for (uint32_t i = 0; i < chosen; i++)
        (*places)[i] = (uint32_t)(page.items[i].episode - state->dataset->episodes);
    *count = chosen;
    return HUB_OK;
}

enum hub_status hub_episode_one(const struct hub_state *state, int64_t number, hub_episode_each *each,
                                void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = state};
    const struct hub_dataset_episode *e = hub_dataset_find_episode(state->dataset, number);
    return e ? give(&reader, e, each, user, err)
             : hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_EPISODE_MISSING, "%s has no episode %lld",
                           state->dataset->summary->id, (long long)number);
}

enum hub_status hub_episode_choose(const struct hub_state *state, const struct hub_episode_query *query,
                                   bool *chosen, struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct episode_page page = {.query = query, .reader = {.state = state}};
    for (uint32_t i = 0; i < state->dataset->episode_count; i++)
        HUB_TRY(check(&page, &state->dataset->episodes[i], &chosen[i], err));
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
