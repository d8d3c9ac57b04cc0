/**
 * Revisions: each push of a dataset is a commit of its hub, and so is its deletion. What was there before can
 * be listed, and had back for as long as the hub keeps its files. Hubs only: others are MINARI_UNSUPPORTED.
 *
 * A client is used by one thread at a time. All texts that a callback gets are borrowed until it returns;
 * arguments are borrowed until the call returns. `err` may be NULL.
 */
#ifndef MINARI_REVISIONS_H
#define MINARI_REVISIONS_H

#include <minari/upload.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A commit of a dataset. */
struct minari_revision {
    const char *commit;  /* 40 hex digits, which name it; 7 or more are enough in a call */
    const char *parent;  /* the commit before; NULL: the first */
    const char *kind;    /* "publish", "delete" */
    const char *content; /* names all its files; NULL of a deletion */
    const char *at;      /* when, as RFC 3339 has it */
    const char *who;     /* "token:NAME", "local", "anonymous" */
    const char *message; /* NULL: none */
    const char *state;   /* "current", "kept": its files can be had back, "removed": they cannot */
    uint64_t files, bytes;
    /* beside the files of the parent; -1: not known */
    int64_t files_added, files_changed, files_removed;
    int64_t episodes, episodes_before; /* the second of the parent; -1: not known */
};

typedef int (*minari_revision_fn)(const struct minari_revision *revision, void *user);

/**
 * Call `fn` once a commit of a dataset, the newest first; of a dataset that was deleted too. Non-zero stops
 * with MINARI_CANCELLED.
 * @return MINARI_NOT_FOUND: nothing was published by the hub under this id, or not for this client
 */
MINARI_API enum minari_status minari_revision_each(struct minari_client *client, const char *id,
                                                   minari_revision_fn fn, void *user,
                                                   struct minari_error *err);

/**
 * Delete a dataset of a hub. (Of this machine: minari_dataset_delete.) The hub keeps its files for a while:
 * minari_dataset_revert with the commit that was current has it back.
 * @return MINARI_NOT_FOUND: there is none; MINARI_EXISTS: it is there, but the hub did not publish it;
 *   MINARI_DENIED without the right to write it; MINARI_CHANGED where somebody publishes it meanwhile;
 *   MINARI_UNREACHABLE: the answer did not come, and it may be deleted or not
 */
MINARI_API enum minari_status minari_dataset_remove(struct minari_client *client, const char *id,
                                                    struct minari_error *err);

/**
 * Have a revision back: another commit with its files takes the place of what is there, which stays as a
 * revision, too. Nothing is transferred. A dataset that was deleted comes back.
 *
 * @param commit   of the revision, or its first 7 digits or more
 * @param message  of the new commit; NULL: names the revision
 * @param done     NULL, or called once it is published
 * @return MINARI_INVALID: the commit is not one, or it is a deletion; MINARI_NOT_FOUND: there is no such
 *   revision, or its files are not kept; MINARI_EXISTS: it is what is there now; MINARI_CHANGED "commit-
 *   conflict": something else was published meanwhile; MINARI_DENIED, MINARI_NO_SPACE and others as error.h
 *   has them. A call that fails changes nothing
 */
MINARI_API enum minari_status
minari_dataset_revert(struct minari_client *client, const char *id, const char *commit, const char *message,
                      void (*done)(const struct minari_upload *upload, void *user), void *user,
                      struct minari_error *err);

#ifdef __cplusplus
}
#endif

#endif
