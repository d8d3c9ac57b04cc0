/* One directory of a walk by what the drivers bid: it is claimed with all below it, or its files are claimed
 * one by one and its folders entered. */
#include "storage/base/order.h"
#include "storage/discover/discover_state.h"

#include <stdio.h>
#include <stdlib.h>

/* `declined`: it is nobody's as a whole, and nothing was done. */
static enum hub_status claim_directory(struct hub_walking *w, struct hub_node *node,
                                       const struct hub_listing *listing, const struct hub_bids *bids,
                                       bool *declined, struct hub_error *err)
{
    HUB_CLEANUP(hub_fileset_dispose) struct hub_fileset files = {0};
    HUB_CLEANUP(hub_freep) const char **formats = calloc(bids->count, sizeof *formats);
    struct hub_error why = {0};
    HUB_TRY(hub_allocated(formats, err));
    for (uint32_t i = 0; i < bids->count; i++)
        formats[i] = bids->bids[i].format;
    const enum hub_status st =
        hub_walk_collect(w->discovery->walk, node->root, node->path, w->formats, listing, &files, &why);
    const struct hub_found_dataset claim = {.root = node->root,
                                            .path = node->path,
                                            .formats = formats,
                                            .format_count = bids->count,
                                            .files = &files};
    if (!st)
        HUB_TRY(hub_claim_declined(w->discovery, &claim, declined, err));
    if (*declined)
        return HUB_OK;
    node->recognised = true;
    if (st && st != HUB_TOO_BIG)
        return hub_fail(err, st, "%s", why.detail);
    for (uint32_t i = 0; i < files.nested_count; i++)
        HUB_TRY(hub_walking_enter_nested(w, node, files.nested[i], err));
    const struct hub_finding finding = {.node = node,
                                        .formats = formats,
                                        .format_count = bids->count,
                                        .broken = st ? why.detail : NULL,
                                        .clash = node->holds_name};
    return hub_walking_hand_out(w, &finding, &files, err);
}

static enum hub_status claim_files(struct hub_walking *w, struct hub_node *node,
                                   const struct hub_listing *listing, const struct hub_bid *bid,
                                   const char *name, bool *claimed, struct hub_error *err)
{
    HUB_CLEANUP(hub_fileset_dispose) struct hub_fileset files = {0};
    const char *format = bid->format;
    for (uint32_t i = 0; i < bid->file_count; i++) {
        const struct hub_entry *e = &listing->entries[bid->files[i]];
        if (e->directory || claimed[bid->files[i]])
            continue;
        claimed[bid->files[i]] = true;
        HUB_TRY(hub_fileset_add(&files, "", e, err));
    }
    if (!files.count)
        return HUB_OK;
    hub_fileset_sort(&files);
    node->recognised = true;
    const struct hub_finding finding = {.node = node,
                                        .name = name,
                                        .single_files = true,
                                        .formats = &format,
                                        .format_count = 1,
                                        .clash = strcmp(name, bid->name) != 0};
    return hub_walking_hand_out(w, &finding, &files, err);
}

/* The names that the bids want, sorted. */
static enum hub_status wanted_names(const struct hub_bids *bids, const char ***out, struct hub_error *err)
{
    const char **names = *out = calloc(bids->count + (size_t)1, sizeof *names);
    HUB_TRY(hub_allocated(names, err));
    for (uint32_t i = 0; i < bids->count; i++)
        names[i] = bids->bids[i].name;
    qsort(names, bids->count, sizeof *names, hub_by_text);
    return HUB_OK;
}

/* Whether `least` of the bids or more want the name. */
static bool is_wanted(const char **names, uint32_t count, const char *name, uint32_t least)
{
    uint32_t at = hub_lower_bound(&name, names, count, sizeof *names, hub_by_text), found = 0;
    for (; at < count && found < least && strcmp(names[at], name) == 0; at++)
        found++;
    return found >= least;
}

/* The file a claim is named after without its ending; of a series its first. */
static const char *named_after(const struct hub_listing *listing, const struct hub_bid *bid)
{
    const size_t n = strlen(bid->name);
    const char *first = NULL;
    for (uint32_t i = 0; i < bid->file_count; i++) {
        const char *file = listing->entries[bid->files[i]].name;
        if (strncmp(file, bid->name, n) == 0 && file[n] == '.')
            return file;
        if (!first || strcmp(file, first) < 0)
            first = file;
    }
    return first;
}

/* A name that two claims want, or a claim and a folder, is no claim's: it would be other data's when one of
 * them comes or goes. A file has its whole name then, a series that of its first file, which no other claim
 * has and which no file beside it changes; a folder keeps its own. */
static enum hub_status name_claim(const struct hub_listing *listing, const struct hub_bid *bid,
                                  const char **names, uint32_t count, struct hub_buf *out,
                                  struct hub_error *err)
{
    const struct hub_entry *beside = hub_listing_find(listing, bid->name);
    const char *file = named_after(listing, bid);
    unsigned number = 1;
    out->size = 0;
    if (!is_wanted(names, count, bid->name, 2) && !(beside && beside->directory))
        return hub_buf_add_text(out, bid->name, err);
    HUB_TRY(hub_buf_add_text(out, file, err));
    while (is_wanted(names, count, out->data, 1)) {
        out->size = 0;
        HUB_TRY(hub_buf_addf(out, err, "%s-%u", file, ++number));
    }
    return HUB_OK;
}

static enum hub_status claim_series(struct hub_walking *w, struct hub_node *node,
                                    const struct hub_listing *listing, const struct hub_bids *bids,
                                    bool *claimed, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) const char **names = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(KIB);
    HUB_TRY(wanted_names(bids, &names, err));
    for (uint32_t i = 0; i < bids->count; i++) {
        HUB_TRY(name_claim(listing, &bids->bids[i], names, bids->count, &name, err));
        HUB_TRY(claim_files(w, node, listing, &bids->bids[i], name.data, claimed, err));
    }
    return HUB_OK;
}

static bool wanted_by_series(const struct hub_bids *bids, const char *name)
{
    for (uint32_t i = 0; i < bids->count; i++)
        if (bids->bids[i].name && strcmp(bids->bids[i].name, name) == 0)
            return true;
    return false;
}

/* With a scope, a folder outside of it is passed by: something recognised may be in it. One that a series of
 * files beside it is called like is reported by whether there is such a series. */
static enum hub_status reach(struct hub_walking *w, struct hub_node *node, const struct hub_entry *e,
                             bool holds_name, bool *reached, struct hub_error *err)
{
    *reached = true;
    if (!hub_walking_passes(w, node))
        return HUB_OK;
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(node->path, e->name);
    HUB_TRY(hub_allocated(path, err));
    *reached = hub_scope_has(w->discovery->only, path);
    if (*reached ? e->link : holds_name)
        hub_walking_go_beyond(w);
    node->recognised = node->recognised || (!*reached && !e->elsewhere);
    return HUB_OK;
}

static enum hub_status descend(struct hub_walking *w, struct hub_node *node,
                               const struct hub_listing *listing, const struct hub_bids *bids,
                               const bool *claimed, struct hub_error *err)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct hub_entry *e = &listing->entries[i];
        const bool holds_name = e->directory && wanted_by_series(bids, e->name);
        bool reached = false, entered = false;
        if (e->directory)
            HUB_TRY(reach(w, node, e, holds_name, &reached, err));
        if (reached)
            HUB_TRY(hub_walking_enter_repo(w, node, e, &entered, err));
        if (reached && !entered)
            HUB_TRY(hub_walking_enter_below(w, node, e, holds_name, err));
        else if (!e->directory && !claimed[i] && !hub_format_table_is_aside(w->formats, e->name))
            HUB_TRY(hub_fileset_add(&node->loose, "", e, err));
    }
    return node->parent ? HUB_OK : hub_walking_enter_kept(w, node, err);
}

/* The id of a root's loose files: its name, else one that no folder in it has. */
static enum hub_status name_root(struct hub_walking *w, const struct hub_node *node,
                                 const struct hub_listing *listing, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(KIB);
    if (node->parent || w->discovery->walk->roots->roots[node->root].name)
        return HUB_OK;
    HUB_TRY(hub_walking_root_name(listing, &name, err));
    w->root_name = hub_buf_take(&name, NULL);
    return hub_allocated(w->root_name, err);
}

/* Nobody's as a whole: its files by themselves, and what is in its folders. */
static enum hub_status enter_directory(struct hub_walking *w, struct hub_node *node,
                                       struct hub_listing *listing, const struct hub_bids *bids,
                                       struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) bool *claimed = calloc(listing->count + (size_t)1, sizeof *claimed);
    HUB_TRY(hub_allocated(claimed, err));
    node->leaving = listing->leaving;
    node->withheld = listing->withheld;
    listing->leaving = listing->withheld = NULL;
    HUB_TRY(name_root(w, node, listing, err));
    HUB_TRY(claim_series(w, node, listing, bids, claimed, err));
    return descend(w, node, listing, bids, claimed, err);
}

/* Whatever is wrong with one directory hides no other: only our own failures end the walk. */
static bool ends_walk(enum hub_status st)
{
    return st == HUB_NO_MEMORY || st == HUB_CANCELLED;
}

bool hub_nobody_to_ask(enum hub_status st)
{
    return ends_walk(st) || st == HUB_IO || st == HUB_BUSY || st == HUB_NO_SPACE;
}

bool hub_is_transient(enum hub_status st)
{
    return st == HUB_IO || st == HUB_BUSY || st == HUB_AGAIN || st == HUB_TIMEOUT;
}

static enum hub_status apply_bids(struct hub_walking *w, struct hub_node *node, struct hub_listing *listing,
                                  const struct hub_bids *bids, struct hub_error *err)
{
    HUB_CLEANUP(hub_bids_dispose) struct hub_bids on_files = {0};
    bool declined = false;
    if (!bids->count || bids->bids[0].name)
        return enter_directory(w, node, listing, bids, err);
    if (hub_walking_passes(w, node)) {
        hub_walking_go_beyond(w);
        return HUB_OK;
    }
    HUB_TRY(claim_directory(w, node, listing, bids, &declined, err));
    if (!declined)
        return HUB_OK;
    struct hub_error why = {0};
    const enum hub_status st =
        hub_claim_request_files(w->discovery, node->root, node->path, listing, &on_files, &why);
    if (hub_nobody_to_ask(st) || hub_is_transient(st))
        return hub_fail(err, st, "%s", why.detail);
    pthread_mutex_lock(&w->threads.lock);
    w->out->unasked += st != HUB_OK;
    pthread_mutex_unlock(&w->threads.lock);
    return enter_directory(w, node, listing, &on_files, err);
}

void hub_walking_note_unreachable(struct hub_walking *w, struct hub_node *node)
{
    node->recognised = true;
    pthread_mutex_lock(&w->threads.lock);
    if (w->out->root_missing)
        w->out->root_missing[node->root] = true;
    pthread_mutex_unlock(&w->threads.lock);
}

enum hub_status hub_walking_note_failure(struct hub_walking *w, struct hub_node *node, enum hub_status st,
                                         const struct hub_error *why, struct hub_error *err)
{
    if (ends_walk(st))
        return hub_fail(err, st, "%s", why->detail);
    if (hub_walking_passes(w, node)) {
        hub_walking_go_beyond(w);
        return HUB_OK;
    }
    if (hub_is_transient(st) || (!node->parent && st == HUB_NOT_FOUND)) {
        hub_walking_note_unreachable(w, node);
        return HUB_OK;
    }
    if (st == HUB_NOT_FOUND)
        return HUB_OK;
    /* the dataset's path says which: the reason need not */
    const size_t n = strlen(node->path);
    const bool twice = strncmp(why->detail, node->path, n) == 0 && strncmp(why->detail + n, ": ", 2) == 0;
    pthread_mutex_lock(&w->threads.lock);
    const enum hub_status kept = hub_walking_refuse(w, node, why->detail + (twice ? n + 2 : 0));
    pthread_mutex_unlock(&w->threads.lock);
    return kept ? hub_fail(err, kept, "no memory for a directory") : HUB_OK;
}

enum hub_status hub_walking_resolve(struct hub_walking *w, struct hub_node *node, struct hub_listing *listing,
                                    const struct hub_bids *bids, struct hub_error *err)
{
    struct hub_error why = {0};
    const enum hub_status st = apply_bids(w, node, listing, bids, &why);
    return st ? hub_walking_note_failure(w, node, st, &why, err) : HUB_OK;
}
