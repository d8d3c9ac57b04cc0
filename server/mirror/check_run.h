/** A check under way: what check.c and the files named check_*.c share. */
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
    bool deep;            /* what the hub owns, by its commits */
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
    const char *commit;          /* deep: whose files they are, by the record; NULL: they are of none */
    struct hub_check_seen *seen; /* deep: files of several links that were read, a table of `seen_room` */
    uint32_t seen_count, seen_room;

    uint32_t root; /* of the batch */
    size_t count;
    struct hub_digest_item batch[HUB_CHECK_BATCH]; /* their paths are its own */
};

/** Add to a number of the result. */
void hub_check_count(const struct hub_check_run *check, const char *what, uint64_t more);
/** Add to its findings, once. `file`: what it should be, or NULL. */
void hub_check_note_of(const struct hub_check_run *check, const struct hub_file_facts *file, const char *path,
                       const char *what, const char *detail);
void hub_check_note(const struct hub_check_run *check, const char *path, const char *what,
                    const char *detail);
/** Keep what is known by now: the digests, and what was found. */
HUB_MUST_USE enum hub_status hub_check_flush(struct hub_check_run *check, struct hub_error *err);

/** Read a file of the dataset under way, and deal with what it is. */
HUB_MUST_USE enum hub_status hub_check_file(struct hub_check_run *check, const struct hub_dataset_file *file,
                                            struct hub_error *err);

/** Read an open file from the disk, in the pace of the check. *bad: the disk does not have all of it. */
HUB_MUST_USE enum hub_status hub_check_read(struct hub_check_run *check, int fd, uint64_t size,
                                            struct hub_file_hasher *hasher, bool *bad, struct hub_error *err);

/** Check the objects that commits of repos name, and find those that nobody names. */
HUB_MUST_USE enum hub_status hub_check_objects(struct hub_check_run *check, struct hub_error *err);
enum { HUB_OBJECT_PATH = 120 };
/** The key of a root that has an object with these bytes, which is no finding itself, and where it lies
 * there; NULL: none has. */
const char *hub_check_find_object(const struct hub_check_run *check, const uint8_t sha256[HUB_SHA256_BYTES],
                                  char path[HUB_OBJECT_PATH]);

/** Check what the hub owns: each dataset that it published or mirrored, and what is kept of it. Then say of
 * what is missing or other where it can come from. */
HUB_MUST_USE enum hub_status hub_check_deep(struct hub_check_run *check, struct hub_error *err);
/** The dataset of `summary`. */
HUB_MUST_USE enum hub_status hub_check_dataset(struct hub_check_run *check, struct hub_error *err);
/** Whether an id, or a pattern, of the spec means this id. */
bool hub_check_is_requested(const json_t *ids, const char *id);

/** The digests of a file that has several links, if another one of them was read by this check. */
struct hub_check_seen {
    struct hub_stamp stamp; /* size 0: an empty place */
    struct hub_file_digests digests;
};
const struct hub_file_digests *hub_check_find_seen(const struct hub_check_run *check,
                                                   const struct hub_stamp *stamp);
void hub_check_add_seen(struct hub_check_run *check, const struct hub_stamp *stamp,
                        const struct hub_file_digests *digests);

/** Fetch the damaged pieces of a file again, from where it was copied; the results are in `mend`. */
HUB_MUST_USE enum hub_status hub_check_mend(struct hub_check_run *check, const struct hub_file_facts *from,
                                            const struct hub_stamp *stamp, struct hub_repair *mend,
                                            struct hub_error *err);
void hub_check_close_remote(struct hub_check_run *check);

#endif
