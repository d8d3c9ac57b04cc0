/**
 * Sessions of browsers in hub.db. One begins with a token and has its name and its rights; its text is
 * good as a cookie alone, for HUB_SESSION_MS at most, and no longer than the token. Safe from any thread.
 */
#ifndef HUB_TRUTH_SESSIONS_H
#define HUB_TRUTH_SESSIONS_H

#include "storage/truth/access_rules.h"

enum { HUB_SESSION_MS = 12 * 3600 * 1000, HUB_SESSIONS_OF_A_TOKEN = 32 };

/** Begin one; the oldest of the token ends where it has HUB_SESSIONS_OF_A_TOKEN. `text` is the only place
 * where its secret is ever written. */
HUB_MUST_USE enum hub_status hub_session_begin(struct hub_truth *truth, const struct hub_token *token,
                                               const struct hub_access_actor *actor,
                                               char text[HUB_TOKEN_TEXT + 1], struct hub_error *err);
/** End it. One that is gone already is no mistake. */
HUB_MUST_USE enum hub_status hub_session_end(struct hub_truth *truth, const struct hub_token *session,
                                             const struct hub_access_actor *actor, struct hub_error *err);

/** See that there is a key that signs links; it is made once, and is read with the table of access. */
HUB_MUST_USE enum hub_status hub_truth_make_link_key(struct hub_truth *truth, struct hub_error *err);

#endif
