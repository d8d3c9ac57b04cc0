/* What nobody claimed, when a root has been walked: a folder without any recognised dataset below it is one
 * dataset of format `files`, as shallow as can be, but never the root itself; loose files beside datasets,
 * and those of a root, are one of their own. Directories that were not entered are listed as broken, so that
 * every file is in one listed dataset, and what is not is reported with the reason. */
#include "storage/discover/discover_state.h"

#include "storage/ids/hf_cache.h"
#include "storage/ids/kept.h"
#include "storage/model/format_row.h"

#include <stdlib.h>

static const char *const files_format = HUB_FILES_FORMAT;

/* The links of a folder that are not followed, as problems of a set. */
static enum hub_status note_links(const struct hub_node *node, const char *below, struct hub_fileset *out,
                                  struct hub_error *err)
{
    return hub_fileset_problems(out, "link-leaves", below, node->leaving, hub_link_leaves, err);
}

static enum hub_status note_withheld(const struct hub_node *node, const char *below, struct hub_fileset *out,
                                     struct hub_error *err)
{
    return hub_fileset_problems(out, "credentials-withheld", below, node->withheld, hub_withheld, err);
}

/* Whatever is loose below a folder, paths from there on. */
static enum hub_status gather(const struct hub_node *node, const char *below, struct hub_fileset *out,
                              struct hub_error *err)
{
    out->newest_ns = HUB_MAX(out->newest_ns, node->loose.newest_ns);
    HUB_TRY(note_links(node, below, out, err));
    HUB_TRY(note_withheld(node, below, out, err));
    for (uint32_t i = 0; i < node->loose.count; i++) {
        const struct hub_entry entry = {.name = node->loose.files[i].path,
                                        .stamp = node->loose.files[i].stamp};
        HUB_TRY(hub_fileset_add(out, below, &entry, err));
    }
    for (const struct hub_node *child = node->children; child; child = child->beside) {
        const char *name = strrchr(child->path, '/');
        HUB_CLEANUP(hub_freep) char *path = hub_path_join(below, name ? name + 1 : child->path);
        HUB_TRY(hub_allocated(path, err));
        HUB_TRY(gather(child, path, out, err));
    }
    return HUB_OK;
}

/* A folder nobody recognised anything in, with all below it. */
static enum hub_status hand_out_folder(struct hub_walking *w, const struct hub_node *node,
                                       struct hub_error *err)
{
    HUB_CLEANUP(hub_fileset_dispose) struct hub_fileset files = {0};
    struct hub_error why = {0};
    const enum hub_status st = gather(node, "", &files, &why);
    if (st && st != HUB_TOO_BIG)
        return hub_fail(err, st, "%s", why.detail);
    hub_fileset_sort(&files);
    const struct hub_finding finding = {.node = node,
                                        .formats = &files_format,
                                        .format_count = 1,
                                        .broken = st ? why.detail : NULL,
                                        .clash = node->holds_name};
    return hub_walking_hand_out(w, &finding, &files, err);
}

/* The loose files of a root, or beside datasets; a login among them is reported even where it is the only
 * file. */
static enum hub_status hand_out_own(struct hub_walking *w, struct hub_node *node, const char *name,
                                    struct hub_error *err)
{
    if (!node->loose.count && !node->withheld)
        return HUB_OK;
    HUB_TRY(note_withheld(node, "", &node->loose, err));
    hub_fileset_sort(&node->loose);
    const struct hub_finding finding = {.node = node,
                                        .name = name,
                                        .single_files = true,
                                        .formats = &files_format,
                                        .format_count = 1,
                                        .clash = node->holds_name};
    return hub_walking_hand_out(w, &finding, &node->loose, err);
}

/* Beside datasets a link that leads out of the roots, or nowhere now, may well be one: it is reported by
 * itself. */
static enum hub_status hand_out_links(struct hub_walking *w, const struct hub_node *node,
                                      struct hub_error *err)
{
    for (const char *name = node->leaving; name && *name; name += strlen(name) + 1) {
        HUB_CLEANUP(hub_fileset_dispose) struct hub_fileset none = {0};
        HUB_TRY(hub_fileset_problem(&none, "link-leaves", name, err, "%s", hub_link_leaves));
        const struct hub_finding finding = {
            .node = node,
            .name = name,
            .single_files = true,
            .formats = &files_format,
            .format_count = 1,
            .broken = "this link is dangling or leads out of the roots: --allow-target DIR permits it"};
        HUB_TRY(hub_walking_hand_out(w, &finding, &none, err));
    }
    return HUB_OK;
}

static enum hub_status hand_out_refused(struct hub_walking *w, const struct hub_node *node,
                                        struct hub_error *err)
{
    HUB_CLEANUP(hub_fileset_dispose) struct hub_fileset none = {0};
    HUB_TRY(hub_fileset_problem(&none, "directory-not-entered", "", err, "%s", node->refused));
    const struct hub_finding finding = {.node = node,
                                        .name = *node->path ? NULL : "root-files",
                                        .formats = &files_format,
                                        .format_count = 1,
                                        .broken = node->refused,
                                        .clash = node->holds_name};
    return hub_walking_hand_out(w, &finding, &none, err);
}

/* Whether a folder is, or lies in, that of the kept revisions of a root. */
static bool is_in_kept(const struct hub_node *n)
{
    return n->other && hub_kept_private((struct hub_view){n->path, strcspn(n->path, "/")});
}

static bool is_kept_revision(const struct hub_node *n)
{
    const char *slash = strrchr(n->path, '/');
    return is_in_kept(n) && hub_kept_commit(hub_view_of(slash ? slash + 1 : n->path)).size;
}

static enum hub_status hand_out_node(struct hub_walking *w, struct hub_node *n, struct hub_error *err)
{
    if (n->refused)
        return hand_out_refused(w, n, err);
    if (is_in_kept(n) && !hub_hf_cache_commit(hub_view_of(n->path)).size)
        return HUB_OK; /* revisions lie below it, each a dataset by itself */
    if (!n->parent || n->recognised) {
        const bool alone = !n->recognised && !n->children && n->loose.count; /* a root of nothing but files */
        HUB_TRY(alone ? note_links(n, "", &n->loose, err) : hand_out_links(w, n, err));
        return hand_out_own(w, n, n->parent ? NULL : w->root_name, err);
    }
    const bool top = !n->parent->parent || n->parent->recognised || is_kept_revision(n);
    return top && n->has_files ? hand_out_folder(w, n, err) : HUB_OK;
}

/* Children come before their parents in the list, so one pass carries everything up. */
enum hub_status hub_walking_hand_out_loose(struct hub_walking *w, struct hub_error *err)
{
    for (struct hub_node *n = w->all; n; n = n->all) {
        n->recognised = n->recognised || n->refused;
        n->has_files = n->has_files || n->loose.count || n->leaving || n->withheld;
        if (!n->parent)
            continue;
        n->parent->recognised = n->parent->recognised || n->recognised;
        n->parent->has_files = n->parent->has_files || n->has_files;
    }
    for (struct hub_node *n = w->all; n; n = n->all)
        HUB_TRY(hand_out_node(w, n, err));
    return HUB_OK;
}
