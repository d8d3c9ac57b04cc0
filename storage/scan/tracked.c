/* The datasets that are known: a table by id, the queue of those to inspect, and what names a state of
 * one. */
#include "storage/scan/state.h"
#include "storage/text/time.h"
#include "storage/truth/digests.h"

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

static uint64_t mix_part(const struct hub_scanner *s, const char *format, const struct hub_found_part *part)
{
    const uint64_t h = mix_text(mix_text(HUB_HASH_START, s->drivers), format);
    return mix_text(mix_text(h, part->name), part->hint ? part->hint : "");
}

uint64_t hub_scan_part_signature(const struct hub_scanner *s, const char *format,
                                 const struct hub_found_part *part, const struct hub_fileset *files)
{
    uint64_t h = mix_part(s, format, part);
    for (uint32_t i = 0; i < part->file_count; i++)
        if (part->files[i] < files->count)
            h = mix_file(h, &files->files[part->files[i]]);
    return h ^ h >> 29;
}

uint64_t hub_scan_part_content(const struct hub_scanner *s, const char *format,
                               const struct hub_found_part *part, const struct hub_fileset *files,
                               const struct hub_file_digests *digests, bool by_crc32c)
{
    uint64_t h = mix_text(mix_part(s, format, part), by_crc32c ? "crc32c" : "content");
    for (uint32_t i = 0; i < part->file_count; i++) {
        const uint32_t number = part->files[i];
        if (number >= files->count)
            return 0;
        const struct hub_dataset_file *file = &files->files[number];
        const char *digest = by_crc32c ? digests[number].crc32c : digests[number].sha256;
        if (!*digest)
            return 0;
        h = mix_text(mix_text(h, file->path), digest);
        if (by_crc32c)
            h = hub_hash(h, &file->stamp.size, sizeof file->stamp.size);
    }
    return (h ^ h >> 29) | 1;
}

uint64_t hub_scan_limited(const struct hub_scanner *s, uint64_t signature)
{
    const uint64_t limits = hub_inspector_limits(s->inspector);
    const uint64_t h =
        hub_hash(hub_hash(HUB_HASH_START, &signature, sizeof signature), &limits, sizeof limits);
    return (h ^ h >> 29) | 1;
}

uint64_t hub_scan_refused(const struct hub_scanner *s, const struct hub_tracked_dataset *tracked,
                          uint64_t signature)
{
    const uint64_t of[] = {signature, s->born_ns, tracked->rounds};
    const uint64_t h = hub_hash(HUB_HASH_START, of, sizeof of);
    return (h ^ h >> 29) | 1;
}

/* ---- the table ---- */

static struct hub_tracked_dataset **slot_of(const struct hub_scanner *s, const char *id)
{
    const uint64_t h = mix_text(HUB_HASH_START, id);
    return &s->slots[(h ^ h >> 31) & (s->slot_count - 1)];
}

struct hub_tracked_dataset *hub_tracked_find(const struct hub_scanner *s, const char *id)
{
    if (!s->slot_count)
        return NULL;
    struct hub_tracked_dataset *tracked = *slot_of(s, id);
    while (tracked && strcmp(tracked->id, id) != 0)
        tracked = tracked->chain;
    return tracked;
}

static bool grow(struct hub_scanner *s)
{
    if (s->tracked_count < s->slot_count)
        return true;
    const size_t old_count = s->slot_count, count = old_count ? old_count * 2 : 256;
    struct hub_tracked_dataset **old = s->slots, **slots = calloc(count, sizeof *slots);
    if (!slots)
        return old_count > 0;
    s->slots = slots;
    s->slot_count = count;
    for (size_t i = 0; i < old_count; i++) {
        for (struct hub_tracked_dataset *tracked = old[i], *next; tracked; tracked = next) {
            next = tracked->chain;
            struct hub_tracked_dataset **slot = slot_of(s, tracked->id);
            tracked->chain = *slot;
            *slot = tracked;
        }
    }
    free(old);
    return true;
}

static void tracked_free(struct hub_tracked_dataset *tracked)
{
    for (uint32_t i = 0; tracked->formats && i < tracked->format_count; i++)
        free(tracked->formats[i]);
    free(tracked->formats);
    free(tracked->id);
    free(tracked->path);
    hub_fileset_dispose(&tracked->files);
    free(tracked);
}

static bool set_formats(struct hub_tracked_dataset *tracked, const struct hub_found_dataset *found)
{
    tracked->formats = calloc(found->format_count + (size_t)1, sizeof *tracked->formats);
    for (uint32_t i = 0; tracked->formats && i < found->format_count; i++, tracked->format_count++)
        if (!(tracked->formats[i] = strdup(found->formats[i])))
            return false;
    return tracked->formats != NULL;
}

static bool is_same_dataset(const struct hub_tracked_dataset *tracked, const struct hub_found_dataset *found)
{
    bool same = tracked->root == found->root && tracked->single_files == found->single_files &&
                strcmp(tracked->path, found->path) == 0 && tracked->format_count == found->format_count;
    for (uint32_t i = 0; same && i < found->format_count; i++)
        same = strcmp(tracked->formats[i], found->formats[i]) == 0;
    return same;
}

struct hub_tracked_dataset *hub_tracked_get(struct hub_scanner *s, const struct hub_found_dataset *found)
{
    struct hub_tracked_dataset *tracked = hub_tracked_find(s, found->id);
    if (tracked && (is_same_dataset(tracked, found) || tracked->state == HUB_TRACKED_RUNNING))
        return tracked;
    if (tracked)
        hub_tracked_remove(s, tracked); /* the same id, but something else now */
    tracked = grow(s) ? calloc(1, sizeof *tracked) : NULL;
    if (!tracked)
        return NULL;
    tracked->id = strdup(found->id);
    tracked->path = strdup(found->path);
    tracked->root = found->root;
    tracked->single_files = found->single_files;
    if (!tracked->id || !tracked->path || !set_formats(tracked, found)) {
        tracked_free(tracked);
        return NULL;
    }
    struct hub_tracked_dataset **slot = slot_of(s, tracked->id);
    tracked->chain = *slot;
    *slot = tracked;
    s->tracked_count++;
    return tracked;
}

void hub_tracked_remove(struct hub_scanner *s, struct hub_tracked_dataset *tracked)
{
    struct hub_tracked_dataset **at = slot_of(s, tracked->id);
    while (*at != tracked)
        at = &(*at)->chain;
    *at = tracked->chain;
    s->tracked_count--;
    if (tracked->state == HUB_TRACKED_QUEUED)
        hub_tracked_unqueue(s, tracked);
    tracked_free(tracked);
}

void hub_tracked_forget_gone(struct hub_scanner *s, const struct hub_sweep *sweep)
{
    for (size_t i = 0; i < s->slot_count; i++) {
        for (struct hub_tracked_dataset *tracked = s->slots[i], *next; tracked; tracked = next) {
            next = tracked->chain;
            if (tracked->sweep == s->sweep || tracked->state == HUB_TRACKED_RUNNING ||
                !hub_sweep_has(sweep, tracked->root, tracked->path))
                continue;
            if (!sweep->root_missing[tracked->root])
                hub_tracked_remove(s, tracked);
            else if (tracked->state == HUB_TRACKED_WAITING)
                tracked->state = HUB_TRACKED_IDLE; /* there is nothing to wait for until its root is back */
        }
    }
}

void hub_tracked_free_all(struct hub_scanner *s)
{
    for (size_t i = 0; i < s->slot_count; i++) {
        while (s->slots[i]) {
            struct hub_tracked_dataset *tracked = s->slots[i];
            s->slots[i] = tracked->chain;
            tracked_free(tracked);
        }
    }
    free(s->slots);
    s->slots = NULL;
    s->slot_count = s->tracked_count = 0;
}

/* ---- the queue ---- */

void hub_tracked_push(struct hub_scanner *s, struct hub_tracked_dataset *tracked, enum hub_scan_queue queue)
{
    struct hub_tracked_queue *list = &s->queues[queue];
    tracked->state = HUB_TRACKED_QUEUED;
    tracked->queue = queue;
    tracked->after = NULL;
    tracked->before = list->last;
    *(list->last ? &list->last->after : &list->first) = tracked;
    list->last = tracked;
    pthread_cond_signal(&s->workers.wake);
}

struct hub_tracked_dataset *hub_tracked_next(const struct hub_scanner *s)
{
    struct hub_tracked_dataset *next = NULL;
    for (int i = 0; i < HUB_QUEUES && !next; i++)
        next = s->queues[i].first;
    return next;
}

void hub_tracked_unqueue(struct hub_scanner *s, struct hub_tracked_dataset *tracked)
{
    struct hub_tracked_queue *list = &s->queues[tracked->queue];
    *(tracked->before ? &tracked->before->after : &list->first) = tracked->after;
    *(tracked->after ? &tracked->after->before : &list->last) = tracked->before;
    tracked->before = tracked->after = NULL;
    tracked->state = HUB_TRACKED_IDLE;
}

void hub_tracked_wait(struct hub_scanner *s, struct hub_tracked_dataset *tracked, int64_t after_ms)
{
    tracked->state = HUB_TRACKED_WAITING;
    tracked->due_ms = hub_time_mono_ms() + HUB_MAX(after_ms, (int64_t)20);
    s->due_ms = HUB_MIN(s->due_ms, tracked->due_ms);
    hub_scan_wake(s);
}

bool hub_scan_is_idle(const struct hub_scanner *s)
{
    if (!s->progress.walked || s->sweeping || s->sweep_wanted || s->running || hub_tracked_next(s) ||
        hub_looks_is_wanted(s))
        return false;
    for (size_t i = 0; i < s->slot_count; i++)
        for (const struct hub_tracked_dataset *tracked = s->slots[i]; tracked; tracked = tracked->chain)
            if (tracked->state == HUB_TRACKED_WAITING || tracked->outdated)
                return false;
    return true;
}
