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

uint64_t hub_scan_refused(const struct hub_scanner *s, const struct hub_tracked_dataset *known,
                          uint64_t signature)
{
    const uint64_t of[] = {signature, s->born_ns, known->rounds};
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
    struct hub_tracked_dataset *known = *slot_of(s, id);
    while (known && strcmp(known->id, id) != 0)
        known = known->chain;
    return known;
}

static bool grow(struct hub_scanner *s)
{
    if (s->known_count < s->slot_count)
        return true;
    const size_t old_count = s->slot_count, count = old_count ? old_count * 2 : 256;
    struct hub_tracked_dataset **old = s->slots, **slots = calloc(count, sizeof *slots);
    if (!slots)
        return old_count > 0;
    s->slots = slots;
    s->slot_count = count;
    for (size_t i = 0; i < old_count; i++) {
        for (struct hub_tracked_dataset *known = old[i], *next; known; known = next) {
            next = known->chain;
            struct hub_tracked_dataset **slot = slot_of(s, known->id);
            known->chain = *slot;
            *slot = known;
        }
    }
    free(old);
    return true;
}

static void known_free(struct hub_tracked_dataset *known)
{
    for (uint32_t i = 0; known->formats && i < known->format_count; i++)
        free(known->formats[i]);
    free(known->formats);
    free(known->id);
    free(known->path);
    hub_fileset_dispose(&known->files);
    free(known);
}

static bool set_formats(struct hub_tracked_dataset *known, const struct hub_found_dataset *found)
{
    known->formats = calloc(found->format_count + (size_t)1, sizeof *known->formats);
    for (uint32_t i = 0; known->formats && i < found->format_count; i++, known->format_count++)
        if (!(known->formats[i] = strdup(found->formats[i])))
            return false;
    return known->formats != NULL;
}

static bool same_place(const struct hub_tracked_dataset *known, const struct hub_found_dataset *found)
{
    bool same = known->root == found->root && known->single_files == found->single_files &&
                strcmp(known->path, found->path) == 0 && known->format_count == found->format_count;
    for (uint32_t i = 0; same && i < found->format_count; i++)
        same = strcmp(known->formats[i], found->formats[i]) == 0;
    return same;
}

struct hub_tracked_dataset *hub_tracked_get(struct hub_scanner *s, const struct hub_found_dataset *found)
{
    struct hub_tracked_dataset *known = hub_tracked_find(s, found->id);
    if (known && (same_place(known, found) || known->state == HUB_TRACKED_RUNNING))
        return known;
    if (known)
        hub_tracked_remove(s, known); /* the same id, but something else now */
    known = grow(s) ? calloc(1, sizeof *known) : NULL;
    if (!known)
        return NULL;
    known->id = strdup(found->id);
    known->path = strdup(found->path);
    known->root = found->root;
    known->single_files = found->single_files;
    if (!known->id || !known->path || !set_formats(known, found)) {
        known_free(known);
        return NULL;
    }
    struct hub_tracked_dataset **slot = slot_of(s, known->id);
    known->chain = *slot;
    *slot = known;
    s->known_count++;
    return known;
}

void hub_tracked_remove(struct hub_scanner *s, struct hub_tracked_dataset *known)
{
    struct hub_tracked_dataset **at = slot_of(s, known->id);
    while (*at != known)
        at = &(*at)->chain;
    *at = known->chain;
    s->known_count--;
    if (known->state == HUB_TRACKED_QUEUED)
        hub_tracked_unqueue(s, known);
    known_free(known);
}

void hub_tracked_forget_gone(struct hub_scanner *s, const struct hub_sweep *sweep)
{
    for (size_t i = 0; i < s->slot_count; i++) {
        for (struct hub_tracked_dataset *known = s->slots[i], *next; known; known = next) {
            next = known->chain;
            if (known->sweep == s->sweep || known->state == HUB_TRACKED_RUNNING ||
                !hub_sweep_has(sweep, known->root, known->path))
                continue;
            if (!sweep->root_missing[known->root])
                hub_tracked_remove(s, known);
            else if (known->state == HUB_TRACKED_WAITING)
                known->state = HUB_TRACKED_IDLE; /* there is nothing to wait for until its root is back */
        }
    }
}

void hub_tracked_free_all(struct hub_scanner *s)
{
    for (size_t i = 0; i < s->slot_count; i++) {
        while (s->slots[i]) {
            struct hub_tracked_dataset *known = s->slots[i];
            s->slots[i] = known->chain;
            known_free(known);
        }
    }
    free(s->slots);
    s->slots = NULL;
    s->slot_count = s->known_count = 0;
}

/* ---- the queue ---- */

void hub_tracked_push(struct hub_scanner *s, struct hub_tracked_dataset *known, enum hub_scan_queue queue)
{
    struct hub_tracked_queue *list = &s->queues[queue];
    known->state = HUB_TRACKED_QUEUED;
    known->queue = queue;
    known->after = NULL;
    known->before = list->last;
    *(list->last ? &list->last->after : &list->first) = known;
    list->last = known;
    pthread_cond_signal(&s->workers.wake);
}

struct hub_tracked_dataset *hub_tracked_next(const struct hub_scanner *s)
{
    struct hub_tracked_dataset *next = NULL;
    for (int i = 0; i < HUB_QUEUES && !next; i++)
        next = s->queues[i].first;
    return next;
}

void hub_tracked_unqueue(struct hub_scanner *s, struct hub_tracked_dataset *known)
{
    struct hub_tracked_queue *list = &s->queues[known->queue];
    *(known->before ? &known->before->after : &list->first) = known->after;
    *(known->after ? &known->after->before : &list->last) = known->before;
    known->before = known->after = NULL;
    known->state = HUB_TRACKED_IDLE;
}

void hub_tracked_wait(struct hub_scanner *s, struct hub_tracked_dataset *known, int64_t after_ms)
{
    known->state = HUB_TRACKED_WAITING;
    known->due_ms = hub_time_mono_ms() + HUB_MAX(after_ms, (int64_t)20);
    s->due_ms = HUB_MIN(s->due_ms, known->due_ms);
    hub_scan_wake(s);
}

bool hub_scan_is_idle(const struct hub_scanner *s)
{
    if (!s->progress.walked || s->sweeping || s->sweep_wanted || s->running || hub_tracked_next(s) ||
        hub_looks_is_wanted(s))
        return false;
    for (size_t i = 0; i < s->slot_count; i++)
        for (const struct hub_tracked_dataset *known = s->slots[i]; known; known = known->chain)
            if (known->state == HUB_TRACKED_WAITING || known->outdated)
                return false;
    return true;
}
