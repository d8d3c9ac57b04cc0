/** Where a dataset of this machine is, by id or path, and a folder of links to it for a hub. */
#ifndef HUB_CLI_OWN_LOCATION_H
#define HUB_CLI_OWN_LOCATION_H

#include <limits.h>
#include <stdbool.h>

struct own_location {
    bool path;             /* by its path; else by its id */
    char folder[PATH_MAX]; /* that holds it: absolute, without links */
    char space[PATH_MAX];  /* of an id: what stands before its last slash, or "" */
    char name[NAME_MAX + 1];
    bool alone;               /* `name` is all of it; else the files that begin so are looked at */
    char shown[NAME_MAX + 1]; /* what it is called in its folder */
    char end[PATH_MAX];       /* where its links end */
};

/** Whether an argument is clearly a path: "/x", "./x", "../x", "~/x". */
bool own_is_path(const char *text);
/** Find it. 0, or what is wrong, as errno has it. */
int own_location_of_path(const char *text, struct own_location *out);
/** The same of an id below a folder of datasets; without "-vN" its newest version. */
int own_location_of_id(const char *root, const char *id, struct own_location *out);
/** Link it below `directory`, as its id or its name says. errno. */
int own_location_link(const struct own_location *location, int directory);
/** What a folder has in it, "a.txt, b.png, ...", for people. */
void own_location_describe(const struct own_location *location, char *out, unsigned room);

#endif
