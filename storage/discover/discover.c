/* The walk: directories wait in a queue, several threads list them; those with a name that somebody looks for
 * wait until one child is asked about many. Claimed ones are handed out at once; what nobody claimed is
 * decided at the end (unclaimed.c). */
#include "storage/discover/discover.h"

#include "storage/discover/discover_state.h"

#include <stdlib.h>
#include <unistd.h>

enum { MAX_THREADS = 64, BATCH_DIRECTORIES = 256, BATCH_ENTRIES = 20000 };

/* ---- one directory ---- */

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
        return hub_walking_note_failure(w, node, st, &why, err);
    HUB_TRY(hub_question_make(w->discovery, node->root, node->path, &listing, &question, &bids, err));
    if (!question)
        return hub_walking_resolve(w, node, &listing, &bids, err);
    struct hub_waiting *waiting = calloc(1, sizeof *waiting);
    if (!waiting) {
        hub_question_free(question);
        return hub_no_memory(err);
    }
    *waiting = (struct hub_waiting){.node = node, .listing = listing, .question = question};
    listing = (struct hub_listing){0};
    pthread_mutex_lock(&w->threads.lock);
    waiting->next = w->waiting;
    w->waiting = waiting;
    w->waiting_count++;
    w->waiting_entries += hub_question_size(question);
    pthread_mutex_unlock(&w->threads.lock);
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
    if (!st || hub_nobody_to_ask(st))
        return st;
    for (uint32_t i = 0; i < count; i++) {
        if (count > 1)
            st = hub_questions_ask(&questions[i], 1, &bids[i], err);
        if (hub_nobody_to_ask(st))
            return st;
        failed[i] = st;
        pthread_mutex_lock(&w->threads.lock);
        w->out->unasked += st != HUB_OK;
        pthread_mutex_unlock(&w->threads.lock);
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
        if (!st &&
            hub_is_transient(failed[n])) { /* killed or too slow: what is known about this place stays */
            hub_walking_note_unreachable(w, at->node);
            pthread_mutex_lock(&w->threads.lock);
            w->out->missed++;
            pthread_mutex_unlock(&w->threads.lock);
        } else if (!st) {
            st = hub_walking_resolve(w, at->node, &at->listing, &bids[n], err);
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

/* One thing to do, or none is left: false. The lock is held, and again when it returns. */
static bool work_once(struct hub_walking *w)
{
    struct hub_error err = {0};
    enum hub_status st = HUB_OK;
    while (!w->first && !w->waiting && w->busy && !w->status)
        pthread_cond_wait(&w->threads.wake, &w->threads.lock);
    if (w->status)
        return false;
    if (!w->first && !w->waiting) {
        if (!w->links)
            return false;
        st = hub_walking_enter_links(w, &err);
        if (st && !w->status) {
            w->status = st;
            if (w->err)
                *w->err = err;
        }
        pthread_cond_broadcast(&w->threads.wake);
        return true;
    }
    w->busy++;
    if (!w->first || w->waiting_count >= BATCH_DIRECTORIES || w->waiting_entries >= BATCH_ENTRIES) {
        uint32_t count;
        struct hub_waiting *waiting = take_waiting(w, &count);
        pthread_mutex_unlock(&w->threads.lock);
        st = ask_waiting(w, waiting, count, &err);
    } else {
        struct hub_node *node = w->first;
        w->first = node->next;
        if (!w->first)
            w->last = NULL;
        pthread_mutex_unlock(&w->threads.lock);
        st = list_directory(w, node, &err);
    }
    if (st)
        hub_walking_fail(w, st, &err);
    pthread_mutex_lock(&w->threads.lock);
    w->busy--;
    pthread_cond_broadcast(&w->threads.wake);
    return true;
}

static void *work(void *arg)
{
    struct hub_walking *w = arg;
    pthread_mutex_lock(&w->threads.lock);
    while (work_once(w))
        continue;
    pthread_cond_broadcast(&w->threads.wake);
    pthread_mutex_unlock(&w->threads.lock);
    return NULL;
}

static void run_threads(struct hub_walking *w)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned wanted = w->discovery->jobs ? w->discovery->jobs : (unsigned)HUB_MAX(cores, 1);
    while (w->threads.count + 1 < HUB_MIN(wanted, (unsigned)MAX_THREADS) &&
           !hub_thread_add(&w->threads, work, w, "discovery", NULL))
        continue;
    work(w);
    hub_thread_stop(&w->threads);
}

/* ---- roots ---- */

static void free_all(struct hub_walking *w)
{
    while (w->all) {
        struct hub_node *node = w->all;
        w->all = node->all;
        hub_node_free(node);
    }
    while (w->links) {
        struct hub_node *node = w->links;
        w->links = node->next;
        hub_node_free(node);
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
    HUB_TRY(hub_walking_enter_root(w, root, err));
    run_threads(w);
    enum hub_status st = w->status ? w->status : hub_walking_hand_out_loose(w, err);
    if (!st && w->discovery->walked)
        st = w->discovery->walked(w->discovery->user, err);
    free_all(w);
    return w->status ? w->status : st;
}

static void dispose(struct hub_walking *w)
{
    hub_pair_set_dispose(&w->ids);
    hub_pair_set_dispose(&w->entered);
    hub_thread_dispose(&w->threads);
    pthread_mutex_destroy(&w->each_lock);
}

enum hub_status hub_scan_discover(const struct hub_discovery *discovery, struct hub_discovered *out,
                                  struct hub_error *err)
{
    struct hub_walking w = {.discovery = discovery, .out = out, .err = err};
    bool *const root_missing = out->root_missing;
    *out = (struct hub_discovered){.root_missing = root_missing};
    HUB_TRY(hub_inspector_formats(discovery->inspector, &w.formats, err));
    hub_thread_init(&w.threads);
    pthread_mutex_init(&w.each_lock, NULL);
    enum hub_status st = HUB_OK;
    for (uint32_t root = 0; root < discovery->walk->roots->count && !st;
         root++) /* in order: the first root's ids stay */
        if ((!discovery->only || discovery->only->root == root) && (!root_missing || !root_missing[root]))
            st = walk_root(&w, root, err);
    dispose(&w);
    return st;
}
