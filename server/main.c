/* minari-hub: the commands. */
#include "server/commands/access_command.h"
#include "server/commands/admin.h"
#include "server/commands/adopt_command.h"
#include "server/commands/backup_command.h"
#include "server/commands/check_command.h"
#include "server/commands/command.h"
#include "server/commands/mirror_command.h"
#include "server/commands/serve.h"
#include "server/commands/tar_command.h"
#include "server/usage.h"
#include "server/versions.h"

#include <signal.h>
#include <stdio.h>
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
} commands[] = {
    {"serve", hub_serve, true},
    {"scan", hub_scan, true},
    {"status", hub_admin_status, false},
    {"problems", hub_admin_problems, false},
    {"config", cmd_config, false},
    {"version", cmd_version, false},
    {"--version", cmd_version, false},
    {"-V", cmd_version, false},
    {"help", cmd_help, false},
    {"--help", cmd_help, false},
    {"-h", cmd_help, false},
};

/* Those that read arguments and options of their own. */
static const struct {
    const char *name;
    int (*run)(char **argv);
} own_commands[] = {
    {"mirror", hub_mirror_command}, {"token", hub_token_command},   {"access", hub_access_command},
    {"audit", hub_audit_command},   {"export", hub_export_command}, {"import", hub_import_command},
    {"check", hub_check_command},   {"backup", hub_backup_command}, {"restore", hub_restore_command},
    {"adopt", hub_adopt_command},
};

static bool wants_help(char *const *argv)
{
    for (; *argv; argv++)
        if (strcmp(*argv, "--help") == 0 || strcmp(*argv, "-h") == 0)
            return true;
    return false;
}

struct simple {
    struct hub_asked asked; /* first: where its options go */
    const struct server_command *command;
};

static int run(void *user, struct hub_config *config)
{
    const struct simple *simple = user;
    struct hub_error err = {0};
    config->json = simple->asked.json;
    config->forget = simple->asked.forget;
    if (!simple->command->opens || !hub_config_finish(config, &err))
        return simple->command->run(config);
    fprintf(stderr, "minari-hub: %s\n", err.detail);
    return HUB_EXIT_USAGE;
}

static int run_simple(const struct server_command *command, char **argv)
{
    struct simple simple = {.command = command};
    return hub_command_run(
        &(struct hub_command){.options = hub_own_options(command->name), .run = run, .user = &simple}, argv);
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ,
           SIG_IGN); /* a limit of file sizes is an error of writing, and not the end of the program */
    if (argc < 2) {
        fputs("minari-hub: name a command: serve, mirror, token, access, audit, check, adopt, export, "
              "import, backup, restore, scan, status, problems, config, version or help\n",
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
    for (size_t i = 0; i < HUB_COUNT(own_commands); i++)
        if (strcmp(argv[1], own_commands[i].name) == 0)
            return own_commands[i].run(argv + 2);
    for (size_t i = 0; i < HUB_COUNT(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return run_simple(&commands[i], argv + 2);
    fprintf(stderr, "minari-hub: unknown command \"%s\"; see minari-hub help\n", argv[1]);
    return HUB_EXIT_USAGE;
}
