/* Lists of datasets: see dataset_selection.h. */
#include "server/api/datasets/dataset_selection.h"

#include "server/api/app.h"
#include "server/api/datasets/facet_counts.h"
#include "server/api/negotiate.h"
#include "server/api/resolve.h"
#include "server/api/visible.h"
#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/model/format_row.h"
#include "storage/truth/damage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { INLINE_SUMMARIES = 256 }; /* sorted in some 50 us */
enum { MAX_FACET_VALUES = 100, MAX_NAMESPACES = 1000 };

/* In the order of the words of sort=. */
enum sort_key { BY_RANK, BY_ID, BY_NAME, BY_EPISODES, BY_STEPS, BY_SIZE, BY_MODIFIED };

/* ---- order ---- */

static uint64_t number_of(const struct hub_datasets_entry *entry, unsigned sort)
{
    const struct hub_summary *summary = entry->summary;
    switch ((enum sort_key)sort) {
    case BY_EPISODES:
        return summary->episodes;
    case BY_STEPS:
        return summary->steps;
    case BY_SIZE:
        return summary->size;
    case BY_MODIFIED:
        return (uint64_t)HUB_MAX(summary->modified_ns, 0);
    case BY_RANK:
        return entry->rank;
    case BY_ID:
    case BY_NAME:
        break;
    }
    return 0;
}

/* Files that belong to no dataset come after all datasets, in either direction. */
static bool is_loose(const struct hub_summary *summary)
{
    return hub_format_is_files(summary->format);
}

static int compare_keys(const struct hub_datasets *l, const struct hub_datasets_entry *a,
                        const struct hub_datasets_entry *b)
{
    const uint64_t n = number_of(a, l->sort), m = number_of(b, l->sort);
    return l->sort == BY_NAME ? strcmp(a->summary->name, b->summary->name) : (n > m) - (n < m);
}

/* Keys, then ids; ids go upwards in both directions. */
static int compare_entries(const void *a, const void *b, void *user)
{
    const struct hub_datasets *l = user;
    const struct hub_summary *x = ((const struct hub_datasets_entry *)a)->summary,
                             *y = ((const struct hub_datasets_entry *)b)->summary;
    const int by_kind = is_loose(x) - is_loose(y);
    if (by_kind)
        return by_kind;
    const int by_key = compare_keys(l, a, b);
    if (by_key)
        return l->descending ? -by_key : by_key;
    const int by_id = hub_id_compare(hub_view_of(x->id), hub_view_of(y->id));
    return l->descending && l->sort == BY_ID ? -by_id : by_id;
}

/* The same of entries of one snapshot: their ids need not be looked at. */
static int compare_numbers(const void *a_, const void *b_, void *user)
{
    const struct hub_datasets *l = user;
    const struct hub_datasets_entry *a = a_, *b = b_;
    if (a->loose != b->loose)
        return a->loose - b->loose;
    const int by_key = compare_keys(l, a, b), by_id = (a->number > b->number) - (a->number < b->number);
    const int order = by_key ? by_key : by_id;
    return l->descending && (by_key || l->sort == BY_ID) ? -order : order;
}

/* ---- what is asked ---- */

/* What is counted besides what is known of sets. */
enum { FACET_FORMAT = HUB_FACET_COUNT, FACET_STATUS, FACET_PROBLEMS, FACET_NAMESPACE, FACET_COUNT };
enum { ANY = -1 };

static const char *facet_name(unsigned facet)
{
    static const char *const others[] = {"format", "status", "problems", "namespace"};
    return facet < HUB_FACET_COUNT ? hub_facet_names[facet] : others[facet - HUB_FACET_COUNT];
}

/* format=, but for the one that says how the list is written. */
static enum hub_status read_format(const struct hub_request *request, const char **out, struct hub_error *err)
{
    char list[HUB_REPRESENTATIONS_CHARS];
    *out = NULL;
    hub_representations_list(HUB_LIST_OF_VALUES, false, list);
    for (unsigned i = 0; i < request->query_count; i++) {
        const struct hub_param *p = &request->query[i];
        if (!hub_view_is(p->name, "format") || hub_negotiate_named(HUB_LIST_OF_VALUES, p->value))
            continue;
        if (*out)
            return hub_request_wrong(request, "format", err,
                                     "there may be one format= of datasets and one of the answer: json or "
                                     "jsonl, with columns= one of %s",
                                     list);
        *out = p->value.data;
    }
    return HUB_OK;
}

/* -1: any */
static int read_truth(const struct hub_request *request, const char *name)
{
    return hub_request_query(request, name).data ? hub_request_flag(request, name) : ANY;
}

/* Each word has its "-word" behind it. With q= the rank is the default, without it there is none. */
static enum hub_status read_sort(const struct hub_request *request, struct hub_datasets *l,
                                 struct hub_error *err)
{
    const int word = hub_request_choice(request, "sort");
    l->sort = word >= 0 ? (unsigned)word / 2 : l->words.size ? BY_RANK : BY_ID;
    l->descending = word >= 0 && word % 2;
    return l->sort != BY_RANK || l->words.size
               ? HUB_OK
               : hub_request_wrong(request, "sort", err,
                                   "sort=relevance needs q=, the words to be relevant to");
}

enum hub_status hub_datasets_read(const struct hub_request *request, struct hub_datasets *l,
                                  struct hub_error *err)
{
    struct hub_view release;
    l->words = hub_request_query(request, "q");
    l->prefix = hub_request_query(request, "prefix").data;
    HUB_TRY(read_format(request, &l->format, err));
    for (int i = 0; i < HUB_FACET_COUNT; i++)
        l->known[i] = hub_request_query(request, hub_facet_names[i]).data;
    HUB_TRY(hub_resolve_release(request, &release, err));
    l->release = release.data;
    l->latest = hub_request_flag(request, "latest");
    l->loadable = read_truth(request, "loadable");
    l->problems = read_truth(request, "problems");
    l->status = hub_request_choice(request, "status");
    l->facets = hub_request_list(request, "facets");
    return read_sort(request, l, err);
}

/* ---- choosing ---- */

/* Something of it is lost: nothing of it can be read, some of it cannot, or its library refuses it. */
static bool has_problems(const struct hub_datasets *l, const struct hub_summary *summary)
{
    return summary->status == HUB_DATASET_BROKEN || summary->status == HUB_DATASET_UNSUPPORTED ||
           summary->costly || hub_damage_count(l->truth, summary->root, summary->path);
}

/* A prefix ends at a boundary only if it says so: "door" also finds door-human, "D4RL/" the namespace. */
static bool matches(const struct hub_datasets *l, const struct hub_summary *summary, int but)
{
    for (int i = 0; i < HUB_FACET_COUNT; i++)
        if (l->known[i] && i != but && !hub_facet_has(summary->known, (enum hub_facet)i, l->known[i]))
            return false;
    return (!l->prefix || but == FACET_NAMESPACE ||
            strncmp(summary->id, l->prefix, strlen(l->prefix)) == 0) &&
           (!l->format || but == FACET_FORMAT || strcmp(summary->format, l->format) == 0) &&
           (l->status < 0 || but == FACET_STATUS ||
            summary->status == HUB_DATASET_READY + (unsigned)l->status) &&
           (l->loadable < 0 || hub_summary_loads(summary) == l->loadable) &&
           (l->problems < 0 || but == FACET_PROBLEMS || l->problems == has_problems(l, summary)) &&
           (!l->release || hub_summary_loadable(summary, l->release));
}

/* "arm-v21" of format v2.1: the name says what reads it, and "arm-v30" beside it is the same data for another
 * release, which replaces nothing. */
static bool names_its_era(const struct hub_summary *summary)
{
    int64_t stated = 0;
    if (summary->version < 0 || !hub_format_traits_of(summary->format)->era_is_version)
        return false;
    for (const char *c = summary->era; *c; c++)
        if (*c >= '0' && *c <= '9')
            stated = HUB_MIN(stated * 10 + (*c - '0'), (int64_t)UINT32_MAX);
    return stated == summary->version;
}

/* Are both versions of one dataset? */
static bool is_version(const struct hub_summary *a, const struct hub_summary *b)
{
    return a->version >= 0 && b->version >= 0 && strcmp(a->key, b->key) == 0 &&
           !(names_its_era(a) && names_its_era(b));
}

/* Add the datasets or the loose files that match, by all filters but one. Summaries of one key follow each
 * other in version order, so the newest that matches is the last of its run. */
static void filter(struct hub_datasets *l, bool loose, int but)
{
    const uint32_t before = l->count;
    for (uint32_t i = 0; i < l->snapshot->count; i++) {
        const struct hub_summary *summary = l->snapshot->summaries[i];
        if (is_loose(summary) != loose || (l->ranks && !l->ranks[i]) || !matches(l, summary, but))
            continue;
        const struct hub_summary *last = l->count > before ? l->entries[l->count - 1].summary : NULL;
        if (l->latest && last && is_version(last, summary))
            l->count--;
        l->entries[l->count++] = (struct hub_datasets_entry){summary, l->ranks ? l->ranks[i] : 0, loose, i};
    }
}

static void filter_all(struct hub_datasets *l, int but)
{
    l->count = 0;
    filter(l, false, but);
    filter(l, true, but);
}

static bool is_long(const struct hub_datasets *l)
{
    bool any = l->sort != BY_ID || l->descending || l->release || l->facets;
    for (int i = 0; i < HUB_FACET_COUNT; i++)
        any = any || l->known[i];
    return l->words.size || (any && l->snapshot->count > INLINE_SUMMARIES);
}

enum hub_status hub_datasets_choose(struct hub_request *request, struct hub_datasets *l,
                                    struct hub_error *err)
{
    l->truth = request->app->truth;
    l->snapshot = hub_request_snapshot(request);
    if (!request->may_block && is_long(l))
        return HUB_AGAIN;
    HUB_TRY(hub_new(&l->entries, (size_t)l->snapshot->count + 1, sizeof *l->entries, err));
    if (l->words.size) {
        HUB_TRY(hub_new(&l->ranks, (size_t)l->snapshot->count + 1, 1, err));
        HUB_TRY(hub_catalog_search(request->app->catalog, l->snapshot, l->words, l->ranks, err));
    }
    filter_all(l, ANY);
    if (l->sort != BY_ID || l->descending)
        qsort_r(l->entries, l->count, sizeof *l->entries, compare_numbers, l);
    return HUB_OK;
}

void hub_datasets_dispose(struct hub_datasets *l)
{
    hub_snapshot_put(l->snapshot);
    free(l->ranks);
    free(l->entries);
}

/* ---- facets ---- */

/* All namespaces that it lies in, from the outermost on. */
static enum hub_status add_namespaces(struct hub_facet_counts *counts, const char *id, uint32_t i,
                                      struct hub_error *err)
{
    for (const char *slash = strchr(id, '/'); slash; slash = strchr(slash + 1, '/'))
        HUB_TRY(hub_facet_counts_add(counts, (struct hub_view){id, (size_t)(slash - id)}, i, err));
    return HUB_OK;
}

static enum hub_status add_values(const struct hub_datasets *l, struct hub_facet_counts *counts, uint32_t i,
                                  unsigned facet, struct hub_error *err)
{
    const struct hub_summary *summary = l->entries[i].summary;
    struct hub_view lines = hub_view_of(summary->known), value;
    enum hub_facet kind;
    if (facet == FACET_FORMAT)
        return hub_facet_counts_add(counts, hub_view_of(summary->format), i, err);
    if (facet == FACET_STATUS)
        return hub_facet_counts_add(counts, hub_view_of(hub_dataset_status_name(summary->status)), i, err);
    if (facet == FACET_PROBLEMS)
        return hub_facet_counts_add(counts, has_problems(l, summary) ? HUB_VIEW("true") : HUB_VIEW("false"),
                                    i, err);
    if (facet == FACET_NAMESPACE)
        return add_namespaces(counts, summary->id, i, err);
    while (hub_facet_take(&lines, &kind, &value))
        if ((unsigned)kind == facet)
            HUB_TRY(hub_facet_counts_add(counts, value, i, err));
    return HUB_OK;
}

static enum hub_status put_facet(struct hub_datasets *l, unsigned facet, struct hub_json *json,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_facet_counts_dispose)
    struct hub_facet_counts values = {.exact = facet == FACET_NAMESPACE};
    const uint32_t most = facet == FACET_NAMESPACE ? MAX_NAMESPACES : MAX_FACET_VALUES;
    filter_all(l, (int)facet);
    for (uint32_t i = 0; i < l->count; i++)
        HUB_TRY(add_values(l, &values, i, facet, err));
    hub_facet_counts_sum(&values);
    hub_json_put_array(json, facet_name(facet));
    for (uint32_t i = 0; i < HUB_MIN(values.count, most); i++) {
        hub_json_object(json);
        hub_json_put_string(json, "value", values.items[i].text);
        hub_json_put_uint(json, "count", values.items[i].count);
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
    return HUB_OK;
}

enum hub_status hub_datasets_facets(struct hub_datasets *l, struct hub_json *json, struct hub_error *err)
{
    if (!l->facets)
        return HUB_OK;
    hub_json_put_object(json, "facets");
    for (unsigned facet = 0; facet < FACET_COUNT; facet++)
        if (l->facets & (1U << facet))
            HUB_TRY(put_facet(l, facet, json, err));
    hub_json_end_object(json);
    return hub_json_status(json);
}

/* ---- pages ---- */

/* Where a page begins or ends, to be found among the entries. */
struct page_boundary {
    struct hub_datasets_entry entry;
    const struct hub_datasets *datasets;
    bool before; /* in front of the entry, where it is there */
};

static int compare_boundary(const void *key, const void *item)
{
    const struct page_boundary *boundary = key;
    const int order = compare_entries(item, &boundary->entry, (void *)boundary->datasets);
    return order < 0 || (order == 0 && !boundary->before) ? 1 : -1;
}

static uint32_t find_boundary(const struct hub_datasets *l, const struct hub_page_cursor *cursor)
{
    const uint64_t number = strtoull(cursor->key, NULL, 10);
    const struct hub_summary last = {.id = cursor->tie,
                                     .name = cursor->key,
                                     .format = cursor->behind ? HUB_FILES_FORMAT : "",
                                     .episodes = number,
                                     .steps = number,
                                     .size = number,
                                     .modified_ns = (int64_t)number};
    const struct page_boundary boundary = {{.summary = &last, .rank = (uint8_t)number}, l, cursor->back};
    return hub_lower_bound(&boundary, l->entries, l->count, sizeof *l->entries, compare_boundary);
}

void hub_datasets_page(const struct hub_datasets *l, const struct hub_page_query *page, uint32_t *first,
                       uint32_t *end)
{
    const uint32_t at = page->goes_on ? find_boundary(l, &page->after) : 0;
    *first = hub_page_first(page, at);
    *end = HUB_MIN(l->count, *first + page->limit);
}

void hub_datasets_cursor(const struct hub_datasets *l, uint32_t entry, struct hub_page_cursor *out)
{
    const struct hub_datasets_entry *e = &l->entries[entry];
    out->behind = is_loose(e->summary);
    if (l->sort == BY_NAME)
        snprintf(out->key, sizeof out->key, "%s", e->summary->name);
    else
        snprintf(out->key, sizeof out->key, "%" PRIu64, number_of(e, l->sort));
    snprintf(out->tie, sizeof out->tie, "%s", e->summary->id);
}
