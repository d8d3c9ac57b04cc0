/* What can only be proven when all records are in: uniqueness, and layouts against the sizes files really
 * have. */
#include "storage/base/order.h"
#include "storage/inspect/proof.h"

#include <stdlib.h>

static enum hub_status numbers_unique(const struct hub_findings *f, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) int64_t *numbers = malloc((f->episode_count + (size_t)1) * sizeof *numbers);
    HUB_TRY(hub_allocated(numbers, err));
    bool ascending = true;
    for (uint32_t i = 0; i < f->episode_count; i++) {
        numbers[i] = f->episodes[i].number;
        ascending = ascending && (i == 0 || numbers[i - 1] < numbers[i]);
    }
    if (ascending)
        return HUB_OK;
    qsort(numbers, f->episode_count, sizeof *numbers, hub_by_i64);
    for (uint32_t i = 1; i < f->episode_count; i++)
        if (numbers[i] == numbers[i - 1] && numbers[i] != -1)
            return hub_fail(err, HUB_CORRUPT, "two episodes with the number %lld", (long long)numbers[i]);
    return HUB_OK;
}

/* `texts` is sorted here. */
static enum hub_status texts_unique(const char **texts, uint32_t count, const char *what,
                                    struct hub_error *err)
{
    if (count > 1)
        qsort(texts, count, sizeof *texts, hub_by_text);
    for (uint32_t i = 1; i < count; i++)
        if (strcmp(texts[i], texts[i - 1]) == 0)
            return hub_fail(err, HUB_CORRUPT, "two %s named %s", what, texts[i]);
    return HUB_OK;
}

static enum hub_status names_unique(const struct hub_findings *f, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep)
    const char **texts = malloc((f->field_count + f->part_count + (size_t)1) * sizeof *texts);
    HUB_TRY(hub_allocated(texts, err));
    for (uint32_t i = 0; i < f->field_count; i++)
        texts[i] = f->fields[i].path;
    HUB_TRY(texts_unique(texts, f->field_count, "fields", err));
    for (uint32_t i = 0; i < f->part_count; i++)
        texts[i] = f->parts[i].name;
    return texts_unique(texts, f->part_count, "parts", err);
}

/* No file may belong to two claims. */
static enum hub_status claims_disjoint(const struct hub_job *job, const struct hub_findings *f,
                                       struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) bool *taken = calloc(job->file_count + (size_t)1, sizeof *taken);
    HUB_TRY(hub_allocated(taken, err));
    for (uint32_t i = 0; i < f->claim_count; i++) {
        for (uint32_t k = 0; k < f->claims[i].file_count; k++) {
            if (taken[f->claims[i].files[k]])
                return hub_fail(err, HUB_CORRUPT, "file %u claimed twice", f->claims[i].files[k]);
            taken[f->claims[i].files[k]] = true;
        }
    }
    return HUB_OK;
}

static enum hub_status layouts_true(const struct hub_job *job, const struct hub_findings *f,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint64_t *sizes = calloc(job->file_count + (size_t)1, sizeof *sizes);
    HUB_TRY(hub_allocated(sizes, err));
    for (uint32_t i = 0; i < job->file_count; i++)
        sizes[i] = job->files[i].size;
    for (uint32_t i = 0; i < f->field_count; i++) {
        struct hub_layout layout = {0};
        struct hub_error why = {0};
        if (!f->fields[i].layout)
            continue;
        enum hub_status st = hub_layout_open(f->fields[i].layout, f->fields[i].layout_size, &layout, &why);
        if (!st)
            st = hub_layout_check(&layout, sizes, job->file_count, f->side_size, f->episode_count, &why);
        if (st)
            return hub_fail(err, st == HUB_NO_MEMORY ? st : HUB_CORRUPT, "a layout of %s: %s",
                            f->fields[i].path, why.detail);
        f->fields[i].unreadable = hub_layout_unreadable(&layout);
    }
    return HUB_OK;
}

enum hub_status hub_findings_finish(struct hub_findings_reader *r, uint64_t side_size, struct hub_error *err)
{
    if (r->layout_field)
        return hub_fail(err, HUB_CORRUPT, "an unfinished layout");
    r->found->side_size = side_size;
    if (r->job->kind == HUB_JOB_CLAIM)
        return claims_disjoint(r->job, r->found, err);
    HUB_TRY(numbers_unique(r->found, err));
    HUB_TRY(names_unique(r->found, err));
    return layouts_true(r->job, r->found, err);
}
