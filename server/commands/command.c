/* How commands begin and end: see command.h. */
#include "server/commands/command.h"

#include "server/commands/admin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hub_settings_take(struct hub_settings *settings, char ***argv)
{
    settings->items[settings->count++] = **argv;
    if (!strchr(**argv, '='))
        settings->items[settings->count++] = *++*argv;
}

void hub_settings_add(struct hub_settings *settings, const char *flag, const char *value)
{
    settings->items[settings->count++] = (char *)flag;
    settings->items[settings->count++] = (char *)value;
}

static enum hub_status begin(const struct hub_command *command, char **argv, struct hub_settings *settings,
                             struct hub_config *config, struct hub_error *err)
{
    size_t count = 0;
    while (argv[count])
        count++;
    HUB_TRY(hub_new(&settings->items, 2 * count + 1, sizeof *settings->items, err));
    HUB_TRY(command->read(command->user, argv, settings, err));
    HUB_TRY(hub_config_init(config, err));
    return hub_config_read(config, settings->items, err);
}

int hub_command_run(const struct hub_command *command, char **argv)
{
    struct hub_settings settings = {0};
    struct hub_config config = {0};
    struct hub_error err = {0};
    const enum hub_status st = begin(command, argv, &settings, &config, &err);
    if (st)
        fprintf(stderr, "minari-hub: %s\n", err.detail);
    const int code = st ? HUB_EXIT_USAGE : command->run(command->user, &config);
    hub_config_dispose(&config);
    free(settings.items);
    return code;
}

int hub_command_code(enum hub_status st)
{
    switch (st) {
    case HUB_OK:
        return 0;
    case HUB_INVALID:
        return HUB_EXIT_USAGE;
    case HUB_NOT_FOUND:
        return HUB_EXIT_NOT_FOUND;
    case HUB_CORRUPT:
        return HUB_EXIT_CORRUPT;
    case HUB_DENIED:
        return HUB_EXIT_NOT_ALLOWED;
    case HUB_NO_SPACE:
        return HUB_EXIT_NO_SPACE;
    case HUB_CANCELLED:
        return HUB_EXIT_INTERRUPTED;
    default:
        return HUB_EXIT_FAILED;
    }
}
