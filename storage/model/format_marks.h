/**
 * What names say of a format, before any file is looked into: one table, a row a format. A driver bids on
 * the names that stand here, and so does who has nothing but names, such as the listing of a bucket.
 */
#ifndef HUB_MODEL_FORMAT_MARKS_H
#define HUB_MODEL_FORMAT_MARKS_H

#include "storage/model/format_row.h"

/**
 * A name that a listing has when a format may be in it. '*' stands for any run of bytes, '#' for a decimal
 * number without leading zeros. "*.tar": a file; "meta_data/": a directory; "data/main_data.hdf5": a file
 * in a directory of the listing, and "train/house_#/" a directory in one, which makes the entries of such
 * directories part of the listing. A directory below a claimed one that has a name of these last kinds is a
 * dataset of its own.
 */
struct hub_format_mark {
    const char *name;
    /* What a listing with it is worth, as long as no file in it was looked into; its driver may know
     * better. 0: many formats have such files, and only what they hold says whose they are. */
    uint8_t bid;
    const char *beside[8]; /* one of these has to be there as well; none: the name is enough */
};

/* Ended by a mark without a name; those with a bid come first. */
#define HUB_DECLARE_MARKS(row, ...) extern const struct hub_format_mark hub_marks_##row[];
HUB_FORMATS(HUB_DECLARE_MARKS)

/** Whether an entry of a listing fits a pattern. */
bool hub_mark_fits(const char *pattern, struct hub_view path, bool directory);
/** Whether a pattern makes the entries of a directory of this name part of the listing. */
bool hub_mark_looks_into(const char *pattern, struct hub_view name);

/* ---- bids by names alone ---- */

/** Which marks of one format a listing has: bit i is of mark i. Zero at first. */
struct hub_marks_seen {
    uint32_t names, beside;
};
void hub_marks_see(const struct hub_format_mark *marks, struct hub_view path, bool directory,
                   struct hub_marks_seen *seen);
/** Of these the one that bids most, the first among equals; NULL: none. */
const struct hub_format_mark *hub_marks_best(const struct hub_format_mark *marks,
                                             const struct hub_marks_seen *seen);

/** The same of all formats. */
struct hub_formats_seen {
    struct hub_marks_seen of[HUB_FORMAT_COUNT];
};
void hub_formats_see(struct hub_formats_seen *seen, struct hub_view path, bool directory);
/** All entries that a file makes in the listing of a folder; its path is relative to that. */
void hub_formats_see_file(struct hub_formats_seen *seen, struct hub_view path);
/** The name of the format that bids most; NULL: none does. */
const char *hub_formats_best(const struct hub_formats_seen *seen);

#endif
