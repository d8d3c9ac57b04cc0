/** Drafts of a hub, for the push of a folder: their addresses, documents and changes. */
#ifndef HUB_CLIENT_DRAFTS_H
#define HUB_CLIENT_DRAFTS_H

#include "client/lib/internal.h"

/** BASE + "/api/v1/drafts" [+ "/" + draft [+ "/" + rest]]. `rest` is encoded already. HUB_UNSUPPORTED: the
 * remote is no hub. Writes over `out`. */
HUB_MUST_USE enum hub_status hub_draft_url(const struct hub_remote *remote, const char *draft,
                                           const char *rest, struct hub_buf *out, struct hub_error *err);
/** "files/PATH", encoded, for `rest`. Writes over `out`. */
HUB_MUST_USE enum hub_status hub_draft_file_rest(const char *path, struct hub_buf *out,
                                                 struct hub_error *err);

/** A draft that is open. Zero it. */
struct hub_open_draft {
    char *name; /* NULL: none */
    char *base; /* the commit that it takes the place of; NULL: none */
    uint64_t files;
};
void hub_open_draft_dispose(struct hub_open_draft *draft);

enum { HUB_PUSH_KEY = 32 };
/** Name the push of a folder: the same on this machine each time, and another one of any other folder or
 * machine, so that two pushes of one principal share no draft. */
void hub_push_key(const char *folder, char out[HUB_PUSH_KEY + 1]);

/** Find an open draft of a dataset, a base and a key, of who asks; none leaves `out` as it is.
 * @param base   NULL, or a commit or its first digits
 * @param stale  a draft of another base comes here; dispose it, too */
HUB_MUST_USE enum hub_status hub_draft_find_open(struct minari_client *client, const char *id,
                                                 const char *base, const char *key,
                                                 struct hub_open_draft *out, struct hub_open_draft *stale,
                                                 struct hub_error *err);
/** A draft to open. */
struct hub_draft_wish {
    const char *id;
    const char *base; /* what it takes the place of; NULL: nothing */
    const char *from; /* "ID@COMMIT", whose files it begins with; NULL: those of the base */
    const char *key;  /* NULL, or by which it is found again: then this may be the one that is open already */
    uint64_t bytes;   /* of all files that it will have; 0: not known */
};
/** Open one.
 * @return HUB_EXISTS: the id is not free; HUB_CHANGED "commit-conflict": the base is not what is there;
 * HUB_NO_SPACE: it does not fit */
HUB_MUST_USE enum hub_status hub_draft_make(struct minari_client *client, const struct hub_draft_wish *wish,
                                            struct hub_open_draft *out, struct hub_error *err);
/** Drop one, with what came of it. */
HUB_MUST_USE enum hub_status hub_draft_give_up(struct minari_client *client, const char *draft,
                                               struct hub_error *err);
/** Its files: {"items": [{"path", "size", "offset", "sha256"}]}. json_decref the result. */
HUB_MUST_USE enum hub_status hub_draft_list_files(struct minari_client *client, const char *draft,
                                                  json_t **out, struct hub_error *err);
/** DELETE what an address names. */
HUB_MUST_USE enum hub_status hub_draft_delete(struct minari_client *client, const char *url,
                                              struct hub_error *err);

/**
 * Publish it. Waits where an earlier attempt, whose answer was lost, still publishes it.
 * @param allow     NULL, "broken", "files"
 * @param drive     how it is waited for
 * @param[out] out  the answer; of a draft that is refused the problem document, if there is one: then the
 *   status is not HUB_OK. json_decref it either way
 */
HUB_MUST_USE enum hub_status hub_draft_commit_it(struct minari_client *client, const char *draft,
                                                 const char *allow, const char *message,
                                                 const struct hub_drive *drive, json_t **out,
                                                 struct hub_error *err);

#endif
