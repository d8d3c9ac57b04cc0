/* minari-hub: the commands. */
#include "server/commands/admin.h"
#include "server/commands/check_command.h"
#include "server/commands/mirror_command.h"
#include "server/commands/serve.h"
#include "server/commands/tar_command.h"
#include "server/usage.h"
#include "server/versions.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int cmd_help(const struct hub_config *config)
{
    (void)config;
    hub_help(stdout, NULL);
    return 0;
}

static int cmd_config(const struct hub_config *config)
{
    hub_config_print(config, stdout);
    return 0;
}

static int cmd_version(const struct hub_config *config)
{
    (void)config;
    hub_versions_print(stdout);
    return 0;
}

static const struct server_command {
    const char *name;
    int (*run)(const struct hub_config *config);
    bool opens; /* its directories must be there */
    bool json;  /* takes --json */
} commands[] = {
    {"serve", hub_serve, true, false},
    {"scan", hub_scan, true, false},
    {"status", hub_admin_status, false, true},
    {"problems", hub_admin_problems, false, true},
    {"config", cmd_config, false, false},
    {"version", cmd_version, false, false},
    {"--version", cmd_version, false, false},
    {"-V", cmd_version, false, false},
    {"help", cmd_help, false, false},
    {"--help", cmd_help, false, false},
    {"-h", cmd_help, false, false},
};

static bool wants_help(char *const *argv)
{
    for (; *argv; argv++)
        if (strcmp(*argv, "--help") == 0 || strcmp(*argv, "-h") == 0)
            return true;
    return false;
}

/* Take --json out of the arguments: it is no setting. */
static bool take_json(char **argv)
{
    char **kept = argv;
    for (char **at = argv; *at; at++)
        if (strcmp(*at, "--json") != 0)
            *kept++ = *at;
    const bool taken = *kept != NULL;
    *kept = NULL;
    return taken;
}

/* Take --forget ROOT out of the arguments. A directory is named from here, and the hub's is another. */
static enum hub_status take_forget(char **argv, char **out, struct hub_error *err)
{
    while (*argv && strcmp(*argv, "--forget") != 0)
        argv++;
    if (!*argv)
        return HUB_OK;
    if (!argv[1])
        return hub_fail(err, HUB_INVALID, "--forget needs the name or the directory of a root");
    *out = strchr(argv[1], '/') ? realpath(argv[1], NULL) : strdup(argv[1]);
    if (!*out)
        return hub_fail_errno(err, errno, "--forget %s", argv[1]);
    while ((*argv = argv[2]))
        argv++;
    return HUB_OK;
}

static int run(const struct server_command *command, char **argv)
{
    struct hub_config config;
    struct hub_error err = {0};
    const bool json = command->json && take_json(argv);
    enum hub_status st = hub_config_init(&config, &err);
    if (!st && command->run == hub_scan)
        st = take_forget(argv, &config.forget, &err);
    if (!st)
        st = hub_config_read(&config, argv, &err);
    if (!st && command->opens)
        st = hub_config_finish(&config, &err);
    config.json = json;
    int code = HUB_EXIT_USAGE;
    if (st)
        fprintf(stderr, "minari-hub: %s\n", err.detail);
    else
        code = command->run(&config);
    hub_config_dispose(&config);
    return code;
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ,
           SIG_IGN); /* a limit of file sizes is an error of writing, and not the end of the program */
    if (argc < 2) {
        fputs("minari-hub: name a command: serve, mirror, check, export, import, scan, status, problems, "
              "config, "
              "version or help\n",
              stderr);
        return HUB_EXIT_USAGE;
    }
    if (argc == 3 && strcmp(argv[1], "--generate") == 0)
        return hub_generate(argv[2]);
    const bool about = argc > 2 && strcmp(argv[1], "help") == 0;
    if (about || wants_help(argv + 1)) {
        hub_help(stdout, argv[about ? 2 : 1]);
        return 0;
    }
    if (strcmp(argv[1], "mirror") == 0)
        return hub_mirror_command(argv + 2);
    if (strcmp(argv[1], "export") == 0)
        return hub_export_command(argv + 2);
    if (strcmp(argv[1], "import") == 0)
        return hub_import_command(argv + 2);
    if (strcmp(argv[1], "check") == 0)
        return hub_check_command(argv + 2);
    for (size_t i = 0; i < HUB_COUNT(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return run(&commands[i], argv + 2);
    fprintf(stderr, "minari-hub: unknown command \"%s\"; see minari-hub help\n", argv[1]);
    return HUB_EXIT_USAGE;
}
