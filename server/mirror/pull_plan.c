/* The files of a dataset on its way, and what of them is there, as its transfer says: see pulls.h. */
#include "server/mirror/pulls.h"

#include "server/mirror/cache.h"
#include "storage/base/order.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

void hub_pull_put(struct hub_pull_plan *plan)
{
    if (!plan || atomic_fetch_sub(&plan->refs, 1) != 1)
        return;
    for (uint32_t i = 0; i < plan->count; i++) {
        free((char *)plan->files[i].facts.path);
        free(plan->files[i].segments);
    }
    free(plan->files);
    hub_closep(&plan->tree);
    hub_pull_put(plan->next);
    free(plan);
}

const char *hub_pull_revision(const struct hub_pull_plan *plan)
{
    return plan->revision;
}

uint32_t hub_pull_count(const struct hub_pull_plan *plan)
{
    return plan->count;
}

const struct hub_file_facts *hub_pull_file(const struct hub_pull_plan *plan, uint32_t number)
{
    return &plan->files[number].facts;
}

uint32_t hub_pull_find(const struct hub_pull_plan *plan, const char *path)
{
    const struct hub_partial_file *file = bsearch(&path, plan->files, plan->count, sizeof *file, hub_by_text);
    return file ? (uint32_t)(file - plan->files) : UINT32_MAX;
}

/* Its name here, where that is known before: a copy has the times of its files. */
static enum hub_status name_revision(struct hub_pull_plan *plan, const struct hub_remote_files *files,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_revision_file *facts = NULL;
    bool timed = true;
    HUB_TRY(hub_new(&facts, plan->count + 1, sizeof *facts, err));
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct hub_file_facts *file = &plan->files[i].facts;
        facts[i] =
            (struct hub_revision_file){.path = file->path, .size = file->size, .mtime_ns = file->modified_ns};
        timed = timed && file->modified_ns;
    }
    snprintf(plan->revision, sizeof plan->revision, "%s", files->revision ? files->revision : "");
    return timed ? hub_revision(facts, plan->count, plan->revision, err) : HUB_OK;
}

/* Is it still what was read of it? All that was reported is in the journal, from which a transfer resumes. */
static bool is_same(const struct hub_partial_file *old, const struct hub_partial_file *new)
{
    const struct hub_file_facts *a = &old->facts, *b = &new->facts;
    if (a->size != b->size || a->modified_ns != b->modified_ns || a->generation != b->generation ||
        old->segment_count != new->segment_count)
        return false;
    if (a->has_sha256 && b->has_sha256 && memcmp(a->sha256, b->sha256, sizeof a->sha256) != 0)
        return false;
    if (a->other == b->other && memcmp(a->sum, b->sum, sizeof a->sum) != 0)
        return false;
    for (uint32_t i = 0; i < old->segment_count; i++)
        if (old->segments[i] && !new->segments[i])
            return false;
    return true;
}

static enum hub_status plan_file(struct hub_partial_file *to, const struct hub_file_facts *from,
                                 const struct hub_staging *s, uint32_t number, struct hub_error *err)
{
    const struct hub_staged_file *staged = &s->files[number];
    to->facts = *from;
    to->facts.etag = NULL;
    to->facts.custom = NULL;
    to->facts.path = strdup(from->path);
    HUB_TRY(hub_allocated(to->facts.path, err));
    HUB_TRY(hub_new(&to->segments, staged->segments + 1, 1, err));
    to->segment_count = staged->segments;
    for (uint32_t i = 0; i < staged->segments; i++)
        to->segments[i] = s->states[staged->base + i] == HUB_SEGMENT_DONE;
    const bool complete = !staged->missing, agrees = s->files[number].sums.known && hub_file_proven(from) &&
                                                     hub_sums_agree(&s->files[number].sums, from);
    to->whole = !from->size || (complete && agrees);
    return HUB_OK;
}

static enum hub_status plan_new(struct hub_pulls *p, const struct hub_transfer *t,
                                const struct hub_staging *s, struct hub_pull_plan **out,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_pull_putp) struct hub_pull_plan *plan = NULL;
    HUB_TRY(hub_new(&plan, 1, sizeof *plan, err));
    atomic_init(&plan->refs, 1);
    plan->pulls = p;
    plan->segment_bytes = s->segment_bytes;
    plan->tree = fcntl(s->tree, F_DUPFD_CLOEXEC, 0);
    if (plan->tree < 0)
        return hub_fail_errno(err, errno, "the staging place");
    HUB_TRY(hub_new(&plan->files, t->files.count + 1, sizeof *plan->files, err));
    while (plan->count < t->files.count) {
        const uint32_t i = plan->count++;
        HUB_TRY(plan_file(&plan->files[i], &t->files.items[i], s, i, err));
    }
    HUB_TRY(name_revision(plan, &t->files, err));
    *out = plan;
    plan = NULL;
    return HUB_OK;
}

/* Readers continue with the new list if it has the same file. */
static void replace_plan(struct hub_pull *pull, struct hub_pull_plan *new)
{
    struct hub_pull_plan *old = pull->plan;
    pull->plan = new;
    if (!old)
        return;
    for (uint32_t i = 0; i < new->count; i++) {
        struct hub_partial_file *file = &new->files[i];
        const uint32_t before = hub_pull_find(old, file->facts.path);
        if (before != UINT32_MAX)
            file->turn = old->files[before].turn + !is_same(&old->files[before], file);
    }
    old->next = new;
    atomic_fetch_add(&new->refs, 1);
    hub_pull_put(old);
}

/* ---- bytes; all locked ---- */

bool hub_pull_is_there(const struct hub_pull_plan *plan, const struct hub_partial_file *file, uint64_t offset,
                       uint64_t size)
{
    const uint64_t end = offset + size;
    if (file->whole)
        return true;
    if (end + HUB_PULL_HELD > file->facts.size)
        return false;
    for (uint64_t i = offset / plan->segment_bytes; i * plan->segment_bytes < end; i++)
        if (!file->segments[i])
            return false;
    return true;
}

void hub_pull_want(struct hub_pull_plan *plan, uint32_t number, uint64_t offset, uint64_t size)
{
    const struct hub_partial_file *file = &plan->files[number];
    uint32_t i = (uint32_t)(offset / plan->segment_bytes);
    const uint64_t end = offset + size;
    while (i < file->segment_count && i * plan->segment_bytes < end && file->segments[i])
        i++;
    if (i >= file->segment_count || i * plan->segment_bytes >= end) /* its end is held back: all of it */
        for (i = 0; i < file->segment_count && file->segments[i];)
            i++;
    if (i == file->segment_count || plan->wanted_count == HUB_MOST_WANTED)
        return;
    for (unsigned k = 0; k < plan->wanted_count; k++)
        if (plan->wanted[k].file == number && plan->wanted[k].segment == i)
            return;
    plan->wanted[plan->wanted_count++] = (struct hub_wanted){number, i};
}

/* ---- what the transfer says ---- */

static enum hub_status room(uint64_t bytes, void *user, struct hub_error *err)
{
    const struct hub_pull *pull = user;
    return hub_cache_make_room(pull->pulls->mirrors, pull->id, bytes, err);
}

static enum hub_status planned(const struct hub_transfer *t, const struct hub_staging *s, void *user,
                               struct hub_error *err)
{
    struct hub_pull *pull = user;
    struct hub_pull_plan *plan = NULL;
    HUB_TRY(plan_new(pull->pulls, t, s, &plan, err));
    pthread_mutex_lock(&pull->pulls->thread.lock);
    replace_plan(pull, plan);
    pull->progress.total = t->files.bytes;
    pthread_cond_signal(&pull->pulls->thread.wake);
    pthread_mutex_unlock(&pull->pulls->thread.lock);
    return HUB_OK;
}

static void segment(uint32_t number, uint32_t segment_number, void *user)
{
    struct hub_pull *pull = user;
    pthread_mutex_lock(&pull->pulls->thread.lock);
    pull->plan->files[number].segments[segment_number] = 1;
    if (pull->pulls->waiting)
        pthread_cond_signal(&pull->pulls->thread.wake);
    pthread_mutex_unlock(&pull->pulls->thread.lock);
}

static void whole(uint32_t number, void *user)
{
    struct hub_pull *pull = user;
    pthread_mutex_lock(&pull->pulls->thread.lock);
    pull->plan->files[number].whole = true;
    pthread_cond_signal(&pull->pulls->thread.wake);
    pthread_mutex_unlock(&pull->pulls->thread.lock);
}

static void lost(uint32_t number, void *user)
{
    struct hub_pull *pull = user;
    pthread_mutex_lock(&pull->pulls->thread.lock);
    struct hub_partial_file *file = &pull->plan->files[number];
    file->whole = false;
    file->turn++;
    memset(file->segments, 0, file->segment_count);
    pthread_cond_signal(&pull->pulls->thread.wake);
    pthread_mutex_unlock(&pull->pulls->thread.lock);
}

static bool wanted(unsigned nth, uint32_t *file, uint32_t *segment_number, void *user)
{
    struct hub_pull *pull = user;
    pthread_mutex_lock(&pull->pulls->thread.lock);
    const struct hub_pull_plan *plan = pull->plan;
    const bool any = nth < plan->wanted_count;
    if (any) {
        *file = plan->wanted[nth].file;
        *segment_number = plan->wanted[nth].segment;
    }
    pthread_mutex_unlock(&pull->pulls->thread.lock);
    return any;
}

const struct hub_transfer_watch hub_pull_watch = {
    .room = room, .planned = planned, .segment = segment, .whole = whole, .lost = lost, .wanted = wanted};
