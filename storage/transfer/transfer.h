/**
 * A dataset from a remote into a root: its files are listed, fetched into a staging place, verified, and
 * published by a rename. It knows remotes by their questions only, and neither a command line nor a
 * catalogue. A transfer works on the thread that calls; as many at once as there are remotes opened for
 * them.
 */
#ifndef HUB_TRANSFER_TRANSFER_H
#define HUB_TRANSFER_TRANSFER_H

#include "storage/transfer/watch.h"

#include <stdatomic.h>

enum hub_transfer_phase {
    HUB_TRANSFER_FETCH,   /* bytes come */
    HUB_TRANSFER_CHECK,   /* they are hashed, and digests of the remote waited for */
    HUB_TRANSFER_PUBLISH, /* synced and renamed */
};

/** A dataset that lies here, as an earlier transfer left it: what of it is still the same is linked, or
 * copied where it cannot be, instead of fetched. A link changes the change time of the file under both
 * names: who keeps stamps takes them again after the transfer, and after what was replaced is removed from
 * the trash. */
struct hub_reuse {
    int directory; /* the dataset's folder; borrowed */
    const struct hub_file_facts *files;
    size_t count; /* sorted by path bytes */
};

/** Zero it, fill the first group, run it, read the second, dispose of it. */
struct hub_transfer {
    struct hub_remote *remote; /* its transport has the rate, the retries, the time-outs and `interrupted` */
    const char *id;            /* id on the remote, with its version */
    const struct hub_private *place; /* of the root; hub_publish_recover is the caller's */
    const char *target;              /* where below the root; NULL: as `id` */
    bool replace;                    /* the dataset that is there; without it that is HUB_EXISTS */
    const char *const *include, *const
                                    *exclude; /* patterns of paths or names, ended by NULL; NULL: all, none */
    /** NULL, or asked which files of the list are wanted besides: those, by number, that it leaves true. */
    enum hub_status (*choose)(const struct hub_transfer *transfer, bool *wanted, void *user,
                              struct hub_error *err);
    bool plan_only;               /* end with the list of the files that would be fetched */
    const struct hub_reuse *have; /* NULL: nothing */
    unsigned connections;         /* 0: 4 */
    unsigned digest_wait_ms;      /* for digests that the remote is still computing; 0: 30 s */
    uint64_t segment_bytes;       /* unit of a range and of the journal; 0: what suits the remote */
    bool sha256_later;            /* as in hub_pieces: who calls computes what the origins lack */
    unsigned mends;               /* how often what came wrong is fetched again; 0: the caller sees to it */
    uint64_t spare_bytes;         /* must stay free on the disk */
    const atomic_bool *cancel; /* NULL, or set from any thread: HUB_CANCELLED soon, and what came is kept */
    /** NULL, or called with the progress, several times a second; anything but HUB_OK ends it with that. */
    enum hub_status (*progress)(const struct hub_transfer *transfer, void *user, struct hub_error *err);
    /** NULL, or asked when all is verified and nothing published; anything but HUB_OK ends it with that. */
    enum hub_status (*ready)(const struct hub_transfer *transfer, void *user, struct hub_error *err);
    /** NULL, or one line for a person. */
    void (*notice)(const char *line, void *user);
    void *user;
    const struct hub_transfer_watch *watch; /* NULL: nobody looks at what comes */

    enum hub_transfer_phase phase;
    uint64_t bytes_done, bytes_total; /* of the phase; files that were kept or linked are done */
    uint64_t bytes_kept;              /* of an earlier, interrupted transfer */
    uint64_t bytes_linked;            /* linked from files that exist here */
    uint64_t files_done, files_verified;
    const char *digest; /* by which, "SHA-256"; of several the weakest */
    /* As the remote lists them: id, revision, left out names. After a success the files are those here: their
     * times, ETags, digests and pieces. */
    struct hub_remote_files files;
};

/**
 * HUB_OK: ROOT/TARGET is the dataset, on the disk for good. Otherwise nothing of it is visible, what came
 * is kept for the next call, and the error says why: HUB_BUSY "download-running", HUB_CHANGED "changed"
 * (again and again), HUB_CORRUPT "digest-mismatch" or "protocol", HUB_NO_SPACE, HUB_EXISTS, HUB_CANCELLED,
 * HUB_DENIED, HUB_IO "unreachable", HUB_NOT_FOUND.
 */
HUB_MUST_USE enum hub_status hub_transfer_run(struct hub_transfer *transfer, struct hub_error *err);
void hub_transfer_dispose(struct hub_transfer *transfer);

#endif
