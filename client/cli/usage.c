/* What minari-cli takes, for people and shells: --help, the man page, completions. All from the tables of
 * commands.c and options.c. */
#include "client/cli/cli.h"

static const char summary[] = "offline-RL datasets from a minari-hub, and on this machine";

static const char examples[] = "  export MINARI_HUB_URL=http://hub:8080      # once; or --remote each time\n"
                               "  minari-cli list remote                     # what the hub has\n"
                               "  minari-cli download D4RL/door/human-v2     # then: "
                               "minari.load_dataset(\"D4RL/door/human-v2\")\n"
                               "  minari-cli get D4RL/door/human-v2 3 observations --rows 10:20\n"
                               "  minari-cli COMMAND --help                  # more, with examples\n";

static const struct hub_usage_part parts[] = {
    {"ENVIRONMENT", "MINARI_HUB_URL, MINARI_HUB_TOKEN, MINARI_REMOTE (gcp:// and hf://, as Python Minari "
                    "reads it),\n"
                    "MINARI_DATASETS_PATH (default ~/.minari/datasets), XDG_CONFIG_HOME (where login keeps "
                    "tokens,\n"
                    "default ~/.config), MINARI_INSPECT, MINARI_HUB_PROGRAM, TMPDIR, NO_COLOR.\n"},
    {"EXIT STATUS",
     "0 ok, 1 failed or declined, 2 usage, 3 not found, 4 hub unreachable, 5 verification failed,\n"
     "6 no space, 7 not allowed, 8 broken dataset, 130 interrupted.\n"},
    {"JSON",
     "With --json a result is one JSON document on stdout, an error one line on stderr:\n\n"
     "  {\"error\":{\"exit\":3,\"status\":\"not-found\",\"problem\":\"dataset-not-found\",\"detail\":\"...\","
     "\"remedy\":\"...\"}}\n\n"
     "where status, problem and remedy may be missing.\n"},
    {"EXAMPLES", examples},
    {"GUIDE", "A hub shows its guide at http://HOST[:PORT]/~guide.\n"},
};

static size_t own_options(const struct cli_command *command)
{
    size_t n = 0;
    while (n < HUB_COUNT(command->options) && command->options[n] != OPT_END)
        n++;
    return n;
}

const struct cli_command *cli_find_command(const char *name)
{
    for (const struct cli_command *c = cli_commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

/* ---- help ---- */

static void help_option(FILE *out, enum cli_option i)
{
    char left[64];
    const struct hub_usage_option *o = &cli_options[i];
    snprintf(left, sizeof left, "%c%c%s--%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
             o->letter ? ", " : "  ", o->name, o->value ? " " : "", o->value ? o->value : "");
    fprintf(out, "  %-26s %s%s", left, o->help, o->words ? ":" : "");
    for (const char *at = o->words; at && *at; at += strcspn(at, "|") + (at[strcspn(at, "|")] == '|'))
        fprintf(out, "%s%.*s", at == o->words ? " " : ", ", (int)strcspn(at, "|"), at);
    fputc('\n', out);
}

static void help_program(FILE *out)
{
    fprintf(out,
            "minari-cli " HUB_VERSION ": %s.\n\nusage: minari-cli COMMAND [OPTION...] [ARGUMENT...]\n\n"
            "Commands:\n",
            summary);
    for (const struct cli_command *c = cli_commands; c->name; c++)
        fprintf(out, "  %-10s %s\n", c->name, c->summary);
    fprintf(out, "\nOptions of all commands:\n");
    for (size_t i = 0; i < CLI_COMMON; i++)
        help_option(out, cli_common[i]);
    fprintf(out, "\nExamples:\n%s\nGuide: %sEnvironment: %sExit codes: %s%s", examples, parts[4].text,
            parts[0].text, parts[1].text, parts[2].text);
}

void cli_help(FILE *out, const struct cli_command *command)
{
    if (!command) {
        help_program(out);
        return;
    }
    fprintf(out, "minari-cli %s: %s\n\nusage: minari-cli %s [OPTION...] %s\n\n%s%sOptions:\n", command->name,
            command->summary, command->name, command->arguments, command->help, *command->help ? "\n\n" : "");
    for (size_t i = 0; i < own_options(command); i++)
        help_option(out, command->options[i]);
    for (size_t i = 0; i < CLI_COMMON; i++)
        help_option(out, cli_common[i]);
}

int cli_help_command(struct cli *cli)
{
    const struct cli_command *command = cli->count ? cli_find_command(cli->arguments[0]) : NULL;
    if (cli->count && !command)
        return cli_error(CLI_USAGE, "unknown command '%s'; minari-cli help lists all commands",
                         cli_clean(cli->arguments[0]));
    cli_help(stdout, command);
    return CLI_OK;
}

int cli_version(struct cli *cli)
{
    (void)cli;
    printf("minari-cli %s\n", minari_version());
    return CLI_OK;
}

/* ---- the man page and the completions ---- */

enum { MAX_COMMANDS = 24, MAX_OPTIONS = 24 };

int cli_generate(const char *what)
{
    struct hub_usage_command commands[MAX_COMMANDS] = {0};
    struct hub_usage_option own[MAX_COMMANDS][MAX_OPTIONS], common[CLI_COMMON];
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(1 * MIB);
    struct hub_error err = {0};
    size_t count = 0;
    for (const struct cli_command *c = cli_commands; c->name && count < MAX_COMMANDS; c++, count++) {
        const size_t n = HUB_MIN(own_options(c), (size_t)MAX_OPTIONS);
        for (size_t i = 0; i < n; i++)
            own[count][i] = cli_options[c->options[i]];
        commands[count] =
            (struct hub_usage_command){c->name, c->arguments, c->words, c->summary, c->help, own[count], n};
    }
    for (size_t i = 0; i < CLI_COMMON; i++)
        common[i] = cli_options[cli_common[i]];
    const struct hub_usage usage = {
        .program = "minari-cli",
        .version = HUB_VERSION,
        .section = 1,
        .offers = true,
        .summary = summary,
        .text = "Lists, describes, downloads and verifies datasets of a hub, and reads single episodes and "
                "rows of them without the file. "
                "What it downloads is where Python Minari looks for it.",
        .commands = commands,
        .command_count = count,
        .options = common,
        .option_count = CLI_COMMON,
        .parts = parts,
        .part_count = HUB_COUNT(parts)};
    if (hub_usage_write(&usage, what, &out, &err))
        return cli_error(CLI_USAGE, "--generate %s", err.detail);
    fwrite(out.data, 1, out.size, stdout);
    return cli_flush(CLI_OK);
}
