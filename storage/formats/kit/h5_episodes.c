/* The episodes of an HDF5 file, reported in the order of their numbers: see h5_kit.h. */
#include "storage/formats/kit/h5_kit.h"

#include <stdio.h>
#include <stdlib.h>

enum { VOTERS = 16 }; /* the first episodes decide how each field's rows relate to steps */

enum hub_status hub_h5_report_open(const struct hub_h5 *file, const struct hub_files *files,
                                   struct hub_sink *sink, const char *readers, struct hub_error *err)
{
    const struct hub_view path = files->entries[hub_h5_number(file)].path;
    if (!hub_h5_left_open(file))
        return HUB_OK;
    HUB_TRY(hub_sink_problem(sink, "not-loadable", path, err, "%s refuse to read it", readers));
    return hub_sink_problem(sink, "file-not-closed", path, err,
                            "its writer was killed or is still writing; %s refuse to read it", readers);
}

const char *const hub_h5_endings[] = {".hdf5", ".h5", NULL};

enum hub_status hub_h5_open_root(struct hub_files *files, uint32_t number, struct hub_h5 **file,
                                 struct hub_h5_object *root, struct hub_error *err)
{
    HUB_TRY(hub_h5_open(files, number, file, err));
    return hub_h5_object_load(*file, hub_h5_root(*file), root, err);
}

enum { MAX_TRIED = 16 };

/* The dataset at an address, or the first one that the group there links to. */
static bool first_dataset(struct hub_h5 *file, uint64_t address, struct hub_h5_object *holder,
                          struct hub_h5_dataset *out)
{
    HUB_CLEANUP(hub_h5_links_dispose) struct hub_h5_links links = {0};
    if (hub_h5_object_load(file, address, holder, NULL))
        return false;
    if (holder->kind == HUB_H5_GROUP)
        (void)!hub_h5_links_load(file, holder, &links, NULL);
    for (uint32_t i = 0; i < links.count && i < MAX_TRIED && holder->kind != HUB_H5_DATASET; i++)
        if (links.items[i].kind == HUB_H5_HARD &&
            hub_h5_object_load(file, links.items[i].address, holder, NULL))
            return false;
    return holder->kind == HUB_H5_DATASET && hub_h5_dataset(file, holder, out, NULL) == HUB_OK;
}

bool hub_h5_episodes_sample(struct hub_h5 *file, const struct hub_h5_object *group, const char *prefix,
                            const char *path, struct hub_h5_object *holder, struct hub_h5_dataset *out)
{
    HUB_CLEANUP(hub_h5_links_dispose) struct hub_h5_links links = {0};
    int64_t number;
    uint64_t address;
    char whole[128];
    (void)!hub_h5_links_load(file, group, &links, NULL);
    for (uint32_t i = 0, tried = 0; i < links.count && tried < MAX_TRIED; i++) {
        if (!hub_numbered(links.items[i].name, prefix, &number))
            continue;
        tried++;
        snprintf(whole, sizeof whole, "%s%lld/%s", prefix, (long long)number, path);
        if (!hub_h5_resolve(file, group->address, hub_view_of(whole), &address, NULL) &&
            first_dataset(file, address, holder, out))
            return true;
    }
    return false;
}

uint64_t hub_h5_episodes_count(struct hub_files *files, uint32_t number, const char *prefix)
{
    HUB_CLEANUP(hub_h5_object_dispose) struct hub_h5_object root = {0};
    HUB_CLEANUP(hub_h5_links_dispose) struct hub_h5_links links = {0};
    HUB_CLEANUP(hub_h5_closep) struct hub_h5 *file = NULL;
    uint64_t count = 0;
    int64_t unused;
    if (!hub_h5_open_root(files, number, &file, &root, NULL))
        (void)!hub_h5_links_load(file, &root, &links, NULL);
    for (uint32_t i = 0; i < links.count; i++)
        count += hub_numbered(links.items[i].name, prefix, &unused);
    return count;
}

static enum hub_status add_entry(struct hub_h5_episodes *e, const struct hub_h5_entry *entry,
                                 struct hub_error *err)
{
    if (e->count >= HUB_MAX_EPISODES)
        return hub_fail(err, HUB_TOO_BIG, "more than %d episodes", HUB_MAX_EPISODES);
    HUB_TRY(hub_grow(&e->entries, e->count, &e->capacity, sizeof *e->entries, err));
    e->entries[e->count++] = *entry;
    return HUB_OK;
}

static enum hub_status report_problem(const struct hub_h5_episodes *e, const char *code, struct hub_view path,
                                      const char *detail, struct hub_error *err)
{
    return e->tree.quiet ? HUB_OK : hub_sink_problem(e->tree.sink, code, path, err, "%s", detail);
}

/* The path of a soft link begins at its group, that of an external one at the root of the file it leads
 * to. */
static enum hub_status list_link(struct hub_h5_episodes *e, uint64_t group, const struct hub_h5_link *link,
                                 struct hub_error *err)
{
    const bool external = link->kind == HUB_H5_EXTERNAL;
    struct hub_h5 *file = e->tree.file;
    struct hub_h5_entry entry = {.address = link->address};
    struct hub_error why = {0};
    if (!hub_numbered(link->name, e->dialect->prefix, &entry.number) ||
        (e->dialect->takes && !e->dialect->takes(e->user, link)))
        return HUB_OK;
    snprintf(entry.name, sizeof entry.name, "%.*s", (int)link->name.size, link->name.data);
    if (link->kind == HUB_H5_HARD)
        return add_entry(e, &entry, err);
    if (link->kind == HUB_H5_USER)
        return report_problem(e, "link-user-defined", link->name, "a user-defined link; not followed", err);
    if (external && !e->dialect->takes)
        return report_problem(e, "link-leaves-dataset", link->name, "a link into another file; not followed",
                              err);
    const enum hub_status st =
        hub_h5_resolve(file, external ? hub_h5_root(file) : group, link->path, &entry.address, &why);
    if (st && !hub_h5_is_local(file, st))
        return hub_pass(st, &why, err);
    if (st)
        return report_problem(e, st == HUB_DENIED ? "link-leaves-dataset" : "link-target-missing", link->name,
                              why.detail, err);
    return add_entry(e, &entry, err);
}

enum hub_status hub_h5_episodes_list(struct hub_h5_episodes *e, struct hub_h5 *index,
                                     const struct hub_h5_object *group, struct hub_error *err)
{
    HUB_CLEANUP(hub_h5_links_dispose) struct hub_h5_links links = {0};
    struct hub_error why = {0};
    const enum hub_status st = hub_h5_links_load(index, group, &links, &why);
    if (st && st != HUB_CORRUPT && st != HUB_UNSUPPORTED)
        return hub_pass(st, &why, err);
    if (st && !e->tree.quiet)
        HUB_TRY(hub_sink_problem(e->tree.sink, "group-damaged", HUB_VIEW("/"), err,
                                 "the list of episodes: %s", why.detail));
    for (uint32_t i = 0; i < links.count; i++)
        HUB_TRY(list_link(e, group->address, &links.items[i], err));
    if (e->count)
        qsort(e->entries, e->count, sizeof *e->entries, hub_by_i64);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < e->count; i++) /* a damaged group may name an episode twice */
        if (i == 0 || e->entries[i].number != e->entries[kept - 1].number)
            e->entries[kept++] = e->entries[i];
    e->count = kept;
    return HUB_OK;
}

/* Load an episode; a bad one is a problem and false. */
static enum hub_status load(struct hub_h5_episodes *e, const struct hub_h5_entry *entry, bool quiet,
                            uint64_t *steps, bool *good, struct hub_error *err)
{
    struct hub_error why = {0};
    e->tree.episode = hub_view_of(entry->name);
    e->tree.quiet = quiet;
    enum hub_status st = hub_h5_tree_load(&e->tree, entry->address, &why);
    if (!st)
        st = e->dialect->load(e->user, &e->tree, steps, &why);
    *good = !st;
    return hub_h5_tree_finish(&e->tree, st, "unreadable-episode", HUB_VIEW(""), &why, err);
}

static enum hub_status report_one(struct hub_h5_episodes *e, const struct hub_h5_entry *entry,
                                  struct hub_error *err)
{
    struct hub_episode episode = hub_episode_of(hub_view_of(entry->name), hub_h5_number(e->tree.file), 0);
    bool good;
    uint32_t index;
    episode.number = entry->number;
    HUB_TRY(load(e, entry, false, &episode.steps, &good, err));
    if (!good)
        return HUB_OK;
    HUB_TRY(e->dialect->describe(e->user, &e->tree, &episode, err));
    HUB_TRY(hub_sink_episode(e->tree.sink, &episode, &index, err));
    HUB_TRY(hub_h5_fields_lay_out(&e->fields, &e->tree, index, episode.steps, err));
    return e->dialect->reported ? e->dialect->reported(e->user, &e->tree, index, err) : HUB_OK;
}

enum hub_status hub_h5_episodes_report(struct hub_h5_episodes *e, struct hub_error *err)
{
    for (uint32_t i = 0; i < e->count && i < VOTERS; i++) {
        uint64_t steps = 0;
        bool good;
        HUB_TRY(load(e, &e->entries[i], true, &steps, &good, err));
        if (good)
            HUB_TRY(hub_h5_fields_vote(&e->fields, &e->tree, steps, err));
    }
    for (uint32_t i = 0; i < e->count; i++)
        HUB_TRY(report_one(e, &e->entries[i], err));
    return HUB_OK;
}

void hub_h5_episodes_dispose(struct hub_h5_episodes *e)
{
    hub_h5_fields_dispose(&e->fields);
    hub_h5_tree_dispose(&e->tree);
    free(e->entries);
}
