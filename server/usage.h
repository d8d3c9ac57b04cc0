/** What minari-hub takes, for people and shells. */
#ifndef HUB_SERVER_USAGE_H
#define HUB_SERVER_USAGE_H

#include "server/config/config.h"

/** Of a command; of the whole program where that is NULL or none. */
void hub_help(FILE *out, const char *command);
/** What status, problems and scan take beside the settings. */
struct hub_asked {
    bool json;
    const char *forget; /* a root; NULL: none */
};
/** The options of a command that are its own. */
struct hub_options hub_own_options(const char *command);
/** Print "man", "bash", "zsh" or "fish": an exit code. */
int hub_generate(const char *what);

#endif
