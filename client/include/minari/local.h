/**
 * Datasets on this machine: download, verify, delete. The root is Minari's folder of datasets; a dataset lies
 * at ROOT/ID. What is not finished lies under ROOT/.minari-hub/, where no Minari release looks.
 */
#ifndef MINARI_LOCAL_H
#define MINARI_LOCAL_H

#include <minari/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

enum minari_phase {
    MINARI_PHASE_TRANSFER, /* bytes come */
    MINARI_PHASE_CHECK,    /* they are hashed, and digests of the hub waited for */
    MINARI_PHASE_PUBLISH,
};

struct minari_progress {
    const char *id;
    enum minari_phase phase;
    uint64_t bytes_done, bytes_total, bytes_kept; /* bytes_kept: from an interrupted download */
    uint64_t files_done, files_total;
};

/** How sure it is that the bytes are the hub's. */
enum minari_assurance {
    MINARI_SIZE_ONLY, /* some file's digest is not known to the hub: its size agrees */
    MINARI_VERIFIED,  /* every file agrees with the digest the remote gave */
};

struct minari_download {
    const char *id, *path, *revision;
    bool skipped; /* was there already; nothing was fetched */
    enum minari_assurance assurance;
    uint64_t files, files_verified, bytes, bytes_kept;
    uint64_t milliseconds;
    const char *digest; /* what the files were verified by: "SHA-256", "CRC-32C", "git SHA-1", "MD5" */
    bool partial;       /* only some of the dataset's files are wanted */
    bool planned;       /* a dry run: this is what would be fetched */
    const char *format; /* of the dataset: "minari-hdf5", "lerobot"; "files" where the remote does not know */
};

struct minari_download_options {
    size_t size;             /* of this structure: MINARI_DOWNLOAD_OPTIONS_INIT sets it; 0: of version 0.1 */
    const char *root;        /* must; made if it is not there */
    const char *loadable_by; /* the Minari release it must suit; NULL: any */
    bool force; /* replace the dataset that is there; take what is refused: incompatible, broken, pending ...
                 */
    bool any_format;         /* also datasets that are not Minari's */
    bool alone;              /* without the datasets it was combined from */
    unsigned connections;    /* default 4 */
    uint64_t segment_bytes;  /* unit of a range request and of the journal; default 8 MiB */
    unsigned digest_wait_ms; /* for the hub to hash what it had not hashed; default 30000 */
    /** About ten times a second; non-zero stops with MINARI_CANCELLED and keeps what is there for the next
     * call. */
    int (*progress)(const struct minari_progress *progress, void *user);
    /** One line for a person: skipped, a newer version is there, started over ... */
    void (*notice)(const char *line, void *user);
    /** Once a finished dataset: those it was combined from follow it. */
    void (*done)(const struct minari_download *download, void *user);
    void *user;
    const char *as; /* goes to ROOT/AS instead of ROOT/ID, without what it was combined from; NULL: its id */
    /* only files whose path, or last name, one of these patterns fits; NULL-terminated, NULL: all */
    const char *const *include;
    const char *const *exclude; /* not those that one of these fits */
    /* Only what these episodes need, where the dataset's format keeps them apart; else all, which is said.
     * From a hub only. "0:10,15,20:"; the name of a split; a task, by text or number; a test. NULL: all
     * episodes */
    const char *episodes, *split, *task, *where;
    bool dry_run; /* nothing is fetched: `done` gets the plan of what would be */
};

#ifdef __cplusplus
static inline minari_download_options minari_download_options_init()
{
    minari_download_options options = minari_download_options();
    options.size = sizeof options;
    return options;
}
#define MINARI_DOWNLOAD_OPTIONS_INIT minari_download_options_init()
#else
#define MINARI_DOWNLOAD_OPTIONS_INIT                                                                         \
    {                                                                                                        \
        .size = sizeof(struct minari_download_options)                                                       \
    }
#endif

/**
 * Download a dataset and what it was combined from. A dataset appears complete or not at all; called again
 * after an interruption of any kind it fetches what is missing. One call at a time for each dataset of a
 * root: another is MINARI_BUSY. Only what `id` names is ever replaced, and only a dataset or a download;
 * what was replaced is kept in the root's private folder until the next download into it.
 *
 * @return MINARI_BROKEN for what is not ready or cannot be loaded, unless forced
 */
MINARI_API enum minari_status minari_dataset_download(struct minari_client *client, const char *id,
                                                      const struct minari_download_options *options,
                                                      struct minari_error *err);

enum minari_file_state {
    MINARI_FILE_VERIFIED,  /* size and digest agree with the remote's */
    MINARI_FILE_UNCHANGED, /* as it was downloaded, but the hub never gave a digest */
    MINARI_FILE_SIZE_ONLY, /* the size agrees, no digest is known */
    MINARI_FILE_MISSING,
    MINARI_FILE_CHANGED, /* size or digest disagree */
    MINARI_FILE_EXTRA,   /* is there, and not part of the dataset */
};

typedef int (*minari_file_state_fn)(const char *path, enum minari_file_state state, void *user);

struct minari_verify_result {
    uint64_t files, verified, unchanged, size_only, missing, changed, extra;
    char revision[48]; /* what it was compared with */
    bool against_hub;  /* with the listing of a hub; else with what the download recorded */
};

/**
 * Compare a dataset on disk with what its download recorded beside it, or, with a client and an id, with what
 * the hub says now.
 *
 * @param directory  of the dataset
 * @param client     NULL: compare with the record; MINARI_NOT_FOUND when there is none
 * @param fn         NULL, or called once a file
 * @return MINARI_VERIFY when a file is missing or changed
 */
MINARI_API enum minari_status minari_dataset_verify(struct minari_client *client, const char *id,
                                                    const char *directory, minari_file_state_fn fn,
                                                    void *user, struct minari_verify_result *result,
                                                    struct minari_error *err);

/** Remove ROOT/ID at once, the namespaces it leaves empty, and what came of it in an unfinished download.
 * MINARI_NOT_FOUND when neither is there, or when ROOT/ID is no dataset. */
MINARI_API enum minari_status minari_dataset_delete(const char *root, const char *id,
                                                    struct minari_error *err);

/** A download into a root that was begun and is not finished. */
struct minari_partial {
    const char *id;
    uint64_t bytes_total;
    unsigned percent; /* that is here, 0 to 100 */
    bool running;     /* a process is at it */
};

typedef int (*minari_partial_fn)(const struct minari_partial *partial, void *user);

/** Call `fn` once an unfinished download; non-zero stops with MINARI_CANCELLED. */
MINARI_API enum minari_status minari_partial_each(const char *root, minari_partial_fn fn, void *user,
                                                  struct minari_error *err);

#ifdef __cplusplus
}
#endif

#endif
