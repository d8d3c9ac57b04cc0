/*
 * Opening and closing the index.
 *
 * After a run that ended uncleanly it is checked, a large one beside the first answers. Where an answer
 * says that the index is damaged, `damaged` is written, and the next start builds it again. Side data that
 * no part owns (a publication that never happened) is deleted at the start.
 */
#include "storage/catalog/internal.h"
#include "storage/catalog/schema.h"
#include "storage/io/state_dir.h"
#include "storage/sqlite/open_db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFAULT_CACHE_BYTES (64 * MIB)
#define CHECKED_AT_ONCE ((off_t)(32 * MIB)) /* some 100 ms */

static bool take_flag(const struct hub_catalog *catalog, const char *name)
{
    char path[4096];
    hub_catalog_path(catalog, name, path);
    return unlink(path) == 0;
}

static enum hub_status make_directory(const char *path, struct hub_error *err)
{
    if (mkdir(path, 0700) && errno != EEXIST)
        return hub_fail_errno(err, errno, "making %s", path);
    return HUB_OK;
}

static void *check(void *arg)
{
    struct hub_catalog *catalog = arg;
    const enum hub_status st = hub_db_quick_check(catalog->checked, NULL);
    if (st == HUB_CORRUPT)
        (void)!hub_catalog_put_flag(catalog, "damaged", NULL);
    atomic_store(&catalog->check_ended, st == HUB_OK || st == HUB_CORRUPT);
    return NULL;
}

static enum hub_status check_aside(struct hub_catalog *catalog, const char *path, struct hub_error *err)
{
    HUB_TRY(hub_db_open(path, HUB_DB_READ, &catalog->checked, err));
    if (pthread_create(&catalog->checker, NULL, check, catalog) == 0)
        return HUB_OK;
    hub_db_close(catalog->checked);
    catalog->checked = NULL;
    return hub_fail(err, HUB_NO_MEMORY, "no thread to check the catalogue with");
}

static void note_rebuilt(struct hub_catalog *catalog, const char *why)
{
    snprintf(catalog->notice, sizeof catalog->notice, "the index is rebuilt from the datasets: %.200s", why);
}

static enum hub_status open_index(struct hub_catalog *catalog, struct hub_error *err)
{
    char path[4096];
    struct stat index;
    const bool unclean = catalog->options.dir && catalog->options.dir->unclean;
    hub_catalog_path(catalog, hub_index_name, path);
    catalog->older = hub_schema_older(catalog->state, false);
    if (catalog->older && access(path, F_OK))
        note_rebuilt(catalog, "the old one has another version and is used until the new one is complete");
    if (take_flag(catalog, "damaged")) {
        hub_db_remove(path);
        note_rebuilt(catalog, "it is damaged");
    }
    const bool large = stat(path, &index) == 0 && index.st_size > CHECKED_AT_ONCE;
    struct hub_error rebuilt = {0};
    HUB_TRY(hub_schema_open_index(path, unclean && !large, &catalog->index, &rebuilt, err));
    if (rebuilt.status)
        note_rebuilt(catalog, rebuilt.detail);
    return unclean && large ? check_aside(catalog, path, err) : HUB_OK;
}

static enum hub_status owned(struct hub_catalog *catalog, const char *name, bool *out, struct hub_error *err)
{
    char path[300];
    struct hub_stmt *stmt;
    snprintf(path, sizeof path, "side/%s", name);
    HUB_TRY(hub_db_prepare(catalog->index, "SELECT 1 FROM parts WHERE side = ?", &stmt, err));
    hub_stmt_bind_text(stmt, 1, path);
    HUB_TRY(hub_stmt_step(stmt, out, err));
    hub_stmt_reset(stmt);
    return HUB_OK;
}

static enum hub_status drop_unowned(struct hub_catalog *catalog, const struct hub_names *side,
                                    struct hub_error *err)
{
    char path[4096];
    for (size_t i = 0; i < side->count; i++) {
        bool keep;
        HUB_TRY(owned(catalog, side->items[i].text, &keep, err));
        snprintf(path, sizeof path, "%s/side/%s", catalog->state, side->items[i].text);
        if (!keep)
            (void)unlink(path);
    }
    return HUB_OK;
}

static enum hub_status sweep_side_data(struct hub_catalog *catalog, struct hub_error *err)
{
    char path[4096];
    hub_catalog_path(catalog, "side", path);
    HUB_TRY(make_directory(path, err));
    hub_names_dispose(&catalog->side_before);
    HUB_TRY(hub_fs_list(AT_FDCWD, path, UINT32_MAX, &catalog->side_before, err));
    if (catalog->older)
        return HUB_OK; /* it may own them */
    HUB_TRY(drop_unowned(catalog, &catalog->side_before, err));
    hub_names_dispose(&catalog->side_before);
    return HUB_OK;
}

/* A check that did not come to its end is made by the next start. */
static bool end_check(struct hub_catalog *catalog)
{
    if (!catalog->checked)
        return true;
    hub_db_interrupt(catalog->checked);
    pthread_join(catalog->checker, NULL);
    hub_db_close(catalog->checked);
    return atomic_load(&catalog->check_ended);
}

static void forget_summaries(struct hub_catalog *catalog)
{
    for (uint32_t i = 0; i < catalog->summary_count; i++)
        hub_summary_unref(&catalog->summaries[i]->summary);
    catalog->summary_count = 0;
}

static enum hub_status read_index(struct hub_catalog *catalog, struct hub_error *err)
{
    HUB_TRY(sweep_side_data(catalog, err));
    HUB_TRY(hub_db_name_roots(catalog->index, catalog->options.roots,
                              "UPDATE OR IGNORE datasets SET root = ? WHERE root = ?", err));
    return hub_summaries_load(catalog, err);
}

/* Damage that shows only now: nothing was served from it yet. */
static enum hub_status rebuild_index(struct hub_catalog *catalog, struct hub_error *err)
{
    char path[4096];
    struct hub_error rebuilt;
    hub_catalog_path(catalog, hub_index_name, path);
    (void)end_check(catalog);
    catalog->checked = NULL;
    hub_db_close(catalog->index);
    catalog->index = NULL;
    forget_summaries(catalog);
    hub_db_remove(path);
    note_rebuilt(catalog, err ? err->detail : "");
    HUB_TRY(hub_schema_open_index(path, false, &catalog->index, &rebuilt, err));
    return read_index(catalog, err);
}

static enum hub_status open_all(struct hub_catalog *catalog, const struct hub_catalog_options *options,
                                struct hub_error *err)
{
    char path[4096];
    catalog->options = *options;
    if (!options->cache_bytes)
        catalog->options.cache_bytes = DEFAULT_CACHE_BYTES;
    HUB_TRY(hub_dup(&catalog->state, options->state, err));
    HUB_TRY(open_index(catalog, err));
    hub_catalog_path(catalog, hub_index_name, path);
    HUB_TRY(hub_db_readers_new(path, hub_catalog_closing, catalog, &catalog->readers, err));
    HUB_TRY(hub_lru_new(catalog->options.cache_bytes, &catalog->lru, err));
    hub_lru_enter(catalog->lru, options->room, "catalogue");
    HUB_TRY(hub_measure_failures_new(&catalog->measure_failures, err));
    enum hub_status st = read_index(catalog, err);
    if (st == HUB_CORRUPT)
        st = rebuild_index(catalog, err);
    if (st)
        return st;
    HUB_TRY(hub_summaries_show(catalog, true, err));
    hub_db_shrink(catalog->index);
    return HUB_OK;
}

enum hub_status hub_catalog_open(const struct hub_catalog_options *options, struct hub_catalog **out,
                                 struct hub_error *err)
{
    struct hub_catalog *catalog = calloc(1, sizeof *catalog);
    HUB_TRY(hub_allocated(catalog, err));
    pthread_mutex_init(&catalog->write_lock, NULL);
    pthread_mutex_init(&catalog->lock, NULL);
    const enum hub_status st = open_all(catalog, options, err);
    if (st) {
        hub_catalog_close(catalog);
        return st;
    }
    *out = catalog;
    return HUB_OK;
}

const char *hub_catalog_library(void)
{
    return hub_db_library();
}

const char *hub_catalog_notice(const struct hub_catalog *catalog)
{
    return catalog->notice;
}

bool hub_catalog_has_older(const struct hub_catalog *catalog)
{
    return catalog->older;
}

void hub_catalog_complete(struct hub_catalog *catalog)
{
    (void)hub_schema_older(catalog->state, true);
    pthread_mutex_lock(&catalog->write_lock);
    (void)!drop_unowned(catalog, &catalog->side_before, NULL); /* the next start goes on */
    hub_names_dispose(&catalog->side_before);
    pthread_mutex_unlock(&catalog->write_lock);
    catalog->older = false;
}

void hub_catalog_close(struct hub_catalog *catalog)
{
    if (!catalog)
        return;
    if (!end_check(catalog) && catalog->options.dir)
        catalog->options.dir->sound = false;
    hub_db_readers_free(catalog->readers);
    hub_lru_free(catalog->lru);
    hub_retired_delete(catalog);
    for (struct hub_retired *d = catalog->retired, *next; d; d = next) {
        next = d->next;
        free(d);
    }
    hub_catalog_closing(catalog, catalog->index);
    hub_db_close(catalog->index);
    hub_summaries_hide(catalog);
    forget_summaries(catalog);
    hub_summaries_forget_remote(catalog);
    free(catalog->summaries);
    pthread_mutex_destroy(&catalog->write_lock);
    pthread_mutex_destroy(&catalog->lock);
    hub_measure_failures_free(catalog->measure_failures);
    for (uint32_t i = 0; i < catalog->gone_count; i++)
        free(catalog->gone[i]);
    free(catalog->gone);
    hub_names_dispose(&catalog->side_before);
    free(catalog->state);
    free(catalog);
}
