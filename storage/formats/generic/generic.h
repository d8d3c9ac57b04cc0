/* Shared by the files of the generic driver. */
#ifndef HUB_FORMATS_GENERIC_H
#define HUB_FORMATS_GENERIC_H

#include "storage/formats/kit/kit.h"

/** A container of arrays that belongs to no format: one row of generic.c's table. Its arrays or columns are the fields
 * of one episode. */
struct generic_container {
    const char *const *endings;
    bool (*is)(const uint8_t *head, size_t size); /* `size`: up to GENERIC_HEAD; NULL: `found` says it */
    /** May. The facts of the one file there is, number 0. */
    enum hub_status (*plan)(struct hub_files *files, struct hub_sink *sink, struct hub_error *err);
    enum hub_status (*inspect)(struct hub_files *files, struct hub_sink *sink, struct hub_error *err);
    bool (*found)(struct hub_files *files, uint32_t number); /* of what need not begin the file */
};

enum { GENERIC_HEAD = 8 };

extern const struct generic_container generic_h5, generic_npy, generic_npz, generic_parquet, generic_arrow;

/** Report the one episode. */
HUB_MUST_USE enum hub_status generic_episode(struct hub_sink *sink, uint64_t steps, uint32_t *index,
                                             struct hub_error *err);

/** Whose directory is it, of the formats that are recognised so that they can be refused by name (a row each
 * in refused.c)? One sentence that says what it is and what to do; NULL: nobody's that we know. */
const char *generic_refuse_directory(struct hub_files *listing);
/** The same of a file, by its name and head. */
const char *generic_refuse_file(struct hub_files *files, uint32_t number);
/** The same of all files of a dataset, where they are one series. */
const char *generic_refuse_files(struct hub_files *files);
/** Have a claim of one file that is refused take the others of its series. */
void generic_widen(struct hub_files *listing, struct hub_claim *claim);

#endif
