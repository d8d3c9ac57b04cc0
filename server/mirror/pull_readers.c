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
struct pull_reader {
    struct hub_file file;
    struct hub_fetch_source source; /* of this file alone, whose `user` is the reader */
    struct hub_pulls *pulls;
    struct hub_pull *pull;      /* the list is waited for */
    struct hub_pull_plan *plan; /* or bytes of a file, whose path is in it */
    unsigned turn;
    struct {
        struct hub_pull_plan *plan; /* the list that is fetched now */
        uint32_t number;
    } now; /* of the thread that answers, alone */
};

struct hub_pull_waiting {
    struct hub_pull_waiting *next;
    struct hub_file_fetch *fetch;
    int64_t until_ms;
    enum hub_status st; /* once it is ready */
};

/* The list that its fetching went on with. False: that has no such file. */
static bool go_on(struct pull_reader *reader)
{
    while (reader->now.plan->next) {
        reader->now.plan = reader->now.plan->next;
        reader->now.number = hub_pull_find(reader->now.plan, reader->file.path);
        hub_closep(&reader->file.fd);
        reader->file.fd = -1;
        if (reader->now.number == UINT32_MAX)
            return false;
    }
    return reader->now.plan->files[reader->now.number].turn == reader->turn;
}

/* HUB_AGAIN: it is waited for. */
static enum hub_status state_of(struct pull_reader *reader, const struct hub_file_fetch *fetch,
                                struct hub_error *err)
{
    if (!reader->plan)
        return reader->pull->state == HUB_PULL_FAILED
                   ? hub_pass(reader->pull->why.status, &reader->pull->why, err)
               : reader->pull->plan && !reader->pull->plan->over ? HUB_OK
                                                                 : HUB_AGAIN;
    if (reader->now.number == UINT32_MAX || !go_on(reader))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_UPSTREAM_FAILED,
                           "'%s' changed on its upstream, or its fetched bytes differ", reader->file.path);
    const struct hub_partial_file *file = &reader->now.plan->files[reader->now.number];
    for (uint32_t i = 0; i < fetch->count; i++)
        if (!hub_pull_is_there(reader->now.plan, file, fetch->items[i].offset, fetch->items[i].size))
            return reader->now.plan->over
                       ? hub_pass(reader->now.plan->why.status, &reader->now.plan->why, err)
                       : HUB_AGAIN;
    return HUB_OK;
}

static struct pull_reader *reader_of(const struct hub_file *file)
{
    return file->source->user;
}

static enum hub_status finish_wait(const struct hub_pulls *p, const struct hub_pull_waiting *w,
                                   int64_t now_ms)
{
    struct hub_error *err = &w->fetch->err;
    struct pull_reader *reader = reader_of(w->fetch->items->file);
    if (hub_fetch_left(w->fetch))
        return hub_fail(err, HUB_CANCELLED, "there is no request for it");
    const enum hub_status st = state_of(reader, w->fetch, err);
    if (st != HUB_AGAIN)
        return st;
    if (p->thread.stop)
        return hub_fail(err, HUB_CANCELLED, "the server is shutting down");
    return now_ms < w->until_ms ? HUB_AGAIN
           : reader->pull       ? hub_pull_pending(reader->pull, err)
                                : hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_PENDING,
                                              "'%s' is being fetched from its upstream", reader->file.path);
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
        struct pull_reader *reader = reader_of(w->fetch->items->file);
        w->st = finish_wait(p, w, now_ms);
        if (w->st != HUB_AGAIN) {
            *at = w->next;
            w->next = ready;
            ready = w;
            continue;
        }
        if (reader->plan)
            hub_pull_want(reader->now.plan, reader->now.number, w->fetch->items->offset,
                          w->fetch->items->size);
        at = &w->next;
    }
    return ready;
}

static enum hub_status read_items(struct hub_file_fetch *fetch, struct hub_error *err)
{
    struct pull_reader *reader = reader_of(fetch->items->file);
    if (!reader->plan)
        return HUB_OK;
    if (reader->file.fd < 0)
        HUB_TRY(hub_fs_open_beneath(reader->now.plan->tree, reader->file.path, O_RDONLY | O_NOFOLLOW,
                                    HUB_FS_NO_LINKS, &reader->file.fd, err));
    for (uint32_t i = 0; i < fetch->count; i++)
        HUB_TRY(hub_read_bytes(&reader->file, fetch->items[i].offset, fetch->items[i].data,
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
    pthread_mutex_lock(&p->thread.lock);
    while (!p->thread.stop || p->waiting) {
        struct hub_pull_waiting *ready = take_ready(p);
        hub_pulls_tidy(p);
        if (ready) {
            pthread_mutex_unlock(&p->thread.lock);
            answer(ready);
            pthread_mutex_lock(&p->thread.lock);
        } else if (p->first) {
            hub_thread_wait(&p->thread, LOOK_MS);
        } else if (!p->thread.stop) {
            pthread_cond_wait(&p->thread.wake, &p->thread.lock);
        }
    }
    pthread_mutex_unlock(&p->thread.lock);
    return NULL;
}

static enum hub_status fetch(const struct hub_fetch_source *source, struct hub_file_fetch *fetch,
                             struct hub_error *err)
{
    const struct pull_reader *reader = source->user;
    struct hub_pulls *p = reader->pulls;
    struct hub_pull_waiting *w;
    HUB_TRY(hub_new(&w, 1, sizeof *w, err));
    *w = (struct hub_pull_waiting){.fetch = fetch, .until_ms = hub_time_mono_ms() + PATIENCE_MS};
    pthread_mutex_lock(&p->thread.lock);
    struct hub_pull_waiting **last = &p->waiting;
    while (*last)
        last = &(*last)->next;
    *last = w;
    pthread_cond_signal(&p->thread.wake);
    pthread_mutex_unlock(&p->thread.lock);
    return HUB_AGAIN;
}

static void release(struct hub_file *file)
{
    struct pull_reader *reader = reader_of(file);
    hub_closep(&reader->file.fd);
    hub_pull_put(reader->plan);
    if (reader->pull) {
        pthread_mutex_lock(&reader->pulls->thread.lock);
        hub_pull_unref(reader->pull);
        pthread_mutex_unlock(&reader->pulls->thread.lock);
    }
    free(reader);
}

static struct pull_reader *reader_new(struct hub_pulls *p, const char *path)
{
    struct pull_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    *reader = (struct pull_reader){
        .source = {.fetch = fetch, .release = release, .comes = true, .user = reader}, .pulls = p};
    atomic_init(&reader->file.item.refs, 1);
    reader->file.fd = -1;
    reader->file.source = &reader->source;
    reader->file.path = path;
    return reader;
}

struct hub_file *hub_pull_wait_for_list(struct hub_pull *pull)
{
    struct pull_reader *reader = reader_new(pull->pulls, pull->id);
    if (!reader)
        return NULL;
    reader->pull = pull;
    pull->refs++;
    return &reader->file;
}

enum hub_status hub_pull_read(struct hub_pull_plan *plan, uint32_t number, struct hub_file **out,
                              struct hub_error *err)
{
    const struct hub_partial_file *file = &plan->files[number];
    struct pull_reader *reader = reader_new(plan->pulls, file->facts.path);
    HUB_TRY(hub_allocated(reader, err));
    reader->plan = reader->now.plan = plan;
    reader->now.number = number;
    reader->file.stamp =
        (struct hub_stamp){.size = file->facts.size, .mtime_ns = (uint64_t)file->facts.modified_ns};
    atomic_fetch_add(&plan->refs, 1);
    pthread_mutex_lock(&plan->pulls->thread.lock);
    reader->turn = file->turn;
    pthread_mutex_unlock(&plan->pulls->thread.lock);
    *out = &reader->file;
    return HUB_OK;
}
