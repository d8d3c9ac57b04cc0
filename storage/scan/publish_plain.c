/* Datasets without parts: one at a time, or many in one transaction, for a tree of plain folders has as many
 * as it has folders. */
#include "storage/ids/revision.h"
#include "storage/ids/version.h"
#include "storage/model/format_row.h"
#include "storage/scan/state.h"
#include "storage/text/time.h"

#include <stdlib.h>

enum { BATCH_SETS = 256, BATCH_FILES = 20000, BATCH_MS = 100 };

/* What a draft borrows; it stays where it is. */
struct bare {
    struct hub_findings problems;
    char revision[41];
};

static enum hub_status find_revision(const struct hub_fileset *files, char out[41], struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_revision_file *facts = calloc(files->count + (size_t)1, sizeof *facts);
    HUB_TRY(hub_allocated(facts, err));
    for (uint32_t i = 0; i < files->count; i++)
        facts[i] = (struct hub_revision_file){.path = files->files[i].path,
                                              .size = files->files[i].stamp.size,
                                              .mtime_ns = (int64_t)files->files[i].stamp.mtime_ns};
    return hub_revision(facts, files->count, out, err);
}

/* The plan's problems and what the walk met. `out` borrows both. */
static enum hub_status list_problems(const struct hub_findings *plan, const struct hub_fileset *files,
                                     struct hub_findings *out, struct hub_error *err)
{
    const uint32_t count = plan ? plan->problem_count : 0;
    *out = plan ? *plan : (struct hub_findings){0};
    HUB_TRY(hub_new(&out->problems, count + (size_t)files->problem_count + 1, sizeof *out->problems, err));
    if (count)
        memcpy(out->problems, plan->problems, count * sizeof *out->problems);
    for (uint32_t i = 0; i < files->problem_count; i++)
        out->problems[out->problem_count++] = files->problems[i];
    return HUB_OK;
}

/* By which releases load datasets of a format; NULL: it has none. */
static const char *rule_of(const char *format)
{
    const struct hub_load_rule *rule = hub_load_rule_of(hub_format_library(format));
    return rule ? rule->name : NULL;
}

static enum hub_status complete(struct hub_draft *draft, struct bare *bare, const struct hub_fileset *files,
                                const struct hub_findings *plan, struct hub_error *err)
{
    draft->rule = rule_of(draft->format);
    draft->files = files->files;
    draft->file_count = files->count;
    draft->plan = &bare->problems;
    draft->revision = bare->revision;
    if (draft->status != HUB_DATASET_PENDING)
        HUB_TRY(find_revision(files, bare->revision, err));
    return list_problems(plan, files, &bare->problems, err);
}

enum hub_status hub_scan_publish(struct hub_scanner *s, struct hub_draft draft,
                                 const struct hub_fileset *files, const struct hub_findings *plan,
                                 struct hub_error *err)
{
    struct bare bare = {0};
    HUB_TRY(complete(&draft, &bare, files, plan, err));
    const enum hub_status st = hub_catalog_publish(s->catalog, &draft, err);
    free(bare.problems.problems);
    return st;
}

/* ---- many at a time ---- */

struct hub_batched {
    struct hub_tracked_dataset *tracked;
    struct hub_fileset files;
    char *reason, *note;
    unsigned changes; /* that the hub had made of it */
    bool published;
    struct bare bare;
};

static void batched_dispose(struct hub_batched *set)
{
    hub_fileset_dispose(&set->files);
    free(set->reason);
    free(set->note);
    free(set->bare.problems.problems);
}

enum hub_status hub_batch_add(struct hub_scanner *s, struct hub_batch *batch,
                              struct hub_tracked_dataset *tracked, struct hub_fileset *files,
                              const char *reason, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf note = HUB_BUF_INIT(16 * KIB);
    if (!batch->sets)
        batch->sets = calloc(BATCH_SETS, sizeof *batch->sets);
    HUB_CLEANUP(hub_freep) char *why = reason ? strdup(reason) : NULL;
    if (!batch->sets || (reason && !why))
        return hub_no_memory(err);
    HUB_TRY(hub_tracked_key(s, tracked->root, tracked->id, &note));
    if (!batch->count)
        batch->began_ms = hub_time_mono_ms();
    batch->sets[batch->count++] = (struct hub_batched){.tracked = tracked,
                                                       .changes = tracked->changes,
                                                       .files = *files,
                                                       .reason = why,
                                                       .note = hub_buf_take(&note, NULL)};
    why = NULL;
    batch->file_count += files->count;
    /* what a driver claimed is found while directories are asked about, which may take its time */
    batch->at_once = batch->at_once || !hub_format_is_files(tracked->formats[0]);
    *files = (struct hub_fileset){0};
    return HUB_OK;
}

bool hub_batch_is_due(const struct hub_batch *batch)
{
    return batch->count &&
           (batch->at_once || batch->count == BATCH_SETS || batch->file_count >= BATCH_FILES ||
            hub_time_mono_ms() - batch->began_ms >= BATCH_MS);
}

static enum hub_status make_draft(struct hub_batched *set, struct hub_draft *draft, struct hub_error *err)
{
    const struct hub_tracked_dataset *tracked = set->tracked;
    *draft = (struct hub_draft){
        .id = tracked->id,
        .path = tracked->path,
        .format = tracked->formats[0],
        .reason = set->reason ? set->reason : "",
        .root = tracked->root,
        .status = set->reason ? HUB_DATASET_BROKEN : HUB_DATASET_READY,
        .seen = tracked->sweep,
        .note = set->note,
        .note_value = {(const char *)&tracked->signature, sizeof tracked->signature},
    };
    return complete(draft, &set->bare, &set->files, NULL, err);
}

/* One that cannot be published keeps none before it from being; one that the hub changes just now, none at
 * all. */
static enum hub_status publish(struct hub_scanner *s, const struct hub_batch *batch, struct hub_draft *drafts,
                               struct hub_error *err)
{
    for (uint32_t i = 0; i < batch->count; i++)
        HUB_TRY(make_draft(&batch->sets[i], &drafts[i], err));
    const bool all = hub_catalog_publish_all(s->catalog, drafts, batch->count, NULL) == HUB_OK;
    for (uint32_t i = 0; i < batch->count; i++) {
        const enum hub_status st = all ? HUB_OK : hub_catalog_publish(s->catalog, &drafts[i], err);
        if (st && st != HUB_CHANGED)
            return st;
        batch->sets[i].published = !st;
    }
    return HUB_OK;
}

static void clear(struct hub_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++)
        batched_dispose(&batch->sets[i]);
    *batch = (struct hub_batch){.sets = batch->sets};
}

enum hub_status hub_batch_publish(struct hub_scanner *s, struct hub_batch *batch, struct hub_error *err)
{
    if (!batch->count)
        return HUB_OK;
    HUB_CLEANUP(hub_freep) struct hub_draft *drafts = calloc(batch->count, sizeof *drafts);
    const enum hub_status st = drafts ? publish(s, batch, drafts, err) : hub_no_memory(err);
    pthread_mutex_lock(&s->workers.lock);
    for (uint32_t i = 0; i < batch->count; i++) {
        struct hub_tracked_dataset *tracked = batch->sets[i].tracked;
        if (!batch->sets[i].published || batch->sets[i].changes != tracked->changes)
            continue;
        tracked->shown = tracked->ready = true;
        tracked->published = tracked->signature;
    }
    pthread_mutex_unlock(&s->workers.lock);
    clear(batch);
    return st;
}

void hub_batch_dispose(struct hub_batch *batch)
{
    clear(batch);
    free(batch->sets);
}
