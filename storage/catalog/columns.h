/**
 * The episodes of a part: blobs of a run of episodes each, read in place.
 *
 *   rows = count, size of the texts (32 bits each), rows, texts
 *   keys = count, size of the texts (32 bits each), values (64 bits each), kinds and flags (a byte each),
 *   texts
 *
 * Rows hold all that is known of an episode, in short runs: a page takes few of many. A column of keys holds
 * the one thing of each that episodes are sorted or chosen by, in long runs: all of them are looked at.
 */
#ifndef HUB_CATALOG_COLUMNS_H
#define HUB_CATALOG_COLUMNS_H

#include "storage/catalog/blobs.h"
#include "storage/model/findings.h"
#include "storage/query/value.h"

enum hub_episode_column {
    HUB_COLUMN_ROWS = 0,
    HUB_COLUMN_RETURN,
    HUB_COLUMN_SEED,
    HUB_COLUMN_TASK,
    HUB_COLUMN_SUCCESS,
    HUB_COLUMN_SPLITS,
    HUB_COLUMN_TERMINATED,
    HUB_COLUMN_TRUNCATED,
    HUB_COLUMN_COUNT
};
enum { HUB_COLUMN_NAME = 24 };

struct hub_columns {
    uint32_t count;
    const char *cells, *texts;
};

/** A blob in the making: a key an episode, in their order. */
struct hub_column_run {
    struct hub_buf cells, kinds, texts;
    uint32_t recent[8], next, count; /* texts come again and again */
};
HUB_MUST_USE enum hub_status hub_column_run_begin(struct hub_column_run *run, size_t max_texts,
                                                  struct hub_error *err);
/** NULL: the episode has none. HUB_TOO_BIG: too many texts. */
HUB_MUST_USE enum hub_status hub_column_run_add(struct hub_column_run *run, const struct hub_value *key,
                                                struct hub_error *err);
/** What it has become is in `cells`. */
HUB_MUST_USE enum hub_status hub_column_run_end(struct hub_column_run *run, struct hub_error *err);
void hub_column_run_dispose(struct hub_column_run *run);

HUB_MUST_USE enum hub_status hub_columns_write(struct hub_db *db, int64_t part,
                                               const struct hub_findings *found, struct hub_error *err);
/** Episodes in a blob of this column. */
uint32_t hub_columns_run(enum hub_episode_column column);
/** The name of the blob in which an episode of a part lies. */
void hub_columns_name(enum hub_episode_column column, uint32_t episode, char name[HUB_COLUMN_NAME]);
/** False: it makes no sense. */
bool hub_columns_open(struct hub_view blob, enum hub_episode_column column, struct hub_columns *out);
/** Of rows / of keys: the one at this place in the blob. Texts point into it. False: the episode has none. */
void hub_columns_row(const struct hub_columns *rows, uint32_t at, struct hub_found_episode *out);
bool hub_columns_key(const struct hub_columns *keys, uint32_t at, struct hub_value *out);

#endif
