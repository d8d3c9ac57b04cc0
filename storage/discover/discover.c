/* The walk: directories wait in a queue, several threads list them; those with a name that somebody looks for
 * wait until one child is asked about many. Claimed ones are handed out at once; what nobody claimed is
 * decided at the end (unclaimed.c). Each directory is entered once, by its own name: links wait until all
 * else
 * was. */
#include "storage/discover/discover.h"

#include "storage/discover/discover_state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MAX_THREADS = 64,
    BATCH_DIRECTORIES = 256,
    BATCH_ENTRIES = 20000,
    MAX_REFUSED = 1000,
    MAX_COMMIT = 255
};

/* ---- nodes ---- */

static struct hub_node *node_new(struct hub_node *parent, uint32_t root, const char *directory,
                                 const char *name)
{
    const size_t a = strlen(directory), b = strlen(name);
    struct hub_node *node = calloc(1, sizeof *node + a + b + 2);
    if (!node)
        return NULL;
    node->parent = parent;
    node->root = root;
    node->other = parent && parent->other;
    snprintf(node->path, a + b + 2, "%s%s%s", directory, a && b ? "/" : "", name);
    return node;
}

static void node_free(struct hub_node *node)
{
    free(node->leaving);
    free(node->withheld);
    free(node->refused);
    hub_fileset_dispose(&node->loose);
    free(node);
}

/* Into the tree: the lock is held. */
static void adopt(struct hub_walking *w, struct hub_node *node)
{
    node->all = w->all;
    w->all = node;
    if (node->parent) {
        node->beside = node->parent->children;
        node->parent->children = node;
    }
}

static void push(struct hub_walking *w, struct hub_node *node)
{
    node->next = NULL;
    *(w->last ? &w->last->next : &w->first) = node;
    w->last = node;
    w->out->directories++;
    w->directories++;
    pthread_cond_signal(&w->wake);
}

static enum hub_status refuse(struct hub_walking *w, struct hub_node *node, const char *why)
{
    w->out->not_entered++;
    node->refused = strdup(why);
    return node->refused ? HUB_OK : HUB_NO_MEMORY;
}

/* A directory below another, unless it was entered already or there are too many. The lock is held. */
static enum hub_status enqueue(struct hub_walking *w, struct hub_node *node, uint64_t device, uint64_t inode,
                               struct hub_error *err)
{
    bool added = true;
    char why[100];
    if (w->directories < w->discovery->walk->max_directories) {
        const enum hub_status st = hub_places_add(&w->entered, device, inode, &added, err);
        if (st || !added) {
            node_free(node);
            return st;
        }
        adopt(w, node);
        push(w, node);
        return HUB_OK;
    }
    if (w->out->not_entered >= MAX_REFUSED) { /* counted, but no longer listed one by one */
        w->out->not_entered++;
        node->parent->recognised = true;
        node_free(node);
        return HUB_OK;
    }
    adopt(w, node);
    snprintf(why, sizeof why, "not entered: its root has more than %" PRIu64 " directories",
             w->discovery->walk->max_directories);
    return refuse(w, node, why) ? hub_no_memory(err) : HUB_OK;
}

enum hub_status hub_walking_enter(struct hub_walking *w, struct hub_node *node, const char *folder,
                                  const struct hub_entry *e, bool other, struct hub_error *err)
{
    struct hub_node *child = node_new(node, node->root, folder, e->name);
    HUB_TRY(hub_allocated(child, err));
    child->other = child->other || other;
    pthread_mutex_lock(&w->lock);
    const enum hub_status st = enqueue(w, child, e->device, e->inode, err);
    pthread_mutex_unlock(&w->lock);
    return st;
}

static enum hub_status enter_below(struct hub_walking *w, struct hub_node *node, const struct hub_entry *e,
                                   bool holds_name, struct hub_error *err)
{
    if (e->elsewhere)
        return HUB_OK; /* it is met under its own name */
    struct hub_node *child = node_new(node, node->root, node->path, e->name);
    HUB_TRY(hub_allocated(child, err));
    child->holds_name = holds_name;
    enum hub_status st = HUB_OK;
    pthread_mutex_lock(&w->lock);
    if (e->link) {
        child->device = e->device;
        child->inode = e->inode;
        child->next = w->links;
        w->links = child;
    } else {
        st = enqueue(w, child, e->device, e->inode, err);
    }
    pthread_mutex_unlock(&w->lock);
    return st;
}

/* ---- one directory ---- */

static enum hub_status enter_nested(struct hub_walking *w, struct hub_node *node, const char *path,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    HUB_CLEANUP(hub_freep) char *full = hub_path_join(node->path, path);
    struct stat st;
    HUB_TRY(hub_allocated(full, err));
    if (hub_roots_open(w->discovery->walk->roots, node->root, full, O_PATH | O_DIRECTORY, &fd, NULL) ||
        fstat(fd, &st))
        return HUB_OK;
    struct hub_entry entry = hub_entry_of(path, &st);
    return enter_below(w, node, &entry, false, err);
}

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
        HUB_TRY(enter_nested(w, node, files.nested[i], err));
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

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names that the bids want, sorted. */
static enum hub_status wanted_names(const struct hub_bids *bids, const char ***out, struct hub_error *err)
{
    const char **names = *out = calloc(bids->count + (size_t)1, sizeof *names);
    HUB_TRY(hub_allocated(names, err));
    for (uint32_t i = 0; i < bids->count; i++)
        names[i] = bids->bids[i].name;
    qsort(names, bids->count, sizeof *names, compare_names);
    return HUB_OK;
}

/* Whether `least` of the bids or more want the name. */
static bool is_wanted(const char **names, uint32_t count, const char *name, uint32_t least)
{
    const char **at = bsearch(&name, names, count, sizeof *names, compare_names);
    uint32_t found = at ? 1 : 0;
    for (const char **a = at; at && a > names && found < least && strcmp(a[-1], name) == 0; a--)
        found++;
    for (const char **a = at; at && a + 1 < names + count && found < least && strcmp(a[1], name) == 0; a++)
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

static enum hub_status descend(struct hub_walking *w, struct hub_node *node,
                               const struct hub_listing *listing, const struct hub_bids *bids,
                               const bool *claimed, struct hub_error *err)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct hub_entry *e = &listing->entries[i];
        bool entered = false;
        if (e->directory)
            HUB_TRY(hub_walking_enter_repo(w, node, e, &entered, err));
        if (e->directory && !entered)
            HUB_TRY(enter_below(w, node, e, wanted_by_series(bids, e->name), err));
        else if (!e->directory && !claimed[i] && !hub_format_table_is_aside(w->formats, e->name))
            HUB_TRY(hub_fileset_add(&node->loose, "", e, err));
    }
    return HUB_OK;
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

/* No answer about a listing that crashes a driver must not hide what lies below it; no inspector at all is
 * another matter. */
static bool nobody_to_ask(enum hub_status st)
{
    return ends_walk(st) || st == HUB_IO || st == HUB_BUSY || st == HUB_NO_SPACE;
}

/* A disk or a server that does not answer now says nothing about what is there. */
static bool is_transient(enum hub_status st)
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
    HUB_TRY(claim_directory(w, node, listing, bids, &declined, err));
    if (!declined)
        return HUB_OK;
    struct hub_error why = {0};
    const enum hub_status st =
        hub_claim_request_files(w->discovery, node->root, node->path, listing, &on_files, &why);
    if (nobody_to_ask(st) || is_transient(st))
        return hub_fail(err, st, "%s", why.detail);
    pthread_mutex_lock(&w->lock);
    w->out->unasked += st != HUB_OK;
    pthread_mutex_unlock(&w->lock);
    return enter_directory(w, node, listing, &on_files, err);
}

static void note_unreachable(struct hub_walking *w, struct hub_node *node)
{
    node->recognised = true;
    pthread_mutex_lock(&w->lock);
    if (w->out->root_missing)
        w->out->root_missing[node->root] = true;
    pthread_mutex_unlock(&w->lock);
}

static enum hub_status note_failure(struct hub_walking *w, struct hub_node *node, enum hub_status st,
                                    const struct hub_error *why, struct hub_error *err)
{
    if (ends_walk(st))
        return hub_fail(err, st, "%s", why->detail);
    if (is_transient(st) || (!node->parent && st == HUB_NOT_FOUND)) {
        note_unreachable(w, node);
        return HUB_OK;
    }
    if (st == HUB_NOT_FOUND)
        return HUB_OK;
    /* the dataset's path says which: the reason need not */
    const size_t n = strlen(node->path);
    const bool twice = strncmp(why->detail, node->path, n) == 0 && strncmp(why->detail + n, ": ", 2) == 0;
    pthread_mutex_lock(&w->lock);
    const enum hub_status kept = refuse(w, node, why->detail + (twice ? n + 2 : 0));
    pthread_mutex_unlock(&w->lock);
    return kept ? hub_fail(err, kept, "no memory for a directory") : HUB_OK;
}

/* Claimed or not: what is in it. */
static enum hub_status resolve_directory(struct hub_walking *w, struct hub_node *node,
                                         struct hub_listing *listing, const struct hub_bids *bids,
                                         struct hub_error *err)
{
    struct hub_error why = {0};
    const enum hub_status st = apply_bids(w, node, listing, bids, &why);
    if (is_transient(st))
        note_unreachable(w, node);
    else if (st && !ends_walk(st))
        return note_failure(w, node, st, &why, err);
    return ends_walk(st) ? hub_fail(err, st, "%s", why.detail) : HUB_OK;
}

/* Listed; either resolved at once, or put to those that wait for an answer. */
static enum hub_status list_directory(struct hub_walking *w, struct hub_node *node, struct hub_error *err)
{
    HUB_CLEANUP(hub_listing_dispose) struct hub_listing listing = {0};
    HUB_CLEANUP(hub_bids_dispose) struct hub_bids bids = {0};
    struct hub_question *question = NULL;
    struct hub_error why = {0};
    if (hub_walk_stopped(w->discovery->walk))
        return hub_fail(err, HUB_CANCELLED, "stopped");
    if (w->discovery->progress)
        w->discovery->progress(w->discovery->user, node->path);
    const enum hub_status st = hub_walk_list(w->discovery->walk, node->root, node->path, &listing, &why);
    if (st)
        return note_failure(w, node, st, &why, err);
    HUB_TRY(hub_question_make(w->discovery, node->root, node->path, &listing, &question, &bids, err));
    if (!question)
        return resolve_directory(w, node, &listing, &bids, err);
    struct hub_waiting *waiting = calloc(1, sizeof *waiting);
    if (!waiting) {
        hub_question_free(question);
        return hub_no_memory(err);
    }
    *waiting = (struct hub_waiting){.node = node, .listing = listing, .question = question};
    listing = (struct hub_listing){0};
    pthread_mutex_lock(&w->lock);
    waiting->next = w->waiting;
    w->waiting = waiting;
    w->waiting_count++;
    w->waiting_entries += hub_question_size(question);
    pthread_mutex_unlock(&w->lock);
    return HUB_OK;
}

/* ---- asking about many ---- */

static void waiting_free(struct hub_waiting *waiting)
{
    hub_listing_dispose(&waiting->listing);
    hub_question_free(waiting->question);
    free(waiting);
}

/* A listing that ends the child ends it for all that were asked about with it: each alone then. `failed` has
 * what became of each. */
static enum hub_status ask_all(struct hub_walking *w, struct hub_question **questions, uint32_t count,
                               struct hub_bids *bids, enum hub_status *failed, struct hub_error *err)
{
    enum hub_status st = hub_questions_ask(questions, count, bids, err);
    if (!st || nobody_to_ask(st))
        return st;
    for (uint32_t i = 0; i < count; i++) {
        if (count > 1)
            st = hub_questions_ask(&questions[i], 1, &bids[i], err);
        if (nobody_to_ask(st))
            return st;
        failed[i] = st;
        pthread_mutex_lock(&w->lock);
        w->out->unasked += st != HUB_OK;
        pthread_mutex_unlock(&w->lock);
    }
    return HUB_OK;
}

static enum hub_status ask_waiting(struct hub_walking *w, struct hub_waiting *first, uint32_t count,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_question **questions = calloc(count + (size_t)1, sizeof *questions);
    HUB_CLEANUP(hub_freep) struct hub_bids *bids = calloc(count + (size_t)1, sizeof *bids);
    HUB_CLEANUP(hub_freep) enum hub_status *failed = calloc(count + (size_t)1, sizeof *failed);
    enum hub_status st = HUB_OK;
    uint32_t n = 0;
    if (!questions || !bids || !failed)
        st = hub_no_memory(err);
    for (struct hub_waiting *at = first; at && !st; at = at->next)
        questions[n++] = at->question;
    if (!st)
        st = ask_all(w, questions, count, bids, failed, err);
    n = 0;
    while (first) {
        struct hub_waiting *at = first;
        first = at->next;
        if (!st && is_transient(failed[n])) { /* killed or too slow: what is known about this place stays */
            note_unreachable(w, at->node);
            pthread_mutex_lock(&w->lock);
            w->out->missed++;
            pthread_mutex_unlock(&w->lock);
        } else if (!st) {
            st = resolve_directory(w, at->node, &at->listing, &bids[n], err);
        }
        if (bids)
            hub_bids_dispose(&bids[n]);
        n++;
        waiting_free(at);
    }
    return st;
}

/* Some of those that wait; the lock is held. */
static struct hub_waiting *take_waiting(struct hub_walking *w, uint32_t *count)
{
    struct hub_waiting *first = NULL;
    size_t entries = 0;
    *count = 0;
    while (w->waiting && *count < BATCH_DIRECTORIES && (!first || entries < BATCH_ENTRIES)) {
        struct hub_waiting *at = w->waiting;
        const uint32_t size = hub_question_size(at->question);
        w->waiting = at->next;
        w->waiting_count--;
        w->waiting_entries -= size;
        entries += size;
        at->next = first;
        first = at;
        ++*count;
    }
    return first;
}

/* ---- threads ---- */

static int compare_nodes(const void *a, const void *b)
{
    return strcmp((*(struct hub_node *const *)a)->path, (*(struct hub_node *const *)b)->path);
}

/* All with a name of its own was entered: the links, in order, so that the same of several is entered each
 * time. The lock is held. */
static enum hub_status enter_links(struct hub_walking *w, struct hub_error *err)
{
    size_t count = 0, n = 0;
    for (struct hub_node *node = w->links; node; node = node->next)
        count++;
    HUB_CLEANUP(hub_freep) struct hub_node **nodes = malloc((count + 1) * sizeof *nodes);
    HUB_TRY(hub_allocated(nodes, err));
    for (struct hub_node *node = w->links; node; node = node->next)
        nodes[n++] = node;
    w->links = NULL;
    if (count)
        qsort(nodes, count, sizeof *nodes, compare_nodes);
    enum hub_status st = HUB_OK;
    for (size_t i = 0; i < count; i++) {
        if (st)
            node_free(nodes[i]);
        else
            st = enqueue(w, nodes[i], nodes[i]->device, nodes[i]->inode, err);
    }
    return st;
}

/* One thing to do, or none is left: false. The lock is held, and again when it returns. */
static bool work_once(struct hub_walking *w)
{
    struct hub_error err = {0};
    enum hub_status st = HUB_OK;
    while (!w->first && !w->waiting && w->busy && !w->status)
        pthread_cond_wait(&w->wake, &w->lock);
    if (w->status)
        return false;
    if (!w->first && !w->waiting) {
        if (!w->links)
            return false;
        st = enter_links(w, &err);
        if (st && !w->status) {
            w->status = st;
            if (w->err)
                *w->err = err;
        }
        pthread_cond_broadcast(&w->wake);
        return true;
    }
    w->busy++;
    if (!w->first || w->waiting_count >= BATCH_DIRECTORIES || w->waiting_entries >= BATCH_ENTRIES) {
        uint32_t count;
        struct hub_waiting *waiting = take_waiting(w, &count);
        pthread_mutex_unlock(&w->lock);
        st = ask_waiting(w, waiting, count, &err);
    } else {
        struct hub_node *node = w->first;
        w->first = node->next;
        if (!w->first)
            w->last = NULL;
        pthread_mutex_unlock(&w->lock);
        st = list_directory(w, node, &err);
    }
    if (st)
        hub_walking_fail(w, st, &err);
    pthread_mutex_lock(&w->lock);
    w->busy--;
    pthread_cond_broadcast(&w->wake);
    return true;
}

static void *work(void *arg)
{
    struct hub_walking *w = arg;
    pthread_mutex_lock(&w->lock);
    while (work_once(w))
        continue;
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void run_threads(struct hub_walking *w)
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

/* ---- roots ---- */

static void free_all(struct hub_walking *w)
{
    while (w->all) {
        struct hub_node *node = w->all;
        w->all = node->all;
        node_free(node);
    }
    while (w->links) {
        struct hub_node *node = w->links;
        w->links = node->next;
        node_free(node);
    }
    while (w->waiting) {
        struct hub_waiting *waiting = w->waiting;
        w->waiting = waiting->next;
        waiting_free(waiting);
    }
    free(w->root_name);
    w->root_name = NULL;
    w->first = w->last = NULL;
    w->waiting_count = 0;
    w->waiting_entries = 0;
    w->directories = 0;
}

static enum hub_status walk_root(struct hub_walking *w, uint32_t root, struct hub_error *err)
{
    struct hub_node *top = node_new(NULL, root, "", "");
    HUB_TRY(hub_allocated(top, err));
    adopt(w, top);
    push(w, top);
    run_threads(w);
    enum hub_status st = w->status ? w->status : hub_walking_hand_out_loose(w, err);
    if (!st && w->discovery->walked)
        st = w->discovery->walked(w->discovery->user, err);
    free_all(w);
    return w->status ? w->status : st;
}

static void dispose(struct hub_walking *w)
{
    for (size_t i = 0; i < w->id_slots; i++)
        free(w->ids[i]);
    free(w->ids);
    hub_places_dispose(&w->entered);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    pthread_mutex_destroy(&w->each_lock);
}

enum hub_status hub_scan_discover(const struct hub_discovery *discovery, struct hub_discovered *out,
                                  struct hub_error *err)
{
    struct hub_walking w = {.discovery = discovery, .out = out, .err = err};
    bool *const root_missing = out->root_missing;
    *out = (struct hub_discovered){.root_missing = root_missing};
    HUB_TRY(hub_inspector_formats(discovery->inspector, &w.formats, err));
    pthread_mutex_init(&w.lock, NULL);
    pthread_mutex_init(&w.each_lock, NULL);
    pthread_cond_init(&w.wake, NULL);
    enum hub_status st = HUB_OK;
    for (uint32_t root = 0; root < discovery->walk->roots->count && !st;
         root++) /* in order: the first root's ids stay */
        if (!root_missing || !root_missing[root])
            st = walk_root(&w, root, err);
    dispose(&w);
    return st;
}
