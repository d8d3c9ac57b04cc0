/** Where a cell of an episode lies: in the blob of a column, or in a column that is made of rows when it is
 * first asked for and kept in memory, so that any name can be looked through. Within episode_reader. */
#ifndef HUB_EPISODES_EPISODE_CELLS_H
#define HUB_EPISODES_EPISODE_CELLS_H

#include "storage/episodes/episode_reader.h"

/** The cell is at `place` of `columns`, which stay until the reader is asked for a cell of that column
 * again. */
HUB_MUST_USE enum hub_status hub_episode_cell_find(struct hub_episode_reader *reader,
                                                   enum hub_episode_column column,
                                                   const struct hub_dataset_episode *e,
                                                   const struct hub_columns **columns, uint32_t *place,
                                                   struct hub_error *err);
/** The same in the column of a name that has none in the index. False: it is not to be had (no memory, texts
 * too long, a row that cannot be read). */
bool hub_episode_cell_compute(struct hub_episode_reader *reader, const struct hub_property *name,
                              const struct hub_dataset_episode *e, const struct hub_columns **columns,
                              uint32_t *place);
void hub_column_cursor_reset(struct hub_column_cursor *cursor);

/** What such columns are made of: the value in the episode's row. */
HUB_MUST_USE enum hub_status hub_episode_value_of_row(struct hub_episode_reader *reader,
                                                      const struct hub_dataset_episode *e,
                                                      const struct hub_property *name, struct hub_values *out,
                                                      struct hub_error *err);

#endif
