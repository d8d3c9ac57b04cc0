/**
 * Drafts in hub.db: datasets that come in, and the files that are stated of them. Each change looks at the
 * state that it expects, so that of two who do the same one fails. Safe from any thread.
 */
#ifndef HUB_TRUTH_DRAFTS_H
#define HUB_TRUTH_DRAFTS_H

#include "storage/base/digest.h"
#include "storage/truth/commits.h"

enum {
    HUB_DRAFT_ID = 16,
    HUB_DRAFT_KEY = 64 /* chars, at most */,
    HUB_DRAFTS_OF_ONE = 16,
    HUB_DRAFT_DAYS = 7
};

enum hub_draft_state {
    HUB_DRAFT_OPEN,
    HUB_DRAFT_COMMITTING, /* inspected, and synced */
    HUB_DRAFT_PUBLISHING, /* renamed: of one dataset one draft at a time */
    HUB_DRAFT_PUBLISHED,
    HUB_DRAFT_DROPPED,
};
/** "open", "committing", "publishing", "published", "dropped", NULL. */
extern const char *const hub_draft_states[];

/** Texts of one that is read live until the callback returns, or until it is disposed of. */
struct hub_draft_row {
    char id[HUB_DRAFT_ID + 1];
    char *dataset; /* its id */
    uint32_t root; /* UINT32_MAX: no root that is served now */
    char *path;    /* below the root */
    char *who;
    char base[HUB_COMMIT_ID + 1]; /* the commit that it takes the place of; "": nothing is there */
    char key[HUB_DRAFT_KEY + 1];  /* by which who opened it finds it again; "": none */
    enum hub_draft_state state;
    int64_t made_ms, touched_ms;     /* Unix time */
    char commit[HUB_COMMIT_ID + 1];  /* of one that is publishing, or published */
    uint64_t files, bytes, complete; /* stated; of the files those that are whole */
    uint64_t declared;               /* bytes that all files will have; 0: not said. Of one that is added */
};
void hub_draft_row_dispose(struct hub_draft_row *row);

/** Make one; `id` of the row is written. HUB_BUSY "too-many-drafts": `who` has HUB_DRAFTS_OF_ONE open.
 * HUB_NO_SPACE "quota-exceeded": what it declares does not fit below a prefix (quotas.h). */
HUB_MUST_USE enum hub_status hub_draft_add(struct hub_truth *truth, struct hub_draft_row *row,
                                           struct hub_error *err);
/** The same once: where `who` has an open one of this key, dataset and base, `id` becomes that of it, and
 * `found` is true. */
HUB_MUST_USE enum hub_status hub_draft_add_once(struct hub_truth *truth, struct hub_draft_row *row,
                                                bool *found, struct hub_error *err);
/** Without its counts. HUB_NOT_FOUND "draft-not-found". Dispose the row. */
HUB_MUST_USE enum hub_status hub_draft_find(struct hub_truth *truth, const char *id,
                                            struct hub_draft_row *out, struct hub_error *err);
/** Count the files of a row: `files`, `bytes`, `complete`. */
HUB_MUST_USE enum hub_status hub_draft_count(struct hub_truth *truth, struct hub_draft_row *row,
                                             struct hub_error *err);
typedef enum hub_status (*hub_draft_each)(void *user, const struct hub_draft_row *row, struct hub_error *err);
/** All, by their ids, with their counts. */
HUB_MUST_USE enum hub_status hub_drafts_each(struct hub_truth *truth, hub_draft_each each, void *user,
                                             struct hub_error *err);
/** Forget it with its files. One that is gone is no mistake. */
HUB_MUST_USE enum hub_status hub_draft_forget(struct hub_truth *truth, const char *id, struct hub_error *err);

/** From one state to another. HUB_CHANGED "draft-busy": it is in none that was expected. */
HUB_MUST_USE enum hub_status hub_draft_turn(struct hub_truth *truth, const char *id,
                                            enum hub_draft_state from, enum hub_draft_state to,
                                            struct hub_error *err);

/* ---- files ---- */

struct hub_draft_file {
    const char *path;
    uint64_t size;
    bool complete;
    bool doubtful;                         /* whole before the machine was started last: a power cut may have
                                         taken bytes of it. Of one that is read */
    bool has_md5, has_crc32c;              /* as of one that was sent, and asked for its MD5 */
    uint8_t sha256[HUB_SHA256_BYTES];      /* of one that is complete */
    uint8_t md5[HUB_MD5_BYTES], crc32c[4]; /* big-endian */
};
/** State a file, again or for the first time. The draft must be open. HUB_INVALID: another one has its path
 * but for the case of letters or how Unicode composes them, or is a folder of it. HUB_NO_SPACE
 * "quota-exceeded": a file that is to come does not fit below a prefix (quotas.h). */
HUB_MUST_USE enum hub_status hub_draft_file_put(struct hub_truth *truth, const char *draft,
                                                const struct hub_draft_file *file, struct hub_error *err);
/** State many that are whole, of one dataset, in one step. The draft must be open, and without files. */
HUB_MUST_USE enum hub_status hub_draft_files_take(struct hub_truth *truth, const char *draft,
                                                  const struct hub_draft_file *files, uint32_t count,
                                                  struct hub_error *err);
/** HUB_NOT_FOUND: none is stated. `path` of the result is the caller's. */
HUB_MUST_USE enum hub_status hub_draft_file_find(struct hub_truth *truth, const char *draft, const char *path,
                                                 struct hub_draft_file *out, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_draft_file_forget(struct hub_truth *truth, const char *draft,
                                                   const char *path, struct hub_error *err);
typedef enum hub_status (*hub_draft_file_each)(void *user, const struct hub_draft_file *file,
                                               struct hub_error *err);
/** In order of the bytes of their paths, behind `after`; at most `limit`, 0: all. */
HUB_MUST_USE enum hub_status hub_draft_files_each(struct hub_truth *truth, const char *draft,
                                                  const char *after, uint32_t limit, hub_draft_file_each each,
                                                  void *user, struct hub_error *err);

/** A draft that is committing takes the place of its dataset for itself, and names its commit, unless
 * `commit` has a name already. HUB_CHANGED
 * "commit-conflict": the head is not its base; HUB_BUSY "draft-busy": another one has the place. */
HUB_MUST_USE enum hub_status hub_draft_claim(struct hub_truth *truth, const struct hub_draft_row *row,
                                             char commit[HUB_COMMIT_ID + 1], struct hub_error *err);
/** A draft that is publishing is published by the commit that it named: its row, the audit and the commit at
 * once. HUB_CHANGED "draft-busy"; HUB_CHANGED "commit-conflict": the head is not the parent of the commit. */
HUB_MUST_USE enum hub_status hub_draft_publish(struct hub_truth *truth, const char *draft,
                                               const struct hub_commit *commit, bool keep_parent,
                                               struct hub_error *err);

#endif
