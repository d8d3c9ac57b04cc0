/**
 * The episodes of a part: blobs of a run of episodes each, read in place.
 *
 *   rows   = count, size of the texts (32 bits each), rows, texts
 *   column = count, size of the texts (32 bits each), cells (64 bits each), kinds and flags (a byte each),
 *            texts
 *
 * Rows hold all that is known of an episode, in short runs: a page takes few of many. A column holds one
 * property of each, stated, measured or made of rows, in long runs: all of them are looked at. A cell of
 * texts is where the first one begins and, in the upper half, how many follow each other there.
 */
#ifndef HUB_CATALOG_COLUMNS_H
#define HUB_CATALOG_COLUMNS_H

#include "storage/catalog/blobs.h"
#include "storage/model/findings.h"
#include "storage/query/property.h"

enum { HUB_ROWS_RUN = 128, HUB_COLUMN_RUN = 16384 /* cells */, HUB_COLUMN_NAME = 1100 };
#define HUB_ROWS "rows"

struct hub_columns {
    uint32_t count;
    const char *cells, *texts;
};

/** A run of a column in the making: cell after cell. */
struct hub_column_run {
    struct hub_buf cells, kinds, texts;
    uint32_t recent[8], next, count; /* texts come again and again */
};
HUB_MUST_USE enum hub_status hub_column_run_begin(struct hub_column_run *run, size_t max_texts,
                                                  struct hub_error *err);
/** Of several values only texts. 0: it has none. HUB_TOO_BIG: too many texts. */
HUB_MUST_USE enum hub_status hub_column_run_add(struct hub_column_run *run, const struct hub_value *values,
                                                size_t count, struct hub_error *err);
/** What it has become is in `cells`. */
HUB_MUST_USE enum hub_status hub_column_run_end(struct hub_column_run *run, struct hub_error *err);
void hub_column_run_dispose(struct hub_column_run *run);

/** Rows, and the columns of what files state (HUB_FROM_COLUMN). */
HUB_MUST_USE enum hub_status hub_columns_write(struct hub_db *db, int64_t part,
                                               const struct hub_findings *found, struct hub_error *err);
/** The name of the blob with a run of a column: of a word, and of a field or an attribute. False: it is too
 * long. */
bool hub_column_name(const char *word, struct hub_view of, uint32_t run, char name[HUB_COLUMN_NAME]);
/** False: it makes no sense. */
bool hub_columns_open(struct hub_view blob, struct hub_columns *out);
bool hub_columns_open_rows(struct hub_view blob, struct hub_columns *out);
/** Of rows / of a column: the one at this place in the blob. Texts point into it. */
void hub_columns_row(const struct hub_columns *rows, uint32_t at, struct hub_found_episode *out);
enum { HUB_CELL_KIND = 15 /* 0: none */, HUB_CELL_COMPUTED = 16 };
/** How many values the cell has; `out` is the first one. */
static inline uint32_t hub_columns_get(const struct hub_columns *column, uint32_t at, struct hub_value *out)
{
    uint64_t bits;
    memcpy(&bits, column->cells + at * sizeof bits, sizeof bits); /* perhaps not aligned */
    const unsigned char kind = (unsigned char)column->cells[column->count * sizeof bits + at];
    if (!kind)
        return 0;
    out->kind = (kind & HUB_CELL_KIND) - 1U;
    out->computed = kind & HUB_CELL_COMPUTED;
    if (out->kind == HUB_VALUE_TEXT) {
        out->text = hub_view_of(column->texts + (uint32_t)bits);
        return (uint32_t)(bits >> 32);
    }
    memcpy(&out->number, &bits, sizeof bits); /* or `large`, or `real` */
    return 1;
}
/** The text that follows one of several. */
static inline struct hub_view hub_columns_next(struct hub_view text)
{
    return hub_view_of(text.data + text.size + 1);
}

#endif
