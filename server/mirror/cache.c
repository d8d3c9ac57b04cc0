/* The cache of pulled datasets, within bounds: see cache.h. */
#include "server/mirror/cache.h"

#include "server/mirror/listed.h"
#include "server/mirror/pull_job.h"
#include "server/mirror/readers.h"
#include "server/mirror/work.h"
#include "storage/io/fs.h"
#include "storage/model/format_row.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/truth/upstream.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEND_MS = 5000, ASKED_MS = 60 * 1000 };

struct copy {
    struct hub_copy known;
    char *path, *remote_id, *id;
    uint32_t rule; /* by number */
    bool read;     /* since it was written down */
};

struct copies {
    struct hub_mirrors *mirrors;
    const struct hub_snapshot *snapshot;
    char (*rules)[HUB_RULE_NAME_CHARS + 1]; /* those that pull */
    uint32_t rule_count, rule_capacity, rule;
    struct copy *items;
    uint32_t count, capacity;
    uint64_t bytes;
};

static void dispose(struct copies *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->items[i].path);
        free(c->items[i].remote_id);
        free(c->items[i].id);
    }
    free(c->items);
    free(c->rules);
    hub_snapshot_put(c->snapshot);
}

static enum hub_status note_rule(void *user, const struct hub_rule *rule, struct hub_error *err)
{
    struct copies *c = user;
    if (!hub_rule_pulls(rule))
        return HUB_OK;
    HUB_TRY(hub_grow(&c->rules, c->rule_count, &c->rule_capacity, sizeof *c->rules, err));
    snprintf(c->rules[c->rule_count++], sizeof *c->rules, "%s", rule->name);
    return HUB_OK;
}

/* The next dataset that is the copy, or that was found in it; *at is 0 at first. NULL: no more. */
static const struct hub_summary *next_of(const struct copies *c, const struct copy *copy, uint32_t *at)
{
    const size_t size = strlen(copy->path);
    const struct hub_summary *own =
        *at ? NULL : hub_snapshot_find(c->snapshot, hub_view_of(copy->id)); /* or loose files of it */
    *at += *at == 0;
    if (own && hub_summary_is_here(own) && !hub_format_is_files(own->format))
        *at = c->snapshot->count + 1;
    if (own)
        return own;
    while (*at <= c->snapshot->count) {
        const struct hub_summary *summary = c->snapshot->summaries[(*at)++ - 1];
        if (summary->root == copy->known.root && strncmp(summary->path, copy->path, size) == 0 &&
            (!summary->path[size] || summary->path[size] == '/'))
            return summary;
    }
    return NULL;
}

static int64_t last_read_ms(const struct copies *c, const struct copy *copy)
{
    int64_t last_ms = 0;
    const struct hub_summary *summary;
    for (uint32_t at = 0; (summary = next_of(c, copy, &at));)
        last_ms = HUB_MAX(last_ms, hub_summary_read_ms(summary));
    return last_ms;
}

static bool is_read(const struct copies *c, const struct copy *copy)
{
    bool read = hub_readers_any(c->mirrors, copy->id);
    const struct hub_summary *summary;
    for (uint32_t at = 0; !read && (summary = next_of(c, copy, &at));)
        read = hub_readers_any(c->mirrors, summary->id);
    return read;
}

static enum hub_status note_copy(void *user, const struct hub_copy *copy, struct hub_error *err)
{
    struct copies *c = user;
    char id[4096];
    if (copy->root >= c->mirrors->options.roots->count)
        return HUB_OK;
    HUB_TRY(hub_grow(&c->items, c->count, &c->capacity, sizeof *c->items, err));
    struct copy *to = &c->items[c->count++];
    *to = (struct copy){.known = *copy, .rule = c->rule};
    hub_listed_id(c->mirrors, copy->root, copy->path, id, sizeof id);
    HUB_TRY(hub_dup(&to->path, copy->path, err));
    HUB_TRY(hub_dup(&to->remote_id, copy->remote_id, err));
    HUB_TRY(hub_dup(&to->id, id, err));
    const int64_t read_ms = last_read_ms(c, to);
    to->read = read_ms > copy->read_ms;
    to->known.read_ms = HUB_MAX(read_ms, copy->read_ms);
    c->bytes += copy->size;
    return HUB_OK;
}

static enum hub_status gather(struct hub_mirrors *m, struct copies *c, struct hub_error *err)
{
    struct hub_truth *truth = m->options.truth;
    *c = (struct copies){.mirrors = m, .snapshot = hub_catalog_snapshot(m->options.catalog)};
    HUB_TRY(hub_rules_each(truth, note_rule, c, err));
    for (; c->rule < c->rule_count; c->rule++)
        HUB_TRY(hub_copies_each(truth, c->rules[c->rule], note_copy, c, err));
    atomic_store(&m->cache_bytes, c->bytes);
    return HUB_OK;
}

static void write_reads(const struct copies *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        const struct hub_copy *copy = &c->items[i].known;
        if (c->items[i].read)
            (void)!hub_copy_read(c->mirrors->options.truth, copy->root, c->items[i].path, copy->read_ms,
                                 NULL);
    }
}

/* ---- room ---- */

static int by_read(const void *a, const void *b)
{
    const int64_t x = ((const struct copy *)a)->known.read_ms, y = ((const struct copy *)b)->known.read_ms;
    return (x > y) - (x < y);
}

static bool is_full(const struct hub_mirrors *m, uint32_t root, uint64_t bytes)
{
    uint64_t left = 0;
    return hub_fs_free_bytes(m->options.roots->roots[root].path, &left, NULL) == HUB_OK &&
           (left < bytes || left - bytes < m->options.min_free);
}

static void notify(const struct copies *c, const struct copy *copy, enum hub_status st,
                   const struct hub_error *why)
{
    const struct hub_mirrors_options *o = &c->mirrors->options;
    char detail[600], size[HUB_SIZE_CHARS];
    hub_number_size(copy->known.size, size);
    snprintf(detail, sizeof detail,
             st ? "no dataset was removed to make room: %s%s"
                : "%sof all that was pulled it was read least recently; %s",
             st ? why->detail : "", st ? "" : size);
    if (o->notify)
        o->notify(o->user, &(struct hub_mirror_event){st ? HUB_MIRROR_FAILED : HUB_MIRROR_REMOVED,
                                                      c->rules[copy->rule], copy->id, detail});
}

/* It would not fit if all of it went. */
static bool is_in_vain(const struct copies *c, uint32_t root, const char *keep, uint64_t bytes)
{
    const struct hub_mirrors_options *o = &c->mirrors->options;
    uint64_t left = 0, staying = 0, going = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct hub_copy *copy = &c->items[i].known;
        const bool stays = copy->gone || strcmp(c->items[i].id, keep) == 0;
        staying += stays ? copy->size : 0;
        going += !stays && copy->root == root ? copy->size : 0;
    }
    return (o->cache_max && staying + bytes > o->cache_max) ||
           (hub_fs_free_bytes(o->roots->roots[root].path, &left, NULL) == HUB_OK &&
            left + going < bytes + o->min_free);
}

/* Until there is room for so many bytes below a root, or nothing is left that may go. */
static void make_room(struct copies *c, uint32_t root, const char *keep, uint64_t bytes)
{
    struct hub_mirrors *m = c->mirrors;
    const uint64_t max = m->options.cache_max;
    if (bytes && is_in_vain(c, root, keep, bytes))
        return;
    if (c->count)
        qsort(c->items, c->count, sizeof *c->items, by_read);
    for (uint32_t i = 0; i < c->count; i++) {
        struct copy *copy = &c->items[i];
        struct hub_error why = {0};
        const bool too_much = max && c->bytes + bytes > max;
        if (!too_much && !is_full(m, root, bytes))
            break;
        if (copy->known.gone || strcmp(copy->id, keep) == 0 || (!too_much && copy->known.root != root) ||
            !copy->known.size || is_read(c, copy) || !hub_pull_release(m->pulls, copy->id))
            continue;
        const enum hub_status st = hub_copy_remove(&m->options, copy->known.root, copy->path, &why);
        notify(c, copy, st, &why);
        if (st)
            continue;
        c->bytes -= copy->known.size;
        copy->known.size = 0; /* it is gone: the next root does not count on it */
        atomic_fetch_add(&m->evictions, 1);
    }
    atomic_store(&m->cache_bytes, c->bytes);
}

enum hub_status hub_cache_make_room(struct hub_mirrors *m, const char *id, uint64_t bytes,
                                    struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct copies c = {0};
    const uint64_t max = m->options.cache_max;
    pthread_mutex_lock(&m->cache_lock);
    enum hub_status st = gather(m, &c, err);
    const struct hub_summary *summary = st ? NULL : hub_snapshot_find(c.snapshot, hub_view_of(id));
    if (summary)
        make_room(&c, summary->root, id, bytes);
    pthread_mutex_unlock(&m->cache_lock);
    if (st || !max || bytes <= max)
        return st;
    char size[HUB_SIZE_CHARS], most[HUB_SIZE_CHARS];
    hub_number_size(bytes, size);
    hub_number_size(max, most);
    return hub_fail_as(err, HUB_NO_SPACE, HUB_PROBLEM_NO_SPACE,
                       "'%s' has %s; all fetched datasets together may have %s (--cache-max)", id, size,
                       most);
}

/* ---- from time to time ---- */

/* What is no longer as upstream, and was read since that was noticed. */
static void renew(const struct copies *c)
{
    bool asked = false;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct copy *copy = &c->items[i];
        if (!copy->known.stale || copy->known.gone || copy->known.read_ms <= copy->known.seen_ms)
            continue;
        asked |= hub_pull_add_job(c->mirrors, copy->id, c->rules[copy->rule], copy->remote_id, copy->path,
                                  NULL) == HUB_OK;
    }
    if (asked)
        hub_mirrors_wake(c->mirrors);
}

/* Somebody asked for what nobody has: perhaps an upstream has it by now. */
static void look_again(const struct copies *c, int64_t now_ms)
{
    struct hub_mirrors *m = c->mirrors;
    if (!atomic_exchange(&m->missed, false) || now_ms - m->looked_ms < ASKED_MS)
        return;
    m->looked_ms = now_ms;
    for (uint32_t i = 0; i < c->rule_count; i++)
        (void)!hub_rule_run_soon(m->options.truth, c->rules[i], ASKED_MS, NULL);
}

static void evict_and_refresh(struct hub_mirrors *m, int64_t now_ms)
{
    HUB_CLEANUP(dispose) struct copies c = {0};
    if (gather(m, &c, NULL))
        return;
    write_reads(&c);
    look_again(&c, now_ms);
    renew(&c);
    for (uint32_t root = 0; root < m->options.roots->count; root++)
        if (!m->options.roots->roots[root].read_only)
            make_room(&c, root, "", 0);
}

void hub_cache_maintain(struct hub_mirrors *m)
{
    const int64_t now_ms = hub_time_mono_ms();
    if (pthread_mutex_trylock(&m->cache_lock) != 0)
        return; /* another does */
    if (now_ms >= m->tended_ms + TEND_MS) {
        evict_and_refresh(m, now_ms);
        m->tended_ms = now_ms;
    }
    pthread_mutex_unlock(&m->cache_lock);
}

void hub_cache_flush(struct hub_mirrors *m)
{
    HUB_CLEANUP(dispose) struct copies c = {0};
    if (gather(m, &c, NULL) == HUB_OK)
        write_reads(&c);
}
