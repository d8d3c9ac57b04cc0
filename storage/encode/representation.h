/**
 * A representation is a row: what it is called, and what writes it. An encoding is one answer in one of them.
 * To add one: a file with its `struct hub_writer hub_write_NAME`, and a row in
 * storage/ids/representations.h.
 */
#ifndef HUB_ENCODE_REPRESENTATION_H
#define HUB_ENCODE_REPRESENTATION_H

#include "storage/encode/encode.h"
#include "storage/encode/table_stream.h"
#include "storage/ids/representations.h"

#define HUB_ENCODE_MAX_BYTES (1 * GIB) /* of the rows in one answer */

/** Whether rows of a field have a representation. */
enum hub_fit {
    HUB_FIT_NONE = 0,
    HUB_FIT_ROWS,
    HUB_FIT_ONE_ROW,
    HUB_FIT_DECODED, /* would have, if somebody decoded the stored pictures */
};

/** One field's rows in an answer. */
struct hub_encoding_field {
    const char *name; /* within the answer */
    enum hub_field_type type;
    bool bare;                   /* one row, without the leading axis */
    const struct hub_plan *plan; /* priced before anything but hub_encoding_check looks at it */
};

struct hub_representation {
    const char *name;       /* as ?format= has it */
    const char *media_type; /* as Accept has it */
    const struct hub_writer *writer;
    enum hub_table_rank table; /* where there is one, the writer has `table` */
};

/** An answer that is being made. */
struct hub_encoding {
    const struct hub_representation *as;
    bool by_name; /* chosen by ?format=, not by Accept */
    bool single;  /* one field, named exactly: the bare array; else an object or an archive of arrays */
    enum hub_nonfinite nonfinite;
    const struct hub_encoding_field *fields;
    uint32_t count;
    /** The caller's: rows of a field, gathered in `into` (NULL: the rows bring their memory). */
    enum hub_status (*read)(struct hub_encoding *e, uint32_t field, void *into, struct hub_rows *rows,
                            struct hub_error *err);
    /** The caller's: memory on top of the peak, for what is only known once the rows are read. */
    enum hub_status (*reserve)(struct hub_encoding *e, uint64_t bytes, struct hub_error *err);
    void *user;
    struct hub_drawn_range range;         /* of a picture: as asked for, and as it was drawn */
    uint64_t nonfinite_count, null_count; /* in what was written */
};

/** What a representation takes, costs and how it is written; NULL members have the default in brackets. */
struct hub_writer {
    bool several; /* holds more than one field */
    enum hub_fit (*fit)(enum hub_field_type type, const struct hub_variant *variant); /* [all rows] */
    /** What else speaks against this answer [nothing]. */
    enum hub_status (*check)(const struct hub_encoding *e, struct hub_error *err);
    const char *(*media_type)(const struct hub_encoding *e); /* [the row's] */
    uint64_t (*memory)(const struct hub_encoding *e);        /* bytes besides the rows themselves [0] */
    uint64_t (*nanoseconds)(const struct hub_encoding *e);   /* of a processor, to encode [0] */
    uint64_t (*length)(const struct hub_encoding *e);        /* of the body [UINT64_MAX: not known before] */
    enum hub_status (*write)(struct hub_encoding *e, struct hub_buf *out, struct hub_error *err);
    /** Of a table: how its rows are written while they are read. */
    const struct hub_stream_writer *table;
};

/** The table; it ends with a row without a name. */
extern const struct hub_representation hub_representations[];

/** By its name; NULL: there is none. */
const struct hub_representation *hub_representation_named(const char *name);

/** Which of them a kind of answer may have; the first one of a list is its default. */
enum hub_representation_list {
    HUB_LIST_ALL,
    HUB_LIST_OF_SEVERAL, /* fields */
    HUB_LIST_OF_VALUES,  /* a table of values */
    HUB_LIST_OF_ROWS,    /* rows of many episodes */
    HUB_LIST_OF_WINDOWS,
    HUB_LIST_OF_PAGES, /* documents, or a line an item */
};
bool hub_representation_is_listed(enum hub_representation_list which, const struct hub_representation *as);
/** The one behind `as` (NULL: the first) in a list; NULL at its end. */
const struct hub_representation *hub_representations_next(enum hub_representation_list which,
                                                          const struct hub_representation *as);
enum { HUB_REPRESENTATIONS_CHARS = 256 };
/** Their names, or their media types but for those of several, as a text. */
void hub_representations_list(enum hub_representation_list which, bool types,
                              char out[HUB_REPRESENTATIONS_CHARS]);

/** HUB_OK, or HUB_NOT_ACCEPTABLE "not-acceptable"/"needs-decoding" with what would do. */
HUB_MUST_USE enum hub_status hub_encode_check(enum hub_field_type type, const struct hub_variant *variant,
                                              const struct hub_representation *as, uint64_t rows,
                                              struct hub_error *err);
/** The same of a column among others: the error names it. */
HUB_MUST_USE enum hub_status hub_encode_check_named(const char *name, enum hub_field_type type,
                                                    const struct hub_variant *variant,
                                                    const struct hub_representation *as, uint64_t rows,
                                                    struct hub_error *err);
/** The same of all fields, and of them together. HUB_TOO_BIG "too-large". */
HUB_MUST_USE enum hub_status hub_encoding_check(const struct hub_encoding *e, struct hub_error *err);
const char *hub_encoding_media_type(const struct hub_encoding *e);
/** Text and bytes are padded to their longest, which nobody knows before they are read: may they take so
 * many bytes? `copies` of them come on top of the memory that was reserved. */
HUB_MUST_USE enum hub_status hub_encode_reserve_padded(struct hub_encoding *e, uint32_t field, uint64_t bytes,
                                                       unsigned copies, struct hub_error *err);
uint64_t hub_encoding_bytes(const struct hub_encoding *e); /* of all rows, as they are gathered */

/** A table with a line or record a row; else, if it is one, its columns stand one after another. */
bool hub_representation_is_of_rows(const struct hub_representation *as);
/** The fields as columns of a table, which is read and written at once. */
HUB_MUST_USE enum hub_status hub_encoding_write_table(struct hub_encoding *e, struct hub_buf *out,
                                                      struct hub_error *err);
/** Bytes that writing it takes besides its rows. */
uint64_t hub_encoding_table_memory(const struct hub_encoding *e);
/** So short that a table of rows is written at once: of numbers, as many rows of each field. Not priced
 * yet. */
bool hub_encoding_is_short_table(const struct hub_encoding *e);

#endif
