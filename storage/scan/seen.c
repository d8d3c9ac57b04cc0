/* The datasets that were seen: a table by id, the queue of those to inspect, and what names a state of
 * one. */
#include "storage/base/time.h"
#include "storage/scan/state.h"

#include <stdlib.h>

/* ---- signatures ---- */

static uint64_t mix_text(uint64_t h, const char *text)
{
    return hub_hash(h, text, strlen(text) + 1);
}

static uint64_t mix_file(uint64_t h, const struct hub_dataset_file *file)
{
    return hub_hash(mix_text(h, file->path), &file->stamp, sizeof file->stamp);
}

uint64_t hub_scan_signature(const struct hub_scanner *s, const char *const *formats, uint32_t format_count,
                            const struct hub_fileset *files)
{
    uint64_t h = mix_text(HUB_HASH_START, s->drivers);
    for (uint32_t i = 0; i < format_count; i++)
        h = mix_text(h, formats[i]);
    for (uint32_t i = 0; i < files->count; i++)
        h = mix_file(h, &files->files[i]);
    for (uint32_t i = 0; i < files->problem_count; i++)
        h = mix_text(mix_text(mix_text(h, files->problems[i].code), files->problems[i].path),
                     files->problems[i].detail);
    return (h ^ h >> 29) | 1;
}

uint64_t hub_scan_part_signature(const struct hub_scanner *s, const char *format,
                                 const struct hub_found_part *part, const struct hub_fileset *files)
{
    uint64_t h = mix_text(mix_text(HUB_HASH_START, s->drivers), format);
    h = mix_text(mix_text(h, part->name), part->hint ? part->hint : "");
    for (uint32_t i = 0; i < part->file_count; i++)
        if (part->files[i] < files->count)
            h = mix_file(h, &files->files[part->files[i]]);
    return h ^ h >> 29;
}

uint64_t hub_scan_limited(const struct hub_scanner *s, uint64_t signature)
{
    const uint64_t limits = hub_inspector_limits(s->inspector);
    const uint64_t h =
        hub_hash(hub_hash(HUB_HASH_START, &signature, sizeof signature), &limits, sizeof limits);
    return (h ^ h >> 29) | 1;
}

uint64_t hub_scan_refused(const struct hub_scanner *s, const struct hub_seen *seen, uint64_t signature)
{
    const uint64_t of[] = {signature, s->born_ns, seen->rounds};
    const uint64_t h = hub_hash(HUB_HASH_START, of, sizeof of);
    return (h ^ h >> 29) | 1;
}

/* ---- the table ---- */

static struct hub_seen **slot_of(const struct hub_scanner *s, const char *id)
{
    const uint64_t h = mix_text(HUB_HASH_START, id);
    return &s->slots[(h ^ h >> 31) & (s->slot_count - 1)];
}

struct hub_seen *hub_seen_find(const struct hub_scanner *s, const char *id)
{
    if (!s->slot_count)
        return NULL;
    struct hub_seen *seen = *slot_of(s, id);
    while (seen && strcmp(seen->id, id) != 0)
        seen = seen->chain;
    return seen;
}

static bool grow(struct hub_scanner *s)
{
    if (s->seen_count < s->slot_count)
        return true;
    const size_t old_count = s->slot_count, count = old_count ? old_count * 2 : 256;
    struct hub_seen **old = s->slots, **slots = calloc(count, sizeof *slots);
    if (!slots)
        return old_count > 0;
    s->slots = slots;
    s->slot_count = count;
    for (size_t i = 0; i < old_count; i++) {
        for (struct hub_seen *seen = old[i], *next; seen; seen = next) {
            next = seen->chain;
            struct hub_seen **slot = slot_of(s, seen->id);
            seen->chain = *slot;
            *slot = seen;
        }
    }
    free(old);
    return true;
}

static void seen_free(struct hub_seen *seen)
{
    for (uint32_t i = 0; seen->formats && i < seen->format_count; i++)
        free(seen->formats[i]);
    free(seen->formats);
    free(seen->id);
    free(seen->path);
    hub_fileset_dispose(&seen->files);
    free(seen);
}

static bool set_formats(struct hub_seen *seen, const struct hub_found_dataset *found)
{
    seen->formats = calloc(found->format_count + (size_t)1, sizeof *seen->formats);
    for (uint32_t i = 0; seen->formats && i < found->format_count; i++, seen->format_count++)
        if (!(seen->formats[i] = strdup(found->formats[i])))
            return false;
    return seen->formats != NULL;
}

static bool same_place(const struct hub_seen *seen, const struct hub_found_dataset *found)
{
    bool same = seen->root == found->root && seen->single_files == found->single_files &&
                strcmp(seen->path, found->path) == 0 && seen->format_count == found->format_count;
    for (uint32_t i = 0; same && i < found->format_count; i++)
        same = strcmp(seen->formats[i], found->formats[i]) == 0;
    return same;
}

struct hub_seen *hub_seen_get(struct hub_scanner *s, const struct hub_found_dataset *found)
{
    struct hub_seen *seen = hub_seen_find(s, found->id);
    if (seen && (same_place(seen, found) || seen->state == HUB_SEEN_RUNNING))
        return seen;
    if (seen)
        hub_seen_remove(s, seen); /* the same id, but something else now */
    seen = grow(s) ? calloc(1, sizeof *seen) : NULL;
    if (!seen)
        return NULL;
    seen->id = strdup(found->id);
    seen->path = strdup(found->path);
    seen->root = found->root;
    seen->single_files = found->single_files;
    if (!seen->id || !seen->path || !set_formats(seen, found)) {
        seen_free(seen);
        return NULL;
    }
    struct hub_seen **slot = slot_of(s, seen->id);
    seen->chain = *slot;
    *slot = seen;
    s->seen_count++;
    return seen;
}

void hub_seen_remove(struct hub_scanner *s, struct hub_seen *seen)
{
    struct hub_seen **at = slot_of(s, seen->id);
    while (*at != seen)
        at = &(*at)->chain;
    *at = seen->chain;
    s->seen_count--;
    if (seen->state == HUB_SEEN_QUEUED)
        hub_seen_unqueue(s, seen);
    seen_free(seen);
}

void hub_seen_forget_gone(struct hub_scanner *s, const bool *root_missing)
{
    for (size_t i = 0; i < s->slot_count; i++) {
        for (struct hub_seen *seen = s->slots[i], *next; seen; seen = next) {
            next = seen->chain;
            if (seen->sweep == s->sweep || seen->state == HUB_SEEN_RUNNING)
                continue;
            if (!root_missing[seen->root])
                hub_seen_remove(s, seen);
            else if (seen->state == HUB_SEEN_WAITING)
                seen->state = HUB_SEEN_IDLE; /* there is nothing to wait for until its root is back */
        }
    }
}

void hub_seen_free_all(struct hub_scanner *s)
{
    for (size_t i = 0; i < s->slot_count; i++) {
        while (s->slots[i]) {
            struct hub_seen *seen = s->slots[i];
            s->slots[i] = seen->chain;
            seen_free(seen);
        }
    }
    free(s->slots);
    s->slots = NULL;
    s->slot_count = s->seen_count = 0;
}

/* ---- the queue ---- */

void hub_seen_push(struct hub_scanner *s, struct hub_seen *seen, enum hub_scan_queue queue)
{
    struct hub_seen_list *list = &s->queues[queue];
    seen->state = HUB_SEEN_QUEUED;
    seen->queue = queue;
    seen->after = NULL;
    seen->before = list->last;
    *(list->last ? &list->last->after : &list->first) = seen;
    list->last = seen;
    pthread_cond_signal(&s->work_wake);
}

struct hub_seen *hub_seen_next(const struct hub_scanner *s)
{
    struct hub_seen *next = NULL;
    for (int i = 0; i < HUB_QUEUES && !next; i++)
        next = s->queues[i].first;
    return next;
}

void hub_seen_unqueue(struct hub_scanner *s, struct hub_seen *seen)
{
    struct hub_seen_list *list = &s->queues[seen->queue];
    *(seen->before ? &seen->before->after : &list->first) = seen->after;
    *(seen->after ? &seen->after->before : &list->last) = seen->before;
    seen->before = seen->after = NULL;
    seen->state = HUB_SEEN_IDLE;
}

void hub_seen_wait(struct hub_scanner *s, struct hub_seen *seen, int64_t after_ms)
{
    seen->state = HUB_SEEN_WAITING;
    seen->due_ms = hub_time_mono_ms() + HUB_MAX(after_ms, (int64_t)20);
    const int64_t sweep_at_ms = HUB_MAX(seen->due_ms, s->rest_until_ms);
    s->sweep_at_ms = HUB_MIN(s->sweep_at_ms, sweep_at_ms);
    hub_scan_wake(s);
}

bool hub_scan_is_idle(const struct hub_scanner *s)
{
    if (!s->progress.walked || s->sweeping || s->sweep_wanted || s->running || hub_seen_next(s))
        return false;
    for (size_t i = 0; i < s->slot_count; i++)
        for (const struct hub_seen *seen = s->slots[i]; seen; seen = seen->chain)
            if (seen->state == HUB_SEEN_WAITING)
                return false;
    return true;
}
