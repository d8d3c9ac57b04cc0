/**
 * What chooses episodes, as in `return > 100 and success = true and split = 'train'`:
 *
 *   or    = and {"or" and}      and = not {"and" not}      not = ["not"] ( "(" or ")" | test )
 *   test  = name op value | name "in" "(" value {"," value} ")" | name "is" ["not"] "null"
 *   op    = "=" | "!=" | "<" | "<=" | ">" | ">="
 *   value = integer | decimal | 'text' ('' is a quote in it) | true | false
 *   name  = word | word "(" "FIELD" ")" | ("first" | "last") "(" "FIELD" ")" [ "[" integer "]" ]
 *         | "attribute" ("" is a quote in it); the words are the rows of property.h
 *
 * Words are lower case. A value that an episode lacks makes a test unknown, and what is unknown is not
 * chosen: `not (return > 5)` leaves out episodes without a return. A set (split, task) is tested as one: =
 * contains, != lacks, in contains any. Text equals no number; NaN equals nothing.
 */
#ifndef HUB_QUERY_WHERE_H
#define HUB_QUERY_WHERE_H

#include "storage/query/property.h"

enum { HUB_WHERE_BYTES = 1024, HUB_WHERE_TESTS = 64, HUB_WHERE_DEPTH = 16 };
/** Indexes of the names of fields and attributes, of a test and beside it of an order or columns. */
enum { HUB_NAMES = 2 * HUB_WHERE_TESTS };

struct hub_where;

/** HUB_INVALID "bad-where" with the position (bytes, from 1), what was expected there and the known names;
 * hub_where_free the result. */
HUB_MUST_USE enum hub_status hub_where_parse(struct hub_view text, struct hub_where **out,
                                             struct hub_error *err);
/** A name alone, to sort by. Its text lies in `holder`, which is freed like the above. */
HUB_MUST_USE enum hub_status hub_property_parse(struct hub_view text, struct hub_where **holder,
                                                struct hub_property *out, struct hub_error *err);
/** Several, between commas. HUB_INVALID: more than `most`, or none. */
HUB_MUST_USE enum hub_status hub_properties_parse(struct hub_view text, struct hub_where **holder,
                                                  struct hub_property *out, unsigned most, unsigned *count,
                                                  struct hub_error *err);
/**
 * What chooses steps, as in `rewards < -10 and "actions"[2] > 0.5`: the same grammar, in which a name is a
 * field, a word or in quotes, with the number of its row that is meant in brackets where there are several.
 * HUB_INVALID "bad-where" of the parameter step_where.
 */
HUB_MUST_USE enum hub_status hub_step_where_parse(struct hub_view text, struct hub_where **out,
                                                  struct hub_error *err);
void hub_where_free(struct hub_where *where);
void hub_where_freep(struct hub_where **where);

/** What an episode has under a name: at most one value, or those of a set. They live until the next call. */
struct hub_values {
    const struct hub_value *first;
    size_t count;
};
struct hub_episode_values {
    enum hub_status (*get)(void *user, const struct hub_property *name, struct hub_values *out,
                           struct hub_error *err);
    void *user;
};

/** Whether it is chosen. Only names that decide are asked for. */
HUB_MUST_USE enum hub_status hub_where_holds(const struct hub_where *where,
                                             const struct hub_episode_values *episode, bool *out,
                                             struct hub_error *err);

/** What test `i` is on; NULL: there are no more tests. Of NULL: there are none. */
const struct hub_property *hub_where_name(const struct hub_where *where, unsigned i);
/** Text `k` of those that test `i` compares its name with by =, != or in; false: there are no more. */
bool hub_where_text(const struct hub_where *where, unsigned i, unsigned k, struct hub_view *out);

/** How many values an episode may be compared with until it is known whether it is chosen; 0 of NULL. */
unsigned hub_where_comparisons(const struct hub_where *where);

#endif
