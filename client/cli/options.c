/* Options: one table feeds the parser and every --help. */
#include "client/cli/cli.h"

#include <stdlib.h>

static const struct option {
    char letter; /* 0: none */
    const char *name, *value, *help;
} options[OPT_COUNT] = {
    [OPT_HELP] = {'h', "help", NULL, "show this"},
    [OPT_JSON] = {0, "json", NULL, "print JSON for programs"},
    [OPT_REMOTE] = {'r', "remote", "REMOTE", "the hub to ask: http://HOST[:PORT] (else MINARI_HUB_URL)"},
    [OPT_TOKEN] = {0, "token", "TOKEN", "the hub's token (else MINARI_HUB_TOKEN)"},
    [OPT_PROXY] = {0, "proxy", "URL", "an HTTP proxy; \"env\" takes the environment's"},
    [OPT_ATTEMPTS] = {0, "attempts", "N", "of a request, over failures that may pass (8)"},
    [OPT_PREFIX] = {'p', "prefix", "PREFIX", "only ids that begin with it"},
    [OPT_SEARCH] = {'q', "search", "WORDS", "only datasets with these words"},
    [OPT_ALL] = {'a', "all", NULL, "all versions, not the newest of each name"},
    [OPT_FOR] = {0, "for", "RELEASE", "only what this Minari release reads, such as 0.5.3"},
    [OPT_STATUS] = {0, "status", "STATUS", "ready, pending, broken, unsupported or remote"},
    [OPT_SORT] = {0, "sort", "KEY", "the order; -KEY for descending"},
    [OPT_FORCE] = {'f', "force", NULL, "replace what is there, take what --for refuses"},
    [OPT_OUTPUT] = {'o', "output", "PATH", "where to write"},
    [OPT_CONNECTIONS] = {0, "connections", "N", "in parallel (4)"},
    [OPT_ALONE] = {0, "no-combined", NULL, "without the datasets it was combined from"},
    [OPT_DIGEST_WAIT] = {0, "digest-wait", "SECONDS", "for the hub to hash what it has not hashed yet (30)"},
    [OPT_YES] = {'y', "yes", NULL, "do not ask"},
    [OPT_QUIET] = {0, "quiet", NULL, "no progress and no notices"},
    [OPT_WHERE] = {'w', "where", "TEST", "only episodes with, say, \"steps > 100 and success = true\""},
    [OPT_SPLIT] = {0, "split", "NAME", "only episodes of this split"},
    [OPT_LIMIT] = {'n', "limit", "N", "at most so many"},
    [OPT_ROWS] = {0, "rows", "A:B[:S]", "a slice as in Python, or one row"},
    [OPT_FORMAT] = {0, "format", "FORMAT", "json, npy, npz, raw, csv, arrow or image"},
};

static const enum cli_option common[] = {OPT_REMOTE, OPT_TOKEN, OPT_PROXY, OPT_ATTEMPTS, OPT_JSON, OPT_HELP};

static bool takes(const struct cli_command *command, enum cli_option option)
{
    for (size_t i = 0; i < HUB_COUNT(common); i++)
        if (common[i] == option)
            return true;
    for (size_t i = 0; command && i < HUB_COUNT(command->options) && command->options[i] != OPT_END; i++)
        if (command->options[i] == option)
            return true;
    return false;
}

/* ---- help ---- */

static void help_option(FILE *out, enum cli_option i)
{
    char left[64];
    const struct option *o = &options[i];
    snprintf(left, sizeof left, "%c%c%s--%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
             o->letter ? ", " : "  ", o->name, o->value ? " " : "", o->value ? o->value : "");
    fprintf(out, "  %-26s %s\n", left, o->help);
}

static void help_program(FILE *out)
{
    fprintf(out, "minari-cli " HUB_VERSION ": offline-RL datasets from a minari-hub, and on this machine.\n\n"
                 "usage: minari-cli COMMAND [OPTION...] [ARGUMENT...]\n\nCommands:\n");
    for (const struct cli_command *c = cli_commands; c->name; c++)
        fprintf(out, "  %-9s %s\n", c->name, c->summary);
    fprintf(out, "\nOptions of all commands:\n");
    for (size_t i = 0; i < HUB_COUNT(common); i++)
        help_option(out, common[i]);
    fprintf(out, "\nExamples:\n"
                 "  export MINARI_HUB_URL=http://hub:8080          # once; or --remote each time\n"
                 "  minari-cli list remote                         # what the hub has\n"
                 "  minari-cli download D4RL/door/human-v2         # then: "
                 "minari.load_dataset(\"D4RL/door/human-v2\")\n"
                 "  minari-cli get D4RL/door/human-v2 3 observations --rows 10:20\n"
                 "  minari-cli COMMAND --help                      # more, with examples\n"
                 "\nEnvironment: MINARI_HUB_URL, MINARI_HUB_TOKEN, MINARI_REMOTE (gcp:// and hf://, as "
                 "Python Minari reads it),\n"
                 "MINARI_DATASETS_PATH (default ~/.minari/datasets), MINARI_INSPECT, NO_COLOR.\n"
                 "Exit codes: 0 ok, 1 failed or declined, 2 usage, 3 not found, 4 hub unreachable, 5 "
                 "verification failed,\n"
                 "6 no space, 7 not allowed, 8 broken dataset, 130 interrupted.\n");
}

void cli_help(FILE *out, const struct cli_command *command)
{
    if (!command) {
        help_program(out);
        return;
    }
    fprintf(out, "minari-cli %s: %s\n\nusage: minari-cli %s [OPTION...] %s\n\n%s\n\nOptions:\n",
            command->name, command->summary, command->name, command->arguments, command->help);
    for (size_t i = 0; i < HUB_COUNT(command->options) && command->options[i] != OPT_END; i++)
        help_option(out, command->options[i]);
    for (size_t i = 0; i < HUB_COUNT(common); i++)
        help_option(out, common[i]);
}

/* ---- parsing ---- */

static int usage(const struct cli *cli, const char *what, const char *arg)
{
    const char *name = cli->command ? cli->command->name : NULL;
    fprintf(stderr, "minari-cli: %s%s%s\n", what, *arg ? ": " : "", cli_clean(arg));
    fprintf(stderr, "  minari-cli %s%s--help shows how\n", name ? name : "", name ? " " : "");
    return CLI_USAGE;
}

static int find_long(struct hub_view name)
{
    for (int i = 0; i < OPT_COUNT; i++)
        if (hub_view_is(name, options[i].name))
            return i;
    return -1;
}

static int find_letter(char letter)
{
    for (int i = 0; i < OPT_COUNT; i++)
        if (options[i].letter == letter)
            return i;
    return -1;
}

/* One option, with its value in the same word or the next. An exit code, or -1 to go on. */
static int take_option(struct cli *cli, int argc, char **argv, int *at)
{
    char *word = argv[*at];
    const bool is_long = word[1] == '-';
    char *value = is_long ? strchr(word, '=') : word[2] ? word + 2 : NULL;
    const struct hub_view name = {word + 2,
                                  is_long ? (value ? (size_t)(value - word) - 2 : strlen(word + 2)) : 0};
    if (is_long && value)
        value++;
    const int i = is_long ? find_long(name) : find_letter(word[1]);
    if (i < 0)
        return usage(cli, "unknown option", word);
    if (!options[i].value && value)
        return usage(cli, is_long ? "this option takes no value" : "short options are written one by one",
                     word);
    if (options[i].value && !value) {
        if (*at + 1 >= argc)
            return usage(cli, "this option needs a value", word);
        value = argv[++*at];
    }
    if (cli->values[i] && options[i].value)
        return usage(cli, "this option was given twice", word);
    cli->values[i] = value ? value : "";
    return -1;
}

static int check(struct cli *cli)
{
    for (int i = 0; i < OPT_COUNT; i++)
        if (cli->values[i] && !takes(cli->command, (enum cli_option)i)) {
            char name[32];
            snprintf(name, sizeof name, "--%s", options[i].name);
            return usage(cli, "this command has no such option", name);
        }
    if (cli->count < cli->command->least)
        return usage(cli, "an argument is missing", cli->command->arguments);
    if (cli->command->most >= 0 && cli->count > cli->command->most)
        return usage(cli, "too many arguments, from here on", cli->arguments[cli->command->most]);
    return -1;
}

static bool choose_command(struct cli *cli, const char *word)
{
    for (const struct cli_command *c = cli_commands; c->name; c++)
        if (strcmp(c->name, word) == 0)
            cli->command = c;
    return cli->command;
}

int cli_parse(struct cli *cli, int argc, char **argv)
{
    bool only_arguments = false;
    for (int i = 1; i < argc; i++) {
        if (!only_arguments && strcmp(argv[i], "--") == 0) {
            only_arguments = true;
        } else if (!only_arguments && argv[i][0] == '-' && argv[i][1]) {
            if (!cli->command && (!strcmp(argv[i], "--version") || !strcmp(argv[i], "-v"))) {
                printf("minari-cli %s\n", minari_version());
                return cli_flush(CLI_OK);
            }
            const int code = take_option(cli, argc, argv, &i);
            if (code >= 0)
                return code;
        } else if (!cli->command) {
            if (!choose_command(cli, argv[i]))
                return usage(cli, "unknown command", argv[i]);
        } else {
            cli->arguments[cli->count++] = argv[i];
        }
    }
    if (cli->values[OPT_HELP]) {
        cli_help(stdout, cli->command);
        return cli_flush(CLI_OK);
    }
    if (!cli->command) {
        cli_help(stderr, NULL);
        return CLI_USAGE;
    }
    return check(cli);
}

bool cli_number(const struct cli *cli, enum cli_option option, uint64_t least, uint64_t most,
                uint64_t otherwise, uint64_t *out)
{
    const char *text = cli->values[option];
    char *end = NULL;
    *out = otherwise;
    if (!text)
        return true;
    const bool digits = *text >= '0' && *text <= '9' && strlen(text) < 19;
    const unsigned long long n = digits ? strtoull(text, &end, 10) : 0;
    *out = n;
    if (digits && !*end && n >= least && n <= most)
        return true;
    cli_error(CLI_USAGE, "--%s is a number from %llu to %llu, not '%s'", options[option].name,
              (unsigned long long)least, (unsigned long long)most, cli_clean(text));
    return false;
}
