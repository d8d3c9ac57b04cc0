/**
 * Files that hold a login of huggingface_hub: `token` and `stored_tokens`, which it keeps beside its cache.
 * Whoever serves that folder does not mean to serve them, so they are neither listed nor opened.
 */
#ifndef HUB_IO_CREDENTIALS_H
#define HUB_IO_CREDENTIALS_H

#include <stdbool.h>

/** Does the last segment of a path have the name of such a file? */
bool hub_credentials_named(const char *path);

/** Is this file of an open directory one of them: it has the name, and a folder `hub` lies beside it, or it
 * has at most 4 KiB and holds a token. */
bool hub_credentials_in(int directory, const char *name);

#endif
