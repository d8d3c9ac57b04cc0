/** Files of datasets that are not here, as their upstreams list them. */
#ifndef HUB_API_REMOTE_VIEW_H
#define HUB_API_REMOTE_VIEW_H

#include "server/api/app.h"

struct hub_cached_response;
struct hub_remote_list;

/** The files of one that is not here, as its upstream lists them. */
struct hub_remote_view {
    struct hub_dataset dataset; /* summary, borrowed, and files alone */
    const struct hub_remote_list *list;
    struct hub_cached_response *answer; /* that holds it */
    bool asked;                         /* the upstream was, for this */
};
/** Cached by the summary; HUB_AGAIN: the upstream has to be queried and `may_block` is false. */
HUB_MUST_USE enum hub_status hub_remote_view_get(struct hub_app *app, const struct hub_summary *summary,
                                                 bool may_block, struct hub_remote_view **out,
                                                 struct hub_error *err);
/** Of NULL: nothing. */
void hub_remote_view_put(struct hub_remote_view *view);
/** What the upstream says of a file. */
const struct hub_file_facts *hub_remote_facts(const struct hub_remote_view *view,
                                              const struct hub_dataset_file *file);
/** A small file of it that is read to know what there is: nothing is fetched because of that. Blocking. */
HUB_MUST_USE enum hub_status hub_remote_text(struct hub_app *app, const struct hub_remote_view *view,
                                             const struct hub_dataset_file *file, struct hub_buf *out,
                                             struct hub_error *err);

#endif
