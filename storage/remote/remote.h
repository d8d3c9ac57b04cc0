/**
 * Where datasets come from. A kind of remote is a row: how its addresses begin, and four questions that its
 * file answers. Documents have the shape that a hub's API gives them, whoever answers, so that who reads them
 * need not know who answered. For the client and for mirrors of the server. One thread at a time.
 */
#ifndef HUB_REMOTE_REMOTE_H
#define HUB_REMOTE_REMOTE_H

#include "storage/ids/revision.h"
#include "storage/model/file_facts.h"
#include "storage/net/transport.h"
#include "storage/text/json.h"

struct hub_remote {
    const struct hub_remote_kind *kind;
    char *base; /* its address, "http://hub:8080", without a trailing slash */
    struct hub_transport *transport;
    void *own; /* the kind's */
};

struct hub_remote_options {
    struct hub_transport_options transport;
    const char *endpoint;    /* of a service instead of its own address; NULL: the environment's, else that */
    const char *credentials; /* a file of them; NULL: the environment's, or none */
};

/** A parameter of a hub's listing. */
struct hub_remote_filter {
    const char *name, *value; /* value NULL: not asked for */
};
/** What of a remote that keeps only files is listed: all of it, cut into datasets; Minari's datasets; or
 * all as one dataset. */
enum hub_remote_only { HUB_REMOTE_EVERYTHING, HUB_REMOTE_MINARI, HUB_REMOTE_TREE };

enum { HUB_LEFT_OUT = 8 };

/** What is there and is not listed: where it lies, the first names of those places, and how much it is. */
struct hub_remote_left {
    char *names[HUB_LEFT_OUT];
    uint64_t places, files, bytes;
};
void hub_remote_left_dispose(struct hub_remote_left *left);
/** One more place. `left` NULL: nobody asks. */
HUB_MUST_USE enum hub_status hub_remote_left_add(struct hub_remote_left *left, struct hub_view name,
                                                 uint64_t files, uint64_t bytes, struct hub_error *err);

/** Whether an id begins with a prefix, or is the folder that the prefix names: "docs" has the prefix
 * "docs/". NULL: any does. */
bool hub_remote_has_prefix(const char *id, const char *prefix);

/** Which datasets, and in which order, as a hub's listing has it. NULL and false: no limit. */
struct hub_remote_query {
    const char *prefix, *format, *status, *release, *sort;
    /* NULL, or ended by a NULL name: words and facts, which only hubs choose by (else HUB_INVALID) */
    const struct hub_remote_filter *filters;
    enum hub_remote_only only;
    struct hub_remote_left *left; /* NULL, or counts what is not listed */
    bool exact;                   /* revisions are needed of all, also where each costs requests */
    bool latest;
    /* ids, revisions and whether it is a plain tree are enough: what costs a request each may be left out */
    bool brief;
};

/** A summary of a listing, parsed and as it came. */
typedef enum hub_status (*hub_remote_item_fn)(json_t *item, struct hub_view text, void *user,
                                              struct hub_error *err);

enum { HUB_MAX_FILES = 4 * 1000 * 1000 };

struct hub_remote_files {
    char *id, *revision;
    char *pin;                    /* the kind's: what `open` asks by beside the path, or NULL */
    struct hub_file_facts *items; /* its own; sorted by path bytes; no two alike */
    uint32_t count, capacity;
    uint64_t bytes; /* in total */
    bool partial;   /* there are more, which are not wanted */
    bool timed;     /* the revision is made of the files' times as well */
    /* What is there and cannot be a file here: the first names, and how many. */
    char *left_out[HUB_LEFT_OUT];
    uint32_t left_out_count;
};

struct hub_remote_kind {
    const char *noun;     /* what it is: "hub", "bucket" */
    bool digests_come;    /* the remote computes requested digests, which is worth waiting for */
    uint64_t piece_bytes; /* best size of a range request; 0: any */
    /** Whether what stands behind the scheme of an address can be one. */
    bool (*is_address)(struct hub_view rest);
    /** NULL, or called when it is opened: sets `own`, and what of the options is the kind's. */
    enum hub_status (*begin)(struct hub_remote *remote, const struct hub_remote_options *options,
                             struct hub_transport_options *transport, struct hub_error *err);
    /** NULL, or frees `own`. */
    void (*end)(struct hub_remote *remote);
    /** Hand each dataset to `fn`; what it returns ends the listing. HUB_TOO_BIG "too-long". */
    enum hub_status (*list)(struct hub_remote *remote, const struct hub_remote_query *query,
                            hub_remote_item_fn fn, void *user, struct hub_error *err);
    /** The document of a dataset; without "-vN" of its newest version, that `release` of Minari reads unless
     * it is NULL. HUB_NOT_FOUND. json_decref `*out`. */
    enum hub_status (*describe)(struct hub_remote *remote, const char *id, const char *release,
                                struct hub_buf *text, json_t **out, struct hub_error *err);
    /** As hub_remote_list_files, which begins `out`, disposes of it on an error, and names what has no id
     * yet. */
    enum hub_status (*files)(struct hub_remote *remote, const char *id, const char *revision,
                             struct hub_remote_files *out, struct hub_error *err);
    /** Where a file's bytes are asked for: fills `url`, and what of `fetch` (but for its url) that takes. */
    enum hub_status (*open)(const struct hub_remote *remote, const struct hub_remote_files *files,
                            const struct hub_file_facts *file, struct hub_buf *url, struct hub_fetch *fetch,
                            struct hub_error *err);
    /** NULL, or where the namespace_metadata.json of a namespace is asked for. */
    enum hub_status (*space)(const struct hub_remote *remote, const char *space, struct hub_buf *url,
                             struct hub_error *err);
};

/** The table. It ends with a row without a scheme. */
struct hub_remote_row {
    const char *scheme;                 /* "http://" */
    const struct hub_remote_kind *kind; /* NULL: known by name, not spoken yet */
    unsigned number;                    /* enum minari_remote_kind */
};
extern const struct hub_remote_row hub_remotes[];
extern const struct hub_remote_kind hub_remote_hub, hub_remote_gcs, hub_remote_hf;

/** The row whose scheme an address begins with, and what stands behind it; NULL: none. */
const struct hub_remote_row *hub_remote_find(struct hub_view address, struct hub_view *rest);

HUB_MUST_USE enum hub_status hub_remote_open(const char *address, const struct hub_remote_options *options,
                                             struct hub_remote *out, struct hub_error *err);
void hub_remote_close(struct hub_remote *remote);

/** The files of a dataset, to be disposed of; none on an error.
 * @param revision  NULL, or the one it must still have: HUB_CHANGED "revision-gone" otherwise */
HUB_MUST_USE enum hub_status hub_remote_list_files(struct hub_remote *remote, const char *id,
                                                   const char *revision, struct hub_remote_files *out,
                                                   struct hub_error *err);

/** Names that were left out, as text: "'a/../b', '.c', ... (12)"; "": nothing was. */
void hub_remote_files_name_left_out(const struct hub_remote_files *files, char *out, size_t room);

/* ---- for kinds ---- */

/** GET a JSON object. `text` also keeps it as it came; may be NULL. json_decref the result. */
HUB_MUST_USE enum hub_status hub_remote_document(struct hub_remote *remote, const char *url, size_t max_bytes,
                                                 struct hub_buf *text, json_t **out, struct hub_error *err);

/** GET a JSON object as text, of at most `text->limit` bytes: one that is too large to be parsed at once. */
HUB_MUST_USE enum hub_status hub_remote_object(struct hub_remote *remote, const char *url,
                                               struct hub_buf *text, struct hub_error *err);

/** GET any JSON value of at most `text->limit` bytes. `answer`, unless it is NULL, gets what the head
 * said. */
HUB_MUST_USE enum hub_status hub_remote_json(struct hub_remote *remote, const char *url, struct hub_buf *text,
                                             struct hub_answer *answer, json_t **out, struct hub_error *err);

/** A body of `hub_remote_each`, or the status and error instead. Anything but HUB_OK ends all of it. */
typedef enum hub_status (*hub_remote_body_fn)(size_t index, enum hub_status status, struct hub_view body,
                                              void *user, struct hub_error *err);

/** GET what `url` says for each of `count`, many at a time, of at most `max_bytes` each; `fn` is called in
 * the
 * order in which they come. */
HUB_MUST_USE enum hub_status hub_remote_each(struct hub_remote *remote, const char *(*url)(size_t, void *),
                                             size_t count, size_t max_bytes, hub_remote_body_fn fn,
                                             void *user, struct hub_error *err);

/** One more file, to be filled in by the caller. `*out` is NULL when its name is hidden or cannot be a
 * file's: the name goes to `left_out`, unless it stands for nothing, as an empty object for a folder does. */
HUB_MUST_USE enum hub_status hub_remote_files_try(struct hub_remote_files *files, struct hub_view path,
                                                  uint64_t size, struct hub_file_facts **out,
                                                  struct hub_error *err);
/** All that was tried is there: sort it; what is a folder of others as well is left out. */
HUB_MUST_USE enum hub_status hub_remote_files_sort(struct hub_remote_files *files, struct hub_error *err);
/** The files below a folder of a sorted list, their paths cut to what is below it; "": all. Takes them out
 * of `from`. */
HUB_MUST_USE enum hub_status hub_remote_files_below(struct hub_remote_files *from, const char *folder,
                                                    struct hub_remote_files *out, struct hub_error *err);
/** Name what is there by all that pins it: 40 hex. `count` items of a sorted list, and how many bytes of
 * each path do not count. */
HUB_MUST_USE enum hub_status hub_remote_revision(const struct hub_file_facts *items, size_t count, size_t cut,
                                                 char out[HUB_REVISION_CHARS + 1], struct hub_error *err);

/** One more file. HUB_CORRUPT "protocol": it cannot be created safely, or the sizes overflow.
 * @param sha256  in hex; NULL, or anything else: not known */
HUB_MUST_USE enum hub_status hub_remote_files_add(struct hub_remote_files *files, const char *path,
                                                  uint64_t size, const char *sha256, struct hub_error *err);
/** All are there: sort them. HUB_CORRUPT "protocol": one is listed twice. */
HUB_MUST_USE enum hub_status hub_remote_files_finish(struct hub_remote_files *files, struct hub_error *err);
void hub_remote_files_dispose(struct hub_remote_files *files);

/** A relative path of a file of a dataset that is safe to create: segments without tricks. */
HUB_MUST_USE enum hub_status hub_path_check(const char *path, struct hub_error *err);

/** A member as text, or NULL. */
const char *hub_member_text(const json_t *object, const char *key);
/** The same with its length, for names: JSON may put a NUL byte into them. {NULL, 0}: none. */
struct hub_view hub_member_view(const json_t *object, const char *key);
/** A member as a number that is not negative, or 0. */
uint64_t hub_member_uint(const json_t *object, const char *key);

#endif
