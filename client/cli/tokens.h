/** Tokens of hubs that the user logged in at: tokens.json in the configuration directory, by the hub's URL.
 * Several programs may read and change the file at once. */
#ifndef HUB_CLI_TOKENS_H
#define HUB_CLI_TOKENS_H

#include "storage/base/buf.h"

#include <limits.h>

enum { TOKENS_URL = 512, TOKENS_CHARS = 4096 /* of one token, at most */ };

/** The hub that a token is for, "http://hub:8080": scheme, host and port of an address, in small letters and
 * without the port that the scheme implies. False: it is not the address of a hub. */
bool tokens_url(const char *address, char out[TOKENS_URL]);

/** Where the file is: below XDG_CONFIG_HOME, else ~/.config. False: neither is known. */
bool tokens_path(char out[PATH_MAX]);

/** The token kept for a hub, or NULL; tokens_free it. HUB_DENIED: others may read the file; HUB_CORRUPT: it
 * is damaged. */
HUB_MUST_USE enum hub_status tokens_get(const char *path, const char *url, char **out, struct hub_error *err);

/**
 * Keep a token for a hub, or forget it where `token` is NULL. The file is replaced at once, for the user
 * alone. Errors as of tokens_get; the file is then as it was.
 *
 * @param[out] had  whether there was one before
 */
HUB_MUST_USE enum hub_status tokens_put(const char *path, const char *url, const char *token, bool *had,
                                        struct hub_error *err);

/** A token as a person or a file gives it, without the blanks around it; tokens_free it. HUB_INVALID: it is
 * empty, or not made as tokens are. */
HUB_MUST_USE enum hub_status tokens_take(struct hub_view text, char **out, struct hub_error *err);
/** The same of all that can be read from a descriptor. HUB_TOO_BIG over TOKENS_CHARS. */
HUB_MUST_USE enum hub_status tokens_read(int fd, char **out, struct hub_error *err);

/** Whether a file has permissions for its group or for others. */
bool tokens_open_to_others(unsigned mode);

/** Overwrite and free; NULL: nothing. */
void tokens_free(char *token);

#endif
