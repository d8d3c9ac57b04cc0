/* The list of datasets and one dataset: works on the snapshot in memory; SQL runs for q= alone. */
#include "server/api/handlers.h"

#include "server/api/cursor.h"
#include "server/api/documents.h"
#include "server/api/remote.h"
#include "server/api/reply.h"
#include "server/api/resolve.h"
#include "storage/base/id.h"
#include "storage/base/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { INLINE_SUMMARIES = 256 }; /* sorted in some 50 us */

enum sort_key { BY_RANK, BY_ID, BY_NAME, BY_EPISODES, BY_STEPS, BY_SIZE, BY_MODIFIED };

/* The first for q=; without it the second is, and there is no first. */
static const char *const sort_names[] = {"relevance", "id",   "name",     "episodes",
                                         "steps",     "size", "modified", NULL};

/* A dataset of the listing. */
struct entry {
    const struct hub_summary *summary;
    uint8_t rank; /* of what q= found, from 1 */
};

struct listing {
    struct hub_view words;                 /* q=; empty: any */
    const char *prefix, *format, *release; /* NULL: any */
    int status, loadable;                  /* number of the word; -1: any */
    bool latest;
    unsigned sort; /* enum sort_key */
    bool descending;
    struct entry *entries;
    uint32_t count;
};

static uint64_t number_of(const struct entry *entry, unsigned sort)
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
    return strcmp(summary->format, "files") == 0;
}

static int compare_keys(const struct listing *l, const struct entry *a, const struct entry *b)
{
    const uint64_t n = number_of(a, l->sort), m = number_of(b, l->sort);
    return l->sort == BY_NAME ? strcmp(a->summary->name, b->summary->name) : (n > m) - (n < m);
}

/* Keys, then ids; ids go upwards in both directions. */
static int compare_entries(const void *a, const void *b, void *user)
{
    const struct listing *l = user;
    const struct hub_summary *x = ((const struct entry *)a)->summary, *y = ((const struct entry *)b)->summary;
    const int by_kind = is_loose(x) - is_loose(y);
    if (by_kind)
        return by_kind;
    const int by_key = compare_keys(l, a, b);
    if (by_key)
        return l->descending ? -by_key : by_key;
    const int by_id = hub_id_compare(hub_view_of(x->id), hub_view_of(y->id));
    return l->descending && l->sort == BY_ID ? -by_id : by_id;
}

static enum hub_status read_filters(const struct hub_request *request, struct listing *l,
                                    struct hub_error *err)
{
    static const char *const statuses[] = {"ready", "pending", "broken", "unsupported", "remote", NULL},
                             *const words[] = {"false", "true", NULL};
    struct hub_view release;
    l->words = hub_request_query(request, "q");
    l->prefix = hub_request_query(request, "prefix").data;
    l->format = hub_request_query(request, "format").data;
    HUB_TRY(hub_resolve_release(request, &release, err));
    l->release = release.data;
    HUB_TRY(hub_request_flag(request, "latest", &l->latest, err));
    HUB_TRY(hub_request_choice(request, "loadable", words, &l->loadable, err));
    HUB_TRY(hub_request_choice(request, "status", statuses, &l->status, err));
    const unsigned without = !l->words.size;
    HUB_TRY(hub_request_sort(request, sort_names + without, &l->sort, &l->descending, err));
    l->sort += without;
    return HUB_OK;
}

/* A prefix ends at a boundary only if it says so: "door" also finds door-human, "D4RL/" the namespace. */
static bool matches(const struct listing *l, const struct hub_summary *summary)
{
    return (!l->prefix || strncmp(summary->id, l->prefix, strlen(l->prefix)) == 0) &&
           (!l->format || strcmp(summary->format, l->format) == 0) &&
           (l->status < 0 || summary->status == HUB_DATASET_READY + (unsigned)l->status) &&
           (l->loadable < 0 || l->loadable == !hub_summary_refused(summary)) &&
           (!l->release || hub_summary_loadable(summary, l->release));
}

/* Add the datasets or the loose files that match. Summaries of one key follow each other in version order, so
 * the newest that matches is the last of its run. `ranks` by number in the snapshot, NULL: none were looked for. */
static void filter(const struct hub_snapshot *snapshot, const uint8_t *ranks, bool loose, struct listing *l)
{
    const uint32_t before = l->count;
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        if (is_loose(summary) != loose || (ranks && !ranks[i]) || !matches(l, summary))
            continue;
        const struct hub_summary *last = l->count > before ? l->entries[l->count - 1].summary : NULL;
        const bool same =
            last && summary->version >= 0 && last->version >= 0 && strcmp(last->key, summary->key) == 0;
        if (l->latest && same)
            l->count--;
        l->entries[l->count++] = (struct entry){summary, ranks ? ranks[i] : 0};
    }
}

/* Where a page begins, to be found among the summaries of a listing. */
struct place {
    struct entry entry;
    const struct listing *listing;
};

static int by_place(const void *key, const void *item)
{
    const struct place *place = key;
    return compare_entries(item, &place->entry, (void *)place->listing) <= 0 ? 1 : -1;
}

/* The first summary strictly after the cursor's key and id. */
static uint32_t after(struct listing *l, const struct hub_page_cursor *cursor)
{
    const uint64_t number = strtoull(cursor->key, NULL, 10);
    const struct hub_summary last = {.id = cursor->tie,
                                     .name = cursor->key,
                                     .format = cursor->behind ? "files" : "",
                                     .episodes = number,
                                     .steps = number,
                                     .size = number,
                                     .modified_ns = (int64_t)number};
    const struct place place = {{&last, (uint8_t)number}, l};
    return hub_lower_bound(&place, l->entries, l->count, sizeof *l->entries, by_place);
}

static enum hub_status write_page(struct hub_request *request, const struct listing *l, uint32_t first,
                                  const struct hub_page_query *page, struct hub_response *response,
                                  struct hub_error *err)
{
    struct hub_json json = hub_page_begin(response, 16 * MIB, err);
    struct hub_page_cursor next = {0};
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-cache"));
    const uint32_t end = HUB_MIN(l->count, first + page->limit);
    for (uint32_t i = first; i < end; i++) {
        hub_json_object(&json);
        hub_summary_write(&json, l->entries[i].summary);
        hub_json_end_object(&json);
    }
    const struct entry *last = end > 0 && end < l->count ? &l->entries[end - 1] : NULL;
    if (last) {
        next.behind = is_loose(last->summary);
        if (l->sort == BY_NAME)
            snprintf(next.key, sizeof next.key, "%s", last->summary->name);
        else
            snprintf(next.key, sizeof next.key, "%" PRIu64, number_of(last, l->sort));
        snprintf(next.tie, sizeof next.tie, "%s", last->summary->id);
    }
    HUB_TRY(hub_page_end(request, page, response, &json, l->count, last ? &next : NULL, err));
    return hub_reply_document(request, response, err);
}

enum hub_status hub_datasets_list(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    static const char *const parameters[] = {"q",        "prefix", "format", "latest", "for", "status",
                                             "loadable", "sort",   "limit",  "cursor", NULL};
    struct listing l = {0};
    struct hub_page_query page;
    HUB_TRY(hub_page_read(request, parameters, &page, err));
    HUB_TRY(read_filters(request, &l, err));
    HUB_TRY(hub_reply_on_worker(request));
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(request->app->catalog);
    const bool long_work = l.sort != BY_ID || l.descending || l.release;
    if (!request->may_block && (l.words.size || (long_work && snapshot->count > INLINE_SUMMARIES)))
        return HUB_AGAIN;
    HUB_CLEANUP(hub_freep) struct entry *entries = NULL;
    HUB_CLEANUP(hub_freep) uint8_t *ranks = NULL;
    HUB_TRY(hub_new(&entries, (size_t)snapshot->count + 1, sizeof *entries, err));
    if (l.words.size) {
        HUB_TRY(hub_new(&ranks, (size_t)snapshot->count + 1, 1, err));
        HUB_TRY(hub_catalog_search(request->app->catalog, snapshot, l.words, ranks, err));
    }
    l.entries = entries;
    filter(snapshot, ranks, false, &l);
    filter(snapshot, ranks, true, &l);
    if (l.sort != BY_ID || l.descending)
        qsort_r(l.entries, l.count, sizeof *l.entries, compare_entries, &l);
    return write_page(request, &l, page.goes_on ? after(&l, &page.after) : 0, &page, response, err);
}

enum hub_status hub_dataset_show(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    static const char *const parameters[] = {"for", "revision", NULL};
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_TRY(hub_resolve(request, response, parameters, HUB_TO_SUMMARY | HUB_TO_REMOTE, &target, err));
    if (target.summary->status == HUB_DATASET_REMOTE)
        return hub_remote_answer(request, &target, response, err);
    return hub_document_answer(request, &target, HUB_DOCUMENT_DATASET, response, err);
}
