/* The list of datasets and one dataset: works on the snapshot in memory, without SQL. */
#include "server/api/datasets.h"

#include "server/api/cursor.h"
#include "server/api/documents.h"
#include "server/api/reply.h"
#include "server/api/resolve.h"
#include "storage/base/id.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { INLINE_SUMMARIES = 256 }; /* sorted in some 50 us */

enum sort_key { BY_ID, BY_NAME, BY_EPISODES, BY_STEPS, BY_SIZE, BY_MODIFIED };

static const char *const sort_names[] = {"id", "name", "episodes", "steps", "size", "modified"};

struct listing {
    const char *prefix, *format, *status, *release; /* NULL: any */
    bool latest;
    struct hub_view loadable; /* "true", "false"; data NULL: any */
    enum sort_key sort;
    bool descending;
    char scope[33]; /* of cursors */
    const struct hub_summary **summaries;
    uint32_t count;
};

static uint64_t number_of(const struct hub_summary *summary, enum sort_key sort)
{
    switch (sort) {
    case BY_EPISODES:
        return summary->episodes;
    case BY_STEPS:
        return summary->steps;
    case BY_SIZE:
        return summary->size;
    case BY_MODIFIED:
        return (uint64_t)HUB_MAX(summary->modified_ns, 0);
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

static int compare_keys(const struct listing *l, const struct hub_summary *a, uint64_t number,
                        const char *name)
{
    if (l->sort == BY_NAME)
        return strcmp(a->name, name);
    const uint64_t n = number_of(a, l->sort);
    return n < number ? -1 : n > number;
}

/* Keys, then ids; ids go upwards in both directions. */
static int compare_summaries(const void *a, const void *b, void *user)
{
    const struct listing *l = user;
    const struct hub_summary *x = *(const struct hub_summary *const *)a,
                             *y = *(const struct hub_summary *const *)b;
    const int by_kind = is_loose(x) - is_loose(y);
    if (by_kind)
        return by_kind;
    const int by_key = compare_keys(l, x, number_of(y, l->sort), y->name);
    if (by_key)
        return l->descending ? -by_key : by_key;
    const int by_id = hub_id_compare(hub_view_of(x->id), hub_view_of(y->id));
    return l->descending && l->sort == BY_ID ? -by_id : by_id;
}

static enum hub_status bad(struct hub_error *err, const char *name, struct hub_view value, const char *what)
{
    hub_fail_as(err, HUB_INVALID, "bad-parameter", "%s is %s", name, what);
    return hub_fail_about(err, name, value.data);
}

static enum hub_status read_filters(const struct hub_request *request, struct listing *l,
                                    struct hub_error *err)
{
    static const char *const statuses[] = {"ready", "pending", "broken", "unsupported"};
    l->prefix = hub_request_query(request, "prefix").data;
    l->format = hub_request_query(request, "format").data;
    l->status = hub_request_query(request, "status").data;
    struct hub_view release;
    HUB_TRY(hub_resolve_release(request, &release, err));
    l->release = release.data;
    const struct hub_view latest = hub_request_query(request, "latest");
    l->latest = latest.data && !hub_view_is(latest, "false") && !hub_view_is(latest, "0");
    if (latest.data && l->latest && !hub_view_is(latest, "true") && !hub_view_is(latest, "1") && latest.size)
        return bad(err, "latest", latest, "true or false");
    l->loadable = hub_request_query(request, "loadable");
    if (l->loadable.data && !hub_view_is(l->loadable, "true") && !hub_view_is(l->loadable, "false"))
        return bad(err, "loadable", l->loadable, "true or false");
    bool known = !l->status;
    for (size_t i = 0; i < HUB_COUNT(statuses) && !known; i++)
        known = strcmp(l->status, statuses[i]) == 0;
    if (!known)
        return bad(err, "status", hub_view_of(l->status), "one of ready, pending, broken, unsupported");

    struct hub_view sort = hub_request_query(request, "sort");
    l->descending = sort.size && sort.data[0] == '-';
    const char *name = sort.data ? sort.data + l->descending : "id";
    size_t i = 0;
    while (i < HUB_COUNT(sort_names) && strcmp(sort_names[i], name) != 0)
        i++;
    if (i == HUB_COUNT(sort_names))
        return bad(err, "sort", sort,
                   "one of id, name, episodes, steps, size, modified, with - for descending");
    l->sort = (enum sort_key)i;

    char etag[40];
    const struct hub_view parts[] = {
        hub_view_of(l->prefix ? l->prefix : "\1"), hub_view_of(l->format ? l->format : "\1"),
        hub_view_of(l->status ? l->status : "\1"), hub_view_of(l->release ? l->release : "\1"),
        hub_view_of(l->latest ? "1" : "0"),        l->loadable,
        sort.data ? sort : HUB_VIEW("id")};
    hub_fingerprint(etag, parts, HUB_COUNT(parts));
    snprintf(l->scope, sizeof l->scope, "%.32s", etag + 1);
    return HUB_OK;
}

/* A prefix ends at a boundary only if it says so: "door" also finds door-human, "D4RL/" the namespace. */
static bool matches(const struct listing *l, const struct hub_summary *summary)
{
    return (!l->prefix || strncmp(summary->id, l->prefix, strlen(l->prefix)) == 0) &&
           (!l->format || strcmp(summary->format, l->format) == 0) &&
           (!l->status || strcmp(hub_dataset_status_name(summary->status), l->status) == 0) &&
           (!l->loadable.data || hub_view_is(l->loadable, hub_summary_refused(summary) ? "false" : "true")) &&
           (!l->release || hub_summary_loadable(summary, l->release));
}

/* Add the datasets or the loose files that match. Summaries of one key follow each other in version order, so
 * the newest that matches is the last of its run. */
static void filter(const struct hub_snapshot *snapshot, bool loose, struct listing *l)
{
    const uint32_t before = l->count;
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        if (is_loose(summary) != loose || !matches(l, summary))
            continue;
        const bool same = l->count > before && summary->version >= 0 &&
                          l->summaries[l->count - 1]->version >= 0 &&
                          strcmp(l->summaries[l->count - 1]->key, summary->key) == 0;
        if (l->latest && same)
            l->count--;
        l->summaries[l->count++] = summary;
    }
}

/* The first summary strictly after the cursor's key and id. */
static uint32_t after(const struct listing *l, const struct hub_page_cursor *cursor)
{
    const uint64_t number = strtoull(cursor->key, NULL, 10);
    uint32_t low = 0, high = l->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int by_kind = is_loose(l->summaries[middle]) - cursor->behind;
        int order = by_kind ? by_kind : compare_keys(l, l->summaries[middle], number, cursor->key);
        if (order == 0) {
            order = hub_id_compare(hub_view_of(l->summaries[middle]->id), hub_view_of(cursor->tie));
            order = l->descending && l->sort == BY_ID ? -order : order;
        } else if (!by_kind && l->descending) {
            order = -order;
        }
        if (order <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum hub_status write_page(struct hub_request *request, struct listing *l, uint32_t first,
                                  uint32_t limit, struct hub_response *response, struct hub_error *err)
{
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", 16 * MIB), err);
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-cache"));
    hub_json_object(&json);
    hub_json_put_array(&json, "items");
    const uint32_t end = HUB_MIN(l->count, first + limit);
    for (uint32_t i = first; i < end; i++) {
        hub_json_object(&json);
        hub_summary_write(&json, l->summaries[i]);
        hub_json_end_object(&json);
    }
    hub_json_end_array(&json);
    struct hub_page_cursor next = {0};
    const struct hub_summary *last = end > 0 && end < l->count ? l->summaries[end - 1] : NULL;
    if (last) {
        memcpy(next.scope, l->scope, sizeof next.scope);
        next.behind = is_loose(last);
        if (l->sort == BY_NAME)
            snprintf(next.key, sizeof next.key, "%s", last->name);
        else
            snprintf(next.key, sizeof next.key, "%" PRIu64, number_of(last, l->sort));
        snprintf(next.tie, sizeof next.tie, "%s", last->id);
    }
    HUB_TRY(hub_page_end(request, response, &json, l->count, last ? &next : NULL, err));
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_reply_document(request, response, err);
}

enum hub_status hub_datasets_list(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    static const char *const parameters[] = {"prefix",   "format", "latest", "for",    "status",
                                             "loadable", "sort",   "limit",  "cursor", NULL};
    struct listing l = {0};
    uint32_t limit;
    HUB_TRY(hub_request_known(request, parameters, err));
    HUB_TRY(hub_page_limit(request, &limit, err));
    HUB_TRY(read_filters(request, &l, err));
    struct hub_page_cursor cursor;
    const struct hub_view text = hub_request_query(request, "cursor");
    if (text.data)
        HUB_TRY(hub_cursor_decode(text, l.scope, &cursor, err));
    HUB_TRY(hub_reply_on_worker(request));
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(request->app->catalog);
    const bool long_work = l.sort != BY_ID || l.descending || l.release;
    if (!request->may_block && long_work && snapshot->count > INLINE_SUMMARIES)
        return HUB_AGAIN;
    HUB_CLEANUP(hub_freep)
    const struct hub_summary **summaries = calloc((size_t)snapshot->count + 1, sizeof *summaries);
    if (!summaries)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for the list");
    l.summaries = summaries;
    filter(snapshot, false, &l);
    filter(snapshot, true, &l);
    if (l.sort != BY_ID || l.descending)
        qsort_r(l.summaries, l.count, sizeof *l.summaries, compare_summaries, &l);
    return write_page(request, &l, text.data ? after(&l, &cursor) : 0, limit, response, err);
}

enum hub_status hub_dataset_show(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    static const char *const parameters[] = {"for", "revision", NULL};
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_TRY(hub_resolve(request, response, parameters, HUB_TO_SUMMARY, &target, err));
    return hub_document_answer(request, &target, HUB_DOCUMENT_DATASET, response, err);
}
