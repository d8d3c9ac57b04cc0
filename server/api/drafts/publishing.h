/** A draft becomes a dataset: all of it, inspected, or nothing. */
#ifndef HUB_API_DRAFTS_PUBLISHING_H
#define HUB_API_DRAFTS_PUBLISHING_H

#include "server/api/drafts/facts.h"
#include "storage/drafts/verdict.h"

/** Zeroed but for what is set before; dispose it. */
struct hub_publishing {
    struct hub_app *app;            /* set before */
    struct hub_draft_row row;       /* set before: that of the draft, which is open */
    struct hub_draft_folder draft;  /* HUB_DRAFT_FOLDER_INIT */
    const char *message;            /* set before */
    bool as_broken, as_files;       /* set before: what is published all the same */
    char commit[HUB_COMMIT_ID + 1]; /* set before, or "": it gets a name */
    int64_t until_ms;               /* set before: it takes no thread to wait, until then; 0: it waits here */
    struct hub_draft_facts facts;
    struct hub_verdict verdict;
    bool refused; /* for its verdict */
    struct hub_commit made;
    uint64_t serial; /* of the state that was listed before */
};
void hub_publishing_dispose(struct hub_publishing *c);

/** Inspect and publish it, or find that somebody did: then `row` says so, and `made` has no id. Of two who do
 * one waits for the other. What fails leaves it open, unless it is a dataset by then: the next try, or the
 * next start, has only to say so.
 * @return HUB_CORRUPT "draft-refused": for its verdict; HUB_EXISTS, HUB_CHANGED: for what is in its place;
 *  HUB_AGAIN: another one has the draft or its place, and `until_ms` is still to come: call again, from the
 *  start */
HUB_MUST_USE enum hub_status hub_publishing_run(struct hub_publishing *c, struct hub_error *err);

#endif
