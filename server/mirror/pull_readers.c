/* Readers of files that are being fetched, and the thread that serves them. See pulls.h. */
#include "server/mirror/pulls.h"

#include "server/mirror/work.h"
#include "storage/io/fs.h"
#include "storage/text/time.h"

#include <fcntl.h>
#include <stdlib.h>

/* How long one fetch waits, and how often what was published is looked at. */
enum { PATIENCE_MS = 2000, LOOK_MS = 200 };

/* An open file, or the wait for a list. */
struct coming {
    struct hub_file file; /* first */
    struct hub_fetch_source source;
    struct hub_pulls *pulls;
    struct hub_pull *pull;      /* the list is waited for */
    struct hub_pull_plan *plan; /* or bytes of a file, which is called as there */
    struct hub_pull_plan *now;  /* the list that is fetched now; this and below: of the feeder */
    uint32_t number;
    unsigned turn;
};

struct hub_pull_waiting {
    struct hub_pull_waiting *next;
    struct hub_file_fetch *fetch;
    int64_t until_ms;
    enum hub_status st; /* once it is ready */
};

/* The list that its fetching went on with. False: that has no such file. */
static bool go_on(struct coming *c)
{
    while (c->now->next) {
        c->now = c->now->next;
        c->number = hub_pull_find(c->now, c->file.path);
        hub_closep(&c->file.fd);
        c->file.fd = -1;
        if (c->number == UINT32_MAX)
            return false;
    }
    return c->now->files[c->number].turn == c->turn;
}

/* HUB_AGAIN: it is waited for. */
static enum hub_status state_of(struct coming *c, const struct hub_file_fetch *fetch, struct hub_error *err)
{
    if (!c->plan)
        return c->pull->state == HUB_PULL_FAILED       ? hub_pass(c->pull->why.status, &c->pull->why, err)
               : c->pull->plan && !c->pull->plan->over ? HUB_OK
                                                       : HUB_AGAIN;
    if (c->number == UINT32_MAX || !go_on(c))
        return hub_fail_as(err, HUB_CORRUPT, "upstream-failed",
                           "'%s' changed on its upstream, or its fetched bytes differ", c->file.path);
    const struct hub_partial_file *file = &c->now->files[c->number];
    for (uint32_t i = 0; i < fetch->count; i++)
        if (!hub_pull_is_there(c->now, file, fetch->items[i].offset, fetch->items[i].size))
            return c->now->over ? hub_pass(c->now->why.status, &c->now->why, err) : HUB_AGAIN;
    return HUB_OK;
}

static struct coming *coming_of(const struct hub_file_fetch *fetch)
{
    return (struct coming *)fetch->items[0].file;
}

static enum hub_status finish_wait(const struct hub_pulls *p, const struct hub_pull_waiting *w,
                                   int64_t now_ms)
{
    struct hub_error *err = &w->fetch->err;
    struct coming *c = coming_of(w->fetch);
    if (hub_fetch_left(w->fetch))
        return hub_fail(err, HUB_CANCELLED, "there is no request for it");
    const enum hub_status st = state_of(c, w->fetch, err);
    if (st != HUB_AGAIN)
        return st;
    if (p->stop)
        return hub_fail(err, HUB_CANCELLED, "the server is shutting down");
    return now_ms < w->until_ms ? HUB_AGAIN
           : c->pull            ? hub_pull_pending(c->pull, err)
                     : hub_fail_as(err, HUB_BUSY, "pending", "'%s' is being fetched from its upstream",
                                   c->file.path);
}

/* Those whose time has come, out of the list. What the others wait for is to be fetched next. */
static struct hub_pull_waiting *take_ready(struct hub_pulls *p)
{
    struct hub_pull_waiting *ready = NULL;
    const int64_t now_ms = hub_time_mono_ms();
    for (const struct hub_pull *pull = p->first; pull; pull = pull->next)
        if (pull->plan)
            pull->plan->wanted_count = 0;
    for (struct hub_pull_waiting **at = &p->waiting; *at;) {
        struct hub_pull_waiting *w = *at;
        struct coming *c = coming_of(w->fetch);
        w->st = finish_wait(p, w, now_ms);
        if (w->st != HUB_AGAIN) {
            *at = w->next;
            w->next = ready;
            ready = w;
            continue;
        }
        if (c->plan)
            hub_pull_want(c->now, c->number, w->fetch->items->offset, w->fetch->items->size);
        at = &w->next;
    }
    return ready;
}

static enum hub_status read_items(struct hub_file_fetch *fetch, struct hub_error *err)
{
    struct coming *c = (struct coming *)fetch->items[0].file;
    if (!c->plan)
        return HUB_OK;
    if (c->file.fd < 0)
        HUB_TRY(hub_fs_open_beneath(c->now->tree, c->file.path, O_RDONLY | O_NOFOLLOW, HUB_FS_NO_LINKS,
                                    &c->file.fd, err));
    for (uint32_t i = 0; i < fetch->count; i++)
        HUB_TRY(hub_read_bytes(&c->file, fetch->items[i].offset, fetch->items[i].data,
                               (size_t)fetch->items[i].size, 0, err));
    return HUB_OK;
}

static void answer(struct hub_pull_waiting *ready)
{
    while (ready) {
        struct hub_pull_waiting *w = ready;
        ready = w->next;
        hub_fetch_done(w->fetch, w->st ? w->st : read_items(w->fetch, &w->fetch->err));
        free(w);
    }
}

void *hub_pulls_serve_readers(void *arg)
{
    struct hub_pulls *p = arg;
    pthread_mutex_lock(&p->lock);
    while (!p->stop || p->waiting) {
        struct hub_pull_waiting *ready = take_ready(p);
        hub_pulls_tidy(p);
        if (ready) {
            pthread_mutex_unlock(&p->lock);
            answer(ready);
            pthread_mutex_lock(&p->lock);
        } else if (p->first) {
            const struct timespec until = hub_time_ahead(CLOCK_MONOTONIC, LOOK_MS);
            pthread_cond_timedwait(&p->wake, &p->lock, &until);
        } else if (!p->stop) {
            pthread_cond_wait(&p->wake, &p->lock);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static enum hub_status fetch(const struct hub_fetch_source *source, struct hub_file_fetch *fetch,
                             struct hub_error *err)
{
    const struct coming *c = (const struct coming *)((const char *)source - offsetof(struct coming, source));
    struct hub_pulls *p = c->pulls;
    struct hub_pull_waiting *w;
    HUB_TRY(hub_new(&w, 1, sizeof *w, err));
    *w = (struct hub_pull_waiting){.fetch = fetch, .until_ms = hub_time_mono_ms() + PATIENCE_MS};
    pthread_mutex_lock(&p->lock);
    struct hub_pull_waiting **last = &p->waiting;
    while (*last)
        last = &(*last)->next;
    *last = w;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    return HUB_AGAIN;
}

static void release(struct hub_file *file)
{
    struct coming *c = (struct coming *)file;
    hub_closep(&c->file.fd);
    hub_pull_put(c->plan);
    if (c->pull) {
        pthread_mutex_lock(&c->pulls->lock);
        hub_pull_unref(c->pull);
        pthread_mutex_unlock(&c->pulls->lock);
    }
    free(c);
}

static struct coming *coming_new(struct hub_pulls *p, const char *path)
{
    struct coming *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (struct coming){.source = {.fetch = fetch, .release = release, .comes = true}, .pulls = p};
    atomic_init(&c->file.item.refs, 1);
    c->file.fd = -1;
    c->file.source = &c->source;
    c->file.path = path;
    return c;
}

struct hub_file *hub_pull_wait_for_list(struct hub_pull *pull)
{
    struct coming *c = coming_new(pull->pulls, pull->id);
    if (!c)
        return NULL;
    c->pull = pull;
    pull->refs++;
    return &c->file;
}

enum hub_status hub_pull_read(struct hub_pull_plan *plan, uint32_t number, struct hub_file **out,
                              struct hub_error *err)
{
    const struct hub_partial_file *file = &plan->files[number];
    struct coming *c = coming_new(plan->pulls, file->facts.path);
    HUB_TRY(hub_allocated(c, err));
    c->plan = c->now = plan;
    c->number = number;
    c->file.stamp =
        (struct hub_stamp){.size = file->facts.size, .mtime_ns = (uint64_t)file->facts.modified_ns};
    atomic_fetch_add(&plan->refs, 1);
    pthread_mutex_lock(&plan->pulls->lock);
    c->turn = file->turn;
    pthread_mutex_unlock(&plan->pulls->lock);
    *out = &c->file;
    return HUB_OK;
}
