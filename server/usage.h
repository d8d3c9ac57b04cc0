/** What minari-hub takes, for people and shells. */
#ifndef HUB_SERVER_USAGE_H
#define HUB_SERVER_USAGE_H

#include "server/config/config.h"

/** Of a command; of the whole program where that is NULL or none. */
void hub_help(FILE *out, const char *command);
/** Print "man", "bash", "zsh" or "fish": an exit code. */
int hub_generate(const char *what);

#endif
