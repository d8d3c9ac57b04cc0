/* Publishing states of datasets: all of them in one transaction, then their summaries in the next snapshot. A
 * killed publication leaves the old states; side data it wrote is swept at the next start. */
#include "storage/catalog/search.h"

#include "storage/base/order.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

void hub_publication_dispose(struct hub_publication *p)
{
    for (uint32_t i = 0; i < p->field_count; i++) {
        free(p->fields[i].path);
        free(p->fields[i].unreadable);
    }
    free(p->fields);
    free(p->episodes);
    free(p->part_rows);
    hub_text_set_dispose(&p->tasks);
    hub_text_set_dispose(&p->cameras);
    free(p->broken_why);
    for (struct hub_retired *d = p->retired, *next; d; d = next) {
        next = d->next;
        free(d);
    }
    hub_buf_dispose(&p->conflicts);
    if (p->summary)
        hub_summary_unref(&p->summary->summary);
}

/* ---- the dataset's row ---- */

static enum hub_status find_row(const struct hub_catalog *catalog, uint32_t root, const char *id,
                                int64_t *row, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    char number[16];
    bool found;
    HUB_TRY(hub_db_prepare(catalog->index, "SELECT row FROM datasets WHERE root = ? AND id = ?", &stmt, err));
    hub_stmt_bind_text(stmt, 1, hub_catalog_root(catalog, root, number));
    hub_stmt_bind_text(stmt, 2, id);
    HUB_TRY(hub_stmt_step(stmt, &found, err));
    if (!found)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "%s is not in the catalogue",
                           id);
    *row = hub_stmt_int(stmt, 0);
    return HUB_OK;
}

/* Serial 0 until it is published. */
static enum hub_status make_row(struct hub_publication *p, struct hub_error *err)
{
    struct hub_stmt *stmt;
    char number[16];
    const enum hub_status known = find_row(p->catalog, p->draft->root, p->draft->id, &p->row, err);
    if (known != HUB_NOT_FOUND)
        return known;
    HUB_TRY(hub_db_prepare(p->db,
                           "INSERT INTO datasets (root, id, serial, path, format, status, reason, era, "
                           "stated_version, description, rule,"
                           " loadable_by, authors, revision, episodes, steps, size, files, modified_ns)"
                           " VALUES (?, ?, 0, ?, ?, ?, '', '', '', '', '', '', '', '', 0, 0, 0, 0, 0)",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, hub_catalog_root(p->catalog, p->draft->root, number));
    hub_stmt_bind_text(stmt, 2, p->draft->id);
    hub_stmt_bind_text(stmt, 3, p->draft->path);
    hub_stmt_bind_text(stmt, 4, p->draft->format);
    hub_stmt_bind_int(stmt, 5, HUB_DATASET_PENDING);
    HUB_TRY(hub_stmt_run(stmt, err));
    p->row = hub_db_last_row(p->db);
    HUB_TRY(hub_facts_write(p->db, p->row, &(struct hub_findings){0}, err));
    /* a directory of its own at once: a staged dataset can be opened too */
    return hub_blob_write(p->db, hub_dataset_owner(p->row), HUB_BLOB_DIRECTORY, "", HUB_VIEW("\0\0\0\0\0"),
                          err);
}

/* What the row says about turns: see struct hub_turn. */
static enum hub_status turn_of(struct hub_publication *p, struct hub_turn *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool found;
    HUB_TRY(
        hub_db_query(p->db, "SELECT serial, fence, attempt FROM datasets WHERE row = ?", p->row, &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &found, err));
    *out = (struct hub_turn){.expect = (uint64_t)hub_stmt_int(stmt, 0),
                             .fence = (uint64_t)hub_stmt_int(stmt, 1),
                             .attempt = (uint64_t)hub_stmt_int(stmt, 2)};
    return HUB_OK;
}

static enum hub_status check_turn(struct hub_publication *p, struct hub_error *err)
{
    const struct hub_turn *turn = p->draft->turn;
    struct hub_turn now;
    if (!turn)
        return HUB_OK;
    HUB_TRY(turn_of(p, &now, err));
    p->applied = now.fence == turn->fence && now.attempt == turn->attempt;
    if (p->applied || (now.fence == turn->fence && now.expect == turn->expect))
        return HUB_OK;
    return hub_fail(err, HUB_CHANGED, "another state of %s is published or being published", p->draft->id);
}

static enum hub_status take_turn(struct hub_catalog *catalog, const struct hub_draft *draft,
                                 struct hub_turn *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_db_rollbackp) struct hub_db *db = catalog->index;
    struct hub_publication p = {.catalog = catalog, .db = db, .draft = draft};
    HUB_TRY(hub_db_begin(db, err));
    HUB_TRY(make_row(&p, err));
    HUB_TRY(hub_db_run(db, "UPDATE datasets SET fence = fence + 1 WHERE row = ?", p.row, err));
    HUB_TRY(turn_of(&p, out, err));
    do {
        if (getrandom(&out->attempt, sizeof out->attempt, 0) != sizeof out->attempt)
            return hub_fail(err, HUB_IO, "there is no random number for an attempt");
    } while (!out->attempt); /* 0: published without a turn */
    return hub_db_commit(db, err);
}

enum hub_status hub_catalog_take_turn(struct hub_catalog *catalog, const struct hub_draft *draft,
                                      struct hub_turn *out, struct hub_error *err)
{
    pthread_mutex_lock(&catalog->write_lock);
    const enum hub_status st = take_turn(catalog, draft, out, err);
    pthread_mutex_unlock(&catalog->write_lock);
    return st;
}

static enum hub_status check_fence(const struct hub_catalog *catalog, const struct hub_draft *draft,
                                   struct hub_error *err)
{
    return hub_fence_passes(catalog, draft->root, draft->path, draft->seen)
               ? HUB_OK
               : hub_fail(err, HUB_CHANGED, "%s was deleted, renamed or replaced meanwhile", draft->id);
}

static enum hub_status check_draft(const struct hub_draft *draft, struct hub_error *err)
{
    for (uint32_t i = 1; i < draft->file_count; i++)
        if (strcmp(draft->files[i - 1].path, draft->files[i].path) >= 0)
            return hub_fail(err, HUB_INVALID, "%s: the files are not sorted", draft->id);
    return HUB_OK;
}

/* ---- parts ---- */

static enum hub_status write_parts(struct hub_publication *p, struct hub_error *err)
{
    HUB_TRY(hub_new(&p->part_rows, (size_t)p->draft->part_count + 1, sizeof *p->part_rows, err));
    for (uint32_t i = 0; i < p->draft->part_count; i++) {
        const struct hub_draft_part *part = &p->draft->parts[i];
        int64_t *row = &p->part_rows[i];
        if (part->found || part->broken)
            HUB_TRY(hub_part_write(p, part, row, err));
        else
            HUB_TRY(hub_part_find(p->db, p->row, part->name, part->signature, row, err));
    }
    return HUB_OK;
}

static enum hub_status parts_of(struct hub_publication *p, int64_t **out, size_t *count,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf rows = HUB_BUF_INIT(64 * MIB);
    bool row;
    HUB_TRY(hub_db_query(p->db, "SELECT row FROM parts WHERE dataset = ?", p->row, &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            break;
        const int64_t value = hub_stmt_int(stmt, 0);
        HUB_TRY(hub_buf_add(&rows, &value, sizeof value, err));
    }
    *count = rows.size / sizeof(int64_t);
    *out = (int64_t *)(void *)hub_buf_take(&rows, NULL);
    return HUB_OK;
}

/* The parts that this state no longer has. */
static enum hub_status drop_parts(struct hub_publication *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) int64_t *rows = NULL;
    size_t count = 0;
    const size_t kept_count = p->draft->part_count;
    HUB_TRY(parts_of(p, &rows, &count, err));
    HUB_CLEANUP(hub_freep) int64_t *kept = calloc(kept_count + 1, sizeof *kept);
    HUB_TRY(hub_allocated(kept, err));
    for (size_t i = 0; i < kept_count; i++)
        kept[i] = p->part_rows[i];
    qsort(kept, kept_count, sizeof *kept, hub_by_i64);
    for (size_t i = 0; i < count; i++)
        if (!bsearch(&rows[i], kept, kept_count, sizeof *kept, hub_by_i64))
            HUB_TRY(hub_part_delete(p, rows[i], err));
    return HUB_OK;
}

/* ---- facts and problems of the plan ---- */

static enum hub_status write_plan(struct hub_publication *p, struct hub_error *err)
{
    const struct hub_findings *plan = p->draft->plan;
    const int64_t owner = hub_dataset_owner(p->row);
    HUB_TRY(hub_blobs_delete_kind(p->db, owner, HUB_BLOB_CONFLICTS, err));
    if (!plan)
        return HUB_OK;
    HUB_TRY(hub_blobs_delete_kind(p->db, owner, HUB_BLOB_PROBLEMS, err));
    HUB_TRY(hub_facts_write(p->db, p->row, plan, err));
    return hub_problems_write(p->db, owner, plan, err);
}

/* ---- all of one dataset ---- */

static enum hub_status write_all(struct hub_publication *p, uint64_t serial, struct hub_error *err)
{
    HUB_TRY(make_row(p, err));
    HUB_TRY(check_turn(p, err));
    if (p->applied)
        return hub_summary_load(p->catalog, p->db, p->row, &p->summary, err);
    HUB_TRY(write_parts(p, err));
    if (p->draft->status != HUB_DATASET_PENDING) /* parts staged so far are kept for the next state */
        HUB_TRY(drop_parts(p, err));
    HUB_TRY(write_plan(p, err));
    HUB_TRY(hub_merge_fields(p, err));
    HUB_TRY(hub_merge_episodes(p, err));
    HUB_TRY(hub_directory_write(p, err));
    HUB_TRY(hub_summary_store(p, serial, err));
    if (p->draft->note)
        HUB_TRY(hub_note_write(p->db, p->draft->note, p->draft->note_value, err));
    return hub_summary_load(p->catalog, p->db, p->row, &p->summary, err);
}

/* ---- after the commit ---- */

/* What the old state alone had may go when nobody has it open: not from the cache either. */
static void retire(struct hub_publication *p, const struct hub_summary *old)
{
    struct hub_catalog *catalog = p->catalog;
    if (old) {
        const struct hub_lru_key key = hub_dataset_key(old);
        hub_lru_drop(catalog->lru, &key);
        hub_lru_drop_kind(catalog->lru, hub_cache_layouts(old->serial));
    }
    if (!p->retired)
        return;
    pthread_mutex_lock(&catalog->lock);
    while (p->retired) {
        struct hub_retired *d = p->retired;
        p->retired = d->next;
        d->serial = catalog->next_serial - 1;
        d->next = catalog->retired;
        catalog->retired = d;
    }
    pthread_mutex_unlock(&catalog->lock);
}

static enum hub_status put_summary(struct hub_publication *p, struct hub_error *err)
{
    retire(p, hub_summaries_find(p->catalog, p->draft->root, p->draft->id));
    p->catalog->next_serial++;
    HUB_TRY(hub_summaries_put(p->catalog, p->summary, err));
    p->summary = NULL;
    return HUB_OK;
}

/* Rows go into indexes of random order: with too little cache each would be a read and a write. */
enum { LARGE_EPISODES = 20000, LARGE_CACHE_KIB = 96 * 1024, SMALL_CACHE_KIB = 4 * 1024 };

static enum hub_status make_room(struct hub_db *db, bool large, struct hub_error *err)
{
    if (!large)
        hub_db_shrink(db);
    return hub_db_cache(db, large ? LARGE_CACHE_KIB : SMALL_CACHE_KIB, err);
}

static uint64_t count_found(const struct hub_draft *drafts, uint32_t count)
{
    uint64_t episodes = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < drafts[i].part_count; k++)
            episodes += drafts[i].parts[k].found ? drafts[i].parts[k].found->episode_count : 0;
    return episodes;
}

static enum hub_status write_drafts(struct hub_publication *all, uint32_t count, struct hub_error *err)
{
    HUB_CLEANUP(hub_db_rollbackp) struct hub_db *db = all->db;
    HUB_TRY(hub_db_begin(db, err));
    for (uint32_t i = 0; i < count; i++)
        HUB_TRY(write_all(&all[i], all->catalog->next_serial + i, err));
    return hub_db_commit(db, err);
}

static enum hub_status publish(struct hub_publication *all, const struct hub_draft *drafts, uint32_t count,
                               struct hub_error *err)
{
    struct hub_catalog *catalog = all->catalog;
    for (uint32_t i = 0; i < count; i++) {
        HUB_TRY(check_fence(catalog, &drafts[i], err));
        HUB_TRY(check_draft(&drafts[i], err));
    }
    const bool large = count_found(drafts, count) > LARGE_EPISODES;
    if (large)
        HUB_TRY(make_room(catalog->index, true, err));
    enum hub_status st = write_drafts(all, count, err);
    if (large && make_room(catalog->index, false, NULL))
        return hub_fail(err, HUB_IO, "the catalogue's cache cannot be shrunk again");
    if (st)
        return st;
    for (uint32_t i = 0; i < count; i++) {
        const enum hub_status put = put_summary(&all[i], err);
        st = st ? st : put;
    }
    return st ? st : hub_summaries_show(catalog, false, err);
}

enum hub_status hub_catalog_publish_all(struct hub_catalog *catalog, const struct hub_draft *drafts,
                                        uint32_t count, struct hub_error *err)
{
    if (!count)
        return HUB_OK;
    HUB_CLEANUP(hub_freep) struct hub_publication *all = calloc(count, sizeof *all);
    HUB_TRY(hub_allocated(all, err));
    for (uint32_t i = 0; i < count; i++)
        all[i] = (struct hub_publication){.catalog = catalog, .db = catalog->index, .draft = &drafts[i]};
    pthread_mutex_lock(&catalog->write_lock);
    const enum hub_status st = publish(all, drafts, count, err);
    pthread_mutex_unlock(&catalog->write_lock);
    for (uint32_t i = 0; i < count; i++)
        hub_publication_dispose(&all[i]);
    return st;
}

enum hub_status hub_catalog_publish(struct hub_catalog *catalog, const struct hub_draft *draft,
                                    struct hub_error *err)
{
    return hub_catalog_publish_all(catalog, draft, 1, err);
}

static enum hub_status stage(struct hub_catalog *catalog, const struct hub_draft *draft,
                             const struct hub_draft_part *part, struct hub_error *err)
{
    HUB_CLEANUP(hub_db_rollbackp) struct hub_db *db = catalog->index;
    HUB_CLEANUP(hub_publication_dispose)
    struct hub_publication p = {.catalog = catalog, .db = db, .draft = draft};
    int64_t row;
    HUB_TRY(check_draft(draft, err));
    HUB_TRY(hub_db_begin(db, err));
    HUB_TRY(make_row(&p, err));
    HUB_TRY(check_turn(&p, err));
    if (!p.applied)
        HUB_TRY(hub_part_write(&p, part, &row, err));
    HUB_TRY(hub_db_commit(db, err));
    retire(&p, NULL);
    return HUB_OK;
}

enum hub_status hub_catalog_stage(struct hub_catalog *catalog, const struct hub_draft *draft,
                                  const struct hub_draft_part *part, struct hub_error *err)
{
    pthread_mutex_lock(&catalog->write_lock);
    const enum hub_status st = stage(catalog, draft, part, err);
    pthread_mutex_unlock(&catalog->write_lock);
    return st;
}

static enum hub_status remove_rows(struct hub_publication *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) int64_t *rows = NULL;
    size_t count = 0;
    HUB_TRY(parts_of(p, &rows, &count, err));
    for (size_t i = 0; i < count; i++)
        HUB_TRY(hub_part_delete(p, rows[i], err));
    HUB_TRY(hub_search_forget(p, err));
    HUB_TRY(hub_blobs_delete(p->db, hub_dataset_owner(p->row), err));
    return hub_db_run(p->db, "DELETE FROM datasets WHERE row = ?", p->row, err);
}

static enum hub_status remove_dataset(struct hub_catalog *catalog, uint32_t root, const char *id,
                                      struct hub_error *err)
{
    HUB_CLEANUP(hub_db_rollbackp) struct hub_db *db = catalog->index;
    HUB_CLEANUP(hub_publication_dispose) struct hub_publication p = {.catalog = catalog, .db = db};
    HUB_TRY(find_row(catalog, root, id, &p.row, err));
    HUB_TRY(hub_db_begin(db, err));
    HUB_TRY(remove_rows(&p, err));
    HUB_TRY(hub_db_commit(db, err));
    retire(&p, hub_summaries_find(catalog, root, id));
    hub_summaries_remove(catalog, p.row);
    return hub_summaries_show(catalog, false, err);
}

enum hub_status hub_catalog_remove(struct hub_catalog *catalog, uint32_t root, const char *id,
                                   struct hub_error *err)
{
    pthread_mutex_lock(&catalog->write_lock);
    const enum hub_status st = remove_dataset(catalog, root, id, err);
    pthread_mutex_unlock(&catalog->write_lock);
    return st;
}

/* The path of a part's side data, "" when there are none, and their stamp. HUB_NOT_FOUND also when something
 * else that is kept of it is damaged. */
static enum hub_status find_side(struct hub_catalog *catalog, uint32_t root, const char *id, const char *part,
                                 uint64_t signature, char path[4096], struct hub_stamp *stamp)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    int64_t dataset, row;
    bool found;
    HUB_TRY(find_row(catalog, root, id, &dataset, NULL));
    HUB_TRY(hub_part_find(catalog->index, dataset, part, signature, &row, NULL));
    HUB_TRY(hub_db_query(catalog->index, "SELECT side, side_stamp, blobs FROM parts WHERE row = ?", row,
                         &stmt, NULL));
    HUB_TRY(hub_stmt_step(stmt, &found, NULL));
    if (!found || !hub_blobs_whole(catalog->index, row, hub_stmt_int(stmt, 2)))
        return HUB_NOT_FOUND;
    const struct hub_view blob = hub_stmt_blob(stmt, 1);
    path[0] = '\0';
    if (hub_stmt_is_null(stmt, 0) || blob.size != sizeof *stamp)
        return HUB_OK;
    memcpy(stamp, blob.data, sizeof *stamp);
    snprintf(path, 4096, "%s/%s", catalog->state, hub_stmt_text(stmt, 0));
    return HUB_OK;
}

static bool is_whole(const char *path, const struct hub_stamp *stamp)
{
    struct hub_stamp now;
    HUB_CLEANUP(hub_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && hub_fs_sealed_stamp(fd, &now, NULL) == HUB_OK && hub_stamp_equal(&now, stamp);
}

bool hub_catalog_has_part(struct hub_catalog *catalog, uint32_t root, const char *id, const char *part,
                          uint64_t signature)
{
    char path[4096];
    struct hub_stamp stamp = {0};
    pthread_mutex_lock(&catalog->write_lock);
    const enum hub_status st = find_side(catalog, root, id, part, signature, path, &stamp);
    pthread_mutex_unlock(&catalog->write_lock);
    return !st && (!path[0] || is_whole(path, &stamp));
}

enum hub_status hub_catalog_flush(struct hub_catalog *catalog, struct hub_error *err)
{
    pthread_mutex_lock(&catalog->write_lock);
    const enum hub_status st = hub_summaries_show(catalog, true, err);
    pthread_mutex_unlock(&catalog->write_lock);
    hub_retired_delete(catalog);
    return st;
}
