/**
 * Patterns of object names, as Google documents them for lists: `*` and `?` match no slash, `**` matches any, `[a-c]` and `[!a-c]`
 * one character, `{one,two}` either of what may be patterns themselves; a backslash takes what follows for itself.
 */
#ifndef HUB_FACADE_GLOB_H
#define HUB_FACADE_GLOB_H

#include "storage/base/buf.h"

/** Patterns without alternatives, one for each way to take them. Zeroed: all names are meant. */
struct hub_glob {
    struct hub_buf patterns; /* each ends with a NUL */
    uint32_t count;
};

/** HUB_INVALID: longer than 1 KiB, more than 64 ways, or braces that do not match. */
HUB_MUST_USE enum hub_status hub_glob_read(struct hub_view text, struct hub_glob *out, struct hub_error *err);
void hub_glob_dispose(struct hub_glob *glob);
bool hub_glob_matches(const struct hub_glob *glob, const char *name);

#endif
