/*
 * Minari datasets in HDF5, every era: <id>/data/main_data.hdf5 with one group an episode, metadata in root
 * attributes (E3: flattening flags; E4a: statistics on rewards, external links to additional_data_<k>.hdf5;
 * E4b: statistics on the episode) or in data/metadata.json (E5). Each HDF5 file is a part. Arrow and Parquet
 * storage of E5 is columns.c.
 *
 * Problems: metadata-missing, metadata-damaged, bad-metadata, file-not-closed, not-loadable; of links between
 * files link-leaves-dataset, link-target-missing, link-cycle; of an episode number-mismatch, length-mismatch;
 * and those of storage/formats/kit/h5_kit.h.
 */
#include "storage/formats/minari/minari.h"

#include <stdio.h>
#include <stdlib.h>

static const char main_path[] = "data/main_data.hdf5", metadata_path[] = "data/metadata.json";

enum minari_link minari_link_target(const struct hub_files *files, struct hub_view name, uint32_t *number)
{
    char path[HUB_MAX_PATH];
    if (name.size >= 2 && hub_view_starts(name, "./")) {
        name.data += 2;
        name.size -= 2;
    }
    if (name.size == 0 || name.size > sizeof path - 6 || name.data[0] == '/' ||
        memchr(name.data, '\\', name.size) || memchr(name.data, 0, name.size))
        return MINARI_LINK_LEAVES;
    for (size_t i = 0; i + 1 < name.size; i++)
        if (name.data[i] == '.' && name.data[i + 1] == '.')
            return MINARI_LINK_LEAVES;
    memcpy(path, "data/", 5);
    memcpy(path + 5, name.data, name.size);
    path[5 + name.size] = '\0';
    *number = hub_files_find(files, path);
    return *number == HUB_NONE ? MINARI_LINK_MISSING : MINARI_LINK_GOOD;
}

static bool is_file(const struct hub_files *files, const char *path)
{
    const uint32_t number = hub_files_find(files, path);
    return number != HUB_NONE && !files->entries[number].directory;
}

/* Nothing else has a file of the first name; the other one has to say what it is. */
static int minari_claim(struct hub_files *listing)
{
    char head[4096];
    size_t got = 0;
    const bool says =
        is_file(listing, metadata_path) &&
        !hub_files_read(listing, hub_files_find(listing, metadata_path), 0, head, sizeof head, &got, NULL) &&
        (memmem(head, got, "\"total_episodes\"", 16) || memmem(head, got, "\"data_format\"", 13));
    return hub_files_bid(listing, hub_marks_minari_hdf5, says ? NULL : metadata_path);
}

/* One target of external links, and how many episodes it is for. */
struct link_target {
    uint32_t number; /* HUB_NONE: it is not there */
    char name[256], first[64];
    bool leaves;
    uint32_t episodes;
};

struct targets {
    struct link_target *items;
    uint32_t count, capacity;
    uint32_t own; /* episodes in main_data.hdf5 itself */
};

static enum hub_status take_external(struct hub_files *files, struct targets *targets,
                                     const struct hub_h5_link *link, struct hub_error *err)
{
    struct link_target t = {.number = HUB_NONE, .episodes = 1};
    const enum minari_link kind = minari_link_target(files, link->file, &t.number);
    t.leaves = kind == MINARI_LINK_LEAVES;
    snprintf(t.name, sizeof t.name, "%.*s", (int)HUB_MIN(link->file.size, 200), link->file.data);
    snprintf(t.first, sizeof t.first, "%.*s", (int)HUB_MIN(link->name.size, 60), link->name.data);
    for (uint32_t i = 0; i < targets->count; i++)
        if (strcmp(targets->items[i].name, t.name) == 0) {
            targets->items[i].episodes++;
            return HUB_OK;
        }
    if (targets->count == 4096)
        return hub_fail(err, HUB_TOO_BIG, "external links to more than 4096 files");
    HUB_TRY(hub_grow(&targets->items, targets->count, &targets->capacity, sizeof *targets->items, err));
    targets->items[targets->count++] = t;
    return HUB_OK;
}

/* Sort the root's members into own episodes and link targets. */
static enum hub_status read_root(struct hub_files *files, struct hub_h5 *file,
                                 const struct hub_h5_object *root, struct hub_sink *sink,
                                 struct targets *targets, struct hub_error *err)
{
    HUB_CLEANUP(hub_h5_links_dispose) struct hub_h5_links links = {0};
    struct hub_error why = {0};
    int64_t number;
    const enum hub_status st = hub_h5_links_load(file, root, &links, &why);
    if (st)
        HUB_TRY(hub_sink_problem(sink, "group-damaged", HUB_VIEW("data/main_data.hdf5"), err,
                                 "the list of episodes: %s", why.detail));
    for (uint32_t i = 0; i < links.count; i++) {
        const struct hub_h5_link *link = &links.items[i];
        if (!hub_numbered(link->name, MINARI_EPISODE, &number))
            continue;
        if (link->kind == HUB_H5_EXTERNAL)
            HUB_TRY(take_external(files, targets, link, err));
        else
            targets->own++;
    }
    return HUB_OK;
}

static enum hub_status report_target(struct hub_files *files, const struct link_target *t,
                                     uint32_t main_number, struct hub_view hint, struct hub_sink *sink,
                                     struct hub_error *err)
{
    const struct hub_view path = hub_view_of(t->first);
    if (t->leaves)
        return hub_sink_problem(
            sink, "link-leaves-dataset", path, err,
            "%u episodes, %s first, are links to '%s', which is not a file inside data/; they are left out",
            t->episodes, t->first, t->name);
    if (t->number == HUB_NONE)
        return hub_sink_problem(sink, "link-target-missing", path, err,
                                "%u episodes, %s first, are links to '%s', which does not exist", t->episodes,
                                t->first, t->name);
    const uint32_t numbers[] = {t->number, main_number};
    const struct hub_view name = files->entries[t->number].path;
    const struct hub_part part = {
        .name = {name.data + 5, name.size - 5}, .files = numbers, .file_count = 2, .hint = hint};
    return t->number == main_number ? hub_sink_problem(sink, "link-cycle", path, err,
                                                       "%s is a link to the file it is in", t->first)
                                    : hub_sink_part(sink, &part, err);
}

/* "./a" and "a" are one file: a part is named once. */
static bool named_before(const struct targets *targets, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (targets->items[i].number != HUB_NONE && targets->items[k].number == targets->items[i].number)
            return true;
    return false;
}

static enum hub_status report_parts(struct hub_files *files, const struct targets *targets,
                                    uint32_t main_number, struct hub_view hint, struct hub_sink *sink,
                                    struct hub_error *err)
{
    const struct hub_part part = {
        .name = HUB_VIEW("main_data.hdf5"), .files = &main_number, .file_count = 1, .hint = hint};
    if (targets->own || targets->count == 0)
        HUB_TRY(hub_sink_part(sink, &part, err));
    for (uint32_t i = 0; i < targets->count; i++)
        if (!named_before(targets, i))
            HUB_TRY(report_target(files, &targets->items[i], main_number, hint, sink, err));
    return HUB_OK;
}

/* A file without episodes: what else it may be, by the names in it. NULL: there is nothing in it. */
static const char *looks_like(struct hub_h5 *file, const struct hub_h5_object *root)
{
    static const struct {
        const char *name, *what;
    } signs[] = {{"data", "robomimic (it has a group 'data')"},
                 {"observations", "D4RL (it has 'observations' at its root)"},
                 {"obs", "one trajectory (it has 'obs' at its root)"},
                 {"traj_0", "ManiSkill (it has a group 'traj_0')"}};
    HUB_CLEANUP(hub_h5_links_dispose) struct hub_h5_links links = {0};
    (void)!hub_h5_links_load(file, root, &links, NULL);
    for (size_t k = 0; k < HUB_COUNT(signs); k++)
        for (uint32_t i = 0; i < links.count; i++)
            if (hub_view_is(links.items[i].name, signs[k].name))
                return signs[k].what;
    return links.count ? "not a known format" : NULL;
}

static enum hub_status report_empty(struct hub_h5 *file, const struct hub_h5_object *root, bool described,
                                    struct hub_sink *sink, struct hub_error *err)
{
    const char *what = looks_like(file, root);
    return described && !what ? HUB_OK /* nothing was recorded yet */
                              : hub_sink_problem(sink, "not-loadable", hub_view_of(main_path), err,
                                                 "it has no groups episode_N; it looks like %s",
                                                 what ? what : "an empty file");
}

static enum hub_status plan_file(struct hub_files *files, uint32_t number, bool described,
                                 struct hub_sink *sink, struct hub_buf *hint, struct hub_error *err)
{
    HUB_CLEANUP(hub_h5_closep) struct hub_h5 *file = NULL;
    HUB_CLEANUP(hub_h5_object_dispose) struct hub_h5_object root = {0};
    struct hub_error why = {0};
    enum hub_status st = hub_h5_open(files, number, &file, &why);
    if (st)
        return hub_fail(err, st, "%s: %s", main_path, why.detail);
    HUB_TRY(hub_h5_report_open(file, files, sink, MINARI_READERS, err));
    HUB_TRY(hub_h5_object_load(file, hub_h5_root(file), &root, err));
    if (root.kind != HUB_H5_GROUP)
        return hub_fail(err, HUB_CORRUPT, "the root of main_data.hdf5 is not a group");
    bool any = described;
    if (!described)
        HUB_TRY(minari_facts_attributes(files, file, &root, sink, hint, &any, err));
    if (!any)
        HUB_TRY(hub_sink_fact(sink, "era", HUB_VIEW("E5"), err));
    if (!any &&
        hub_files_find(files, metadata_path) == HUB_NONE) { /* else what is wrong with it was reported */
        HUB_TRY(hub_sink_problem(
            sink, "metadata-missing", hub_view_of(metadata_path), err,
            "neither metadata.json nor root attributes describe the dataset; Minari does not list it"));
        HUB_TRY(hub_sink_problem(sink, "not-loadable", hub_view_of(metadata_path), err,
                                 "missing: Minari cannot load the dataset without it"));
    }
    if (!any) /* no space says where pictures are: their bytes must */
        HUB_TRY(hub_buf_add_text(hint, "image *\n", err));
    struct targets targets = {0};
    st = read_root(files, file, &root, sink, &targets, err);
    if (!st && targets.own + targets.count == 0)
        st = report_empty(file, &root, described, sink, err);
    if (!st)
        st = report_parts(files, &targets, number, hub_buf_view(hint), sink, err);
    free(targets.items);
    return st;
}

/* Those of columns.c are theirs to explain. */
static enum hub_status other_format(const char *format, struct hub_error *err)
{
    if (strcmp(format, "arrow") == 0 || strcmp(format, "parquet") == 0)
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "Minari data_format '%s'", format);
    return hub_fail(err, HUB_UNSUPPORTED,
                    "Minari data_format '%s' is not supported, only hdf5, arrow and parquet", format);
}

static enum hub_status minari_plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf hint = HUB_BUF_INIT(MINARI_MAX_HINT);
    const uint32_t main_number = hub_files_find(files, main_path),
                   metadata = hub_files_find(files, metadata_path);
    bool described = false;
    char format[16];
    if (metadata != HUB_NONE) {
        struct hub_error why = {0};
        enum hub_status st = hub_files_usable(files, metadata, &why);
        if (!st)
            st = minari_facts_json(files, metadata, sink, &hint, format, &why);
        if (!st && strcmp(format, "hdf5") != 0)
            return other_format(format, err);
        described = !st;
        if (st && ((st != HUB_CORRUPT && st != HUB_DENIED) || main_number == HUB_NONE))
            return hub_fail(err, st, "%s", why.detail);
        if (st)
            HUB_TRY(hub_sink_problem(sink, "metadata-damaged", hub_view_of(metadata_path), err, "%s",
                                     why.detail));
        if (st)
            HUB_TRY(hub_sink_problem(sink, "not-loadable", hub_view_of(metadata_path), err,
                                     "cannot be read: Minari cannot load the dataset without it"));
    }
    if (main_number == HUB_NONE)
        return hub_fail(err, HUB_CORRUPT, "data/main_data.hdf5 is missing");
    HUB_TRY(hub_files_usable(files, main_number, err));
    return plan_file(files, main_number, described, sink, &hint, err);
}

static const char *const asides[] = {"namespace_metadata.json", NULL}; /* of every namespace since 0.5 */
static const char *const eras[] = {"E3: written by Minari 0.3", "E4a: written by Minari 0.4.0 to 0.4.2",
                                   "E4b: written by Minari 0.4.3", "E5: written by Minari 0.5 or later",
                                   NULL};

const struct hub_format hub_format_minari_hdf5 = {
    .name = "minari-hdf5",
    .marks = hub_marks_minari_hdf5,
    .asides = asides,
    .eras = eras,
    .claim_directory = minari_claim,
    .plan = minari_plan,
    .inspect = minari_inspect,
};
