/**
 * What the files of pull-through share: the datasets that are on their way, the lists of their files with
 * what of them is there, and who waits. One lock, held briefly; a thread of its own reads what somebody
 * waits for as soon as it is there, so that neither the transfer nor a client ever waits for the other.
 */
#ifndef HUB_MIRROR_PULLS_H
#define HUB_MIRROR_PULLS_H

#include "server/mirror/pull_job.h"
#include "storage/base/thread.h"
#include "storage/ids/revision.h"

#include <stdatomic.h>

/** A file of a list, and what of it is there. */
struct hub_partial_file {
    struct hub_file_facts facts; /* first; as the upstream states them */
    uint8_t *segments;           /* one each: is it there? */
    uint32_t segment_count;
    unsigned turn; /* counts what was lost: who read before has another file */
    bool whole;    /* and as its digest says */
};

/** A segment that somebody waits for. */
struct hub_wanted {
    uint32_t file, segment;
};
enum { HUB_MOST_WANTED = 16 };

struct hub_pull_plan {
    atomic_uint refs;
    struct hub_pulls *pulls;
    int tree;
    char revision[HUB_REVISION_CHARS + 1];
    uint64_t segment_bytes;
    uint32_t count;
    struct hub_partial_file *files;
    struct hub_wanted wanted[HUB_MOST_WANTED]; /* in order of arrival */
    unsigned wanted_count;
    bool over; /* nothing more comes: why */
    struct hub_error why;
    struct hub_pull_plan *next; /* the list that the fetching went on with, or NULL */
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
    bool down;                  /* its upstream did not answer the last pass of its rule */
    char id[];
};

struct hub_pull_waiting;

struct hub_pulls {
    struct hub_mirrors *mirrors;
    struct hub_thread
        thread; /* its lock: of all below, and of all of pulls and plans but what never changes */
    struct hub_pull *first;
    struct hub_pull_waiting *waiting;
};

/* ---- with the lock ---- */

/** May these bytes be sent? */
bool hub_pull_is_there(const struct hub_pull_plan *plan, const struct hub_partial_file *file, uint64_t offset,
                       uint64_t size);
/** They are to be fetched next. */
void hub_pull_want(struct hub_pull_plan *plan, uint32_t number, uint64_t offset, uint64_t size);
/** HUB_BUSY, and how far it is. */
enum hub_status hub_pull_pending(const struct hub_pull *pull, struct hub_error *err);
void hub_pull_unref(struct hub_pull *pull);
/** Forget those that are over. */
void hub_pulls_tidy(struct hub_pulls *pulls);
/** What is fetched of this is there when its list of files is. NULL: no memory. */
struct hub_file *hub_pull_wait_for_list(struct hub_pull *pull);

/** The thread that answers who waits. */
void *hub_pulls_serve_readers(void *arg);

#endif
