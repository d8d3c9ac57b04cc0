/* Looking at a part of a root instead of sweeping all: where somebody published files, where inotify saw a
 * change, where a dataset waited to settle. The part is made so large that nothing outside of it depends on
 * what is in it; where that cannot be known, all is swept. */
#include "storage/scan/state.h"

#include "storage/ids/hf_cache.h"
#include "storage/model/format_row.h"
#include "storage/text/time.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { QUIET_MS = 300, OUTDATED_MS = 2000 };

/* ---- the list; the lock is held ---- */

void hub_looks_cover(struct hub_scanner *s, const struct hub_scope *done)
{
    for (uint32_t i = s->look_count; i-- > 0;) {
        const struct hub_look look = s->looks[i];
        const bool covered = !done || (look.root == done->root &&
                                       (hub_scope_passes(done, look.path)
                                            ? look.shallow
                                            : !done->shallow && hub_path_below(look.path, done->path)));
        if (!covered)
            continue;
        free(look.path);
        s->looks[i] = s->looks[--s->look_count];
    }
}

static void sweep_at(struct hub_scanner *s, int64_t due_ms)
{
    s->sweep_wanted = s->sweep_wanted || !due_ms;
    s->sweep_at_ms = HUB_MIN(s->sweep_at_ms, due_ms);
    s->sweep_for_changes = true;
}

void hub_looks_add(struct hub_scanner *s, uint32_t root, const char *path, bool shallow, int64_t due_ms)
{
    if (s->sweep_wanted || s->sweep_at_ms <= due_ms)
        return; /* it sees that too */
    for (uint32_t i = 0; i < s->look_count; i++) {
        struct hub_look *look = &s->looks[i];
        if (look->root == root && (look->shallow ? shallow && strcmp(path, look->path) == 0
                                                 : hub_path_below(path, look->path) != NULL)) {
            look->due_ms = HUB_MIN(look->due_ms, due_ms);
            return;
        }
    }
    char *copy = s->look_count < HUB_COUNT(s->looks) ? strdup(path) : NULL;
    if (copy) {
        s->looks[s->look_count++] = (struct hub_look){copy, root, shallow, due_ms};
        return;
    }
    sweep_at(s, hub_looks_is_wanted(s) ? 0 : due_ms);
    hub_looks_cover(s, NULL);
}

void hub_looks_plan(struct hub_scanner *s)
{
    const int64_t now_ms = hub_time_mono_ms();
    s->due_ms = INT64_MAX;
    for (size_t i = 0; i < s->slot_count; i++)
        for (const struct hub_tracked_dataset *tracked = s->slots[i]; tracked; tracked = tracked->chain)
            if (tracked->state == HUB_TRACKED_WAITING)
                s->due_ms = HUB_MIN(s->due_ms, tracked->due_ms);
            else if (tracked->outdated)
                s->due_ms = HUB_MIN(s->due_ms, now_ms + OUTDATED_MS);
}

/* Datasets that waited long enough, or were inspected while they changed. */
static void add_due(struct hub_scanner *s, int64_t now_ms)
{
    for (size_t i = 0; i < s->slot_count; i++)
        for (const struct hub_tracked_dataset *tracked = s->slots[i]; tracked; tracked = tracked->chain)
            if (tracked->state == HUB_TRACKED_WAITING
                    ? tracked->due_ms <= now_ms
                    : tracked->outdated && tracked->state != HUB_TRACKED_RUNNING)
                hub_looks_add(s, tracked->root, tracked->path, tracked->single_files, now_ms);
}

static int64_t due_of(const struct hub_scanner *s, const struct hub_look *look)
{
    return look->due_ms ? HUB_MAX(look->due_ms, s->rest_until_ms) : 0;
}

int64_t hub_looks_due_ms(const struct hub_scanner *s)
{
    int64_t due_ms = HUB_MAX(s->due_ms, s->rest_until_ms);
    for (uint32_t i = 0; i < s->look_count; i++)
        due_ms = HUB_MIN(due_ms, due_of(s, &s->looks[i]));
    return due_ms;
}

bool hub_looks_is_wanted(const struct hub_scanner *s)
{
    bool wanted = false;
    for (uint32_t i = 0; i < s->look_count; i++)
        wanted = wanted || !s->looks[i].due_ms;
    return wanted;
}

static bool take(struct hub_scanner *s, int64_t now_ms, struct hub_look *out)
{
    uint32_t at = 0;
    while (at < s->look_count && due_of(s, &s->looks[at]) > now_ms)
        at++;
    if (at == s->look_count || s->sweep_wanted || s->workers.stop)
        return false;
    *out = s->looks[at];
    s->looks[at] = s->looks[--s->look_count];
    return true;
}

/* ---- events ---- */

static bool lstat_below(const struct hub_scanner *s, uint32_t root, const char *folder, const char *name,
                        struct stat *out)
{
    const char *top = s->walk.roots->roots[root].path;
    HUB_CLEANUP(hub_freep) char *inner = hub_path_join(folder, name);
    HUB_CLEANUP(hub_freep) char *path = inner ? hub_path_join(top, inner) : NULL;
    return path && lstat(path, out) == 0;
}

/* A new link may lead anywhere: all is swept for it. Of a link that is gone see lacks_child(). */
static void on_event(void *user, uint32_t root, const char *folder, const char *name, bool directory)
{
    struct hub_scanner *s = user;
    struct stat st;
    const bool link = name && !directory && lstat_below(s, root, folder, name, &st) && S_ISLNK(st.st_mode);
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(folder, name && directory ? name : "");
    const int64_t due_ms = HUB_MAX(hub_time_mono_ms() + QUIET_MS, s->rest_until_ms);
    if (path && !link)
        hub_looks_add(s, root, path, name && !directory, due_ms);
    else
        sweep_at(s, due_ms);
}

void hub_looks_take_events(struct hub_scanner *s)
{
    if (!s->watch)
        return;
    pthread_mutex_lock(&s->workers.lock);
    if (!hub_inotify_take(s->watch, on_event, s))
        sweep_at(s, HUB_MAX(hub_time_mono_ms() + QUIET_MS, s->rest_until_ms));
    pthread_mutex_unlock(&s->workers.lock);
}

/* ---- how large a part is looked at; the lock is held ---- */

/* Cut the path to the dataset that it lies in, and to the repo of a Hugging Face cache, whose snapshots are
 * named by what is beside them. */
static void cut_to_owner(const struct hub_scanner *s, struct hub_look *look)
{
    const size_t all = strlen(look->path);
    size_t size = all;
    for (size_t i = 0; i < s->slot_count; i++)
        for (const struct hub_tracked_dataset *tracked = s->slots[i]; tracked; tracked = tracked->chain)
            if (tracked->root == look->root && !tracked->single_files &&
                hub_path_below(look->path, tracked->path))
                size = HUB_MIN(size, strlen(tracked->path));
    for (size_t at = 0, n; at < size; at += n + 1) {
        n = strcspn(look->path + at, "/");
        if (hub_hf_cache_repo((struct hub_view){look->path + at, n}))
            size = at + n;
    }
    look->path[size] = '\0';
    look->shallow = look->shallow && size == all;
}

/* Bytes of the folder that both paths lie in, or that is one of them. */
static size_t common(const char *a, const char *b)
{
    size_t at = 0, n = 0;
    for (; a[at] && a[at] == b[at]; at++)
        n = a[at] == '/' ? at : n;
    return (a[at] == '/' || !a[at]) && (b[at] == '/' || !b[at]) ? at : n;
}

/* Was the dataset in the folder itself, and is gone? A link to a folder goes like a file. */
static bool lacks_child(const struct hub_scanner *s, const struct hub_look *look,
                        const struct hub_tracked_dataset *tracked)
{
    struct stat st;
    const char *name = hub_path_below(tracked->path, look->path);
    return name && *name && !strchr(name, '/') && !lstat_below(s, look->root, look->path, name, &st);
}

/* A folder with a claimed dataset somewhere below it is no dataset itself, whatever else comes or goes in it.
 * So what is looked at begins below the deepest one that has such a dataset outside of the part. False: it is
 * all of the root. */
static bool widen(const struct hub_scanner *s, struct hub_look *look)
{
    size_t above = 0;
    bool holds = false, lacks = false;
    cut_to_owner(s, look);
    for (size_t i = 0; i < s->slot_count; i++)
        for (const struct hub_tracked_dataset *tracked = s->slots[i]; tracked; tracked = tracked->chain) {
            if (tracked->root != look->root)
                continue;
            lacks = lacks || (look->shallow && lacks_child(s, look, tracked));
            if (hub_format_is_files(tracked->formats[0]))
                continue;
            if (hub_path_below(tracked->path, look->path))
                holds = true;
            else
                above = HUB_MAX(above, common(look->path, tracked->path));
        }
    look->shallow = look->shallow && !lacks && (holds || !*look->path);
    if (look->shallow || !*look->path)
        return look->shallow;
    char *slash = strchr(look->path + above + (above > 0), '/');
    if (slash)
        *slash = '\0';
    return true;
}

/* ---- a look ---- */

/* True: it found all there is to find. */
static bool run(struct hub_scanner *s, const struct hub_look *look, int64_t began_ms)
{
    const struct hub_scope part = {look->path, look->root, look->shallow};
    struct hub_sweep sweep = {.scanner = s, .only = &part, .began_ms = began_ms};
    if (hub_links_touch(&s->links, s->walk.roots, part.root, part.path))
        return false;
    hub_looks_take_events(s);
    pthread_mutex_lock(&s->workers.lock);
    hub_looks_cover(s, &part);
    pthread_mutex_unlock(&s->workers.lock);
    sweep.links = s->links;
    const enum hub_status st = hub_sweep_run(&sweep);
    s->links = sweep.links;
    hub_pair_set_dispose(&sweep.notes);
    return !st && !sweep.beyond;
}

/* The lock is held before and after. */
static void run_locked(struct hub_scanner *s, struct hub_look *look)
{
    const bool narrow = s->complete && widen(s, look);
    const int64_t began_ms = hub_time_mono_ms();
    s->sweep = hub_catalog_look(s->catalog);
    s->sweeping = true;
    pthread_mutex_unlock(&s->workers.lock);
    const bool done = narrow && run(s, look, began_ms);
    pthread_mutex_lock(&s->workers.lock);
    s->sweeping = false;
    s->progress.looks += done;
    if (look->due_ms)
        s->rest_until_ms = HUB_MAX(s->rest_until_ms, hub_sweep_rest_until_ms(began_ms));
    if (!done)
        sweep_at(s, look->due_ms ? s->rest_until_ms : 0);
    if (!s->running)
        s->progress.current[0] = '\0';
    pthread_cond_broadcast(&s->idle_wake);
    free(look->path);
}

void hub_looks_run(struct hub_scanner *s)
{
    struct hub_look look;
    bool any = false;
    pthread_mutex_lock(&s->workers.lock);
    const int64_t now_ms = hub_time_mono_ms();
    if (HUB_MAX(s->due_ms, s->rest_until_ms) <= now_ms) {
        add_due(s, now_ms);
        any = true;
    }
    for (; take(s, now_ms, &look); any = true)
        run_locked(s, &look);
    if (any)
        hub_looks_plan(s);
    pthread_mutex_unlock(&s->workers.lock);
}

void hub_scanner_look(struct hub_scanner *s, uint32_t root, const char *path)
{
    pthread_mutex_lock(&s->workers.lock);
    if (root < s->walk.roots->count)
        hub_looks_add(s, root, path, false, 0);
    pthread_mutex_unlock(&s->workers.lock);
    hub_scan_wake(s);
}
