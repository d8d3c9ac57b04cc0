/**
 * The words of datasets: one row of FTS5 a dataset, written with it, in four columns: its id; what is known
 * of it (environment, tasks, robot, ...); what is said about it (description, authors); the names of its
 * fields. Found is who has all words that are asked for, each at the beginning of a word. No text that is
 * asked for is a mistake.
 */
#ifndef HUB_CATALOG_SEARCH_H
#define HUB_CATALOG_SEARCH_H

#include "storage/catalog/publish.h"

struct hub_search_words {
    const char *known, *said;
};
/** Those of a dataset, in place of what is there; its id and fields are the publication's. */
HUB_MUST_USE enum hub_status hub_search_store(struct hub_publication *p, const struct hub_search_words *words,
                                              struct hub_error *err);
HUB_MUST_USE enum hub_status hub_search_forget(struct hub_publication *p, struct hub_error *err);

/**
 * What is asked of FTS5 for the words of `text`, empty where there are none. A word is what stands between
 * spaces: where it is several to FTS5, such as "pick-cube", they have to follow each other.
 *
 * @param columns  "{id known}" or such
 * @param whole    whole words, not beginnings
 */
HUB_MUST_USE enum hub_status hub_search_query(struct hub_view text, const char *columns, bool whole,
                                              struct hub_buf *out, struct hub_error *err);

#endif
