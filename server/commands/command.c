/* How commands begin and end: see command.h. */
#include "server/commands/command.h"

#include "server/commands/admin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arguments that are settings of the hub, as hub_config_read takes them. */
struct settings {
    char **items; /* borrow the arguments; NULL at the end */
    size_t count;
};

static enum hub_status take_own(const struct hub_command *command, const struct hub_usage_option *option,
                                const char *value, struct settings *settings, struct hub_error *err)
{
    if (value && strcmp(option->name, "root") == 0 && strchr(value, '/')) {
        settings->items[settings->count++] = (char *)"--root";
        settings->items[settings->count++] = (char *)value;
    }
    return command->set ? command->set(command->user, option, value, err)
                        : hub_option_set(option, value, command->user, err);
}

/* Take the first words; returns how many by `words`. */
static enum hub_status take(const struct hub_command *command, char **argv, struct settings *settings,
                            int *words, struct hub_error *err)
{
    const char *value;
    const struct hub_usage_option *option = hub_option_find(command->options, *argv, &value);
    struct hub_config_flag flag;
    *words = 1;
    if (option && option->value && !value) {
        *words = 2;
        value = argv[1];
        if (!value)
            return hub_fail(err, HUB_INVALID, "%.60s needs a value", *argv);
    }
    if (option)
        return take_own(command, option, value, settings, err);
    if (command->word && strncmp(*argv, "--", 2) != 0)
        return command->word(command->user, *argv, err);
    if (hub_config_find(argv, &flag, err))
        return !flag.option && strncmp(*argv, "--", 2) == 0 && hub_option_nearest(command->options, *argv)
                   ? hub_option_unknown(command->options, *argv, err)
                   : HUB_INVALID;
    *words = flag.words;
    memcpy(settings->items + settings->count, argv, (size_t)flag.words * sizeof *argv);
    settings->count += (size_t)flag.words;
    return HUB_OK;
}

static enum hub_status begin(const struct hub_command *command, char **argv, struct settings *settings,
                             struct hub_config *config, struct hub_error *err)
{
    size_t count = 0;
    while (argv[count])
        count++;
    HUB_TRY(hub_new(&settings->items, 2 * count + 1, sizeof *settings->items, err));
    for (int words = 0; *argv; argv += words)
        HUB_TRY(take(command, argv, settings, &words, err));
    if (command->check)
        HUB_TRY(command->check(command->user, err));
    HUB_TRY(hub_config_init(config, err));
    return hub_config_read(config, settings->items, err);
}

int hub_command_run(const struct hub_command *command, char **argv)
{
    struct settings settings = {0};
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
