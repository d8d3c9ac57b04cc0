/* The walk: directories wait in a queue, several threads list them and ask about them. Claimed ones are
 * handed out at once; what nobody claimed is decided at the end, from the bottom up: a folder without any
 * recognised dataset in it is one dataset of format `files`, as shallow as can be, but not the root itself as
 * long as it has folders. */
#include "storage/scan/discover.h"

#include "storage/base/id.h"
#include "storage/base/spell.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

struct node {
    struct node *parent, *next; /* next: in the queue, then in the list of all */
    struct node *all;
    uint64_t device, inode;
    uint32_t root;
    unsigned depth;
    bool recognised; /* a dataset here or below */
    bool has_files;  /* a file nobody claimed, here or below */
    bool unknown;    /* it could not be asked about: nothing is said about it */
    bool has_folders;
    char *leaving; /* links beside its datasets that are not followed, as in the listing */
    char path[];
};

struct walk {
    const struct hub_discovery *discovery;
    struct hub_discovered *out;
    pthread_mutex_t lock, each_lock;
    pthread_cond_t wake;
    struct node *first, *last, *all; /* `all` newest first: children before their parents */
    unsigned busy;
    enum hub_status status;
    struct hub_error *err;
    char **ids; /* open addressing: no id twice */
    size_t id_slots, id_count;
};

/* ---- ids ---- */

/* A path as a dataset id. NULL: no memory. */
static char *make_id(const char *space, const char *path, const char *name)
{
    HUB_CLEANUP(hub_freep) char *below = hub_walk_join(path, name);
    HUB_CLEANUP(hub_freep) char *whole = below ? hub_walk_join(space, below) : NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(64 * KIB);
    return whole && hub_spell_id(hub_view_of(whole), &id, NULL) == HUB_OK ? hub_buf_take(&id, NULL) : NULL;
}

static uint64_t hash_of(const char *text)
{
    uint64_t h = 0xCBF29CE484222325U;
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 0x100000001B3U;
    return h ^ (h >> 31);
}

static char **slot_of(char **ids, size_t slots, const char *id)
{
    size_t slot = hash_of(id) & (slots - 1);
    while (ids[slot] && strcmp(ids[slot], id) != 0)
        slot = (slot + 1) & (slots - 1);
    return &ids[slot];
}

static enum hub_status grow_ids(struct walk *w, struct hub_error *err)
{
    if (w->id_count * 2 < w->id_slots)
        return HUB_OK;
    const size_t slots = w->id_slots ? w->id_slots * 2 : 1024;
    char **ids = calloc(slots, sizeof *ids);
    if (!ids)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for %zu datasets", slots);
    for (size_t i = 0; i < w->id_slots; i++)
        if (w->ids[i])
            *slot_of(ids, slots, w->ids[i]) = w->ids[i];
    free(w->ids);
    w->ids = ids;
    w->id_slots = slots;
    return HUB_OK;
}

/* Take an id: *taken is false when somebody has it. The text becomes the table's. */
static enum hub_status take_id(struct walk *w, char *id, bool *taken, struct hub_error *err)
{
    HUB_TRY(grow_ids(w, err));
    char **slot = slot_of(w->ids, w->id_slots, id);
    *taken = !*slot;
    if (*taken) {
        *slot = id;
        w->id_count++;
    }
    return HUB_OK;
}

/* ---- handing out ---- */

struct finding {
    const struct node *node;
    const char *name; /* of a claim of files, or NULL */
    const char *const *formats;
    uint32_t format_count;
};

static const char *last_segment(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static enum hub_status hand_out_locked(struct walk *w, const struct finding *f, struct hub_fileset *files,
                                       struct hub_error *err)
{
    const char *path = f->node->path;
    const uint32_t root = f->node->root;
    const char *space = w->discovery->names ? w->discovery->names[root] : NULL;
    const bool nameless =
        !*path && !f->name && !space; /* the root is a dataset: it is called as its directory is */
    char *id = make_id(space ? space : "", nameless ? last_segment(w->discovery->walk->roots[root]) : path,
                       f->name ? f->name : "");
    bool taken = false;
    if (!id)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for an id");
    enum hub_status st = hub_id_check(hub_view_of(id), NULL) ? HUB_OK : take_id(w, id, &taken, err);
    if (st || !taken) {
        w->out->clashes += !st;
        free(id);
        return st;
    }
    struct hub_found_dataset dataset = {.root = root,
                                        .id = id,
                                        .path = path,
                                        .single_files = f->name != NULL,
                                        .formats = f->formats,
                                        .format_count = f->format_count,
                                        .files = files};
    w->out->datasets++;
    return w->discovery->each(w->discovery->user, &dataset, err);
}

static void fail_walk(struct walk *w, enum hub_status st, const struct hub_error *err)
{
    pthread_mutex_lock(&w->lock);
    if (!w->status) {
        w->status = st;
        if (w->err)
            *w->err = *err;
    }
    pthread_mutex_unlock(&w->lock);
}

/* A callback that fails ends the walk with its own error; nothing that is wrong with one dataset does. */
static enum hub_status hand_out(struct walk *w, const struct finding *f, struct hub_fileset *files)
{
    struct hub_error err = {0};
    pthread_mutex_lock(&w->each_lock);
    const enum hub_status st = hand_out_locked(w, f, files, &err);
    pthread_mutex_unlock(&w->each_lock);
    if (st)
        fail_walk(w, st, &err);
    return st ? HUB_CANCELLED : HUB_OK;
}

/* ---- one directory ---- */

static struct node *node_new(struct node *parent, uint32_t root, const char *directory, const char *name)
{
    const size_t a = strlen(directory), b = strlen(name);
    struct node *node = calloc(1, sizeof *node + a + b + 2);
    if (!node)
        return NULL;
    node->parent = parent;
    node->root = root;
    node->depth = parent ? parent->depth + 1 : 0;
    snprintf(node->path, a + b + 2, "%s%s%s", directory, a && b ? "/" : "", name);
    return node;
}

static void enqueue(struct walk *w, struct node *node)
{
    pthread_mutex_lock(&w->lock);
    node->all = w->all;
    w->all = node;
    *(w->last ? &w->last->next : &w->first) = node;
    w->last = node;
    w->out->directories++;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

static enum hub_status claim_directory(struct walk *w, struct node *node, const struct hub_bids *bids,
                                       struct hub_error *err)
{
    HUB_CLEANUP(hub_fileset_dispose) struct hub_fileset files = {0};
    HUB_CLEANUP(hub_freep) const char **formats = calloc(bids->count, sizeof *formats);
    if (!formats)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for claims");
    for (uint32_t i = 0; i < bids->count; i++)
        formats[i] = bids->bids[i].format;
    node->recognised = true;
    HUB_TRY(hub_walk_collect(w->discovery->walk, node->root, node->path, &files, err));
    return hand_out(w, &(struct finding){node, NULL, formats, bids->count}, &files);
}

static enum hub_status claim_files(struct walk *w, struct node *node, const struct hub_listing *listing,
                                   const struct hub_bid *bid, bool *claimed, struct hub_error *err)
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
    return hand_out(w, &(struct finding){node, bid->name, &format, 1}, &files);
}

static bool comes_back(const struct node *node, const struct hub_entry *entry)
{
    for (; node; node = node->parent)
        if (node->device == entry->device && node->inode == entry->inode)
            return true;
    return false;
}

/* Minari 0.5 puts this into every namespace, also one that is empty: no data. */
static bool describes_namespace(const char *name)
{
    return strcmp(name, "namespace_metadata.json") == 0;
}

static enum hub_status descend(struct walk *w, struct node *node, const struct hub_listing *listing,
                               const bool *claimed, struct hub_error *err)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct hub_entry *e = &listing->entries[i];
        if (!e->directory) {
            node->has_files = node->has_files || (!claimed[i] && !describes_namespace(e->name));
            continue;
        }
        node->has_folders = true;
        if (node->depth >= HUB_MAX_DEPTH || comes_back(node, e))
            continue;
        struct node *child = node_new(node, node->root, node->path, e->name);
        if (!child)
            return hub_fail(err, HUB_NO_MEMORY, "no memory for a directory");
        enqueue(w, child);
    }
    return HUB_OK;
}

static enum hub_status look_at(struct walk *w, struct node *node, const struct hub_listing *listing,
                               const struct hub_bids *bids, struct hub_error *err)
{
    if (bids->count && !bids->bids[0].name)
        return claim_directory(w, node, bids, err);
    HUB_CLEANUP(hub_freep) bool *claimed = calloc(listing->count + (size_t)1, sizeof *claimed);
    if (!claimed)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for claims");
    for (uint32_t i = 0; i < bids->count; i++)
        HUB_TRY(claim_files(w, node, listing, &bids->bids[i], claimed, err));
    return descend(w, node, listing, claimed, err);
}

/* Whatever is wrong with one directory hides no other: only our own failures end the walk. */
static bool ends_walk(enum hub_status st)
{
    return st == HUB_NO_MEMORY || st == HUB_CANCELLED;
}

/* No answer about a listing that crashes a driver must not hide what lies below it; no inspector at all is
 * another matter. */
static bool nobody_to_ask(enum hub_status st)
{
    return ends_walk(st) || st == HUB_IO || st == HUB_BUSY || st == HUB_NO_SPACE;
}

/* A disk or a server that does not answer now says nothing about what is there. */
static bool may_pass(enum hub_status st)
{
    return st == HUB_IO || st == HUB_BUSY || st == HUB_AGAIN || st == HUB_TIMEOUT;
}

static void miss(struct walk *w, const struct node *node)
{
    pthread_mutex_lock(&w->lock);
    if (w->out->root_missing)
        w->out->root_missing[node->root] = true;
    pthread_mutex_unlock(&w->lock);
}

/* Those beside datasets are told one by one; elsewhere they count as files of their folder. */
static void keep_links(struct node *node, struct hub_listing *listing)
{
    node->leaving = listing->leaving;
    listing->leaving = NULL;
    node->has_files = node->has_files || (node->leaving && node->parent);
}

static enum hub_status visit(struct walk *w, struct node *node, struct hub_error *err)
{
    HUB_CLEANUP(hub_listing_dispose) struct hub_listing listing = {0};
    HUB_CLEANUP(hub_bids_dispose) struct hub_bids bids = {0};
    if (w->discovery->cancel && *w->discovery->cancel)
        return hub_fail(err, HUB_CANCELLED, "stopped");
    if (w->discovery->progress)
        w->discovery->progress(w->discovery->user, node->root, node->path);
    enum hub_status st = hub_walk_list(w->discovery->walk, node->root, node->path, &listing, err);
    if (st) {
        if (!node->parent || may_pass(st))
            miss(w, node);
        node->unknown = true;
        return ends_walk(st) ? st : HUB_OK;
    }
    node->device = listing.device;
    node->inode = listing.inode;
    if (!listing.count) {
        keep_links(node, &listing);
        return HUB_OK;
    }
    st = hub_claim_ask(w->discovery, node->root, node->path, &listing, &bids, err);
    if (nobody_to_ask(st))
        return st;
    if (st) {
        pthread_mutex_lock(&w->lock);
        w->out->unasked++;
        pthread_mutex_unlock(&w->lock);
    }
    if (may_pass(st)) { /* the child was killed or too slow: what is known about this place stays */
        miss(w, node);
        pthread_mutex_lock(&w->lock);
        w->out->missed++;
        pthread_mutex_unlock(&w->lock);
        node->unknown = true;
        return HUB_OK;
    }
    st = look_at(w, node, &listing, &bids, err);
    if (!bids.count || bids.bids[0].name)
        keep_links(node, &listing);
    if (may_pass(st))
        miss(w, node);
    return ends_walk(st) ? st : HUB_OK;
}

/* ---- threads ---- */

static void *work(void *arg)
{
    struct walk *w = arg;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->first && w->busy && !w->status)
            pthread_cond_wait(&w->wake, &w->lock);
        if (!w->first || w->status)
            break;
        struct node *node = w->first;
        w->first = node->next;
        if (!w->first)
            w->last = NULL;
        w->busy++;
        pthread_mutex_unlock(&w->lock);
        struct hub_error err = {0};
        const enum hub_status st = visit(w, node, &err);
        if (st)
            fail_walk(w, st, &err);
        pthread_mutex_lock(&w->lock);
        w->busy--;
        if (!w->busy && !w->first)
            pthread_cond_broadcast(&w->wake);
    }
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void run_threads(struct walk *w)
{
    pthread_t threads[MAX_THREADS];
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned wanted = w->discovery->jobs ? w->discovery->jobs : (unsigned)HUB_MAX(cores, 1);
    unsigned count = 0;
    while (count + 1 < HUB_MIN(wanted, (unsigned)MAX_THREADS) &&
           pthread_create(&threads[count], NULL, work, w) == 0)
        count++;
    work(w);
    while (count)
        pthread_join(threads[--count], NULL);
}

/* ---- what nobody claimed ---- */

static bool is_unclaimed(const struct node *node)
{
    return node->has_files && !node->recognised && !node->unknown;
}

static enum hub_status hand_out_files(struct walk *w, const struct node *node, struct hub_error *err)
{
    static const char *const format = "files";
    HUB_CLEANUP(hub_fileset_dispose) struct hub_fileset files = {0};
    const enum hub_status st = hub_walk_collect(w->discovery->walk, node->root, node->path, &files, err);
    if (st || (!files.count && !files.leaving))
        return ends_walk(st) ? st : HUB_OK;
    return hand_out(w, &(struct finding){node, NULL, &format, 1}, &files);
}

/* A link beside datasets that leads out of the roots, or nowhere now, may well be one: it is not followed,
 * but told. */
static enum hub_status hand_out_links(struct walk *w, const struct node *node, struct hub_error *err)
{
    static const char *const format = "files";
    for (const char *name = node->leaving; name && *name; name += strlen(name) + 1) {
        struct hub_fileset none = {.leaving = strdup(name)};
        if (!none.leaving)
            return hub_fail(err, HUB_NO_MEMORY, "no memory for a link");
        const enum hub_status st = hand_out(w, &(struct finding){node, name, &format, 1}, &none);
        hub_fileset_dispose(&none);
        HUB_TRY(st);
    }
    return HUB_OK;
}

/* Children come before their parents in the list, so one pass carries everything up. */
static enum hub_status hand_out_unclaimed(struct walk *w, struct hub_error *err)
{
    for (struct node *n = w->all; n; n = n->all) {
        if (!n->parent)
            continue;
        n->parent->recognised = n->parent->recognised || n->recognised || n->unknown;
        n->parent->has_files = n->parent->has_files || n->has_files;
    }
    for (struct node *n = w->all; n; n = n->all) {
        const bool is_root = !n->parent;
        if (n->recognised || (is_root && (n->has_folders || !n->has_files)))
            HUB_TRY(hand_out_links(w, n, err));
        if (!is_unclaimed(n) || (is_root && n->has_folders))
            continue;
        if (is_root || n->parent->recognised || !n->parent->parent)
            HUB_TRY(hand_out_files(w, n, err));
    }
    return HUB_OK;
}

static void free_nodes(struct walk *w)
{
    while (w->all) {
        struct node *node = w->all;
        w->all = node->all;
        free(node->leaving);
        free(node);
    }
    w->first = w->last = NULL;
}

static enum hub_status walk_root(struct walk *w, uint32_t root, struct hub_error *err)
{
    struct node *top = node_new(NULL, root, "", "");
    if (!top)
        return hub_fail(err, HUB_NO_MEMORY, "no memory to walk the roots");
    enqueue(w, top);
    run_threads(w);
    const enum hub_status st = w->status ? w->status : hand_out_unclaimed(w, err);
    free_nodes(w);
    return st;
}

enum hub_status hub_scan_discover(const struct hub_discovery *discovery, struct hub_discovered *out,
                                  struct hub_error *err)
{
    struct walk w = {.discovery = discovery, .out = out, .err = err};
    bool *const root_missing = out->root_missing;
    *out = (struct hub_discovered){.root_missing = root_missing};
    pthread_mutex_init(&w.lock, NULL);
    pthread_mutex_init(&w.each_lock, NULL);
    pthread_cond_init(&w.wake, NULL);
    enum hub_status st = HUB_OK;
    for (uint32_t root = 0; root < discovery->walk->root_count && !st;
         root++) /* in order: the first root's ids stay */
        st = walk_root(&w, root, err);
    for (size_t i = 0; i < w.id_slots; i++)
        free(w.ids[i]);
    free(w.ids);
    pthread_cond_destroy(&w.wake);
    pthread_mutex_destroy(&w.lock);
    pthread_mutex_destroy(&w.each_lock);
    return st;
}
