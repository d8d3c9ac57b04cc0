/**
 * The datasets that a request may see. Every list, count, search and look-up of an id goes by such a
 * snapshot, so that what is private is absent from all of them alike.
 */
#ifndef HUB_API_VISIBLE_H
#define HUB_API_VISIBLE_H

#include "server/http/http.h"
#include "storage/catalog/summary.h"

/** Snapshots by what may be read, made when they are first needed. The app's; safe from any thread. */
struct hub_visible;

HUB_MUST_USE enum hub_status hub_visible_new(struct hub_visible **out, struct hub_error *err);
/** NULL is fine. */
void hub_visible_free(struct hub_visible *visible);

/** The current snapshot without the datasets that the principal may not read, and without what is kept of
 * those that were deleted: put it. It is empty when there is no memory for it. */
const struct hub_snapshot *hub_request_snapshot(const struct hub_request *request);
/** The same with what is kept of datasets that were deleted, as "lab/arm-v0@COMMIT", for who may write there.
 * Made again each time. Blocking. */
const struct hub_snapshot *hub_request_snapshot_deleted(const struct hub_request *request);
/** Whether the principal may read what has this id, or what lies below a folder that ends with a slash. Asked
 * where a name leads to something that is in no snapshot. */
bool hub_request_may_read(const struct hub_request *request, struct hub_view id);
/** The same of a mirror rule, whose copies lie in the folder of its name. */
bool hub_request_may_see_rule(const struct hub_request *request, const char *name);
/** What the principal may do with what has this id, by rules alone. */
enum hub_level hub_request_level(const struct hub_request *request, struct hub_view id);
/** The answer is about this dataset alone: caches may share it where everybody may read that. */
void hub_request_is_about(struct hub_request *request, const struct hub_summary *summary);
/**
 * What is said of a dataset that is not there for the principal: HUB_OK where nothing is to be added to
 * "there is none"; HUB_DENIED "sign-in" where a rule stands and nobody signed in. It depends on the rules
 * alone, not on what exists.
 */
HUB_MUST_USE enum hub_status hub_request_absent(const struct hub_request *request, struct hub_view id,
                                                struct hub_error *err);

#endif
