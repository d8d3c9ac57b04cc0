/** Asking about directories: shared by the discovery and minari-inspect. */
#ifndef HUB_DISCOVER_CLAIM_H
#define HUB_DISCOVER_CLAIM_H

#include "storage/discover/discover.h"

struct hub_bid {
    char *format, *name; /* name: single files; NULL: the directory */
    uint32_t *files;     /* entries of the listing */
    uint32_t file_count;
};

/** What the drivers bid on a directory, best first: either bids on all of it, or claims of files. */
struct hub_bids {
    struct hub_bid *bids;
    uint32_t count;
};

/** What a child is asked about one directory; `path` is copied. `out` is NULL when nobody has to be asked: no
 * name in it is looked for, or the answer is remembered and in `bids`. */
struct hub_question;
HUB_MUST_USE enum hub_status hub_question_make(const struct hub_discovery *discovery, uint32_t root,
                                               const char *path, const struct hub_listing *listing,
                                               struct hub_question **out, struct hub_bids *bids,
                                               struct hub_error *err);
void hub_question_free(struct hub_question *question);
uint32_t hub_question_size(const struct hub_question *question);
/** Ask one child about several; `bids` has one for each. A failure says nothing about any of them. */
HUB_MUST_USE enum hub_status hub_questions_ask(struct hub_question *const *questions, uint32_t count,
                                               struct hub_bids *bids, struct hub_error *err);

/** All of that for one directory. */
HUB_MUST_USE enum hub_status hub_claim_request(const struct hub_discovery *discovery, uint32_t root,
                                               const char *path, const struct hub_listing *listing,
                                               struct hub_bids *out, struct hub_error *err);
/** The same of one that was claimed, and then declined: the bids are on its files alone. */
HUB_MUST_USE enum hub_status hub_claim_request_files(const struct hub_discovery *discovery, uint32_t root,
                                                     const char *path, const struct hub_listing *listing,
                                                     struct hub_bids *out, struct hub_error *err);
void hub_bids_dispose(struct hub_bids *bids);

/** What is remembered of a directory, by `what`: "" its bids, HUB_CLAIM_DECLINED what its bidders
 * declined. */
HUB_MUST_USE enum hub_status hub_claim_key(const struct hub_roots *roots, uint32_t root, const char *path,
                                           const char *what, struct hub_buf *key, struct hub_error *err);

/* ---- decline.c ---- */

#define HUB_CLAIM_DECLINED "//declined"

/**
 * Did the plans of all who bid on a directory decline it? Then it is nobody's as a whole. Where nothing can
 * be remembered they are asked here; else only when a plan declined it before, and again when its files
 * changed. `files`: of the directory.
 */
HUB_MUST_USE enum hub_status hub_claim_declined(const struct hub_discovery *discovery,
                                                const struct hub_found_dataset *claim, bool *declined,
                                                struct hub_error *err);

#endif
