/*
 * Series of HDF5 files, an episode each. ALOHA and ACT (https://github.com/tonyzhaozh/act, RDT too):
 * episode_N.hdf5 with observations/{qpos,qvel,effort,images/CAMERA} and action; pictures are pixels, or JPEG
 * files padded with zeros to the longest. RoboTwin writes the same as data/episodeN.hdf5 in two ways, eras of
 * their own:
 *   robotwin: observation/CAMERA/rgb, joint_action/, endpose/; instructions/episodeN.json beside data/
 *   robotwin-native: state/, action/, vision/CAMERA/colors, instructions
 * there pictures are texts of one length that hold JPEG files. A part is a run of 1,000 numbers.
 *
 * Problems: repeated-episode, not-fetched, permission-denied, and those of storage/formats/kit/h5_kit.h.
 */
#include "storage/formats/kit/h5_kit.h"

#include <stdio.h>
#include <stdlib.h>

enum { VOTERS = 16, MAX_TRIED = 16, MAX_TEXT = 64 * 1024 };

/* ---- names ---- */

/* "data/episode_12.hdf5" -> 12; leading zeros are fine. Which folder it is in goes to `nested`. */
static bool is_episode(struct hub_view path, int64_t *number, bool *nested)
{
    *nested = hub_view_starts(path, "data/");
    if (*nested)
        path = (struct hub_view){path.data + 5, path.size - 5};
    const char *ending = hub_ending_of(path, hub_h5_endings);
    if (!ending || !hub_view_starts(path, "episode"))
        return false;
    const size_t end = strlen(ending);
    size_t at = path.size > 7 && path.data[7] == '_' ? 8 : 7;
    const size_t digits = path.size - end > at ? path.size - end - at : 0;
    while (digits > 1 && at + 1 < path.size - end && path.data[at] == '0')
        at++;
    return hub_numbered((struct hub_view){path.data + at, path.size - end - at}, "", number);
}

struct episode_file {
    int64_t number;
    uint32_t file;
};

struct episode_files {
    struct episode_file *items; /* by number */
    uint32_t count, capacity;
};

static void series_dispose(struct episode_files *s)
{
    free(s->items);
}

static enum hub_status add_file(struct episode_files *s, const struct hub_files *files, uint32_t file,
                                bool below, struct hub_error *err)
{
    struct episode_file e = {.file = file};
    bool nested;
    if (files->entries[file].directory || !is_episode(files->entries[file].path, &e.number, &nested) ||
        nested != below)
        return HUB_OK;
    HUB_TRY(hub_grow(&s->items, s->count, &s->capacity, sizeof *s->items, err));
    s->items[s->count++] = e;
    return HUB_OK;
}

/* Of the first `count` files, or of those in `numbers`: those at the top, or where there are none those in
 * data/. */
static enum hub_status list_series(struct episode_files *s, const struct hub_files *files,
                                   const uint32_t *numbers, uint32_t count, struct hub_error *err)
{
    for (int below = 0; below < 2 && s->count == 0; below++)
        for (uint32_t i = 0; i < count; i++)
            HUB_TRY(add_file(s, files, numbers ? numbers[i] : i, below, err));
    if (s->count)
        qsort(s->items, s->count, sizeof *s->items, hub_by_i64);
    return HUB_OK;
}

/* ---- one file ---- */

struct aloha_dialect {
    const char *era; /* NULL: ALOHA itself */
    const char *has[2];
    const char *steps; /* field with one row per step */
};
static const struct aloha_dialect dialects[] = {
    {NULL, {"observations", "action"}, "action"},
    {"robotwin", {"observation", "joint_action"}, "joint_action"},
    {"robotwin-native", {"vision", "action"}, "action"},
};

static bool has_member(struct hub_h5 *file, const char *name)
{
    uint64_t address;
    return hub_h5_resolve(file, hub_h5_root(file), hub_view_of(name), &address, NULL) == HUB_OK;
}

/* NULL: none of ours. */
static const struct aloha_dialect *dialect_of(struct hub_h5 *file)
{
    for (size_t i = 0; i < HUB_COUNT(dialects); i++)
        if (has_member(file, dialects[i].has[0]) && has_member(file, dialects[i].has[1]))
            return &dialects[i];
    return NULL;
}

/* Of the first files one that can be read decides. */
static const struct aloha_dialect *look_at(const struct episode_files *s, struct hub_files *files)
{
    const struct aloha_dialect *dialect = NULL;
    for (uint32_t i = 0; i < s->count && i < MAX_TRIED && !dialect; i++) {
        HUB_CLEANUP(hub_h5_closep) struct hub_h5 *file = NULL;
        if (!hub_h5_open(files, s->items[i].file, &file, NULL))
            dialect = dialect_of(file);
    }
    return dialect;
}

/* ---- claim ---- */

/* Folders of pictures and words that lie beside the episodes; others may hold datasets of their own. */
static bool is_beside(struct hub_view name)
{
    static const char *const known[] = {"data",       "video",  "videos", "images",    "instructions",
                                        "_traj_data", "visual", "plots",  "images_vis"};
    for (size_t i = 0; i < HUB_COUNT(known); i++)
        if (hub_view_is(name, known[i]))
            return true;
    return false;
}

/* Does a file outside the series promise data of its own? Statistics that training leaves are none. */
static bool holds_another(const struct hub_files *files, bool series_nested)
{
    for (uint32_t i = 0; i < files->count; i++) {
        const struct hub_view path = files->entries[i].path;
        int64_t number;
        bool nested;
        if (!files->entries[i].directory && hub_names_data(path) && !hub_view_ends(path, "stats.pkl") &&
            !(is_episode(path, &number, &nested) && nested == series_nested))
            return true;
    }
    return false;
}

static int claim_directory(struct hub_files *listing)
{
    HUB_CLEANUP(series_dispose) struct episode_files s = {0};
    for (uint32_t i = 0; i < listing->count; i++)
        if (listing->entries[i].directory && !is_beside(listing->entries[i].path))
            return 0;
    if (list_series(&s, listing, NULL, listing->count, NULL) || s.count == 0)
        return 0;
    const bool nested = hub_view_starts(listing->entries[s.items[0].file].path, "data/");
    return !holds_another(listing, nested) && look_at(&s, listing) ? 65 : 0;
}

/* Beside other folders and datasets the series is a dataset of its own. */
static int claim_files(struct hub_files *listing, struct hub_claim *claim)
{
    HUB_CLEANUP(series_dispose) struct episode_files s = {0};
    bool nested;
    int64_t number;
    if (claim->from++ || list_series(&s, listing, NULL, listing->count, NULL) || s.count == 0 ||
        !is_episode(listing->entries[s.items[0].file].path, &number, &nested) || nested ||
        !look_at(&s, listing))
        return 0;
    for (uint32_t i = 0; i < s.count; i++)
        claim->files[i] = s.items[i].file;
    claim->file_count = s.count;
    snprintf(claim->name, sizeof claim->name, "episode");
    return 65;
}

/* ---- plan ---- */

static uint32_t find_words(const struct hub_files *files, int64_t number)
{
    char path[64];
    snprintf(path, sizeof path, "instructions/episode%lld.json", (long long)number);
    return hub_files_find(files, path);
}

static enum hub_status send_part(struct hub_files *files, const struct episode_file *items, uint32_t count,
                                 struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint32_t *numbers = calloc(2 * (size_t)count, sizeof *numbers);
    uint32_t n = 0;
    HUB_TRY(hub_allocated(numbers, err));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t words = find_words(files, items[i].number);
        numbers[n++] = items[i].file;
        if (words != HUB_NONE)
            numbers[n++] = words;
    }
    return hub_sink_run(sink, items[0].number, numbers, n, err);
}

/* Of two files with one number the first stays. */
static enum hub_status drop_repeated(struct episode_files *s, const struct hub_files *files,
                                     struct hub_sink *sink, struct hub_error *err)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (kept && s->items[kept - 1].number == s->items[i].number)
            HUB_TRY(hub_sink_problem(sink, "repeated-episode", files->entries[s->items[i].file].path, err,
                                     "another file has this number too; left out"));
        else
            s->items[kept++] = s->items[i];
    }
    s->count = kept;
    return HUB_OK;
}

static enum hub_status plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(series_dispose) struct episode_files s = {0};
    HUB_TRY(list_series(&s, files, NULL, files->count, err));
    const struct aloha_dialect *dialect = look_at(&s, files);
    if (!dialect)
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "no series of episodes");
    if (dialect->era)
        HUB_TRY(hub_sink_fact(sink, "era", hub_view_of(dialect->era), err));
    HUB_TRY(drop_repeated(&s, files, sink, err));
    for (uint32_t i = 0, n; i < s.count; i += n) {
        for (n = 1; i + n < s.count && s.items[i + n].number / HUB_RUN == s.items[i].number / HUB_RUN; n++)
            ;
        HUB_TRY(send_part(files, &s.items[i], n, sink, err));
    }
    return HUB_OK;
}

/* ---- inspect ---- */

struct aloha_part {
    struct hub_files *files;
    struct hub_h5_tree tree;
    struct hub_h5_fields fields;
    struct hub_h5_notes notes;
    struct hub_buf task, words;
};

static void run_dispose(struct aloha_part *r)
{
    hub_h5_tree_dispose(&r->tree);
    hub_h5_fields_dispose(&r->fields);
    hub_h5_notes_dispose(&r->notes);
    hub_buf_dispose(&r->task);
    hub_buf_dispose(&r->words);
}

static enum hub_role role_of(struct hub_view path)
{
    static const struct {
        const char *word;
        enum hub_role role;
    } words[] = {{"base_action", HUB_ROLE_ACTION},  {"joint_action/", HUB_ROLE_ACTION},
                 {"state/", HUB_ROLE_OBSERVATION},  {"vision/", HUB_ROLE_OBSERVATION},
                 {"endpose", HUB_ROLE_OBSERVATION}, {"pointcloud", HUB_ROLE_OBSERVATION}};
    for (size_t i = 0; i < HUB_COUNT(words); i++)
        if (hub_view_starts(path, words[i].word))
            return words[i].role;
    return hub_role_of(path);
}

static enum hub_status take_attribute(void *user, const struct hub_h5_attribute *a, struct hub_error *err)
{
    struct aloha_part *r = user;
    return hub_h5_notes_take_json(&r->notes, &r->tree, a, NULL, err);
}

/* The first of its instructions: a list in the file, or lists "seen" and "unseen" in a file beside it. */
static enum hub_status read_task(struct aloha_part *r, const struct episode_file *e, struct hub_error *err)
{
    const struct hub_h5_leaf *leaf = hub_h5_tree_find(&r->tree, "instructions");
    const uint32_t beside = find_words(r->files, e->number);
    r->task.size = r->words.size = 0;
    r->task.limit = r->words.limit = MAX_TEXT;
    if (leaf && leaf->rows && !leaf->dataset.unreadable[0]) {
        if (!hub_h5_read_text(r->tree.file, &leaf->dataset, 0, &r->words, NULL))
            return hub_json_text_of(hub_buf_view(&r->words), NULL, true, &r->task, err);
    } else if (beside != HUB_NONE && !hub_files_load(r->files, beside, &r->words, NULL)) {
        return hub_json_text_of(hub_buf_view(&r->words), "seen", true, &r->task, err);
    }
    return HUB_OK;
}

/* Load the file as an episode. */
static enum hub_status load(struct aloha_part *r, uint64_t *steps, struct hub_error *err)
{
    const struct aloha_dialect *dialect = dialect_of(r->tree.file);
    if (!dialect)
        return hub_fail(err, HUB_UNSUPPORTED, "its groups differ from those of the other episodes");
    HUB_TRY(hub_h5_tree_load(&r->tree, hub_h5_root(r->tree.file), err));
    *steps = 0;
    if (!hub_h5_tree_rows(&r->tree, dialect->steps, steps))
        return hub_fail(err, HUB_CORRUPT, "'%s' cannot be read", dialect->steps);
    return HUB_OK;
}

static enum hub_status report(struct aloha_part *r, const struct episode_file *e, uint64_t steps,
                              struct hub_error *err)
{
    uint32_t index;
    hub_h5_notes_clear(&r->notes);
    HUB_TRY(hub_h5_tree_attributes(&r->tree, &r->tree.groups[0], take_attribute, r, err));
    HUB_TRY(hub_h5_notes_write(&r->notes, &r->tree, err));
    HUB_TRY(read_task(r, e, err));
    struct hub_episode episode = hub_episode_of(r->tree.episode, e->file, steps);
    episode.number = e->number;
    episode.task = hub_buf_view(&r->task);
    episode.attributes = hub_buf_view(&r->notes.json);
    HUB_TRY(hub_sink_episode(r->tree.sink, &episode, &index, err));
    return hub_h5_fields_lay_out(&r->fields, &r->tree, index, steps, err);
}

/* One file: it votes, or it is reported. A bad one is a problem. */
static enum hub_status take_file(struct aloha_part *r, const struct episode_file *e, bool votes,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_h5_closep) struct hub_h5 *file = NULL;
    struct hub_error why = {0};
    const struct hub_view path = r->files->entries[e->file].path;
    uint64_t steps;
    const char *name = memrchr(path.data, '/', path.size);
    name = name ? name + 1 : path.data;
    r->tree.episode = (struct hub_view){name, (size_t)(path.data + path.size - name)};
    r->tree.episode.size -= hub_view_ends(path, ".h5") ? 3 : 5;
    r->tree.quiet = votes;
    enum hub_status st = hub_files_usable(r->files, e->file, &why);
    if (!st)
        st = hub_h5_open(r->files, e->file, &file, &why);
    r->tree.file = file;
    if (!st)
        st = load(r, &steps, &why);
    if (!st)
        return votes ? hub_h5_fields_vote(&r->fields, &r->tree, steps, err) : report(r, e, steps, err);
    if (!(file ? hub_h5_is_local(file, st) : hub_is_local(st)))
        return hub_pass(st, &why, err);
    return votes ? HUB_OK
                 : hub_sink_problem(r->tree.sink, hub_problem_name_or(why.problem, "unreadable-episode"),
                                    path, err, "%s", why.detail);
}

static enum hub_status inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                               struct hub_error *err)
{
    HUB_CLEANUP(series_dispose) struct episode_files s = {0};
    HUB_CLEANUP(run_dispose)
    struct aloha_part r = {.files = files, .tree.sink = sink, .fields.role = role_of};
    HUB_TRY(list_series(&s, files, part->files, part->file_count, err));
    for (uint32_t i = 0; i < s.count && i < VOTERS; i++)
        HUB_TRY(take_file(&r, &s.items[i], true, err));
    for (uint32_t i = 0; i < s.count; i++)
        HUB_TRY(take_file(&r, &s.items[i], false, err));
    return hub_h5_fields_finish(&r.fields, sink, err);
}

static const char *const eras[] = {"robotwin: recorded by RoboTwin",
                                   "robotwin-native: recorded by RoboTwin since 2026", NULL};

const struct hub_format hub_format_aloha = {
    .name = "aloha",
    .marks = hub_marks_aloha,
    .eras = eras,
    .claim_directory = claim_directory,
    .claim_files = claim_files,
    .plan = plan,
    .inspect = inspect,
};
