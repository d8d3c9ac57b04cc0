/**
 * Signed links: URLs of one path, or of all below one, that read as whoever made them may. See
 * storage/access/link.h.
 */
#ifndef HUB_HTTP_LINK_H
#define HUB_HTTP_LINK_H

#include "server/http/http.h"

enum { HUB_LINK_PARAMETERS = 3 };
/** The parameters of a link that a request had: its time, its maker, its signature. */
struct hub_cut_link {
    bool found;
    struct hub_view values[HUB_LINK_PARAMETERS];
};
/** Take the parameters of a link out of the query. */
void hub_request_cut_link(struct hub_request *request, struct hub_cut_link *out);
/** Where nothing else says who asks, the request becomes one of the maker of the link, that only reads.
 * HUB_DENIED "bad-token": it is damaged, of another path, or has expired. */
HUB_MUST_USE enum hub_status hub_request_take_link(struct hub_request *request,
                                                   const struct hub_cut_link *link, struct hub_error *err);

/** Write a signed link for a path of this hub, which begins with a slash, and may have a query.
 * @param path  one that ends with a slash is for all below it
 * @return HUB_DENIED "sign-in" where nobody has signed in; HUB_INVALID for what is no path */
HUB_MUST_USE enum hub_status hub_request_write_link(const struct hub_request *request, const char *path,
                                                    int64_t expires_s, struct hub_buf *out,
                                                    struct hub_error *err);

#endif
