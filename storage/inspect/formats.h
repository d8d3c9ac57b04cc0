/**
 * The table of formats that minari-inspect announces at its start, before it has seen any file: who is asked
 * about a directory, which of its folders are looked into. What else a hub knows of a format is its row in
 * storage/model/format_row.h.
 */
#ifndef HUB_INSPECT_FORMATS_H
#define HUB_INSPECT_FORMATS_H

#include "storage/base/buf.h"

enum { HUB_MAX_FORMATS = 32, HUB_MAX_FORMAT_NAMES = 64, HUB_MAX_TABLE = 64 * 1024 };

struct hub_format_row {
    char *name;
    char **names;  /* patterns, NULL-terminated: see storage/model/format_marks.h */
    char **asides; /* names of files that are no data, NULL-terminated */
};

struct hub_format_table {
    struct hub_format_row rows[HUB_MAX_FORMATS];
    uint32_t count;
};

/** Proven: HUB_CORRUPT for anything but well-formed rows. */
HUB_MUST_USE enum hub_status hub_format_table_read(const void *data, size_t size,
                                                   struct hub_format_table **out, struct hub_error *err);
void hub_format_table_free(struct hub_format_table *table);

const struct hub_format_row *hub_format_table_find(const struct hub_format_table *table, const char *name);

/** Whether an entry of a listing ("x.tar", "data/main_data.hdf5") is one that a format (NULL: any) looks
 * for. */
bool hub_format_table_wants(const struct hub_format_table *table, const struct hub_format_row *format,
                            const char *path, bool directory);
/** Whether the entries of a directory of this name belong to the listing of the one above it. */
bool hub_format_table_looks_into(const struct hub_format_table *table, const char *name);
/** Whether a file has the size of what Git LFS leaves in the place of one: it is looked into, whatever it is
 * called. */
static inline bool hub_maybe_pointer(uint64_t size)
{
    return size >= 120 && size <= 160;
}
/** Whether a file of this name describes a folder and is no data. */
bool hub_format_table_is_aside(const struct hub_format_table *table, const char *name);

#endif
