/* A file of MolmoSpaces' trajectories: each an episode, its rows of JSON looked through, its videos found. */
#include "storage/formats/molmospaces/molmospaces.h"

#include <math.h>
#include <stdlib.h>

enum { MIN_ROWS = 3, MAX_NAME = 512 };
#define MAX_SCENE (4 * MIB)

struct molmo {
    struct hub_files *files;
    const struct molmo_packed *packed; /* NULL: the file stands by itself */
    struct hub_view path;              /* of the file */
    struct molmo_location place;
    struct hub_h5_object root;
    struct hub_h5_episodes episodes;
    uint8_t *mask; /* valid_traj_mask, an element a trajectory */
    uint64_t masked;
    json_t *listed; /* of the index: rows by trajectory; NULL: there is none */
    uint64_t rows;  /* of the trajectory */
    double fps;     /* of its cameras, 0: not known */
    struct hub_buf name, attributes, split, task, statistics, scratch;
    struct hub_h5_tree stats; /* stats/traj_N */
    struct hub_videos cameras;
    struct hub_tally short_ones, videos, listing, unstated;
};

static void dispose(struct molmo *m)
{
    struct hub_h5 *file = m->episodes.tree.file;
    hub_h5_episodes_dispose(&m->episodes);
    hub_h5_object_dispose(&m->root);
    hub_buf_dispose(&m->name);
    hub_buf_dispose(&m->attributes);
    hub_buf_dispose(&m->split);
    hub_buf_dispose(&m->task);
    hub_buf_dispose(&m->statistics);
    hub_h5_tree_dispose(&m->stats);
    hub_buf_dispose(&m->scratch);
    hub_videos_dispose(&m->cameras);
    json_decref(m->listed);
    free(m->mask);
    hub_h5_close(file);
}

/* ---- what rows are ---- */

/* Names of videos, and segmentations. */
static bool of_camera(struct hub_view path)
{
    return hub_view_starts(path, "obs/sensor_data/");
}

static bool pictured(const void *user, struct hub_view path)
{
    (void)user;
    return of_camera(path);
}

static bool padded(struct hub_view path)
{
    return !of_camera(path);
}

static bool is_name(const struct hub_h5_leaf *leaf)
{
    return of_camera(leaf->path) && leaf->dataset.rank <= 1;
}

static bool is_scene(const struct hub_h5_leaf *leaf)
{
    return hub_view_is(leaf->path, "obs_scene");
}

/* By its place alone, so that what is damaged stays what it is. */
static enum hub_field_type whole(const struct hub_h5_leaf *leaf, enum hub_field_type type)
{
    return is_scene(leaf)                            ? HUB_FIELD_PADDED_JSON
           : is_name(leaf) && leaf->rows <= MAX_NAME ? HUB_FIELD_TEXT
                                                     : type;
}

/* What an action led to stands in the row of the state behind it. */
static enum hub_axis axis(const struct hub_h5_leaf *leaf, enum hub_axis by_rows)
{
    static const char *const follow[] = {"rewards", "success", "fail", "terminated", "truncated"};
    bool follows = hub_view_starts(leaf->path, "actions/");
    const bool one = is_name(leaf) || is_scene(leaf);
    if (by_rows != HUB_AXIS_STATE || one)
        return one ? HUB_AXIS_NONE : by_rows;
    for (size_t i = 0; i < HUB_COUNT(follow); i++)
        follows |= hub_view_is(leaf->path, follow[i]);
    return follows ? HUB_AXIS_SHIFTED : HUB_AXIS_STATE;
}

/* ---- videos ---- */

static enum hub_status add_packed_video(struct hub_h5_tree *tree, uint32_t index, struct hub_view camera,
                                        struct hub_error *err)
{
    const struct hub_media media = {.episode = index,
                                    .camera = camera,
                                    .file = HUB_NONE,
                                    .problem =
                                        HUB_VIEW("its video is packed in an archive: unpack the shard")};
    return hub_sink_media(tree->sink, &media, err);
}

static enum hub_status add_video(struct molmo *m, struct hub_h5_tree *tree, uint32_t index,
                                 struct hub_view camera, struct hub_view name, bool stated,
                                 struct hub_error *err)
{
    char path[HUB_MAX_PATH];
    const struct hub_view folder = m->place.folder;
    if (m->packed)
        return stated ? add_packed_video(tree, index, camera, err) : HUB_OK;
    snprintf(path, sizeof path, "%.*s%.*s", (int)folder.size, folder.data, (int)name.size, name.data);
    const uint32_t file = hub_files_find(m->files, path);
    struct hub_media media = {.episode = index, .camera = camera, .file = file};
    hub_media_rate(&media, m->fps);
    m->cameras.sink = tree->sink;
    if (file != HUB_NONE)
        return hub_videos_send(&m->cameras, &media, m->rows, err);
    if (!stated)
        return HUB_OK;
    hub_tally_add(&m->videos, "%.*s", (int)name.size, name.data);
    return hub_videos_missing(&m->cameras, index, camera, err);
}

/* Files that were not repaired do not name their videos: they are called after the cameras. */
static enum hub_status guess_videos(struct molmo *m, struct hub_h5_tree *tree, uint32_t index,
                                    struct hub_view camera, struct hub_error *err)
{
    static const char *const kinds[] = {"", "_depth"};
    const char *batch = memmem(m->path.data, m->path.size, "_batch_", 7);
    char label[MAX_NAME], name[MAX_NAME + 128];
    if (!batch || camera.size + 10 > sizeof label)
        return HUB_OK;
    for (size_t i = 0; i < HUB_COUNT(kinds); i++) {
        snprintf(label, sizeof label, "%.*s%s", (int)camera.size, camera.data, kinds[i]);
        snprintf(name, sizeof name, "episode_%08lld_%s%.*s.mp4",
                 strtoll(tree->episode.data + strlen(MOLMO_PREFIX), NULL, 10), label,
                 (int)HUB_MIN(m->path.data + m->path.size - 3 - batch, 100), batch);
        HUB_TRY(add_video(m, tree, index, hub_view_of(label), hub_view_of(name), false, err));
    }
    return HUB_OK;
}

static enum hub_status find_videos(void *user, struct hub_h5_tree *tree, uint32_t index,
                                   struct hub_error *err)
{
    struct molmo *m = user;
    static const char params[] = "obs/sensor_param/", data[] = "obs/sensor_data/";
    struct hub_view last = {"", 0};
    bool named = false;
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct hub_view path = tree->leaves[i].path;
        m->scratch.size = 0;
        if (!is_name(&tree->leaves[i]) || tree->leaves[i].rows > MAX_NAME ||
            !hub_h5_bytes(tree, &tree->leaves[i], &m->scratch))
            continue;
        named = true;
        HUB_TRY(add_video(m, tree, index,
                          (struct hub_view){path.data + sizeof data - 1, path.size - (sizeof data - 1)},
                          hub_buf_view(&m->scratch), true, err));
    }
    for (uint32_t i = 0; !named && i < tree->count; i++) {
        if (!hub_view_starts(tree->leaves[i].path, params))
            continue;
        const char *at = tree->leaves[i].path.data + sizeof params - 1;
        const char *end = memchr(at, '/', tree->leaves[i].path.size - (sizeof params - 1));
        const struct hub_view camera = {at, end ? (size_t)(end - at) : 0};
        if (end && !hub_view_equal(camera, last))
            HUB_TRY(guess_videos(m, tree, index, camera, err));
        last = camera;
    }
    return HUB_OK;
}

/* ---- one trajectory ---- */

/* Rows of actions, else of states; the steps are between them. */
static enum hub_status load(void *user, struct hub_h5_tree *tree, uint64_t *steps, struct hub_error *err)
{
    struct molmo *m = user;
    (void)err;
    m->rows = 0;
    const bool acted = hub_h5_tree_rows(tree, "actions", &m->rows);
    if (!acted && !hub_h5_tree_rows(tree, "obs/agent/qpos", &m->rows))
        (void)hub_h5_tree_rows(tree, "success", &m->rows);
    *steps = m->rows ? m->rows - 1 : 0;
    const char *why = !acted               ? "no actions"
                      : m->rows < MIN_ROWS ? "fewer than 3 rows"
                      : !hub_h5_tree_find(tree, "obs/agent/qpos") || !hub_h5_tree_find(tree, "obs/agent/qvel")
                          ? "no qpos or qvel"
                          : NULL;
    if (why && !tree->quiet)
        hub_tally_add(&m->short_ones, "%.*s: %s", (int)tree->episode.size, tree->episode.data, why);
    return HUB_OK;
}

/* The task and the time between rows, of obs_scene. */
static enum hub_status read_scene(struct molmo *m, const struct hub_h5_tree *tree, struct hub_error *err)
{
    static const char *const keys[] = {"task_description", "text", "task_type"};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MAX_SCENE);
    HUB_CLEANUP(hub_json_decrefp) json_t *scene = NULL;
    m->task.size = 0;
    m->fps = 0;
    m->scratch.size = 0;
    if (!hub_h5_bytes(tree, hub_h5_tree_find(tree, "obs_scene"), &text) ||
        hub_json_of_python(hub_buf_view(&text), &m->scratch, &scene, NULL))
        return HUB_OK;
    const double between = json_number_value(json_object_get(scene, "policy_dt_ms"));
    m->fps = between > 0 ? 1000 / between : 0;
    for (size_t i = 0; i < HUB_COUNT(keys) && !m->task.size; i++) {
        const json_t *value = json_object_get(scene, keys[i]);
        if (json_is_string(value) && json_string_length(value) <= m->task.limit)
            HUB_TRY(hub_buf_add(&m->task, json_string_value(value), json_string_length(value), err));
    }
    return HUB_OK;
}

/* stats/traj_N. What an episode may not hold, or cannot be read, is reported, and it has none. */
static enum hub_status read_statistics(struct molmo *m, const struct hub_h5_tree *tree, struct hub_error *err)
{
    char path[64];
    bool whole;
    snprintf(path, sizeof path, "stats/%.*s", (int)HUB_MIN(tree->episode.size, 40), tree->episode.data);
    m->stats.file = tree->file;
    m->stats.sink = tree->sink;
    m->stats.quiet = true;
    m->statistics.size = 0;
    HUB_TRY(molmo_statistics(&m->stats, m->root.address, path, &m->statistics, &whole, err));
    if (!whole)
        hub_tally_add(&m->unstated, "%s", path);
    return HUB_OK;
}

/* valid_trajectory_index.json has the valid ones alone, with their rows. */
static void compare(struct molmo *m, const struct hub_h5_tree *tree, int valid)
{
    char key[40];
    snprintf(key, sizeof key, "%.*s", (int)tree->episode.size, tree->episode.data);
    const json_t *rows = json_object_get(m->listed, key);
    if (!m->listed)
        return;
    if (rows && (uint64_t)json_integer_value(rows) != m->rows)
        hub_tally_add(&m->listing, "%s has %llu rows, not %lld", key, (unsigned long long)m->rows,
                      (long long)json_integer_value(rows));
    else if (valid >= 0 && valid != (rows != NULL))
        hub_tally_add(&m->listing, "%s is %s", key, rows ? "listed and not valid" : "valid and not listed");
    json_object_del(m->listed, key);
}

static enum hub_status write_attributes(struct molmo *m, int valid, uint64_t steps, struct hub_error *err)
{
    struct hub_json json = hub_json_to(&m->attributes, err);
    m->attributes.size = 0;
    hub_json_object(&json);
    if (m->place.house >= 0)
        hub_json_put_int(&json, "house", m->place.house);
    if (m->place.batch >= 0)
        hub_json_put_int(&json, "batch", m->place.batch);
    if (valid >= 0)
        hub_json_put_bool(&json, "valid", valid);
    hub_json_put_uint(&json, "usable_steps", steps);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

static enum hub_status describe(void *user, struct hub_h5_tree *tree, struct hub_episode *episode,
                                struct hub_error *err)
{
    struct molmo *m = user;
    const int valid = m->mask && (uint64_t)episode->number < m->masked ? m->mask[episode->number] != 0 : -1;
    HUB_TRY(read_scene(m, tree, err));
    HUB_TRY(write_attributes(m, valid, episode->steps, err));
    HUB_TRY(read_statistics(m, tree, err));
    compare(m, tree, valid);
    m->name.size = 0;
    HUB_TRY(hub_buf_addf(&m->name, err, "%.*s/%.*s", (int)m->path.size, m->path.data, (int)tree->episode.size,
                         tree->episode.data));
    episode->number = -1;
    episode->name = hub_buf_view(&m->name);
    episode->splits = hub_buf_view(&m->split);
    episode->attributes = hub_buf_view(&m->attributes);
    episode->task = hub_buf_view(&m->task);
    episode->statistics = hub_buf_view(&m->statistics);
    episode->success = hub_h5_last_flag(tree, "success");
    episode->terminated = hub_h5_last_flag(tree, "terminated");
    episode->truncated = hub_h5_last_flag(tree, "truncated");
    hub_h5_return(tree, "rewards", 1, episode); /* the first one is of no action */
    return HUB_OK;
}

/* ---- the file ---- */

/* Element i belongs to traj_i; none before the trajectories were validated. */
static enum hub_status load_mask(struct molmo *m, struct hub_error *err)
{
    struct hub_h5 *file = m->episodes.tree.file;
    uint64_t address;
    if (hub_h5_resolve(file, m->root.address, HUB_VIEW("valid_traj_mask"), &address, NULL) ||
        (hub_h5_flags(file, m->root.address, "valid_traj_mask", &m->mask, &m->masked) &&
         m->masked == m->episodes.count))
        return HUB_OK;
    return hub_sink_problem(m->episodes.tree.sink, "bad-mask", HUB_VIEW("valid_traj_mask"), err,
                            "%llu flags can be read, for %u trajectories", (unsigned long long)m->masked,
                            m->episodes.count);
}

static enum hub_status open_packed(struct molmo *m, struct hub_error *err)
{
    struct hub_h5 **file = &m->episodes.tree.file;
    HUB_TRY(hub_h5_open_side(m->files, m->packed->shard, m->packed->offset, m->packed->size, file, err));
    return hub_h5_object_load(*file, hub_h5_root(*file), &m->root, err);
}

/* Which file it is. */
static enum hub_status find_file(struct molmo *m, const struct hub_part *part, uint32_t *number,
                                 struct hub_error *err)
{
    *number = HUB_NONE;
    for (uint32_t i = 0; i < part->file_count && *number == HUB_NONE; i++)
        if (molmo_location_of(m->files->entries[part->files[i]].path, &m->place))
            *number = part->files[i];
    if (*number == HUB_NONE)
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "there is no file of trajectories");
    m->path = m->files->entries[*number].path;
    return HUB_OK;
}

/* `part` NULL: the file was packed. */
static enum hub_status load_file(struct molmo *m, const struct hub_part *part, struct hub_sink *sink,
                                 struct hub_error *err)
{
    static const struct hub_h5_dialect dialect = {MOLMO_PREFIX, NULL, load, describe, find_videos};
    struct hub_h5_episodes *e = &m->episodes;
    uint32_t number = HUB_NONE;
    bool usable = true;
    if (part)
        HUB_TRY(find_file(m, part, &number, err));
    e->dialect = &dialect;
    e->user = m;
    e->tree.sink = sink;
    e->fields.pictured = pictured;
    e->fields.padded = padded;
    e->fields.whole = whole;
    e->fields.axis = axis;
    e->fields.inside.files = m->files;
    e->fields.inside.narrow = true; /* as all other arrays of its sensors are */
    m->scratch.limit = 2 * MAX_SCENE;
    m->name.limit = 2 * HUB_MAX_PATH;
    m->attributes.limit = m->split.limit = KIB;
    m->task.limit = m->statistics.limit = HUB_MAX_ATTRIBUTES;
    HUB_TRY(hub_json_one(m->place.split, &m->split, err));
    if (part && part->hint.size && !molmo_house_of(part->hint, &m->place.house))
        HUB_TRY(hub_json_parse(part->hint, MOLMO_HINT_BYTES, &m->listed, err));
    if (part)
        HUB_TRY(hub_report_unusable(m->files, number, sink, "its trajectories are left out", &usable, err));
    if (!usable)
        return HUB_OK;
    HUB_TRY(part ? hub_h5_open_root(m->files, number, &e->tree.file, &m->root, err) : open_packed(m, err));
    HUB_TRY(hub_h5_report_open(e->tree.file, m->files, sink, "h5py and MolmoSpaces", err));
    HUB_TRY(hub_h5_episodes_list(e, e->tree.file, &m->root, err));
    return load_mask(m, err);
}

static enum hub_status report(struct molmo *m, struct hub_sink *sink, struct hub_error *err)
{
    const char *key;
    json_t *rows;
    HUB_TRY(hub_h5_episodes_report(&m->episodes, err));
    json_object_foreach(m->listed, key, rows) hub_tally_add(&m->listing, "%s does not exist", key);
    HUB_TRY(hub_tally_report(&m->episodes.fields.cut_rows, sink, "cut-rows", m->path,
                             "rows of JSON are cut off at their width, and null in JSON", err));
    HUB_TRY(hub_tally_report(&m->episodes.fields.bad_rows, sink, "bad-json-rows", m->path,
                             "rows are not valid JSON, and null in JSON", err));
    HUB_TRY(hub_tally_report(&m->short_ones, sink, "bad-trajectory", m->path,
                             "trajectories are not valid by MolmoSpaces' own check", err));
    HUB_TRY(hub_tally_report(&m->videos, sink, "missing-video", m->path, "videos are named but do not exist",
                             err));
    HUB_TRY(hub_tally_report(&m->unstated, sink, "bad-statistics", m->path,
                             "groups of statistics are too large for an episode, or cannot be read", err));
    HUB_TRY(hub_tally_report(&m->listing, sink, "index-differs", m->path,
                             "trajectories are not what " MOLMO_INDEX " says", err));
    return hub_h5_fields_finish(&m->episodes.fields, sink, err);
}

enum hub_status molmo_inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                              struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct molmo m = {.files = files, .cameras = {.files = files}};
    HUB_TRY(load_file(&m, part, sink, err));
    return m.episodes.tree.file ? report(&m, sink, err) : HUB_OK;
}

enum hub_status molmo_inspect_packed(struct hub_files *files, const struct molmo_packed *packed,
                                     struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(dispose)
    struct molmo m = {.files = files, .packed = packed, .path = packed->path, .cameras = {.files = files}};
    (void)molmo_location_of(packed->path, &m.place);
    m.place.split = packed->split;
    HUB_TRY(load_file(&m, NULL, sink, err));
    return report(&m, sink, err);
}
