/**
 * Tables of values: columns of what is known of many things, the source of a table
 * (storage/encode/table_stream.h).
 * A cell has a value, several or none, which is null; in JSON several are a list, elsewhere one text, joined
 * by semicolons.
 */
#ifndef HUB_API_TABLES_VALUE_TABLE_H
#define HUB_API_TABLES_VALUE_TABLE_H

#include "server/http/http.h"
#include "storage/encode/representation.h"
#include "storage/query/where.h"
#include "storage/text/json.h"

enum { HUB_VALUE_TABLE_COLUMNS = 64 };

/** What the values of a column are where they have to be of one type. */
enum hub_value_table_type {
    HUB_VALUE_TABLE_ANY, /* whatever they turn out to be; numbers where there is none */
    HUB_VALUE_TABLE_INT,
    HUB_VALUE_TABLE_UINT, /* some above INT64_MAX */
    HUB_VALUE_TABLE_REAL,
    HUB_VALUE_TABLE_TEXT,
    HUB_VALUE_TABLE_TRUTH
};

struct hub_value_table_column {
    char *name; /* owned: as it heads the column */
    bool several;
    enum hub_value_table_type
        type;                /* at least this; where it has to be one, all values are looked at first */
    uint64_t nulls, longest; /* then: cells without a value; characters of the longest text */
};

/** The first member of what the rows are made of: all zero but for what is said to be set. */
struct hub_value_table {
    struct hub_table_stream table; /* first */
    /* set: */
    struct hub_value_table_column columns[HUB_VALUE_TABLE_COLUMNS];
    unsigned column_count;
    uint32_t rows;
    const char *revision; /* NULL, or that the rows are of */
    uint64_t measured[2]; /* so many parts are, of so many; 0 of 0: that is not said */
    /** The values of a cell, which live until the next call. */
    enum hub_status (*get)(struct hub_value_table *cells, uint32_t row, unsigned column,
                           struct hub_values *out, struct hub_error *err);
    /** NULL, or around each run of them, by whichever thread makes it; `end` after a failed `begin` too. */
    enum hub_status (*begin)(struct hub_value_table *cells, struct hub_error *err);
    void (*end)(struct hub_value_table *cells);
    void (*dispose)(struct hub_value_table *cells); /* of all but the memory itself, which is free()d */

    /* inside */
    const struct hub_representation *as;
    struct hub_stream_column table_columns[HUB_VALUE_TABLE_COLUMNS];
    struct hub_value_block {
        struct hub_buf data, offsets, valid;
    } blocks[HUB_VALUE_TABLE_COLUMNS]; /* of the last rows of each column */
    struct hub_buf head;
};
void hub_value_table_free(struct hub_value_table *cells);

/** By ?format=, then Accept; format= of other words is an error unless `filter`. */
HUB_MUST_USE enum hub_status hub_value_table_read_form(const struct hub_request *request, bool filter,
                                                       struct hub_value_table *cells, struct hub_error *err);
/** No two columns have one name: readers of JSON, arrow and npz would have one of them. */
HUB_MUST_USE enum hub_status hub_value_table_check_names(const struct hub_request *request,
                                                         const struct hub_value_table *cells,
                                                         struct hub_error *err);
/** limit=, which has no ceiling: UINT32_MAX where there is none. */
uint32_t hub_value_table_limit(const struct hub_request *request);
/**
 * Answer with it: it is handed over (*cells becomes NULL), but where something speaks against it. Blocking.
 *
 * @param etag  as it was sent; NULL: none
 */
HUB_MUST_USE enum hub_status hub_value_table_answer(struct hub_request *request,
                                                    struct hub_response *response, const char *etag,
                                                    struct hub_value_table **cells, struct hub_error *err);

/* ---- within value tables ---- */

/** Look at all values: what each column is where they have to be of one type. */
HUB_MUST_USE enum hub_status hub_value_table_look(struct hub_value_table *cells, struct hub_error *err);
/** NaN and infinities, which attributes spell so. */
bool hub_value_is_word(const struct hub_value *value, double *out);
/** A value, or none, where it has to be of the type that was found out. What was measured meanwhile may be of
 * another: HUB_CHANGED. */
HUB_MUST_USE enum hub_status hub_value_table_check(const struct hub_value_table *cells,
                                                   const struct hub_value_table_column *column,
                                                   const struct hub_values *values, struct hub_error *err);
/** The text of a cell, as csv has it before its quotes, and the same as JSON. */
HUB_MUST_USE enum hub_status hub_value_text_of(const struct hub_value_table_column *column,
                                               const struct hub_values *values, struct hub_buf *out,
                                               struct hub_error *err);
HUB_MUST_USE enum hub_status hub_value_json_of(const struct hub_value_table_column *column,
                                               const struct hub_values *values, struct hub_buf *out,
                                               struct hub_error *err);

#endif
