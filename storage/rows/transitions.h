/**
 * The columns that rows of many episodes have: the fields as they are, or, as transitions, obs, next_obs,
 * acts, rews, infos, dones, terminated and truncated, by the roles and axes of the fields.
 */
#ifndef HUB_ROWS_TRANSITIONS_H
#define HUB_ROWS_TRANSITIONS_H

#include "storage/rows/named.h"
#include "storage/rows/row_reader.h"

struct hub_transitions_query {
    const struct hub_named_fields *fields; /* that may become columns */
    const struct hub_state *state;
    bool transitions, drop_sentinel;
    bool npz; /* padded JSON stays as it is stored */
};

struct hub_transitions {
    bool exact[HUB_MAX_SELECTED]; /* of each column: its field was named itself */
    enum hub_transitions_purpose {
        HUB_ENDING_NOT,
        HUB_ENDING_TERMINATED,
        HUB_ENDING_TRUNCATED,
        HUB_ENDING_DONE
    } purpose[HUB_MAX_SELECTED];
    char *names; /* that the names of columns lie in: to be freed after the reading */
};

/** Set the columns of a reading, before hub_row_reader_begin. HUB_NOT_FOUND "field-not-found": nothing to
 * make
 * transitions of; HUB_TOO_BIG. */
HUB_MUST_USE enum hub_status hub_transitions_columns(const struct hub_transitions_query *query,
                                                     struct hub_row_reader *reading,
                                                     struct hub_transitions *out, struct hub_error *err);
/** Set how many rows each episode has, once it began. */
HUB_MUST_USE enum hub_status hub_transitions_ends(const struct hub_transitions_query *query,
                                                  struct hub_row_reader *reading, struct hub_error *err);
/** Add the columns that are made, once those are left that can be read. */
void hub_transitions_made(const struct hub_transitions_query *query, struct hub_row_reader *reading,
                          const struct hub_transitions *columns);

#endif
