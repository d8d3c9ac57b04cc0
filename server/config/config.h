/** Settings from where they are given. Stronger wins: flags, then environment (MINARI_HUB_<NAME>,
 * MINARI_DATASETS_PATH), then the file, then the default. */
#ifndef HUB_CONFIG_CONFIG_H
#define HUB_CONFIG_CONFIG_H

#include "server/config/settings.h"

/** Defaults. */
HUB_MUST_USE enum hub_status hub_config_init(struct hub_config *config, struct hub_error *err);
void hub_config_dispose(struct hub_config *config);

/** Read file, environment and flags (arguments after the command). `argv` NULL-terminated. HUB_INVALID says
 * which option, and for the file which line. */
HUB_MUST_USE enum hub_status hub_config_read(struct hub_config *config, char *const *argv,
                                             struct hub_error *err);
/** Read the lines of [access] again from the file that the configuration came from. NULL: it has none. The
 * whole file is checked. HUB_INVALID says which line is wrong. json_decref() the result. */
HUB_MUST_USE enum hub_status hub_config_read_access(const struct hub_config *config, json_t **out,
                                                    struct hub_error *err);
/** Check what belongs together: directories are made absolute and must be there, the address is split. */
HUB_MUST_USE enum hub_status hub_config_finish(struct hub_config *config, struct hub_error *err);

/** Where the state directory is, whether it is there or not. free() the result. */
HUB_MUST_USE enum hub_status hub_config_state(const struct hub_config *config, char **out,
                                              struct hub_error *err);

/** Whether a setting or the environment names it; else it is where this user's would be. */
bool hub_config_names_state(const struct hub_config *config);

/** A flag, and how many words it and its value are. */
struct hub_config_flag {
    const struct hub_usage_option *option;
    const char *value;
    int words;
};
/** Which setting `argv` begins with. HUB_INVALID: with none, or its value is missing. */
HUB_MUST_USE enum hub_status hub_config_find(char *const *argv, struct hub_config_flag *out,
                                             struct hub_error *err);

#endif
