/**
 * Tables of cells: columns of what is known of many things, in every form, sent while they are made. A cell
 * has a value, several or none, which is null; in JSON several are a list, elsewhere one text, joined by
 * semicolons.
 */
#ifndef HUB_API_TABLES_VALUE_TABLE_H
#define HUB_API_TABLES_VALUE_TABLE_H

#include "server/http/http.h"
#include "storage/encode/block.h"
#include "storage/encode/encode.h"
#include "storage/query/where.h"
#include "storage/text/json.h"

enum {
    HUB_VALUE_TABLE_COLUMNS = 64,
    HUB_VALUE_TABLE_BLOCK = 4096 /* rows, at most, of arrays that are made together */
};

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
    enum hub_value_table_type type; /* at least this; arrow and npz look at all values first */
    uint64_t nulls, longest;        /* then: cells without a value; characters of the longest text */
};

/** The first member of what the rows are made of: all zero but for what is said to be set. */
struct hub_value_table {
    struct hub_body_producer maker; /* first */
    /* set: */
    struct hub_value_table_column columns[HUB_VALUE_TABLE_COLUMNS];
    unsigned column_count;
    uint32_t rows;
    const char *revision; /* NULL, or that the rows are of */
    uint64_t measured[2]; /* so many parts are, of so many; 0 of 0: that is not said */
    /** The values of a cell, which live until the next call. */
    enum hub_status (*get)(struct hub_value_table *cells, uint32_t row, unsigned column,
                           struct hub_values *out, struct hub_error *err);
    /** NULL, or around each block of them, by whichever thread makes it; `end` after a failed `begin`
     * too. */
    enum hub_status (*begin)(struct hub_value_table *cells, struct hub_error *err);
    void (*end)(struct hub_value_table *cells);
    void (*dispose)(struct hub_value_table *cells); /* of all but the memory itself, which is free()d */

    /* inside */
    const struct hub_value_table_form *form;
    struct hub_npz_writer *zip;
    struct hub_block_trail trail;
    unsigned column; /* json and npz go column by column */
    uint32_t at;
    bool begun, ended;
};
void hub_value_table_free(struct hub_value_table *cells);

/** json, jsonl, csv, arrow, arrow-file or npz: by ?format=, then Accept; format= of other words is an error
 * unless `filter`. */
HUB_MUST_USE enum hub_status hub_value_table_read_form(const struct hub_request *request, bool filter,
                                                       struct hub_value_table *cells, struct hub_error *err);
/** No two columns have one name: readers of JSON, arrow and npz would have one of them. */
HUB_MUST_USE enum hub_status hub_value_table_check_names(const struct hub_request *request,
                                                         const struct hub_value_table *cells,
                                                         struct hub_error *err);
/** limit=, which has no ceiling: UINT32_MAX where there is none. */
HUB_MUST_USE enum hub_status hub_value_table_read_limit(const struct hub_request *request, uint32_t *limit,
                                                        struct hub_error *err);
/** Part of the ETag. */
const char *hub_value_table_form_name(const struct hub_value_table *cells);
/**
 * Answer with it: it is handed over (*cells becomes NULL), but where something speaks against it. A Range,
 * and the length that HEAD asks for, are there of tables of a few MiB: some readers of URLs need them.
 * Blocking.
 *
 * @param etag  as it was sent; NULL: none
 */
HUB_MUST_USE enum hub_status hub_value_table_answer(struct hub_request *request,
                                                    struct hub_response *response, const char *etag,
                                                    struct hub_value_table **cells, struct hub_error *err);

/* ---- within cells ---- */

struct hub_value_table_form {
    const char *name, *accept; /* among the media types of Accept */
    const char *type;
    /** NULL, or before anything is sent: all cells may be looked at. */
    enum hub_status (*prepare)(struct hub_value_table *cells, struct hub_error *err);
    /** Append about a block of it, and say when it has `ended`. */
    enum hub_status (*more)(struct hub_value_table *cells, struct hub_buf *out, struct hub_error *err);
};
enum hub_status hub_value_table_prepare_arrow(struct hub_value_table *t, struct hub_error *err);
enum hub_status hub_value_table_prepare_npz(struct hub_value_table *t, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_value_table_begin_npz(struct hub_value_table *t, struct hub_error *err);
enum hub_status hub_value_table_more_arrow(struct hub_value_table *t, struct hub_buf *out,
                                           struct hub_error *err);
enum hub_status hub_value_table_more_npz(struct hub_value_table *t, struct hub_buf *out,
                                         struct hub_error *err);
/** A cell as JSON. */
HUB_MUST_USE enum hub_status hub_value_table_put(struct hub_value_table *cells, unsigned number, uint32_t row,
                                                 struct hub_json *json, struct hub_error *err);
/** The text of a cell, as csv has it before its quotes. */
HUB_MUST_USE enum hub_status hub_value_table_text(const struct hub_value_table_column *column,
                                                  const struct hub_values *values, struct hub_buf *out,
                                                  struct hub_error *err);

#endif
