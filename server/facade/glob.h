/**
 * Patterns of object names, as Google documents them for lists: `*` and `?` match no slash, `**` matches any,
 * `[a-c]` and `[!a-c]` one character, `{one,two}` either of what may be patterns themselves; a backslash
 * takes what follows for itself.
 */
#ifndef HUB_FACADE_GLOB_H
#define HUB_FACADE_GLOB_H

#include "storage/base/buf.h"

/** Patterns without alternatives, one for each way to take them. Zeroed: all names are meant. */
struct hub_glob {
    struct hub_buf patterns; /* each ends with a NUL */
    uint32_t count;
};

/** HUB_INVALID: longer than 1 KiB, or than 8 KiB with all ways written out, more than 64 ways, or braces
 * that do not match. */
HUB_MUST_USE enum hub_status hub_glob_read(struct hub_view text, struct hub_glob *out, struct hub_error *err);
void hub_glob_dispose(struct hub_glob *glob);
/** Adds to `steps` what it took: places in the patterns that a character of the name was compared with, at
 * most the length of the name times that of all patterns. A step takes a few nanoseconds. */
bool hub_glob_matches(const struct hub_glob *glob, const char *name, uint64_t *steps);

#endif
