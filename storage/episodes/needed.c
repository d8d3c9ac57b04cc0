/* The files that some episodes of a dataset need. What no episode has rows or videos in, metadata and the
 * like, is everybody's. */
#include "storage/catalog/internal.h"

#include <stdlib.h>

/* What is known of a file. */
enum { OF_CHOSEN = 1, OF_OTHERS = 2 };

struct needed_parts {
    const struct hub_state *state;
    const bool *chosen;
    uint8_t *files;     /* by number */
    bool *by_part;      /* whether they are chosen, by part and index */
    uint32_t *own;      /* their files, in the same order */
    uint32_t *base;     /* of the parts in by_part */
    uint32_t *one_file; /* by part: that of its episodes so far, or HUB_NONE */
    bool *several;      /* by part: its episodes are not all of one file */
    bool *wanted;       /* by part: one of its episodes is chosen */
    uint32_t part;      /* that is looked at */
};

static void needs_dispose(struct needed_parts *n)
{
    free(n->files);
    free(n->by_part);
    free(n->own);
    free(n->base);
    free(n->one_file);
    free(n->several);
    free(n->wanted);
}

static enum hub_status begin(struct needed_parts *n, struct hub_error *err)
{
    const struct hub_dataset *d = n->state->dataset;
    const uint32_t *episodes = hub_dataset_box_of(d)->part_episodes;
    uint32_t total = 0;
    HUB_TRY(hub_new(&n->base, d->part_count + 1, sizeof *n->base, err));
    for (uint32_t i = 0; i < d->part_count; i++) {
        n->base[i] = total;
        total += episodes[i];
    }
    HUB_TRY(hub_new(&n->files, d->file_count + 1, sizeof *n->files, err));
    HUB_TRY(hub_new(&n->by_part, (size_t)total + 1, sizeof *n->by_part, err));
    HUB_TRY(hub_new(&n->own, (size_t)total + 1, sizeof *n->own, err));
    HUB_TRY(hub_new(&n->one_file, d->part_count + 1, sizeof *n->one_file, err));
    HUB_TRY(hub_new(&n->several, d->part_count + 1, sizeof *n->several, err));
    HUB_TRY(hub_new(&n->wanted, d->part_count + 1, sizeof *n->wanted, err));
    for (uint32_t i = 0; i < d->part_count; i++)
        n->one_file[i] = HUB_NONE;
    for (uint32_t i = 0; i < d->episode_count; i++)
        if (n->chosen[i]) {
            n->by_part[n->base[d->episodes[i].part] + d->episodes[i].index] = true;
            n->wanted[d->episodes[i].part] = true;
        }
    return HUB_OK;
}

static void add_file(void *user, uint32_t place, uint32_t file)
{
    struct needed_parts *n = user;
    const struct hub_dataset_episode *e = &n->state->dataset->episodes[place];
    const uint32_t part = e->part;
    n->own[n->base[part] + e->index] = file;
    if (file == HUB_NONE)
        return;
    n->files[file] |= n->chosen[place] ? OF_CHOSEN : OF_OTHERS;
    n->several[part] = n->several[part] || (n->one_file[part] != HUB_NONE && n->one_file[part] != file);
    n->one_file[part] = file;
}

static enum hub_status add_video(void *user, const struct hub_found_media *media, struct hub_error *err)
{
    struct needed_parts *n = user;
    (void)err;
    if (media->file != HUB_NONE)
        n->files[media->file] |= n->by_part[n->base[n->part] + media->episode] ? OF_CHOSEN : OF_OTHERS;
    return HUB_OK;
}

/* Rows that were unpacked may come from all files up to the one where the next episode begins. */
static void add_next(struct needed_parts *n, uint32_t episode)
{
    const uint32_t count = hub_dataset_box_of(n->state->dataset)->part_episodes[n->part];
    const uint32_t file = episode + 1 < count ? n->own[n->base[n->part] + episode + 1] : HUB_NONE;
    if (file != HUB_NONE)
        n->files[file] |= OF_CHOSEN;
}

/* Where the rows of chosen episodes lie. */
static void add_pieces(struct needed_parts *n, const struct hub_layout *layout)
{
    for (uint32_t i = 0; i < layout->counts[HUB_T_WINDOWS]; i++) {
        const struct hub_window *w = &layout->windows[i];
        if (!n->by_part[n->base[n->part] + w->episode] || w->array == HUB_NONE)
            continue;
        const struct hub_array *array = &layout->arrays[w->array];
        for (uint32_t k = 0; k < array->piece_count; k++) {
            const struct hub_piece *piece = &layout->pieces[array->first_piece + k];
            if (!hub_piece_in_file(piece) || piece->first_row >= w->first + w->count ||
                w->first >= piece->first_row + piece->rows)
                continue;
            if (piece->file == HUB_SIDE_FILE)
                add_next(n, w->episode);
            else
                n->files[piece->file] |= OF_CHOSEN;
        }
    }
}

/* An episode's own file need not be the only one that it has rows in, where a part has several. */
static enum hub_status add_rows(struct needed_parts *n, struct hub_error *err)
{
    for (uint32_t field = 0; field < n->state->dataset->field_count; field++) {
        HUB_CLEANUP(hub_layout_putp) struct hub_layout_ref *ref = NULL;
        const enum hub_status st =
            hub_layout_get(n->state->catalog, n->state->dataset, n->part, field, true, &ref, err);
        if (st && st != HUB_NOT_FOUND)
            return st;
        if (!st)
            add_pieces(n, hub_layout_of(ref));
    }
    return HUB_OK;
}

/* A file by the folder it lies right in. */
struct file_in_folder {
    const char *path;
    size_t folder; /* bytes of the path */
    uint32_t file;
};

static int by_folder(const void *a, const void *b)
{
    const struct file_in_folder *x = a, *y = b;
    const int order = memcmp(x->path, y->path, HUB_MIN(x->folder, y->folder));
    return order ? order : (x->folder > y->folder) - (x->folder < y->folder);
}

/* Of a folder that has files of others and none of the chosen nothing is needed. */
static enum hub_status leave_folders(const struct hub_dataset *d, const uint8_t *files, bool *needed,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct file_in_folder *all = NULL;
    HUB_TRY(hub_new(&all, d->file_count + 1, sizeof *all, err));
    for (uint32_t i = 0; i < d->file_count; i++) {
        const char *path = d->files[i].path, *slash = strrchr(path, '/');
        all[i] = (struct file_in_folder){path, slash ? (size_t)(slash - path) : 0, i};
    }
    qsort(all, d->file_count, sizeof *all, by_folder);
    for (uint32_t i = 0, end; i < d->file_count; i = end) {
        unsigned seen = 0;
        for (end = i; end < d->file_count && by_folder(&all[i], &all[end]) == 0; end++)
            seen |= files[all[end].file];
        for (uint32_t k = i; seen == OF_OTHERS && all[i].folder && k < end; k++)
            needed[all[k].file] = false;
    }
    return HUB_OK;
}

enum hub_status hub_files_needed(const struct hub_state *state, const bool *chosen, bool *needed,
                                 struct hub_error *err)
{
    const struct hub_dataset *d = state->dataset;
    HUB_CLEANUP(needs_dispose) struct needed_parts n = {.state = state, .chosen = chosen};
    HUB_TRY(begin(&n, err));
    HUB_TRY(hub_episode_files(state, add_file, &n, err));
    for (n.part = 0; n.part < d->part_count; n.part++) {
        HUB_TRY(hub_part_media(state, n.part, add_video, &n, err));
        if (n.several[n.part] && n.wanted[n.part])
            HUB_TRY(add_rows(&n, err));
    }
    for (uint32_t i = 0; i < d->file_count; i++)
        needed[i] = n.files[i] != OF_OTHERS;
    return leave_folders(d, n.files, needed, err);
}
