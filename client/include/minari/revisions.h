/**
 * Revisions: each push of a dataset is a commit of its hub, and so is its deletion. What was there before can
 * be listed, and had back for as long as the hub keeps its files. Hubs only: others are MINARI_UNSUPPORTED.
 *
 * A client is used by one thread at a time. All texts that a callback gets are borrowed until it returns;
 * arguments are borrowed until the call returns. `err` may be NULL.
 */
#ifndef MINARI_REVISIONS_H
#define MINARI_REVISIONS_H

#include <minari/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A commit of a dataset. */
struct minari_revision {
    const char *commit;  /* 40 hex digits, which name it; 7 or more are enough in a call */
    const char *parent;  /* the commit before; NULL: the first */
    const char *kind;    /* "publish", "adopt", "delete" */
    const char *content; /* names all its files; NULL of a deletion */
    const char *at;      /* when, as RFC 3339 has it */
    const char *who;     /* "token:NAME", "local", "anonymous" */
    const char *message; /* NULL: none */
    const char *state;   /* "current", "kept": its files can be had back, "removed": they cannot */
    uint64_t files, bytes;
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

#ifdef __cplusplus
}
#endif

#endif
