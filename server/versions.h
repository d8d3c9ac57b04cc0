/** The versions this process runs with, not those it was built with. */
#ifndef HUB_SERVER_VERSIONS_H
#define HUB_SERVER_VERSIONS_H

#include <stdio.h>

void hub_versions_print(FILE *out);

#endif
