/* minari-hub: the commands. */
#include "server/config.h"
#include "server/serve.h"
#include "server/versions.h"

#include <stdio.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

static const char usage[] =
    "minari-hub serves directories of offline-RL and robot-learning datasets over HTTP.\n"
    "\n"
    "  minari-hub serve [OPTIONS]    serve, and keep the catalogue up to date\n"
    "  minari-hub scan [OPTIONS]     look through the directories once, print a summary, exit\n"
    "  minari-hub config [OPTIONS]   print the settings as a commented configuration file\n"
    "  minari-hub version            this program's version and those of its libraries\n"
    "  minari-hub help               this text\n"
    "\n"
    "Examples:\n"
    "  minari-hub serve\n"
    "      the datasets of Python Minari (~/.minari/datasets), for this machine\n"
    "  minari-hub serve --root /data --listen 0.0.0.0:8080\n"
    "      /data, for everybody on the network\n"
    "  minari-hub serve --root main=/data --root lab=/nfs/datasets:ro\n"
    "      two directories; the hub never writes into the second\n"
    "  minari-hub config --root /data > /etc/minari-hub.conf\n"
    "      a file with every setting and what it means\n"
    "\n"
    "Then:\n"
    "  curl 'http://127.0.0.1:8080/api/v1/datasets'        what there is; the answers lead on\n"
    "\n"
    "Each option is also a line `option = value` of the configuration file, and a variable "
    "MINARI_HUB_<OPTION>\n"
    "of the environment. Flags win over the environment, the environment over the file. SIGHUP looks through "
    "the\n"
    "directories now, SIGTERM lets running answers finish.\n"
    "\n"
    "Options (and defaults):\n";

static int cmd_help(const struct hub_config *config)
{
    (void)config;
    fputs(usage, stdout);
    hub_config_help(stdout);
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

static const struct command {
    const char *name;
    int (*run)(const struct hub_config *config);
    bool opens; /* its directories must be there */
} commands[] = {
    {"serve", hub_serve, true},      {"scan", hub_scan, true},          {"config", cmd_config, false},
    {"version", cmd_version, false}, {"--version", cmd_version, false}, {"help", cmd_help, false},
    {"--help", cmd_help, false},     {"-h", cmd_help, false},
};

static bool wants_help(char *const *argv)
{
    for (; *argv; argv++)
        if (strcmp(*argv, "--help") == 0 || strcmp(*argv, "-h") == 0)
            return true;
    return false;
}

static int run(const struct command *command, char *const *argv)
{
    struct hub_config config;
    struct hub_error err = {0};
    enum hub_status st = hub_config_init(&config, &err);
    if (!st)
        st = hub_config_read(&config, argv, &err);
    if (!st && command->opens)
        st = hub_config_finish(&config, &err);
    int code = EXIT_USAGE;
    if (st)
        fprintf(stderr, "minari-hub: %s\n", err.detail);
    else
        code = command->run(&config);
    hub_config_dispose(&config);
    return code;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("minari-hub: say what to do: serve, scan, config, version or help\n", stderr);
        return EXIT_USAGE;
    }
    if (wants_help(argv + 1))
        return cmd_help(NULL);
    for (size_t i = 0; i < HUB_COUNT(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return run(&commands[i], argv + 2);
    fprintf(stderr, "minari-hub: there is no command \"%s\"; see minari-hub help\n", argv[1]);
    return EXIT_USAGE;
}
