/** What the commands share: options of their own beside the settings, how they begin and end. */
#ifndef HUB_COMMANDS_COMMAND_H
#define HUB_COMMANDS_COMMAND_H

#include "server/config/config.h"

struct hub_command {
    struct hub_options options; /* its own */
    /** Take one of them; NULL: its value goes to its place in `user`. */
    enum hub_status (*set)(void *user, const struct hub_usage_option *option, const char *value,
                           struct hub_error *err);
    /** Take an argument; NULL: there is none. */
    enum hub_status (*word)(void *user, const char *word, struct hub_error *err);
    /** Check what was taken; NULL: it needs no check. */
    enum hub_status (*check)(void *user, struct hub_error *err);
    /** Do it; returns the exit code. */
    int (*run)(void *user, struct hub_config *config);
    void *user;
};

/** Read the options, the arguments and the settings between them, run; what is wrong with them is printed. A
 * --root of its own that is a directory is also a setting, where no hub runs. Returns the exit code. */
int hub_command_run(const struct hub_command *command, char **argv);

/** The exit code of a command that ended so. */
int hub_command_code(enum hub_status st);

#endif
