/**
 * What a request means of a dataset: which episodes, by where=, split=, task=, name= and sort=, of these a
 * part of a partition= or some at random=, and which fields, by fields=, where a word with an @ names all
 * fields of a role, so that one script serves every format.
 */
#ifndef HUB_API_EPISODES_EPISODE_SELECTION_H
#define HUB_API_EPISODES_EPISODE_SELECTION_H

#include "server/api/resolve.h"
#include "storage/rows/named.h"

struct hub_episode_selection {
    uint32_t
        *places; /* among dataset->episodes, in the order asked for: by number unless sort= says otherwise */
    uint32_t count;
    uint64_t steps; /* of all of them together */
    /* set before: seed= chooses among their rows; a partition has its partition_seed= */
    bool seed_is_of_rows;
    bool only_valid;  /* set before: skip others, see hub_episode_selection_wants_valid */
    uint32_t invalid; /* that were left out */
};

/**
 * Are episodes left out that the dataset itself calls not valid? Those of a format that judges its own by an
 * attribute `valid` are, where it is false; unless the request says valid=any, or means episodes by name= or
 * by that attribute in where=. HUB_INVALID "bad-parameter".
 */
HUB_MUST_USE enum hub_status hub_episode_selection_wants_valid(const struct hub_request *request,
                                                               const struct hub_summary *summary, bool *out,
                                                               struct hub_error *err);
/** Say in what becomes X-Left-Out that there were such: with the parameter that has them. */
HUB_MUST_USE enum hub_status hub_episode_selection_report_invalid(const struct hub_episode_selection *chosen,
                                                                  struct hub_buf *left_out,
                                                                  struct hub_error *err);

/**
 * The episodes that a request means, of a target opened as HUB_TO_STATE: of a zeroed one, to be disposed.
 * Blocking. Reserves the memory it takes (hub_budget_take).
 *
 * @param limit  at most so many
 * @return HUB_INVALID "bad-where", "bad-parameter"; HUB_CANCELLED: nobody waits any more
 */
HUB_MUST_USE enum hub_status hub_episode_selection_open(struct hub_request *request,
                                                        struct hub_response *response,
                                                        const struct hub_state *state, uint32_t limit,
                                                        struct hub_episode_selection *out,
                                                        struct hub_error *err);
/** It means some that are drawn: another order than that of a sort key. */
bool hub_episode_selection_is_sampled(const struct hub_request *request);
/** Of the chosen ones those that partition= with part= and random= draw, in the order they are drawn. Done by
 * hub_episode_selection_open. HUB_INVALID "bad-parameter". */
HUB_MUST_USE enum hub_status hub_episode_selection_sample(const struct hub_request *request,
                                                          struct hub_episode_selection *chosen,
                                                          struct hub_error *err);
void hub_episode_selection_dispose(struct hub_episode_selection *chosen);

/** hub_named_add and hub_named_missing, for a request whose path may name the episode. */
HUB_MUST_USE enum hub_status hub_request_add_field(const struct hub_request *request,
                                                   const struct hub_state *state, struct hub_view name,
                                                   struct hub_named_fields *out, struct hub_error *err);
enum hub_status hub_no_field(const struct hub_request *request, const struct hub_state *state,
                             struct hub_view name, struct hub_error *err);
/** All that the request's fields= name, in that order. */
HUB_MUST_USE enum hub_status hub_request_fields(const struct hub_request *request,
                                                const struct hub_state *state, struct hub_named_fields *out,
                                                struct hub_error *err);
/** Add a name to what X-Left-Out says: "a, b/c", percent-coded, so that a comma in a name separates nothing.
 * What is too long ends in "...". `out` is zeroed at first, `first` becomes the reason of the first one. */
HUB_MUST_USE enum hub_status hub_leave_out(struct hub_buf *out, struct hub_error *first, const char *name,
                                           const struct hub_error *why, struct hub_error *err);

#endif
