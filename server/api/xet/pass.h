/**
 * Passes: what a client of Xet sends in place of its token, "xet.EXPIRES.TOKEN.SIGNATURE.REPO". One is good
 * for an hour, for one upload to one repo, and as long as the token with that id may write there. The hub
 * keeps nothing of it: the signature is by the key of its links, over a text that no link has.
 */
#ifndef HUB_API_XET_PASS_H
#define HUB_API_XET_PASS_H

#include "server/http/http.h"
#include "storage/xet/epochs.h"

enum { HUB_XET_PASS_BYTES = 1024, HUB_XET_REPO_BYTES = 256 };

/** Write one for the token that asks. HUB_DENIED "sign-in": none does. */
HUB_MUST_USE enum hub_status hub_xet_pass_write(const struct hub_request *request, const char *epoch,
                                                const char *repo, int64_t expires_s, struct hub_buf *out,
                                                struct hub_error *err);
/** The request, which carries a pass for an upload, becomes one of its token; `repo` is where to. HUB_DENIED
 * "bad-token": it carries none, or one that is damaged, for another upload, or not good any more. */
HUB_MUST_USE enum hub_status hub_xet_pass_take(struct hub_request *request, struct hub_view epoch,
                                               char repo[HUB_XET_REPO_BYTES], struct hub_error *err);

#endif
