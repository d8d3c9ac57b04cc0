/** What the commands that ask the running hub, or do their work without one, share: how they begin and
 * end. */
#ifndef HUB_COMMANDS_COMMAND_H
#define HUB_COMMANDS_COMMAND_H

#include "server/config/config.h"

/** Arguments that are settings of the hub, as hub_config_read takes them. */
struct hub_settings {
    char **items; /* borrow the arguments; NULL at the end */
    size_t count;
};

/** Take the setting that `*argv` is, and its value where that is the next argument: `*argv` is then the last
 * of both. */
void hub_settings_take(struct hub_settings *settings, char ***argv);
/** The same of one that the program puts together. */
void hub_settings_add(struct hub_settings *settings, const char *flag, const char *value);

struct hub_command {
    /** Read what is the command's own; hub_settings_take the rest. */
    enum hub_status (*read)(void *user, char **argv, struct hub_settings *settings, struct hub_error *err);
    /** Do it; returns the exit code. */
    int (*run)(void *user, struct hub_config *config);
    void *user;
};

/** Read, make the configuration, run; what is wrong with the arguments is printed. Returns the exit code. */
int hub_command_run(const struct hub_command *command, char **argv);

/** The exit code of a command that ended so. */
int hub_command_code(enum hub_status st);

#endif
