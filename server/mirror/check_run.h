/** A check under way: what check.c, check_file.c and check_mend.c share. */
#ifndef HUB_MIRROR_CHECK_RUN_H
#define HUB_MIRROR_CHECK_RUN_H

#include "server/mirror/work.h"
#include "storage/catalog/catalog.h"
#include "storage/transfer/record.h"
#include "storage/transfer/repair.h"
#include "storage/truth/digests.h"

enum { HUB_CHECK_BATCH = 256 };
#define HUB_CHECK_BLOCK (1 * MIB)

struct hub_check_run {
    struct hub_mirror_work *w;
    const json_t *ids; /* NULL: all */
    json_t *result;
    int64_t since_ms;     /* files checked after this time were checked by this job */
    bool repair, mended;  /* requested; true once a file of this dataset was repaired */
    uint64_t rate, paced; /* bytes a second, 0: any; bytes since `begun_us` */
    int64_t begun_us, flushed_ms;
    char *block;

    const struct hub_summary *summary; /* the dataset under way */
    struct hub_upstream up;
    char *copy;            /* the folder that the rule copied, which is the dataset's or one around it */
    struct hub_view below; /* of that, the dataset's; "": it is the same */
    struct hub_mirror_work *from;  /* the remote it came from, opened; NULL: not yet */
    struct hub_remote_files files; /* that it lists */
    struct hub_record record;
    int64_t downloaded_ns;

    uint32_t root; /* of the batch */
    size_t count;
    struct hub_digest_item batch[HUB_CHECK_BATCH]; /* their paths are its own */
};

/** Add to a number of the result. */
void hub_check_count(const struct hub_check_run *check, const char *what, uint64_t more);
/** Add to its findings, once. */
void hub_check_note(const struct hub_check_run *check, const char *path, const char *what,
                    const char *detail);
/** Keep what is known by now: the digests, and what was found. */
HUB_MUST_USE enum hub_status hub_check_flush(struct hub_check_run *check, struct hub_error *err);

/** Read a file of the dataset under way, and deal with what it is. */
HUB_MUST_USE enum hub_status hub_check_file(struct hub_check_run *check, const struct hub_dataset_file *file,
                                            struct hub_error *err);

/** Fetch the damaged pieces of a file again, from where it was copied; the results are in `mend`. */
HUB_MUST_USE enum hub_status hub_check_mend(struct hub_check_run *check, const struct hub_file_facts *from,
                                            const struct hub_stamp *stamp, struct hub_repair *mend,
                                            struct hub_error *err);
void hub_check_close_remote(struct hub_check_run *check);

#endif
