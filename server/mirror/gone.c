/* Copies that their remote no longer lists: see gone.h. */
#include "server/mirror/gone.h"

#include "storage/base/order.h"
#include "storage/scan/presence.h"
#include "storage/truth/upstream.h"

#include <stdio.h>

struct gone {
    struct hub_mirror_work *work;
    const struct hub_mirror_listing *listing;
    bool deletes;
    uint32_t removed;
};

/* Why a copy stays; NULL: it is gone. */
static const char outside[] = "the rule no longer takes it",
                  regrouped[] = "the remote no longer lists it, but its files are still there",
                  divided[] = "its parts are separate copies",
                  hidden[] =
                      "the remote no longer lists it, and does not say whether its files are still there";

/* ---- whether its files are there ---- */

/* Whether a file that was copied is among those of a remote's dataset, below `folder` of it. */
static bool has_any(const struct hub_upstream *known, const struct hub_remote_files *there,
                    const char *folder)
{
    for (uint32_t i = 0; i < known->file_count; i++) {
        HUB_CLEANUP(hub_freep) char *below = hub_path_join(folder, known->files[i].path);
        const char *path = below ? below : "";
        if (there->count && bsearch(&path, there->items, there->count, sizeof *there->items, hub_by_text))
            return true;
    }
    return false;
}

static enum hub_status look_into(const struct gone *g, const struct hub_upstream *known, const char *id,
                                 const char *folder, const char **why_kept, struct hub_error *err)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files files = {0};
    struct hub_error why = {0};
    const enum hub_status st = hub_remote_list_files(&g->work->remote, id, NULL, &files, &why);
    if (st == HUB_DENIED)
        *why_kept = hidden;
    else if (!st && has_any(known, &files, folder))
        *why_kept = regrouped;
    return !st || st == HUB_DENIED || st == HUB_NOT_FOUND ? HUB_OK : hub_pass(st, &why, err);
}

/* The first listed id that does not come before `key`, or "". */
static const char *listed_from(const struct gone *g, struct hub_view key)
{
    const struct hub_mirror_listing *l = g->listing;
    const uint32_t at = hub_lower_bound(&key, l->items, l->count, l->size, hub_view_by_text);
    return at < l->count ? *(char *const *)((const char *)l->items + at * l->size) : "";
}

static bool lists_below(const struct gone *g, const char *id)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf below = HUB_BUF_INIT(8 * KIB);
    return !hub_buf_addf(&below, NULL, "%s/", id) &&
           strncmp(listed_from(g, hub_buf_view(&below)), below.data, below.size) == 0;
}

/* Its files may be those of a dataset around it by now, or of several below it. */
static enum hub_status find_files(const struct gone *g, const struct hub_upstream *known,
                                  const char **why_kept, struct hub_error *err)
{
    const char *id = known->id;
    HUB_TRY(look_into(g, known, id, "", why_kept, err));
    if (!*why_kept && lists_below(g, id))
        *why_kept = regrouped;
    for (const char *slash = strchr(id, '/'); slash && !*why_kept; slash = strchr(slash + 1, '/')) {
        const struct hub_view around = {id, (size_t)(slash - id)};
        HUB_CLEANUP(hub_freep) char *text = hub_view_dup(around);
        HUB_TRY(hub_allocated(text, err));
        if (strcmp(listed_from(g, around), text) == 0)
            HUB_TRY(look_into(g, known, text, slash + 1, why_kept, err));
    }
    return HUB_OK;
}

/* Whether all its files belong to copies of their own by now, which lie in its folders. */
static bool is_divided(const struct gone *g, const struct hub_upstream_unseen *copy,
                       const struct hub_upstream *known)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf inner = HUB_BUF_INIT(16 * KIB);
    size_t own = 0; /* bytes of a file's path that are those of the copy found last */
    for (uint32_t i = 0; i < known->file_count; i++) {
        const char *path = known->files[i].path;
        bool found = own && strncmp(path, known->files[i - 1].path, own) == 0;
        for (const char *slash = strchr(path, '/'); slash && !found; slash = strchr(slash + 1, '/')) {
            struct hub_upstream part;
            inner.size = 0;
            own = (size_t)(slash + 1 - path);
            if (hub_buf_addf(&inner, NULL, "%s/%.*s", copy->path, (int)own - 1, path) ||
                hub_upstream_find(g->work->mirrors->options.truth, copy->root, inner.data, false, &part,
                                  NULL))
                continue;
            hub_upstream_dispose(&part);
            found = true;
        }
        if (!found)
            return false;
    }
    return known->file_count;
}

static enum hub_status find_reason(const struct gone *g, const struct hub_upstream_unseen *copy,
                                   const char **why_kept, struct hub_error *err)
{
    HUB_CLEANUP(hub_upstream_dispose) struct hub_upstream known = {0};
    const char *prefix = hub_member_text(g->work->rule.spec, "prefix");
    *why_kept = NULL;
    if (strcmp(copy->remote, g->work->remote.base) != 0 || !hub_remote_has_prefix(copy->id, prefix)) {
        *why_kept = outside;
        return HUB_OK;
    }
    HUB_TRY(hub_upstream_find(g->work->mirrors->options.truth, copy->root, copy->path, true, &known, err));
    if (is_divided(g, copy, &known)) {
        *why_kept = divided;
        return HUB_OK;
    }
    return find_files(g, &known, why_kept, err);
}

/* ---- what becomes of it ---- */

static enum hub_status remove_copy(struct gone *g, const struct hub_upstream_unseen *copy,
                                   struct hub_error *err)
{
    const struct hub_mirrors_options *o = &g->work->mirrors->options;
    HUB_TRY(hub_mirror_keep_now(g->work, err));
    if (hub_presence_check(o->truth, o->catalog, o->roots, copy->root, NULL))
        return HUB_OK; /* its root is not mounted */
    HUB_TRY(hub_copy_remove(o, copy->root, copy->path, err));
    g->removed++;
    hub_mirror_notify(g->work, HUB_MIRROR_REMOVED, copy->path, "it is no longer on the remote");
    return HUB_OK;
}

static enum hub_status deal_with(void *user, const struct hub_upstream_unseen *copy, struct hub_error *err)
{
    struct gone *g = user;
    const char *why_kept;
    if (copy->root == HUB_NONE || (copy->gone && !g->deletes))
        return HUB_OK;
    HUB_TRY(hub_mirror_keep(g->work, err));
    HUB_TRY(find_reason(g, copy, &why_kept, err));
    if (why_kept == divided)
        return hub_upstream_forget(g->work->mirrors->options.truth, copy->root, copy->path, err);
    if (!why_kept && g->deletes)
        return remove_copy(g, copy, err);
    if (why_kept && !copy->unlisted)
        hub_mirror_notify(g->work, HUB_MIRROR_KEPT, copy->path, "%s: the hub keeps it and does not update it",
                          why_kept);
    return hub_upstream_mark(g->work->mirrors->options.truth, copy->root, copy->path, !why_kept, err);
}

enum hub_status hub_gone_run(struct hub_mirror_work *work, const struct hub_mirror_listing *listing,
                             uint32_t *removed, struct hub_error *err)
{
    struct gone g = {.work = work,
                     .listing = listing,
                     .deletes = json_is_true(json_object_get(work->rule.spec, "delete"))};
    const enum hub_status st = hub_upstream_unseen_each(work->mirrors->options.truth, work->rule.name,
                                                        work->rule.begun_ms, deal_with, &g, err);
    *removed = g.removed;
    return st;
}
