/* Damaged files: see damage.h. There are none, or a few. */
#include "storage/truth/damage.h"

#include "storage/model/layout.h"
#include "storage/truth/hubdb.h"

#include <fcntl.h>
#include <stdlib.h>

struct hub_damages {
    struct hub_damage *items; /* their texts are their own */
    uint32_t count, capacity;
};

static void free_texts(struct hub_damage *d)
{
    free((char *)d->path);
    free((char *)d->dataset);
    free((char *)d->why);
}

void hub_damages_free(struct hub_damages *damages)
{
    for (uint32_t i = 0; damages && i < damages->count; i++)
        free_texts(&damages->items[i]);
    if (damages)
        free(damages->items);
    free(damages);
}

const char *hub_damage_code(const struct hub_damage *damage)
{
    return damage->served ? "object-changed" : "file-damaged";
}

/* ---- in memory; damage_lock held ---- */

static int order(const struct hub_damage *d, uint32_t root, const char *path)
{
    return d->root != root ? (d->root > root) - (d->root < root) : strcmp(d->path, path);
}

/* The index of a file, or where it would be. */
static uint32_t lower_bound_damage(const struct hub_damages *all, uint32_t root, const char *path,
                                   bool *there)
{
    uint32_t i = 0;
    while (i < all->count && order(&all->items[i], root, path) < 0)
        i++;
    *there = i < all->count && order(&all->items[i], root, path) == 0;
    return i;
}

static void drop(struct hub_truth *truth, uint32_t root, const char *path)
{
    struct hub_damages *all = truth->damages;
    bool there;
    const uint32_t i = lower_bound_damage(all, root, path, &there);
    if (!there)
        return;
    free_texts(&all->items[i]);
    memmove(&all->items[i], &all->items[i + 1], (--all->count - i) * sizeof *all->items);
    atomic_store(&truth->damage_count, all->count);
}

static enum hub_status insert(struct hub_truth *truth, const struct hub_damage *damage, struct hub_error *err)
{
    struct hub_damages *all = truth->damages;
    struct hub_damage copy = *damage;
    bool there;
    drop(truth, damage->root, damage->path);
    HUB_TRY(hub_grow(&all->items, all->count, &all->capacity, sizeof *all->items, err));
    copy.path = strdup(damage->path);
    copy.dataset = strdup(damage->dataset);
    copy.why = strdup(damage->why);
    if (!copy.path || !copy.dataset || !copy.why) {
        free_texts(&copy);
        return hub_no_memory(err);
    }
    const uint32_t i = lower_bound_damage(all, damage->root, damage->path, &there);
    memmove(&all->items[i + 1], &all->items[i], (all->count++ - i) * sizeof *all->items);
    all->items[i] = copy;
    atomic_store(&truth->damage_count, all->count);
    return HUB_OK;
}

static void unlock(pthread_mutex_t **lock)
{
    pthread_mutex_unlock(*lock);
}

static pthread_mutex_t *lock(struct hub_truth *truth)
{
    pthread_mutex_lock(&truth->damage_lock);
    return &truth->damage_lock;
}

enum hub_status hub_damage_check(struct hub_truth *truth, uint32_t root, const char *path,
                                 const struct hub_stamp *stamp, struct hub_error *err)
{
    bool there;
    if (atomic_load_explicit(&truth->damage_count, memory_order_relaxed) == 0)
        return HUB_OK;
    HUB_CLEANUP(unlock) pthread_mutex_t *held = lock(truth);
    (void)held;
    const uint32_t i = lower_bound_damage(truth->damages, root, path, &there);
    const struct hub_damage *found = there ? &truth->damages->items[i] : NULL;
    if (!found || found->served || !hub_stamp_equal(&found->stamp, stamp))
        return HUB_OK;
    return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_FILE_DAMAGED, "'%.200s' is damaged: %s", path,
                       found->why);
}

enum hub_status hub_damage_admit(void *truth, uint32_t root, const char *path, const struct hub_stamp *stamp,
                                 struct hub_error *err)
{
    return hub_damage_check(truth, root, path, stamp, err);
}

uint32_t hub_damage_each(struct hub_truth *truth, uint32_t root, const char *dataset, hub_damage_each_fn each,
                         void *user)
{
    uint32_t count = 0;
    if (atomic_load_explicit(&truth->damage_count, memory_order_relaxed) == 0)
        return 0;
    HUB_CLEANUP(unlock) pthread_mutex_t *held = lock(truth);
    (void)held;
    for (uint32_t i = 0; i < truth->damages->count; i++) {
        const struct hub_damage *d = &truth->damages->items[i];
        if (dataset && (d->root != root || strcmp(d->dataset, dataset) != 0))
            continue;
        count++;
        if (each)
            each(user, d);
    }
    return count;
}

static void count_unserved(void *user, const struct hub_damage *damage)
{
    *(uint32_t *)user += !damage->served;
}

uint32_t hub_damage_count(struct hub_truth *truth, uint32_t root, const char *dataset)
{
    uint32_t count = 0;
    (void)hub_damage_each(truth, root, dataset, count_unserved, &count);
    return count;
}

uint64_t hub_damage_generation(const struct hub_truth *truth)
{
    return atomic_load(&truth->damage_stored);
}

/* ---- in hub.db ---- */

static enum hub_status read_one(struct hub_truth *truth, struct hub_stmt *stmt, struct hub_error *err)
{
    const struct hub_damage damage = {.root = hub_roots_number(truth->roots, hub_stmt_text(stmt, 0)),
                                      .path = hub_stmt_text(stmt, 1),
                                      .dataset = hub_stmt_text(stmt, 2),
                                      .stamp = {.size = (uint64_t)hub_stmt_int(stmt, 3),
                                                .mtime_ns = (uint64_t)hub_stmt_int(stmt, 4),
                                                .tag = (uint64_t)hub_stmt_int(stmt, 5)},
                                      .why = hub_stmt_text(stmt, 6),
                                      .served = hub_stmt_int(stmt, 7)};
    return damage.root == HUB_NONE ? HUB_OK : insert(truth, &damage, err);
}

enum hub_status hub_damages_load(struct hub_truth *truth, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_new(&truth->damages, 1, sizeof *truth->damages, err));
    HUB_TRY(hub_db_prepare(
        truth->db, "SELECT root, path, dataset, size, mtime_ns, tag, why, served FROM damaged", &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        HUB_TRY(read_one(truth, stmt, err));
    }
}

static enum hub_status write(struct hub_truth *truth, const struct hub_damage *d, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_stmt *stmt;
    char number[16];
    HUB_TRY(
        hub_db_prepare(held->db,
                       "REPLACE INTO damaged (root, path, dataset, size, mtime_ns, tag, found, why, served)"
                       " VALUES (?, ?, ?, ?, ?, ?, " HUB_DB_NOW ", ?, ?)",
                       &stmt, err));
    hub_stmt_bind_text(stmt, 1, hub_roots_key(truth->roots, d->root, number));
    hub_stmt_bind_text(stmt, 2, d->path);
    hub_stmt_bind_text(stmt, 3, d->dataset);
    hub_stmt_bind_int(stmt, 4, (int64_t)d->stamp.size);
    hub_stmt_bind_int(stmt, 5, (int64_t)d->stamp.mtime_ns);
    hub_stmt_bind_int(stmt, 6, (int64_t)d->stamp.tag);
    hub_stmt_bind_text(stmt, 7, d->why);
    hub_stmt_bind_int(stmt, 8, d->served);
    return hub_stmt_run(stmt, err);
}

static enum hub_status remember(struct hub_truth *truth, const struct hub_damage *damage,
                                struct hub_error *err)
{
    HUB_CLEANUP(unlock) pthread_mutex_t *held = lock(truth);
    (void)held;
    atomic_fetch_add(&truth->damage_stored, 1);
    return insert(truth, damage, err);
}

enum hub_status hub_damage_put(struct hub_truth *truth, const struct hub_damage *damage,
                               struct hub_error *err)
{
    const enum hub_status st = write(truth, damage, err);
    HUB_TRY(remember(truth, damage, err)); /* it is not served though it could not be written down */
    return st;
}

static enum hub_status forget(struct hub_truth *truth, uint32_t root, const char *path, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_stmt *stmt;
    char number[16];
    HUB_TRY(hub_db_prepare(held->db, "DELETE FROM damaged WHERE root = ? AND path = ?", &stmt, err));
    hub_stmt_bind_text(stmt, 1, hub_roots_key(truth->roots, root, number));
    hub_stmt_bind_text(stmt, 2, path);
    return hub_stmt_run(stmt, err);
}

static bool is_recorded(struct hub_truth *truth, uint32_t root, const char *path)
{
    HUB_CLEANUP(unlock) pthread_mutex_t *held = lock(truth);
    bool there;
    (void)held;
    (void)lower_bound_damage(truth->damages, root, path, &there);
    return there;
}

enum hub_status hub_damage_clear(struct hub_truth *truth, uint32_t root, const char *path,
                                 struct hub_error *err)
{
    if (!is_recorded(truth, root, path))
        return HUB_OK;
    HUB_TRY(forget(truth, root, path, err));
    HUB_CLEANUP(unlock) pthread_mutex_t *held = lock(truth);
    (void)held;
    drop(truth, root, path);
    atomic_fetch_add(&truth->damage_stored, 1);
    return HUB_OK;
}

/* ---- what is no more ---- */

struct damaged_file {
    uint32_t root;
    char *path;
    struct hub_stamp stamp;
};

static void copy(void *user, const struct hub_damage *damage)
{
    struct damaged_file **at = user;
    **at = (struct damaged_file){damage->root, strdup(damage->path), damage->stamp};
    ++*at;
}

static bool is_same(const struct hub_truth *truth, const struct damaged_file *stored)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    struct stat st;
    const struct hub_roots *roots = truth->roots;
    if (!roots || stored->root >= roots->count)
        return true; /* unknown */
    const enum hub_status opened = hub_roots_open(roots, stored->root, stored->path, O_PATH, &fd, NULL);
    if (opened || fstat(fd, &st))
        return opened != HUB_NOT_FOUND;
    const struct hub_stamp stamp = hub_stamp_of(&st);
    return hub_stamp_equal(&stamp, &stored->stamp);
}

void hub_damage_refresh(struct hub_truth *truth)
{
    const uint32_t most = atomic_load(&truth->damage_count) + 16;
    HUB_CLEANUP(hub_freep) struct damaged_file *stored = NULL;
    if (most == 16 || hub_new(&stored, most, sizeof *stored, NULL))
        return;
    struct damaged_file *end = stored;
    if (hub_damage_each(truth, 0, NULL, NULL, NULL) <= most)
        (void)hub_damage_each(truth, 0, NULL, copy, &end);
    for (const struct damaged_file *k = stored; k < end; k++) {
        if (k->path && !is_same(truth, k))
            (void)!hub_damage_clear(truth, k->root, k->path, NULL);
        free(k->path);
    }
}
