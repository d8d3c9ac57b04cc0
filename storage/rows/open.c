/* Files of a dataset: see open.h. */
#include "storage/rows/open.h"

#include "storage/truth/damage.h"

enum hub_status hub_files_path(const struct hub_dataset *dataset, const struct hub_dataset_file *file,
                               char out[PATH_MAX], struct hub_error *err)
{
    const size_t above = strlen(dataset->summary->path), size = strlen(file->path);
    if (above + size + 2 > PATH_MAX)
        return hub_fail(err, HUB_TOO_BIG, "the path of '%s' is too long", file->path);
    memcpy(out, dataset->summary->path, above);
    if (above)
        out[above] = '/';
    memcpy(out + above + (above > 0), file->path, size + 1);
    return HUB_OK;
}

enum hub_status hub_files_open(const struct hub_rows_context *context, const struct hub_dataset *dataset,
                               const struct hub_dataset_file *entry, struct hub_file **out,
                               struct hub_error *err)
{
    char path[PATH_MAX];
    HUB_TRY(hub_files_path(dataset, entry, path, err));
    const struct hub_file_ref ref = {.root = dataset->summary->root,
                                     .path = path,
                                     .expect = &entry->stamp,
                                     .if_open = !context->may_block};
    const enum hub_status st = hub_file_get(context->store, &ref, out, err);
    return st == HUB_CHANGED || st == HUB_NOT_FOUND ? hub_rows_changed(context, dataset->summary, err) : st;
}

enum hub_status hub_side_open(const struct hub_rows_context *context, const struct hub_dataset *dataset,
                              const struct hub_dataset_part *part, struct hub_file **out,
                              struct hub_error *err)
{
    if (!part->side)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_INTERNAL, "part '%s' has no side data", part->name);
    /* the index does not say which files the side data was made of */
    if (hub_damage_count(context->truth, dataset->summary->root, dataset->summary->path))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_FILE_DAMAGED,
                           "a file of '%s' is damaged, and these rows may come from it; the problems of the "
                           "dataset say more",
                           dataset->summary->id);
    const struct hub_file_ref ref = {.root = HUB_ROOT_STATE,
                                     .path = part->side,
                                     .expect = &part->side_stamp,
                                     .if_open = !context->may_block};
    const enum hub_status st = hub_file_get(context->store, &ref, out, err);
    if (st != HUB_CHANGED && st != HUB_NOT_FOUND)
        return st;
    return context->changed(context->user, dataset->summary, HUB_ROWS_SIDE_LOST, err);
}
