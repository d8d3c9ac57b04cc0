/**
 * What the files of pull-through share: the datasets that are on their way, the lists of their files with what of them
 * is there, and who waits. One lock, held briefly; a thread of its own reads what somebody waits for as soon as it is
 * there, so that neither the transfer nor a client ever waits for the other.
 */
#ifndef HUB_MIRROR_PULLS_H
#define HUB_MIRROR_PULLS_H

#include "server/mirror/coming.h"

#include <pthread.h>
#include <stdatomic.h>

/** A file of a list, and what of it is there. */
struct hub_coming_file {
    struct hub_pull_file shown; /* first */
    uint64_t prefix;            /* all bytes before it are there */
    uint64_t wanted_end;        /* the nearest end that is waited for; UINT64_MAX: none */
    uint8_t *segments;          /* one each: is it there? */
    uint32_t segment_count;
    unsigned turn; /* counts what was lost: who read before has another file */
    bool whole;
};

struct hub_pull_plan {
    atomic_uint refs;
    struct hub_pulls *pulls;
    int tree;
    char revision[HUB_REVISION_CHARS + 1];
    uint64_t segment_bytes;
    uint32_t count, wanted; /* wanted: UINT32_MAX: none */
    struct hub_coming_file *files;
    bool over; /* nothing more comes: why */
    struct hub_error why;
};

struct hub_pull {
    struct hub_pulls *pulls;
    struct hub_pull *next;
    unsigned refs;
    enum { HUB_PULL_WAITS, HUB_PULL_COMES, HUB_PULL_PUBLISHED, HUB_PULL_FAILED } state;
    int64_t until_ms; /* failed, published: kept so long */
    struct hub_error why;
    struct hub_pull_progress progress;
    struct hub_pull_plan *plan; /* or NULL */
    char id[];
};

struct hub_pull_waiting;

struct hub_pulls {
    struct hub_mirrors *mirrors;
    pthread_mutex_t lock; /* all below, and all of pulls and plans but what never changes */
    pthread_cond_t wake;
    bool stop;
    struct hub_pull *first;
    struct hub_pull_waiting *waiting;
    pthread_t feeder;
};

/* ---- with the lock ---- */

/** So many bytes of a file may be told. */
uint64_t hub_pull_visible(const struct hub_coming_file *file);
/** Nothing more comes of its list: why. */
void hub_pull_end_plan(struct hub_pull *pull, const struct hub_error *why);
/** HUB_BUSY, and how far it is. */
enum hub_status hub_pull_pending(const struct hub_pull *pull, struct hub_error *err);
void hub_pull_unref(struct hub_pull *pull);
/** Forget those that are over. */
void hub_pulls_tidy(struct hub_pulls *pulls);
/** What is fetched of this is there when its list of files is. NULL: no memory. */
struct hub_file *hub_pull_wait_for_list(struct hub_pull *pull);

/** The thread that answers who waits; until `stop`. */
void *hub_pulls_feed(void *arg);

#endif
