/**
 * Push: the folder of a dataset becomes a dataset of a hub. It comes as a draft, which nobody else sees, and
 * is published as a whole once the hub has inspected it. Hubs only: others are MINARI_UNSUPPORTED.
 *
 * A client is used by one thread at a time. All texts that a callback gets are borrowed until it returns;
 * what options point to is borrowed until the call returns, and nothing of it is kept.
 */
#ifndef MINARI_UPLOAD_H
#define MINARI_UPLOAD_H

#include <minari/local.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Something wrong with a dataset, as an inspection found it. */
struct minari_problem {
    const char *code;   /* a stable name, such as "file-truncated" */
    const char *path;   /* of the file or part; NULL: of the dataset */
    const char *detail; /* one line for a person */
};

/** What became of a push, or, of a dry run, what would. */
struct minari_upload {
    const char *id;
    const char *draft, *commit, *content, *format; /* NULL of a dry run, or where the hub says none */
    uint64_t files, bytes;
    uint64_t files_kept, bytes_kept; /* these were in the draft already */
    uint64_t milliseconds;
    bool planned;           /* a dry run */
    const char *base;       /* the commit that it takes the place of; NULL: it is a new dataset */
    uint64_t files_removed; /* of the base, which the folder does not have */
    bool unchanged;         /* the base has the same files: nothing is published, `commit` is the base */
};

/** Zero and NULL mean the default. */
struct minari_upload_options {
    size_t size;         /* of this structure: MINARI_UPLOAD_OPTIONS_INIT sets it */
    const char *path;    /* the folder; must */
    const char *id;      /* of the new dataset, with its version; must */
    const char *message; /* of the commit; default none */
    /* "broken": publish a dataset that cannot be read; "files": files of which no format is known; default:
     * both are refused */
    const char *allow;
    unsigned connections; /* default 4: so many files are sent at a time */
    bool dry_run;         /* nothing is sent: `done` gets what would be */
    /** About ten times a second; non-zero stops with MINARI_CANCELLED and keeps the draft for the next call.
     * `bytes_kept` are of the draft. */
    int (*progress)(const struct minari_progress *progress, void *user);
    /** One line for a person: hidden names that are left out, a file that is sent again ... */
    void (*notice)(const char *line, void *user);
    /** Once a problem that the hub found, of a dataset that is refused or published; `done` follows in the
     * second case. */
    void (*problem)(const struct minari_problem *problem, void *user);
    void (*done)(const struct minari_upload *upload, void *user);
    void *user;
    bool tar; /* send all files as one tar: faster where there are many small ones */
    /** NULL: the id must be free. A commit of the hub, or its first 7 digits or more: the folder takes the
     * place of that, as long as nothing else does before. "current": of what is there when the call begins;
     * where nothing is, it becomes a new dataset. Only files that are new or changed are sent. */
    const char *base;
};

#ifdef __cplusplus
static inline minari_upload_options minari_upload_options_init()
{
    minari_upload_options options = minari_upload_options();
    options.size = sizeof options;
    return options;
}
#define MINARI_UPLOAD_OPTIONS_INIT minari_upload_options_init()
#else
#define MINARI_UPLOAD_OPTIONS_INIT                                                                           \
    {                                                                                                        \
        .size = sizeof(struct minari_upload_options)                                                         \
    }
#endif

/**
 * Push a folder. Called again after an interruption of any kind it goes on with the open draft of the same
 * folder of this machine, id and base, and shares none with another folder: files that the draft has are
 * compared by size and SHA-256 and not sent again, one that broke off goes on where it ends, and what is no
 * longer in the folder leaves the draft. Every file is compared with the digest of what the hub received.
 * Links are followed within the folder only; hidden names are left out. What it takes the place of stays on
 * the hub as a revision: see minari/revisions.h. What the namespaces of the id say of themselves
 * (namespace.h) comes along where the folders above are called as the id has it, and the hub has nothing of
 * it; a notice says so, also where it may not.
 *
 * @return MINARI_INVALID for a name that a hub does not take, a link that leads out of the folder, or nothing
 *   to send, before a byte is sent; MINARI_NOT_FOUND without such a folder; MINARI_EXISTS where the hub has
 *   the id already; MINARI_DENIED without the right to write it; MINARI_BROKEN where the hub refuses what
 *   came, and the draft stays open; MINARI_CHANGED where a file changes meanwhile, or, as the problem
 *   "commit-conflict", where another commit than `base` is there now; MINARI_VERIFY where
 *   digests disagree; MINARI_NO_SPACE, MINARI_UNREACHABLE, MINARI_BUSY and others as error.h has them
 */
MINARI_API enum minari_status minari_dataset_upload(struct minari_client *client,
                                                    const struct minari_upload_options *options,
                                                    struct minari_error *err);

/** A dataset that is being pushed. */
struct minari_draft {
    const char *draft, *id;          /* its own name, and that of the dataset */
    const char *state;               /* "open", "committing", "published" */
    const char *changed, *ends;      /* when; an open one that is not changed ends then */
    uint64_t files, complete, bytes; /* files so far, those that are there as a whole, bytes of these */
};

typedef int (*minari_draft_fn)(const struct minari_draft *draft, void *user);

/** Call `fn` once a draft of who asks; non-zero stops with MINARI_CANCELLED. */
MINARI_API enum minari_status minari_draft_each(struct minari_client *client, minari_draft_fn fn, void *user,
                                                struct minari_error *err);
/** Drop a draft with all that came of it; what it published stays. MINARI_NOT_FOUND: no draft of who asks has
 * this name. */
MINARI_API enum minari_status minari_draft_drop(struct minari_client *client, const char *draft,
                                                struct minari_error *err);

#ifdef __cplusplus
}
#endif

#endif
