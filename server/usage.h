/** What minari-hub takes, for people and shells. */
#ifndef HUB_SERVER_USAGE_H
#define HUB_SERVER_USAGE_H

#include "server/config.h"

void hub_help(FILE *out);
/** Print "man", "bash", "zsh" or "fish": an exit code. */
int hub_generate(const char *what);

#endif
