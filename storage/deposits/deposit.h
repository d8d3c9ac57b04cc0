/**
 * Objects: files called by their SHA-256, ROOT/.minari-hub/objects/SHA256, each once in a root whoever sent
 * it. They come before a commit names them, and are linked into the trees that do; so nothing is stored
 * twice. What no commit took within a day goes. Until an object is whole and has the digest that was stated
 * it has a name that nobody reads. Safe from any thread; one deposit belongs to one thread at a time.
 */
#ifndef HUB_DEPOSITS_DEPOSIT_H
#define HUB_DEPOSITS_DEPOSIT_H

#include "storage/model/file_hasher.h"
#include "storage/transfer/private.h"
#include "storage/truth/deposits.h"

enum { HUB_DEPOSIT_HOURS = 24, HUB_DEPOSIT_WHO = 80 };

/** Where they are kept, and how much of it. */
struct hub_deposits {
    struct hub_truth *truth;
    const struct hub_roots *roots;
    uint64_t budget_bytes; /* of all that no commit took */
    uint64_t spare_bytes;  /* that stay free on the disk */
};

/** An object that comes. HUB_DEPOSIT_INIT: none. */
struct hub_deposit {
    const struct hub_deposits *deposits;
    struct hub_private place;
    int folder, fd;
    uint32_t root;
    char who[HUB_DEPOSIT_WHO], name[48];
    uint64_t size;
    struct hub_file_hasher hasher; /* its `at` is how much of it came */
};
#define HUB_DEPOSIT_INIT                                                                                     \
    (struct hub_deposit)                                                                                     \
    {                                                                                                        \
        .place = HUB_PRIVATE_INIT, .folder = -1, .fd = -1                                                    \
    }

/** What is to come. */
struct hub_deposit_order {
    uint32_t root;
    bool git;        /* its SHA-1 as a blob of git is wanted, too */
    const char *who; /* as hub_request_writer names a principal */
    uint64_t size;
};
/** @return HUB_NO_SPACE "no-space": neither the disk nor the budget takes so much */
HUB_MUST_USE enum hub_status hub_deposit_begin(const struct hub_deposits *deposits,
                                               const struct hub_deposit_order *order, struct hub_deposit *out,
                                               struct hub_error *err);
/** HUB_TOO_BIG: more than its size. */
HUB_MUST_USE enum hub_status hub_deposit_write(struct hub_deposit *deposit, struct hub_view bytes,
                                               struct hub_error *err);
/**
 * It is whole: an object from now on, the principal's.
 * @param sha256  that it must have; NULL: any
 * @param out     what it is; NULL: nobody asks
 * @return HUB_CORRUPT "digest-mismatch", HUB_INVALID where bytes are missing: nothing is kept
 */
HUB_MUST_USE enum hub_status hub_deposit_finish(struct hub_deposit *deposit, const uint8_t *sha256,
                                                struct hub_deposit_row *out, struct hub_error *err);
/** Give it up, unless it is finished. One that has ended may be given up again. */
void hub_deposit_abandon(struct hub_deposit *deposit);

/** Did this principal send it, and is it there? HUB_NOT_FOUND. `out` as hub_deposit_find. */
HUB_MUST_USE enum hub_status hub_deposit_has(const struct hub_deposits *deposits, struct hub_deposit_row *out,
                                             struct hub_error *err);
/** Open an object, whoever sent it. HUB_NOT_FOUND. */
HUB_MUST_USE enum hub_status hub_object_file_open(const struct hub_deposits *deposits, uint32_t root,
                                                  const uint8_t sha256[HUB_SHA256_BYTES], int *fd,
                                                  struct hub_error *err);
/** Append where an object lies below its root: ".minari-hub/objects/SHA256". */
HUB_MUST_USE enum hub_status hub_object_file_path(const struct hub_deposits *deposits, uint32_t root,
                                                  const uint8_t sha256[HUB_SHA256_BYTES], struct hub_buf *out,
                                                  struct hub_error *err);
/** All objects of a root that came by now are on the disk for good. */
HUB_MUST_USE enum hub_status hub_object_files_sync(const struct hub_deposits *deposits, uint32_t root,
                                                   struct hub_error *err);
/** Link an object into a tree of the same root; folders on the way are made. HUB_NOT_FOUND: there is none. */
HUB_MUST_USE enum hub_status hub_object_file_link(const struct hub_deposits *deposits, uint32_t root,
                                                  const uint8_t sha256[HUB_SHA256_BYTES], int tree,
                                                  const char *path, struct hub_error *err);
/** The other way round: make an object of a file of the hub's own whose digest is known. */
HUB_MUST_USE enum hub_status hub_object_file_take(const struct hub_deposits *deposits, uint32_t root,
                                                  int directory, const char *path,
                                                  const uint8_t sha256[HUB_SHA256_BYTES],
                                                  struct hub_error *err);

/** Make an object of a whole and checked file of the same root that nobody else writes: it is moved, and
 * replaces a file of that name. */
HUB_MUST_USE enum hub_status hub_object_file_move(const struct hub_deposits *deposits, uint32_t root,
                                                  int directory, const char *path,
                                                  const uint8_t sha256[HUB_SHA256_BYTES],
                                                  struct hub_error *err);
/** Whether an object lies there as the hub stored it, by its mode and size; its bytes are not read. */
bool hub_object_file_is_whole(const struct hub_deposits *deposits, uint32_t root,
                              const uint8_t sha256[HUB_SHA256_BYTES], uint64_t size);

typedef enum hub_status (*hub_object_file_each)(void *user, const uint8_t sha256[HUB_SHA256_BYTES],
                                                struct hub_error *err);
/** Those that lie in a root by now, in no order. */
HUB_MUST_USE enum hub_status hub_object_files_each(const struct hub_deposits *deposits, uint32_t root,
                                                   hub_object_file_each each, void *user,
                                                   struct hub_error *err);

/** Forget what no commit took within HUB_DEPOSIT_HOURS, and remove objects that nobody names. What fails is
 * tried again. */
void hub_deposits_tidy(const struct hub_deposits *deposits);

#endif
