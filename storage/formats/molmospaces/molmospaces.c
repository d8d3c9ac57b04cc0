/*
 * MolmoSpaces (https://github.com/allenai/molmospaces): {train,val,test}/house_H/trajectories_batch_B_of_N.h5
 * and the cameras' .mp4 beside them. The folder of the splits is one dataset, so is a split or a house alone;
 * a file is a part, a group traj_N of it an episode: train/house_12/trajectories_batch_1_of_3.h5/traj_0.
 *
 * Rows of uint8 are objects of JSON, padded with zeros to the width of their sensor, and cut off where they
 * are longer; the numbers inside are fields of their own (actions/joint_pos/arm). obs_scene is one such
 * object, as a text or as bytes of one dimension, as which names of videos are stored. Of T rows row i of
 * actions, rewards, success and the like is what led to state i: they follow their action, the first one is a
 * dummy, the last action says that the policy is done. So there are T-1 steps.
 *
 * What its scripts add: valid_traj_mask and stats/ in the files, valid_trajectory_index.json, and
 * aggregated_stats.json (in its documents aggregated_statistics.json) in the folder of the houses.
 *
 * Problems: not-fetched, permission-denied, bad-metadata, missing-file, count-mismatch, index-differs,
 * bad-mask, bad-statistics, bad-json-rows, cut-rows, bad-trajectory, missing-video, video-length, bad-video,
 * cut-video, and those of storage/formats/kit/h5_kit.h.
 */
#include "storage/formats/molmospaces/molmospaces.h"

#include <stdlib.h>

enum { MAX_TRIED = 16 };

static const char *const splits[] = {"test/", "train/", "val/"}; /* in the order of their parts */

bool molmo_house_of(struct hub_view path, int64_t *house)
{
    const char *slash = memchr(path.data, '/', path.size);
    return hub_numbered((struct hub_view){path.data, slash ? (size_t)(slash - path.data) : path.size},
                        "house_", house);
}

/* "trajectories_batch_1_of_3.h5" -> 1 */
static bool read_batch(struct hub_view name, int64_t *batch)
{
    const char *of = memmem(name.data, name.size, "_of_", 4);
    return of &&
           hub_numbered((struct hub_view){name.data, (size_t)(of - name.data)}, "trajectories_batch_", batch);
}

bool molmo_location_of(struct hub_view path, struct molmo_location *out)
{
    const struct hub_view name = hub_view_behind(path, '/');
    struct hub_view rest = path;
    *out = (struct molmo_location){.folder = {path.data, path.size - name.size}, .house = -1, .batch = -1};
    if (!hub_view_starts(name, "traj") || !hub_view_ends(name, ".h5"))
        return false;
    for (size_t i = 0; i < HUB_COUNT(splits); i++)
        if (hub_view_starts(path, splits[i])) {
            out->order = (unsigned)i + 1;
            out->split = (struct hub_view){path.data, strlen(splits[i]) - 1};
            rest = (struct hub_view){path.data + out->split.size + 1, path.size - out->split.size - 1};
        }
    (void)!molmo_house_of(rest, &out->house);
    (void)!read_batch(name, &out->batch);
    return true;
}

/* ---- claim ---- */

/* Are its actions rows of bytes? 1, 0; -1: it cannot be read. */
static int is_mine(struct hub_files *files, uint32_t number)
{
    HUB_CLEANUP(hub_h5_object_dispose) struct hub_h5_object root = {0}, holder = {0};
    HUB_CLEANUP(hub_h5_closep) struct hub_h5 *file = NULL;
    struct hub_h5_dataset actions;
    if (hub_h5_open_root(files, number, &file, &root, NULL))
        return file ? 0 : -1;
    return hub_h5_episodes_sample(file, &root, MOLMO_PREFIX, "actions", &holder, &actions) &&
           actions.rank == 2 && actions.variant.kind == HUB_KIND_UINT && actions.variant.item_size == 1;
}

/* One house by its files; houses, or splits of houses, by their names. */
static int claim(struct hub_files *listing)
{
    struct molmo_location place;
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct hub_file_entry *e = &listing->entries[i];
        if (!e->directory && !memchr(e->path.data, '/', e->path.size) && molmo_location_of(e->path, &place) &&
            is_mine(listing, i) > 0)
            return 80;
    }
    return hub_files_bid(listing, hub_marks_molmospaces, NULL);
}

/* ---- plan ---- */

struct data_file {
    struct molmo_location place;
    uint32_t file;
};

/* valid_trajectory_index.json of a folder: house -> path below that folder -> trajectory -> its rows. */
struct index {
    struct hub_view folder;
    json_t *houses;
};

struct molmo_plan_state {
    struct hub_files *files;
    struct hub_sink *sink;
    struct data_file *data;
    uint32_t count;
    struct index indices[HUB_COUNT(splits) + 1];
    uint32_t index_count;
};

static void plan_dispose(struct molmo_plan_state *p)
{
    for (uint32_t i = 0; i < p->index_count; i++)
        json_decref(p->indices[i].houses);
    free(p->data);
}

/* By split, house and batch. */
static int by_location(const void *a, const void *b)
{
    const struct data_file *x = a, *y = b;
    const struct molmo_location *p = &x->place, *q = &y->place;
    if (p->order != q->order)
        return p->order < q->order ? -1 : 1;
    if (p->house != q->house)
        return p->house < q->house ? -1 : 1;
    if (p->batch != q->batch)
        return p->batch < q->batch ? -1 : 1;
    return hub_by_u32(&x->file, &y->file);
}

static enum hub_status find_data(struct molmo_plan_state *p, struct hub_error *err)
{
    HUB_TRY(hub_new(&p->data, (size_t)p->files->count + 1, sizeof *p->data, err));
    for (uint32_t i = 0; i < p->files->count; i++)
        if (molmo_location_of(p->files->entries[i].path, &p->data[p->count].place))
            p->data[p->count++].file = i;
    qsort(p->data, p->count, sizeof *p->data, by_location);
    for (uint32_t i = 0; i < p->count && i < MAX_TRIED; i++)
        if (is_mine(p->files, p->data[i].file))
            return HUB_OK;
    return hub_fail(err, HUB_NOT_ACCEPTABLE, "there is no house with trajectories of MolmoSpaces");
}

/* Are the files there that an index lists? All of its trajectories are valid ones. */
static enum hub_status check_index(struct molmo_plan_state *p, const struct index *index, uint64_t *rows,
                                   struct hub_error *err)
{
    const char *house, *file, *trajectory;
    json_t *of_house, *of_file, *length;
    struct hub_tally missing = {0};
    char path[HUB_MAX_PATH];
    json_object_foreach(index->houses, house, of_house) json_object_foreach(of_house, file, of_file)
    {
        snprintf(path, sizeof path, "%.*s%s", (int)index->folder.size, index->folder.data, file);
        if (hub_files_find(p->files, path) == HUB_NONE)
            hub_tally_add(&missing, "%s", path);
        json_object_foreach(of_file, trajectory, length) *rows += (uint64_t)json_integer_value(length);
    }
    return missing.count
               ? hub_sink_problem(p->sink, "missing-file", HUB_VIEW(MOLMO_INDEX), err,
                                  "%u of the files it lists do not exist: %s", missing.count, missing.first)
               : HUB_OK;
}

/* {"actions/joint_pos/arm": {"mean": [...], ..., "count": n}}; `rows`: of valid trajectories, 0 not known. */
static enum hub_status report_statistics(struct molmo_plan_state *p, json_t *stats, uint64_t rows,
                                         struct hub_error *err)
{
    const char *key;
    json_t *of_key;
    struct hub_tally more = {0};
    json_object_foreach(stats, key, of_key)
    {
        const json_t *count = json_object_get(of_key, "count");
        if (rows && json_is_integer(count) && (uint64_t)json_integer_value(count) > rows)
            hub_tally_add(&more, "%s says %lld", key, (long long)json_integer_value(count));
    }
    if (more.count)
        HUB_TRY(hub_sink_problem(p->sink, "count-mismatch", HUB_VIEW("aggregated_stats.json"), err,
                                 "the valid trajectories have %llu rows; %u statistics are of more: %s",
                                 (unsigned long long)rows, more.count, more.first));
    return hub_sink_json(p->sink, "statistics", stats, err);
}

/* Of the whole, or of its first split that has some. */
static enum hub_status read_notes(struct molmo_plan_state *p, struct hub_error *err)
{
    static const char *const folders[] = {"", "train/", "val/", "test/"};
    static const char *const names[] = {"aggregated_stats.json", "aggregated_statistics.json"};
    HUB_CLEANUP(hub_json_decrefp) json_t *stats = NULL;
    char path[64];
    for (size_t i = 0; i < HUB_COUNT(folders); i++) {
        struct index *index = &p->indices[p->index_count];
        const bool found = stats != NULL;
        uint64_t rows = 0;
        *index = (struct index){.folder = hub_view_of(folders[i])};
        snprintf(path, sizeof path, "%s" MOLMO_INDEX, folders[i]);
        HUB_TRY(hub_json_beside(p->files, p->sink, path, &index->houses, err));
        if (index->houses) {
            p->index_count++;
            HUB_TRY(check_index(p, index, &rows, err));
        }
        for (size_t k = 0; k < HUB_COUNT(names) && !stats; k++) {
            snprintf(path, sizeof path, "%s%s", folders[i], names[k]);
            HUB_TRY(hub_json_beside(p->files, p->sink, path, &stats, err));
        }
        if (stats && !found)
            HUB_TRY(report_statistics(p, stats, rows, err));
    }
    return HUB_OK;
}

/* What an index says of a file: "{}" where it does not list it, nothing where there is no index. */
static enum hub_status hint_of(const struct molmo_plan_state *p, const struct molmo_location *place,
                               struct hub_view path, struct hub_buf *out, struct hub_error *err)
{
    char house[40], file[HUB_MAX_PATH];
    uint32_t i = 0;
    while (i < p->index_count && !hub_view_starts(path, p->indices[i].folder.data))
        i++;
    if (i == p->index_count || place->house < 0)
        return HUB_OK;
    const size_t above = p->indices[i].folder.size;
    snprintf(house, sizeof house, "house_%lld", (long long)place->house);
    snprintf(file, sizeof file, "%.*s", (int)(path.size - above), path.data + above);
    const json_t *listed = json_object_get(json_object_get(p->indices[i].houses, house), file);
    struct hub_json json = hub_json_to(out, NULL);
    if (!listed)
        return hub_buf_add_text(out, "{}", err);
    hub_json_parsed(&json, listed);
    if (hub_json_status(&json)) /* more than a hint may be: not compared */
        out->size = 0;
    return HUB_OK;
}

/* A part is a file, and the videos of its batch. */
static enum hub_status send_part(struct molmo_plan_state *p, const struct data_file *d, uint32_t *numbers,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf hint = HUB_BUF_INIT(MOLMO_HINT_BYTES);
    const struct hub_view path = p->files->entries[d->file].path;
    const char *batch = memmem(path.data, path.size, "_batch_", 7);
    char ending[64];
    int64_t house;
    uint32_t count = 1, first = d->file;
    numbers[0] = d->file;
    const int size = batch ? (int)(path.data + path.size - 3 - batch) : 0;
    snprintf(ending, sizeof ending, "%.*s.mp4", size, batch ? batch : "");
    const struct hub_view folder = d->place.folder;
    while (first > 0 && p->files->entries[first - 1].path.size > folder.size &&
           memcmp(p->files->entries[first - 1].path.data, folder.data, folder.size) == 0)
        first--;
    for (; first < p->files->count; first++) {
        const struct hub_view at = p->files->entries[first].path;
        if (at.size < folder.size || memcmp(at.data, folder.data, folder.size) != 0)
            break;
        if (hub_view_ends(at, ending) && !memchr(at.data + folder.size, '/', at.size - folder.size))
            numbers[count++] = first;
    }
    const struct hub_view place = hub_view_behind(p->files->place, '/');
    if (folder.size == 0 && molmo_house_of(place, &house))
        HUB_TRY(hub_buf_addf(&hint, err, "house_%lld", (long long)house));
    else
        HUB_TRY(hint_of(p, &d->place, path, &hint, err));
    return hub_sink_part(p->sink, &(struct hub_part){path, numbers, count, hub_buf_view(&hint)}, err);
}

static enum hub_status report_splits(struct molmo_plan_state *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    struct hub_json json = hub_json_to(&text, err);
    hub_json_object(&json);
    for (uint32_t i = 0, n; i < p->count; i += n) {
        const struct hub_view split = p->data[i].place.split;
        uint64_t count = 0;
        for (n = 0; i + n < p->count && hub_view_equal(p->data[i + n].place.split, split); n++)
            count += split.size ? hub_h5_episodes_count(p->files, p->data[i + n].file, MOLMO_PREFIX) : 0;
        if (split.size) {
            hub_json_key(&json, split);
            hub_json_uint(&json, count);
        }
    }
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return text.size > 2 ? hub_sink_fact(p->sink, "splits", hub_buf_view(&text), err) : HUB_OK;
}

/* Where none of its files can be read, the dataset cannot. */
static enum hub_status check_files(const struct molmo_plan_state *p, struct hub_error *err)
{
    for (uint32_t i = 0; i < p->count; i++) {
        struct hub_error why = {0};
        const enum hub_status st = hub_files_usable(p->files, p->data[i].file, &why);
        if (!hub_is_local(st))
            return st ? hub_pass(st, &why, err) : HUB_OK;
    }
    return p->count ? hub_files_usable(p->files, p->data[0].file, err) : HUB_OK;
}

static enum hub_status send_all(struct molmo_plan_state *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint32_t *numbers = NULL;
    HUB_TRY(find_data(p, err));
    HUB_TRY(check_files(p, err));
    HUB_TRY(read_notes(p, err));
    HUB_TRY(report_splits(p, err));
    HUB_TRY(hub_new(&numbers, (size_t)p->files->count + 1, sizeof *numbers, err));
    for (uint32_t i = 0; i < p->count; i++)
        HUB_TRY(send_part(p, &p->data[i], numbers, err));
    return HUB_OK;
}

static enum hub_status plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    struct molmo_plan_state p = {.files = files, .sink = sink};
    const enum hub_status st = send_all(&p, err);
    plan_dispose(&p);
    return st;
}

const struct hub_format hub_format_molmospaces = {
    .name = "molmospaces",
    .marks = hub_marks_molmospaces,
    .claim_directory = claim,
    .plan = plan,
    .inspect = molmo_inspect,
};
