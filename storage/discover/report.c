/* Handing out what the walk found: an id for each, its own among all, and what was wrong with the place. */
#include "storage/discover/discover_state.h"
#include "storage/ids/hf_cache.h"
#include "storage/ids/id.h"
#include "storage/ids/spell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- ids ---- */

static uint64_t hash_of(const char *text)
{
    const uint64_t h = hub_hash(HUB_HASH_START, text, strlen(text));
    return h ^ (h >> 31);
}

/* What is too long for an id keeps the segments that fit, and ends in a name made of all of it. */
static enum hub_status shorten(struct hub_buf *id, struct hub_error *err)
{
    const uint64_t hash = hash_of(id->data);
    size_t keep = 0;
    for (const char *at = id->data; *at;) {
        const size_t size = strcspn(at, "/");
        if (size > 255 || (size_t)(at - id->data) + size > HUB_MAX_ID - 64)
            break;
        at += size + (at[size] == '/');
        keep = (size_t)(at - id->data);
    }
    id->size = keep;
    return hub_buf_addf(id, err, "long-name-%016" PRIx64, hash);
}

static enum hub_status spell_id(const char *space, const char *path, const struct hub_finding *f,
                                struct hub_buf *id, bool *shortened, struct hub_error *err)
{
    const char *name = f->name ? f->name : "";
    HUB_CLEANUP(hub_freep) char *below = hub_path_join(path, name);
    HUB_CLEANUP(hub_freep) char *whole = below ? hub_path_join(space, below) : NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf named = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_allocated(whole, err));
    id->size = 0;
    HUB_TRY(hub_hf_cache_name(hub_view_of(whole), f->node->other, &named, err));
    HUB_TRY(hub_spell_id(hub_buf_view(&named), id, err));
    *shortened = hub_id_check(hub_buf_view(id), NULL) != HUB_OK;
    return *shortened ? shorten(id, err) : HUB_OK;
}

/* Take an id: *taken is false when somebody has it. */
static enum hub_status take_id(struct hub_walking *w, const char *id, bool *taken, struct hub_error *err)
{
    const size_t size = strlen(id);
    return hub_pair_set_add(&w->ids, hash_of(id), hub_hash(~HUB_HASH_START, id, size), taken, err);
}

enum hub_status hub_walking_root_name(const struct hub_listing *listing, struct hub_buf *out,
                                      struct hub_error *err)
{
    HUB_TRY(hub_buf_add_text(out, "root-files", err));
    for (unsigned n = 2;; n++) {
        const struct hub_entry *e = hub_listing_find(listing, out->data);
        if (!e || !e->directory)
            return HUB_OK;
        out->size = 0;
        HUB_TRY(hub_buf_addf(out, err, "root-files-%u", n));
    }
}

/* ---- handing out ---- */

static const char *last_segment(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The id of a finding, its own among all. What an earlier root has already begins with this one's name. */
static enum hub_status find_id(struct hub_walking *w, const struct hub_finding *f, struct hub_buf *id,
                               bool *clash, bool *shortened, struct hub_error *err)
{
    const uint32_t root = f->node->root;
    const char *folder = last_segment(w->discovery->walk->roots->roots[root].path);
    const char *space = w->discovery->walk->roots->roots[root].name;
    const bool nameless = !*f->node->path && !f->name && !space; /* the root is a dataset: called as it is */
    const char *path = nameless ? folder : f->node->path;
    bool taken = false;
    HUB_TRY(spell_id(space ? space : "", path, f, id, shortened, err));
    HUB_TRY(take_id(w, id->data, &taken, err));
    *clash =
        f->clash || !taken || (w->discovery->clashed && w->discovery->clashed(w->discovery->user, id->data));
    if (taken)
        return HUB_OK;
    w->out->clashes++;
    if (w->discovery->clash)
        w->discovery->clash(w->discovery->user, id->data);
    for (unsigned n = 1; !taken; n++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf prefix = HUB_BUF_INIT(KIB);
        HUB_TRY(n == 1 ? hub_buf_add_text(&prefix, folder, err)
                       : hub_buf_addf(&prefix, err, "%s-%u", folder, n));
        HUB_TRY(spell_id(prefix.data, path, f, id, shortened, err));
        HUB_TRY(take_id(w, id->data, &taken, err));
    }
    return HUB_OK;
}

static enum hub_status hand_out_locked(struct hub_walking *w, const struct hub_finding *f,
                                       struct hub_fileset *files, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(64 * KIB);
    bool clash = false, shortened = false;
    HUB_TRY(find_id(w, f, &id, &clash, &shortened, err));
    if (clash)
        HUB_TRY(hub_fileset_problem(
            files, "id-shared", "", err, "%s",
            f->clash ? "another dataset of the same folder would have the same id, so the id has the file's "
                       "whole name or a number; to choose an id, rename one of the files"
                     : "a dataset of another root would have the same id, so the id begins with the root's "
                       "name (--root NAME=DIR chooses it)"));
    if (shortened)
        HUB_TRY(hub_fileset_problem(files, "id-shortened", "", err,
                                    "its path is too long for an id: the id is a shorter form"));
    struct hub_found_dataset dataset = {.root = f->node->root,
                                        .id = id.data,
                                        .path = f->node->path,
                                        .single_files = f->single_files,
                                        .formats = f->formats,
                                        .format_count = f->format_count,
                                        .broken = f->broken,
                                        .files = files};
    w->out->datasets++;
    return w->discovery->each(w->discovery->user, &dataset, err);
}

void hub_walking_fail(struct hub_walking *w, enum hub_status st, const struct hub_error *err)
{
    pthread_mutex_lock(&w->threads.lock);
    if (!w->status) {
        w->status = st;
        if (w->err)
            *w->err = *err;
    }
    pthread_mutex_unlock(&w->threads.lock);
}

/* A callback that fails ends the walk with its own error; nothing that is wrong with one dataset does. */
enum hub_status hub_walking_hand_out(struct hub_walking *w, const struct hub_finding *finding,
                                     struct hub_fileset *files, struct hub_error *err)
{
    struct hub_error why = {0};
    pthread_mutex_lock(&w->each_lock);
    const enum hub_status st = hand_out_locked(w, finding, files, &why);
    pthread_mutex_unlock(&w->each_lock);
    if (st)
        hub_walking_fail(w, st, &why);
    return st ? hub_fail(err, HUB_CANCELLED, "%s", why.detail) : HUB_OK;
}
