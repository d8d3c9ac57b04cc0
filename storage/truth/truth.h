/**
 * What this hub alone knows, in hub.db: digests of files, damaged files, rules, jobs, origins of copies,
 * and how the roots looked. It is opened beside the catalogue, which can be built again from the datasets;
 * this cannot. digests.h, damage.h, rules.h, jobs.h, upstream.h and seen.h read and write it.
 *
 * Thread-safety: everything may be called from any thread; writers wait for each other.
 */
#ifndef HUB_TRUTH_TRUTH_H
#define HUB_TRUTH_TRUTH_H

#include "storage/io/roots.h"

struct hub_lru_room;
struct hub_truth;

struct hub_truth_options {
    const char *state;             /* the directory of hub.db, which the caller holds */
    const struct hub_roots *roots; /* borrowed: what lies under one is stored by its key; NULL: by number */
    bool check;                    /* it may be damaged: the last run did not end cleanly */
    struct hub_lru_room *room;     /* borrowed: where its cache is one of several; NULL: alone */
};

/** The file is brought to the newest version. HUB_UNSUPPORTED: it was written by a newer program. */
HUB_MUST_USE enum hub_status hub_truth_open(const struct hub_truth_options *options, struct hub_truth **out,
                                            struct hub_error *err);
/** NULL is fine. */
void hub_truth_close(struct hub_truth *truth);

#endif
