/**
 * Columns of tables as fields: declared once what they are is known, laid out for the episodes that have
 * their rows, and refused with the reason where they cannot be read. A driver says what the rows of a column
 * are, and which of them are an episode's; all else is here. One field may have columns of many tables, as
 * where an episode is a file: what cannot be read in one hides nothing in the others.
 *
 * `fields` and its sink, files and user are the driver's, and outlive the calls. Single-threaded. Functions
 * return what the sink says, HUB_NO_MEMORY, or what a failing machine says of a file.
 */
#ifndef HUB_FORMATS_TABLE_KIT_H
#define HUB_FORMATS_TABLE_KIT_H

#include "storage/formats/kit/kit.h"
#include "storage/formats/table/table.h"

/** A field, and what its columns showed so far. */
struct hub_table_field {
    char *path;
    uint32_t number; /* HUB_NONE: not declared yet */
    enum hub_role role;
    enum hub_axis axis;
    enum hub_field_type type;   /* once declared */
    struct hub_variant variant; /* of the last column that could be read */
    uint64_t nulls;             /* in columns that have no way to say so */
    struct hub_readings readings;
    uint32_t files, last, noted;    /* the driver's own: files that have it, the last one, bits */
    uint32_t votes[HUB_AXIS_COUNT]; /* the driver's own: episodes by what their number of rows says */
};

struct hub_table_dialect {
    /** Must. Read the column `column->index` (hub_table_read, hub_table_items_read), and say what the format
     * knows better of its type and shape. It may set the field's axis and role, and the windows' rows. Says
     * why the column cannot be read. */
    enum hub_status (*read)(void *user, struct hub_table *table, struct hub_table_field *field,
                            struct hub_table_column *column, struct hub_error *why);
    bool by_file; /* readings count tables, not episodes */
};

struct hub_table_fields {
    const struct hub_table_dialect *dialect;
    void *user;
    struct hub_files *files;
    struct hub_sink *sink;
    struct hub_table_field *items;
    uint32_t count, capacity;
};

/** A field that has nothing yet, of the role that its path says. The path is borrowed. */
struct hub_table_field hub_table_field_of(char *path);
/** The field of a path, which is new where there is none yet; `near`: where it likely stands. Valid until the
 * next call. */
HUB_MUST_USE enum hub_status hub_table_fields_find(struct hub_table_fields *fields, const char *path,
                                                   uint32_t near, struct hub_table_field **out,
                                                   struct hub_error *err);
void hub_table_fields_dispose(struct hub_table_fields *fields);

/** Declare a field, or change what was declared: `type`, and the field's role and axis. */
HUB_MUST_USE enum hub_status hub_table_field_declare(const struct hub_table_fields *fields,
                                                     struct hub_table_field *field, enum hub_field_type type,
                                                     struct hub_error *err);
/** Lay out the column `index` for the episodes of these windows, whose `array` is filled in here. Says why it
 * cannot be, as where its type differs from that of an earlier one; then nothing is refused yet. */
HUB_MUST_USE enum hub_status hub_table_field_lay_out(const struct hub_table_fields *fields,
                                                     struct hub_table_field *field, struct hub_table *table,
                                                     uint32_t index, struct hub_window *windows,
                                                     uint32_t count, struct hub_error *why);
/** Refuse a field for the episodes of these windows. Until a column shows what it is, it is opaque. */
HUB_MUST_USE enum hub_status hub_table_field_refuse(const struct hub_table_fields *fields,
                                                    struct hub_table_field *field,
                                                    const struct hub_window *windows, uint32_t count,
                                                    const char *why, struct hub_error *err);
/** Both: lay out the column, or refuse it for all of them. */
HUB_MUST_USE enum hub_status hub_table_field_add(const struct hub_table_fields *fields,
                                                 struct hub_table_field *field, struct hub_table *table,
                                                 uint32_t index, struct hub_window *windows, uint32_t count,
                                                 struct hub_error *err);

/** Tell of episodes where the rows are not as many as the axis says, by the votes; nothing without any. */
HUB_MUST_USE enum hub_status hub_table_field_report_odd(const struct hub_table_fields *fields,
                                                        const struct hub_table_field *field,
                                                        struct hub_error *err);

/** Have window i be the items of the table's row i. */
void hub_table_cut(const uint64_t *offsets, struct hub_window *windows, uint32_t count);

#endif
