/* The threads that inspect: one takes a dataset and asks for its plan, and its parts are then inspected by
 * all threads that have nothing better to do. Whoever ends the last part has the end of it published. */
#include "storage/scan/state.h"

#include "storage/text/time.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_LIMITED = 4 };

/* ---- making and freeing ---- */

static void work_free(struct hub_work *w)
{
    for (uint32_t i = 0; w->sides && i < w->plan.part_count; i++)
        free(w->sides[i]);
    hub_findings_dispose(&w->found);
    hub_findings_dispose(&w->plan);
    hub_fileset_dispose(&w->files);
    free(w->job_files);
    free(w->parts);
    free(w->broken);
    free(w->sides);
    free(w->todo);
    free(w->id);
    free(w->path);
    free(w);
}

/* Take over what the queue held. The scanner's lock is held. */
static struct hub_work *work_new(struct hub_scanner *s, struct hub_tracked_dataset *tracked)
{
    struct hub_work *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->scanner = s;
    w->tracked = tracked;
    w->id = strdup(tracked->id);
    w->path = strdup(tracked->path);
    w->root = tracked->root;
    w->single_files = tracked->single_files;
    w->signature = tracked->signature;
    w->seen = tracked->sweep;
    w->began_ms = hub_time_mono_ms();
    w->job_files = calloc(tracked->files.count + (size_t)1, sizeof *w->job_files);
    if (!w->id || !w->path || !w->job_files) {
        work_free(w);
        return NULL;
    }
    w->files = tracked->files;
    tracked->files = (struct hub_fileset){0};
    for (uint32_t i = 0; i < w->files.count; i++)
        w->job_files[i] = (struct hub_job_file){w->files.files[i].path, w->files.files[i].stamp.size, false};
    tracked->state = HUB_TRACKED_RUNNING;
    tracked->started_ms = hub_time_now_ns() / 1000000;
    s->running++;
    return w;
}

/* ---- the end ---- */

/* The rest of its parts waits until others had their turn; what was found so far is kept. */
static void requeue_rest(struct hub_work *w)
{
    struct hub_scanner *s = w->scanner;
    pthread_mutex_lock(&s->workers.lock);
    hub_fileset_dispose(&w->tracked->files);
    w->tracked->files = w->files;
    w->files = (struct hub_fileset){0};
    w->tracked->slow = true;
    hub_tracked_push(s, w->tracked, HUB_QUEUE_SLOW);
    pthread_mutex_unlock(&s->workers.lock);
}

/* The last use of a work. */
static void release_work(struct hub_work *w)
{
    struct hub_scanner *s = w->scanner;
    pthread_mutex_lock(&s->workers.lock);
    s->running--;
    if (!s->running && !hub_tracked_next(s))
        hub_scan_wake(s); /* the last one: show it at once */
    pthread_cond_broadcast(&s->idle_wake);
    pthread_mutex_unlock(&s->workers.lock);
    work_free(w);
}

/* No lock held; the work goes. */
static void end_work(struct hub_work *w, enum hub_status st, struct hub_error *err)
{
    if (!st && w->turned)
        requeue_rest(w);
    else
        hub_work_publish(w, st, err);
    release_work(w);
}

/* ---- the threads ---- */

static void list_work(struct hub_work *w)
{
    struct hub_scanner *s = w->scanner;
    w->next = s->works;
    w->link = &s->works;
    if (w->next)
        w->next->link = &w->next;
    s->works = w;
    w->tracked->parts = w->plan.part_count;
    w->tracked->unfinished = w->unfinished;
    pthread_cond_broadcast(&s->workers.wake);
}

static void unlist_work(struct hub_work *w)
{
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
}

static bool turn_is_over(const struct hub_scanner *s, const struct hub_work *w)
{
    return hub_tracked_next(s) && hub_time_mono_ms() - w->began_ms > (int64_t)s->turn_ms;
}

/* Parts that are over: true when they were the last of those begun. The lock is held. */
static bool count_down(struct hub_work *w, uint32_t parts)
{
    w->unfinished -= parts;
    w->tracked->unfinished = w->unfinished;
    if (w->unfinished)
        return false;
    w->tracked->parts = 0;
    return true;
}

/* What is next for a thread: to take a dataset as far as its parts, one part, or the end of a dataset. */
enum step { STEP_NONE = 0, STEP_START, STEP_PART, STEP_PUBLISH };

struct step_task {
    enum step step;
    struct hub_work *work;
    uint32_t part;
    bool skip; /* of a work that failed: the part is only counted */
};

/* The lock is held. */
static struct step_task take_dataset(struct hub_scanner *s, struct hub_tracked_dataset *tracked)
{
    hub_tracked_unqueue(s, tracked);
    struct hub_work *w = work_new(s, tracked);
    if (!w) {
        hub_tracked_wait(s, tracked, s->retry_ms);
        return (struct step_task){0};
    }
    snprintf(s->progress.current, sizeof s->progress.current, "%s", w->id);
    return (struct step_task){.step = STEP_START, .work = w};
}

/* Of a work that has parts left. The lock is held. */
static struct step_task take_part(struct hub_scanner *s, struct hub_work *w)
{
    if (w->next_part && !w->failed && turn_is_over(s, w)) { /* what is left waits for the next turn */
        w->turned = true;
        unlist_work(w);
        /* else whoever ends the last part that was begun goes on */
        return (struct step_task){
            .step = count_down(w, w->todo_count - w->next_part) ? STEP_PUBLISH : STEP_NONE, .work = w};
    }
    const struct step_task task = {STEP_PART, w, w->todo[w->next_part++], w->failed != HUB_OK};
    if (w->next_part == w->todo_count)
        unlist_work(w);
    return task;
}

/* The lock is held. */
static struct step_task take_task(struct hub_scanner *s, bool *any)
{
    hub_urgent_take(s);
    struct hub_tracked_dataset *tracked = s->workers.stop ? NULL : hub_tracked_next(s);
    *any = tracked || s->works;
    struct hub_work *work = hub_urgent_work(s, tracked);
    if (tracked && !work)
        return take_dataset(s, tracked);
    return work ? take_part(s, work) : (struct step_task){0};
}

/* No lock held. */
static void start_work(struct hub_work *w)
{
    struct hub_scanner *s = w->scanner;
    struct hub_error err = {0};
    const enum hub_status st = hub_work_plan(w, &err);
    if (st || !w->todo_count) {
        end_work(w, st, &err);
        return;
    }
    pthread_mutex_lock(&s->workers.lock);
    list_work(w);
    pthread_mutex_unlock(&s->workers.lock);
}

/* No lock held. */
static void run_next_part(const struct step_task *task)
{
    struct hub_work *w = task->work;
    struct hub_scanner *s = w->scanner;
    struct hub_error err = {0};
    const enum hub_status st = task->skip ? HUB_OK : hub_work_inspect_part(w, task->part, &err);
    pthread_mutex_lock(&s->workers.lock);
    if (st && !w->failed) {
        w->failed = st;
        w->err = err;
    }
    if (!w->failed && w->tracked->limited >= MAX_LIMITED && w->next_part < w->todo_count)
        w->failed = hub_fail(&w->err, HUB_TIMEOUT,
                             "%u of its parts used up the time or memory an inspection may have "
                             "(--inspect-time, --inspect-memory)",
                             w->tracked->limited);
    const bool over = count_down(w, 1);
    pthread_mutex_unlock(&s->workers.lock);
    if (over)
        end_work(w, w->failed, &w->err);
}

void *hub_scan_worker(void *scanner)
{
    struct hub_scanner *s = scanner;
    pthread_mutex_lock(&s->workers.lock);
    while (!s->workers.stop || s->works) {
        bool any;
        const struct step_task task = take_task(s, &any);
        if (!any) {
            pthread_cond_wait(&s->workers.wake, &s->workers.lock);
            continue;
        }
        pthread_mutex_unlock(&s->workers.lock);
        if (task.step == STEP_START)
            start_work(task.work);
        else if (task.step == STEP_PART)
            run_next_part(&task);
        else if (task.step == STEP_PUBLISH)
            end_work(task.work, HUB_OK, &(struct hub_error){0});
        pthread_mutex_lock(&s->workers.lock);
    }
    pthread_mutex_unlock(&s->workers.lock);
    return NULL;
}
