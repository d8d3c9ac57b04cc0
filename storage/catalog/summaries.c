/* Summaries of datasets: read from the index, kept in order by who writes, and those of datasets that lie
 * elsewhere. A summary is one allocation with its texts behind it. */
#include "storage/catalog/internal.h"

#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/text/time.h"

#include <stdlib.h>

void hub_summary_ref(const struct hub_summary *summary)
{
    atomic_fetch_add(&((struct hub_summary_box *)summary)->refs, 1);
}

void hub_summary_unref(const struct hub_summary *summary)
{
    struct hub_summary_box *box = (struct hub_summary_box *)summary;
    if (box && atomic_fetch_sub(&box->refs, 1) == 1)
        free(box);
}

int hub_summary_compare(const struct hub_summary *a, const struct hub_summary *b)
{
    int order = strcmp(a->ns, b->ns);
    if (!order)
        order = strcmp(a->name, b->name);
    if (!order)
        order = (a->version > b->version) - (a->version < b->version);
    if (!order)
        order = strcmp(a->id, b->id);
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* ---- reading summaries ---- */

#define SUMMARY_COLUMNS                                                                                      \
    "row, root, serial, status, episodes, steps, size, files, modified_ns, problems, costly,"                \
    " id, path, format, reason, era, stated_version, description, loadable_by, authors, revision, rule, "    \
    "known"

/* Texts of a summary, and the columns that they are read from. */
static const size_t texts[] = {
    offsetof(struct hub_summary, id),          offsetof(struct hub_summary, path),
    offsetof(struct hub_summary, format),      offsetof(struct hub_summary, reason),
    offsetof(struct hub_summary, era),         offsetof(struct hub_summary, stated_version),
    offsetof(struct hub_summary, description), offsetof(struct hub_summary, loadable_by),
    offsetof(struct hub_summary, authors),     offsetof(struct hub_summary, revision),
    offsetof(struct hub_summary, rule),        offsetof(struct hub_summary, known),
    offsetof(struct hub_summary, upstream),    offsetof(struct hub_summary, remote_id)};
enum { TEXT_COLUMN = 11, STORED_TEXTS = 12 };

static const char **text_of(struct hub_summary *summary, size_t i)
{
    return (const char **)((char *)summary + texts[i]);
}

static const char *put_text(char **at, struct hub_view view)
{
    char *text = *at;
    if (view.size)
        memcpy(text, view.data, view.size);
    text[view.size] = '\0';
    *at += view.size + 1;
    return text;
}

/* key, namespace and name are cut out of the id; "" is shared. */
static void split_id(struct hub_summary_box *box, char **at)
{
    const struct hub_view id = hub_view_of(box->summary.id);
    struct hub_view key;
    uint32_t version = 0;
    box->summary.version = hub_id_split_alias(id, &key, &version) ? (int64_t)version : -1;
    box->summary.key = box->summary.version < 0 ? box->summary.id : put_text(at, key);
    const char *slash = strrchr(box->summary.key, '/');
    box->summary.ns =
        slash ? put_text(at, (struct hub_view){box->summary.key, (size_t)(slash - box->summary.key)}) : "";
    box->summary.name = slash ? slash + 1 : box->summary.key;
    box->hash = hub_text_hash(id);
}

enum hub_status hub_summary_box_new(const struct hub_summary *from, struct hub_summary_box **out,
                                    struct hub_error *err)
{
    struct hub_summary summary = *from;
    size_t size = 2 * (strlen(from->id) + 1);
    for (size_t i = 0; i < HUB_COUNT(texts); i++) {
        const char **text = text_of(&summary, i);
        *text = *text ? *text : "";
        size += strlen(*text) + 1;
    }
    struct hub_summary_box *box = malloc(sizeof *box + size);
    HUB_TRY(hub_allocated(box, err));
    char *at = box->text;
    atomic_init(&box->refs, 1);
    atomic_init(&box->read_ms, 0);
    box->summary = summary;
    for (size_t i = 0; i < HUB_COUNT(texts); i++)
        *text_of(&box->summary, i) = put_text(&at, hub_view_of(*text_of(&summary, i)));
    split_id(box, &at);
    *out = box;
    return HUB_OK;
}

static enum hub_status summary_of_row(const struct hub_catalog *catalog, struct hub_stmt *stmt,
                                      struct hub_summary_box **out, struct hub_error *err)
{
    struct hub_summary summary = {
        .row = hub_stmt_int(stmt, 0),
        .root = hub_catalog_root_number(catalog, hub_stmt_text(stmt, 1)),
        .serial = (uint64_t)hub_stmt_int(stmt, 2),
        .status = (enum hub_dataset_status)hub_stmt_int(stmt, 3),
        .episodes = (uint64_t)hub_stmt_int(stmt, 4),
        .steps = (uint64_t)hub_stmt_int(stmt, 5),
        .size = (uint64_t)hub_stmt_int(stmt, 6),
        .files = (uint32_t)hub_stmt_int(stmt, 7),
        .modified_ns = hub_stmt_int(stmt, 8),
        .problems = (uint32_t)hub_stmt_int(stmt, 9),
        .costly = (uint32_t)hub_stmt_int(stmt, 10),
    };
    for (int i = 0; i < STORED_TEXTS; i++)
        *text_of(&summary, (size_t)i) = hub_stmt_text(stmt, TEXT_COLUMN + i);
    return hub_summary_box_new(&summary, out, err);
}

enum hub_status hub_summary_load(const struct hub_catalog *catalog, struct hub_db *db, int64_t row,
                                 struct hub_summary_box **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool found;
    HUB_TRY(hub_db_prepare(db, "SELECT " SUMMARY_COLUMNS " FROM datasets WHERE row = ?", &stmt, err));
    hub_stmt_bind_int(stmt, 1, row);
    HUB_TRY(hub_stmt_step(stmt, &found, err));
    if (!found)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "the dataset no longer exists");
    return summary_of_row(catalog, stmt, out, err);
}

static int compare_boxes(const void *a, const void *b)
{
    return hub_summary_compare(&(*(struct hub_summary_box *const *)a)->summary,
                               &(*(struct hub_summary_box *const *)b)->summary);
}

static enum hub_status grow_summaries(struct hub_catalog *catalog, struct hub_error *err)
{
    return hub_grow(&catalog->summaries, catalog->summary_count, &catalog->summary_capacity,
                    sizeof *catalog->summaries, err);
}

enum hub_status hub_summaries_load(struct hub_catalog *catalog, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row;
    HUB_TRY(hub_db_prepare(catalog->index, "SELECT " SUMMARY_COLUMNS " FROM datasets", &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            break;
        HUB_TRY(grow_summaries(catalog, err));
        struct hub_summary_box *box;
        HUB_TRY(hub_catalog_know_root(catalog, hub_stmt_text(stmt, 1), err));
        HUB_TRY(summary_of_row(catalog, stmt, &box, err));
        catalog->summaries[catalog->summary_count++] = box;
        catalog->next_serial = HUB_MAX(catalog->next_serial, box->summary.serial + 1);
    }
    if (catalog->summary_count)
        qsort(catalog->summaries, catalog->summary_count, sizeof(struct hub_summary_box *), compare_boxes);
    catalog->next_serial = HUB_MAX(catalog->next_serial, 1);
    return HUB_OK;
}

/* ---- the writer's list ---- */

/* First index whose summary is not before `summary`. */
static uint32_t lower_bound_summary(const struct hub_catalog *catalog, const struct hub_summary *summary)
{
    const struct hub_summary_box *box = (const struct hub_summary_box *)summary;
    return hub_lower_bound(&box, catalog->summaries, catalog->summary_count, sizeof box, compare_boxes);
}

enum hub_status hub_summaries_put(struct hub_catalog *catalog, struct hub_summary_box *summary,
                                  struct hub_error *err)
{
    const uint32_t at = lower_bound_summary(catalog, &summary->summary);
    catalog->dirty = true;
    if (at < catalog->summary_count && catalog->summaries[at]->summary.row == summary->summary.row) {
        atomic_store(&summary->read_ms, atomic_load(&catalog->summaries[at]->read_ms));
        hub_summary_unref(&catalog->summaries[at]->summary);
        catalog->summaries[at] = summary;
        return HUB_OK;
    }
    HUB_TRY(grow_summaries(catalog, err));
    memmove(&catalog->summaries[at + 1], &catalog->summaries[at],
            (catalog->summary_count - at) * sizeof *catalog->summaries);
    catalog->summaries[at] = summary;
    catalog->summary_count++;
    return HUB_OK;
}

void hub_summaries_remove(struct hub_catalog *catalog, int64_t row)
{
    for (uint32_t i = 0; i < catalog->summary_count; i++) {
        if (catalog->summaries[i]->summary.row != row)
            continue;
        hub_summary_unref(&catalog->summaries[i]->summary);
        catalog->summary_count--;
        memmove(&catalog->summaries[i], &catalog->summaries[i + 1],
                (catalog->summary_count - i) * sizeof *catalog->summaries);
        catalog->dirty = true;
        return;
    }
}

/* A summary with the sort key of an id, on the caller's stack. */
static struct hub_summary probe_of(const char *id, char key[HUB_MAX_ID + 1], char ns[HUB_MAX_ID + 1])
{
    struct hub_view alias;
    uint32_t version = 0;
    struct hub_summary probe = {.id = id, .ns = "", .row = INT64_MIN};
    probe.version = hub_id_split_alias(hub_view_of(id), &alias, &version) ? (int64_t)version : -1;
    const size_t size = HUB_MIN(alias.size, (size_t)HUB_MAX_ID);
    memcpy(key, alias.data, size);
    key[size] = '\0';
    const char *slash = strrchr(key, '/');
    if (slash) {
        memcpy(ns, key, (size_t)(slash - key));
        ns[slash - key] = '\0';
        probe.ns = ns;
    }
    probe.name = slash ? slash + 1 : key;
    return probe;
}

const struct hub_summary *hub_summaries_find(const struct hub_catalog *catalog, uint32_t root, const char *id)
{
    char key[HUB_MAX_ID + 1], ns[HUB_MAX_ID + 1];
    const struct hub_summary probe = probe_of(id, key, ns);
    for (uint32_t i = lower_bound_summary(catalog, &probe); i < catalog->summary_count; i++) {
        const struct hub_summary *summary = &catalog->summaries[i]->summary;
        if (strcmp(summary->id, id) != 0)
            break;
        if (summary->root == root)
            return summary;
    }
    return NULL;
}

void hub_summary_touch(const struct hub_summary *summary)
{
    struct hub_summary_box *box = (struct hub_summary_box *)summary;
    atomic_store_explicit(&box->read_ms, hub_time_now_ns() / 1000000, memory_order_relaxed);
}

int64_t hub_summary_read_ms(const struct hub_summary *summary)
{
    return atomic_load_explicit(&((struct hub_summary_box *)summary)->read_ms, memory_order_relaxed);
}

/* ---- what lies elsewhere ---- */

/* Of one id that several upstreams list, the first by name comes first. */
static int compare_remote(const void *a, const void *b)
{
    const int order = compare_boxes(a, b);
    return order ? order
                 : strcmp((*(struct hub_summary_box *const *)a)->summary.upstream,
                          (*(struct hub_summary_box *const *)b)->summary.upstream);
}

static enum hub_status replace_remote(struct hub_catalog *catalog, const char *upstream,
                                      const struct hub_summary *items, uint32_t count, struct hub_error *err)
{
    struct hub_summary_box **boxes;
    uint32_t kept = 0;
    enum hub_status st = HUB_OK;
    HUB_TRY(
        hub_new(&boxes, (size_t)catalog->remote_count + count + 1, sizeof(struct hub_summary_box *), err));
    for (uint32_t i = 0; i < catalog->remote_count; i++) {
        if (strcmp(catalog->remote[i]->summary.upstream, upstream) != 0)
            boxes[kept++] = catalog->remote[i];
        else
            hub_summary_unref(&catalog->remote[i]->summary);
    }
    for (uint32_t i = 0; i < count && !st; i++) {
        st = hub_summary_box_new(&items[i], &boxes[kept], err);
        kept += !st;
    }
    if (kept)
        qsort(boxes, kept, sizeof(struct hub_summary_box *), compare_remote);
    free(catalog->remote);
    catalog->remote = boxes;
    catalog->remote_count = kept;
    return st;
}

enum hub_status hub_catalog_show_remote(struct hub_catalog *catalog, const char *upstream,
                                        const struct hub_summary *items, uint32_t count,
                                        struct hub_error *err)
{
    pthread_mutex_lock(&catalog->write_lock);
    enum hub_status st = replace_remote(catalog, upstream, items, count, err);
    catalog->dirty = true;
    if (!st)
        st = hub_summaries_show(catalog, true, err);
    pthread_mutex_unlock(&catalog->write_lock);
    return st;
}

void hub_summaries_forget_remote(struct hub_catalog *catalog)
{
    for (uint32_t i = 0; i < catalog->remote_count; i++)
        hub_summary_unref(&catalog->remote[i]->summary);
    free(catalog->remote);
}
