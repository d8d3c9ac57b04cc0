/* Slices: see slice.h. */
#include "client/cli/slice.h"

#include <errno.h>
#include <stdlib.h>

/* A number up to a colon or the end, or nothing. */
static bool part(const char **at, bool *has, int64_t *value)
{
    char *end;
    *has = **at && **at != ':';
    if (!*has)
        return true;
    if (!(**at >= '0' && **at <= '9') && **at != '-' && **at != '+')
        return false;
    errno = 0;
    *value = strtoll(*at, &end, 10);
    const bool good = !errno && end != *at && (*end == '\0' || *end == ':');
    *at = end;
    return good;
}

bool slice_parse(const char *at, struct minari_slice *out)
{
    struct minari_slice s = {0};
    if (!part(&at, &s.has_start, &s.start))
        return false;
    if (!*at) { /* no colon: one row */
        s.has_row = s.has_start;
        s.row = s.start;
        s.has_start = false;
        s.start = 0;
        *out = s;
        return s.has_row;
    }
    at++;
    if (!part(&at, &s.has_stop, &s.stop))
        return false;
    if (*at) {
        at++;
        if (!part(&at, &s.has_step, &s.step) || *at || (s.has_step && s.step == 0))
            return false;
    }
    *out = s;
    return true;
}
