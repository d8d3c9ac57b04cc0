/**
 * A dataset format. A driver explains a dataset once, in the sandboxed inspector; it never serves a
 * request. It opens nothing: files are asked for by number and come as read-only descriptors. It reports
 * through a sink and neither knows the catalogue nor decides what is kept. Single-threaded.
 *
 * To add a format: a folder with a `const struct hub_format` and its CMakeLists.txt, a row in
 * format_row.h, a folder in tests/fixtures, a fuzz target: storage/formats/README.md.
 */
#ifndef HUB_WORKER_FORMAT_H
#define HUB_WORKER_FORMAT_H

#include "storage/model/format_marks.h"
#include "storage/model/layout.h"
#include "storage/model/record.h"

struct hub_sink;

/** One entry of a directory listing (claim) or one file of a dataset (plan, inspect). Paths are relative,
 * '/'-separated. */
struct hub_file_entry {
    struct hub_view path;
    uint64_t size;
    bool directory; /* only in listings */
};

/**
 * The files of the job. In a claim: the direct children of one directory (hidden names left out), and the
 * grandchildren inside the child directories that name patterns look into ("data/main_data.hdf5": "data"). In
 * plan and inspect: all files of the dataset; their index is the file number of records and layouts. Always
 * sorted by path bytes.
 */
struct hub_files {
    const struct hub_file_entry *entries;
    uint32_t count;
    /** A read-only descriptor that stays open until hub_files_close or the end of the job; at most 64 at
     * once. HUB_NOT_FOUND, HUB_DENIED (leaves the root), HUB_TOO_BIG (too many open). */
    enum hub_status (*open)(struct hub_files *files, uint32_t number, int *fd, struct hub_error *err);
    void (*close)(struct hub_files *files, uint32_t number);
    /** A writable descriptor for side data, asked for on first use; HUB_TOO_BIG when none is allowed. Use
     * hub_files_side_add. */
    enum hub_status (*side)(struct hub_files *files, int *fd, struct hub_error *err);
    uint64_t side_size, side_budget; /* counted by hub_files_side_add */
    /* when hub_files_may_check ends, by hub_time_mono_ms and of processor time; 0: never */
    int64_t check_until_ms, check_cpu_ms;
    struct hub_view
        place; /* plan: the dataset's folder, "/data/demos/magical/reach": a label, may be empty */
};

/** Number of the file with this exact path, or HUB_NONE. Binary search; where entries of a listing are
 * claimed, what is between them is looked through. */
uint32_t hub_files_find(const struct hub_files *files, const char *path);
/** The mark of a listing that bids most (format_marks.h), or NULL.
 * @param without  NULL, or a file that does not count: it was looked into, and is something else */
const struct hub_format_mark *hub_files_mark(const struct hub_files *listing,
                                             const struct hub_format_mark *marks, const char *without);
static inline int hub_files_bid(const struct hub_files *listing, const struct hub_format_mark *marks,
                                const char *without)
{
    const struct hub_format_mark *mark = hub_files_mark(listing, marks, without);
    return mark ? mark->bid : 0;
}
/** Whether a listing has any of the names. */
bool hub_files_have_names(const struct hub_files *listing, const struct hub_format_mark *marks);
/** Read at most `size` bytes at `offset`; short only at the end of the file. HUB_SIDE_FILE: of the side
 * data. */
HUB_MUST_USE enum hub_status hub_files_read(struct hub_files *files, uint32_t number, uint64_t offset,
                                            void *out, size_t size, size_t *got, struct hub_error *err);
/** The whole file into `buf` (its limit applies: HUB_TOO_BIG). */
HUB_MUST_USE enum hub_status hub_files_load(struct hub_files *files, uint32_t number, struct hub_buf *buf,
                                            struct hub_error *err);
/** Append side data; `offset` (a multiple of 8) is where it begins in HUB_SIDE_FILE. HUB_TOO_BIG ("side-file
 * budget"): nothing was added, and the field it was for is to be refused with that reason. */
HUB_MUST_USE enum hub_status hub_files_side_add(struct hub_files *files, const void *data, size_t size,
                                                uint64_t *offset, struct hub_error *err);

/** Whether there is still time for reading bytes only to compare a checksum. Half of the job's time is left
 * for what describes the data: what was not compared by then is reported, and served. */
bool hub_files_may_check(const struct hub_files *files);

/** What a claim answers: a bid on the directory, or on single files of an unclaimed directory. */
struct hub_claim {
    int confidence;  /* 0: not mine .. 100: certain. Highest wins; ties by registry order */
    uint32_t *files; /* single-file claims: entries that together are one dataset (caller's array of `count`
                        slots) */
    uint32_t file_count;
    uint32_t from;  /* single-file claims: kept between the calls on one listing, 0 at first; so that what was
                       refused once is not looked at again */
    char name[256]; /* single-file claims: last segment of the dataset's id ("train" for train-{000..009}.tar)
                     */
};

struct hub_format {
    const char *name; /* that of its row in storage/model/format_row.h, which says what others want to know */

    /** Must. What a listing has when it is worth asking about: hub_marks_NAME. Announced to the hub, as are
     * its asides. NULL: whatever it has. */
    const struct hub_format_mark *marks;
    /** May. Names of files that describe a folder of its datasets: they are no data. NULL-terminated. */
    const char *const *asides;
    /** May. Its dialects, for people: "E3: written by Minari 0.3". NULL-terminated; not announced. */
    const char *const *eras;

    /** May. Bid on a directory as one dataset: looks at names, sizes and heads (files->open; reads at most
     * 64 KiB a file). */
    int (*claim_directory)(struct hub_files *listing);

    /** May. Called for a directory nobody claimed, again and again with the entries still free (claimed ones
     * have size 0 and an empty path): fills the next series of files that is one dataset and returns its
     * confidence, 0 when there is none. */
    int (*claim_files)(struct hub_files *listing, struct hub_claim *claim);

    /** Must. Reads what describes the whole dataset, reports facts and problems, and names the parts. May
     * decline a claim that was wrong with HUB_NOT_ACCEPTABLE: the next bidder is asked. HUB_UNSUPPORTED:
     * recognised, status `unsupported`. */
    enum hub_status (*plan)(struct hub_files *files, struct hub_sink *sink, struct hub_error *err);

    /** Must. Reports one part: fields, episodes, where their rows lie. Copies no rows that can be addressed
     * in place. A first non-OK status from the sink is returned unchanged. */
    enum hub_status (*inspect)(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                               struct hub_error *err);
};

/** In a NULL-terminated list; NULL: none has this name. */
const struct hub_format *hub_format_find(const struct hub_format *const *formats, const char *name);

/* ---- the sink: implemented in sink.c over frames; a test may implement it over memory ---- */

/* plan */
HUB_MUST_USE enum hub_status hub_sink_fact(struct hub_sink *sink, const char *key, struct hub_view text,
                                           struct hub_error *err);
HUB_MUST_USE enum hub_status hub_sink_part(struct hub_sink *sink, const struct hub_part *part,
                                           struct hub_error *err);

/* plan and inspect */
HUB_MUST_USE enum hub_status hub_sink_problem(struct hub_sink *sink, const char *code, struct hub_view path,
                                              struct hub_error *err, const char *fmt, ...) HUB_PRINTF(5, 6);

/* inspect */
/** Declare a field; the same path again gives the same number, and replaces type, role and axis: episodes
 * that cannot be read do not tell what it is. */
HUB_MUST_USE enum hub_status hub_sink_field(struct hub_sink *sink, const struct hub_field *field,
                                            uint32_t *number, struct hub_error *err);
/** The number of the field that was declared with this path, or HUB_NONE. */
uint32_t hub_sink_find_field(struct hub_sink *sink, struct hub_view path);
/** An episode has the field, but its rows cannot be read: why, by name ("filter 32001 (blosc)"). Instead of
 * its window. */
HUB_MUST_USE enum hub_status hub_sink_refuse(struct hub_sink *sink, uint32_t field, uint32_t episode,
                                             const char *why, struct hub_error *err);
/** Where `success` is unknown, the attribute of that name decides. */
HUB_MUST_USE enum hub_status hub_sink_episode(struct hub_sink *sink, const struct hub_episode *episode,
                                              uint32_t *index, struct hub_error *err);
/** What the member `success` of an object of JSON says, a bool or a number: 0 or 1; -1: nothing. */
int8_t hub_success_of(struct hub_view attributes);
HUB_MUST_USE enum hub_status hub_sink_media(struct hub_sink *sink, const struct hub_media *media,
                                            struct hub_error *err);
/** Where the frames of a video lie, as storage/model/video.h has it: once a file. */
HUB_MUST_USE enum hub_status hub_sink_video(struct hub_sink *sink, uint32_t file, struct hub_view table,
                                            struct hub_error *err);
/** The layout builder of a field: arrays, pieces and windows are put there directly. Finished and sent by the
 * sink at the end. */
HUB_MUST_USE enum hub_status hub_sink_layout(struct hub_sink *sink, uint32_t field,
                                             struct hub_layout_builder **builder, struct hub_error *err);

#endif
