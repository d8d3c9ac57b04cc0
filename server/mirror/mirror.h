/**
 * Mirrors: what rules ask for is listed, copied and kept as it is upstream, by threads that take jobs out
 * of hub.db. What the program was doing when it ended, however it ended, goes on with the next start.
 */
#ifndef HUB_MIRROR_MIRROR_H
#define HUB_MIRROR_MIRROR_H

#include "storage/scan/scan.h"
#include "storage/truth/rules.h"

struct hub_mirrors;

/** What an operator should hear about. */
struct hub_mirror_event {
    enum hub_mirror_event_kind {
        HUB_MIRROR_COPIED = 1, /* a dataset, or the change of one */
        HUB_MIRROR_REMOVED,    /* it is no more upstream, and by its rule no more here */
        HUB_MIRROR_KEPT,       /* the remote lists it no more, but it is not known to be gone */
        HUB_MIRROR_FAILED,     /* tried again later, unless `detail` says otherwise */
        HUB_MIRROR_SYNCED,     /* a pass that changed something is over */
        HUB_CHECK_DAMAGED,     /* a file; it is not served any more */
        HUB_CHECK_REPAIRED,    /* a file */
        HUB_MIRROR_LEFT,       /* what a rule does not take, when that is another than before */
    } kind;
    const char *rule; /* or "" */
    const char *id;   /* of the dataset here, or "" */
    const char *detail;
};

struct hub_mirrors_options {
    struct hub_catalog *catalog;
    struct hub_truth *truth;
    struct hub_scanner *scanner; /* with checks_only it may be NULL */
    struct hub_digest_queue
        *hasher; /* for files that only a bucket's digest verified; NULL: hash all as they come */
    const struct hub_roots *roots;
    const char *state; /* directory */
    bool checks_only;  /* checks and adoptions: what needs no remote */
    uint64_t cache_max,
        min_free; /* bytes: of what is pulled together, 0: any; that stay free below each root */
    /** Memory of requests that lists of remotes are kept in, as far as there is some. NULL: it is not
     * counted. */
    bool (*take)(void *memory, uint64_t bytes);
    void (*give)(void *memory, uint64_t bytes);
    void *memory;
    unsigned silence_ms; /* for which a remote may hold a thread that others wait for; 0: ten seconds */
    /** Called from its threads, no lock held; must not block. NULL: nobody listens. */
    void (*notify)(void *user, const struct hub_mirror_event *event);
    void *user;
};

HUB_MUST_USE enum hub_status hub_mirrors_start(const struct hub_mirrors_options *options,
                                               struct hub_mirrors **out, struct hub_error *err);
/** Running jobs end soon, and go on at the next start. NULL is fine. */
void hub_mirrors_stop(struct hub_mirrors *mirrors);
/** A rule was made or changed, or a job was asked for: look now. NULL is fine. */
void hub_mirrors_wake(struct hub_mirrors *mirrors);

/** Somebody asked for a dataset that nobody has: the upstreams may be asked for their lists earlier. NULL is
 * fine. */
void hub_mirrors_missed(struct hub_mirrors *mirrors);

/** Pulled datasets that are here, and those removed to make room, since the start. */
struct hub_mirror_gauges {
    uint64_t cache_bytes, cache_max, evictions;
};
void hub_mirrors_gauges(struct hub_mirrors *mirrors, struct hub_mirror_gauges *out);

#endif
