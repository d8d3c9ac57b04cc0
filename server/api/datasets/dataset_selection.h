/**
 * Which datasets a list shows, in which order: filters, words, sort, and how many there are of each value
 * of a facet. Works on a snapshot in memory; SQL runs for words alone.
 */
#ifndef HUB_API_DATASETS_DATASET_SELECTION_H
#define HUB_API_DATASETS_DATASET_SELECTION_H

#include "server/api/cursor.h"
#include "storage/catalog/summary.h"
#include "storage/model/facet.h"

/** A dataset of the listing. */
struct hub_datasets_entry {
    const struct hub_summary *summary; /* of the snapshot */
    uint8_t rank;                      /* rank of the match of q=, from 1 */
    bool loose;                        /* files that belong to no dataset */
    uint32_t number;                   /* in the snapshot, which is in order of ids */
};

/** Zero it first. Texts are the request's. */
struct hub_datasets {
    struct hub_view words;                 /* q=; empty: any */
    const char *prefix, *format, *release; /* NULL: any */
    const char *known[HUB_FACET_COUNT];
    int status, loadable, problems; /* number of the word; -1: any */
    bool latest, descending;
    unsigned sort, facets; /* enum sort_key; bits */
    struct hub_truth *truth;
    const struct hub_snapshot *snapshot;
    uint8_t *ranks; /* by number in the snapshot; NULL: no words */
    struct hub_datasets_entry *entries;
    uint32_t count;
};

HUB_MUST_USE enum hub_status hub_datasets_read(const struct hub_request *request, struct hub_datasets *out,
                                               struct hub_error *err);
/** The entries. HUB_AGAIN where that is too long for an event thread. */
HUB_MUST_USE enum hub_status hub_datasets_choose(struct hub_request *request, struct hub_datasets *l,
                                                 struct hub_error *err);
/** The member "facets" of a document, where it is asked for: each counts all that is chosen but by its own
 * filter. The entries are another choice afterwards. */
HUB_MUST_USE enum hub_status hub_datasets_facets(struct hub_datasets *l, struct hub_json *json,
                                                 struct hub_error *err);
/** The page of a request: entries [*first, *end). */
void hub_datasets_page(const struct hub_datasets *l, const struct hub_page_query *page, uint32_t *first,
                       uint32_t *end);
/** A cursor at an entry. */
void hub_datasets_cursor(const struct hub_datasets *l, uint32_t entry, struct hub_page_cursor *out);
void hub_datasets_dispose(struct hub_datasets *l);

#endif
