/** numpy arrays as fields of one episode: rows along their first axis, where they lie, in C or Fortran order.
 * From .npy files and the members of .npz archives. */
#ifndef HUB_FORMATS_ARRAY_H
#define HUB_FORMATS_ARRAY_H

#include "storage/formats/kit/kit.h"
#include "storage/formats/npy.h"
#include "storage/formats/zip.h"

struct hub_npz_array {
    struct hub_view path;  /* the member's name without ".npy" */
    struct hub_view named; /* what says its role; empty: the path does */
    uint32_t member;
    struct hub_npy npy;
    uint32_t file;    /* where its data are: the archive, or HUB_SIDE_FILE */
    char reason[160]; /* not empty: it cannot be read, and why; npy.objects: its pickle may be */
};

struct hub_npz_reader {
    struct hub_byte_source source;
    struct hub_zip zip;
    struct hub_npz_array *arrays;
    uint32_t count;
    struct hub_tally others;    /* members that are no arrays */
    struct hub_tally repeated;  /* members of a name that a later one has too */
    struct hub_tally unchecked; /* arrays whose checksum was not compared: the job has no time left for it */
};

/** Read all headers. Deflated arrays are unpacked to side data here, and the checksums of stored ones
 * compared, so that whoever serves their rows need not read all of an array for some of it. An array that
 * cannot be read has a reason; what is wrong with the archive is the status. `npz` is zero before, and
 * disposed of in any case. */
HUB_MUST_USE enum hub_status hub_npz_reader_open(struct hub_npz_reader *npz, struct hub_files *files,
                                                 uint32_t number, struct hub_error *err);
/** The same of an archive that lies in `npz->source`, from `begin` to its end. */
HUB_MUST_USE enum hub_status hub_npz_reader_read(struct hub_npz_reader *npz, struct hub_files *files,
                                                 uint64_t begin, struct hub_error *err);
void hub_npz_reader_dispose(struct hub_npz_reader *npz);
/** Report the members that were not checked. */
HUB_MUST_USE enum hub_status hub_npz_reader_report_unchecked(const struct hub_npz_reader *npz,
                                                             struct hub_sink *sink, struct hub_error *err);
/** Report these and the members that are no fields. */
HUB_MUST_USE enum hub_status hub_npz_reader_report(const struct hub_npz_reader *npz, struct hub_sink *sink,
                                                   struct hub_error *err);

/** Texts that hub_npy_read refused as UTF-32, in `source`: re-written as UTF-8 in side data, where `npy` and
 * `file` then point; items keep one size and their order. */
HUB_MUST_USE enum hub_status hub_npy_texts(struct hub_files *files, struct hub_byte_source *source,
                                           struct hub_npy *npy, uint32_t *file, struct hub_error *err);

/** Rows of an array: its first dimension; 1 where it has none. */
uint64_t hub_npy_rows(const struct hub_npy *npy);

/** A field that is this array, as that of the part's episode `index`. `steps` says its axis. */
HUB_MUST_USE enum hub_status hub_npy_lay_out(struct hub_sink *sink, const struct hub_npz_array *array,
                                             uint32_t index, uint64_t steps, struct hub_error *err);

/** A field that is this array, cut into episodes: a window each, whose `array` is filled in here. */
HUB_MUST_USE enum hub_status hub_npz_reader_cut(struct hub_sink *sink, const struct hub_npz_array *array,
                                                enum hub_axis axis, struct hub_window *windows,
                                                uint32_t count, struct hub_error *err);

/** A field that an episode has and that cannot be read. */
HUB_MUST_USE enum hub_status hub_report_unreadable(struct hub_sink *sink, struct hub_view path,
                                                   uint32_t index, const char *why, struct hub_error *err);

/** What an array says of the steps of its episode. */
struct hub_row_vote {
    uint64_t rows;
    bool picture; /* the whole array has the shape of one picture */
};

/** The vote of an array of `rank` dimensions, from 1. */
struct hub_row_vote hub_row_vote_of(const struct hub_variant *item, const uint64_t *shape, uint32_t rank);

/** How many steps arrays of these numbers of rows say an episode has: the number that most have, the largest
 * among equals; one fewer where others have just one fewer, for there is one observation more than actions; 1
 * where only pictures have that number, for it is their height; 0 of none. */
uint64_t hub_common_rows(const struct hub_row_vote *votes, size_t count);

#endif
