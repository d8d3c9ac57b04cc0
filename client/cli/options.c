/* Options: one table feeds the parser here, and help, manual and completions in usage.c. */
#include "client/cli/cli.h"

#include "storage/ids/representations.h"
#include "storage/text/options.h"

#define WORD(name, ...) "|" #name

#define WITHIN(kind, least, most, otherwise) HUB_OPTION_##kind, 0, otherwise, least, most

#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* texts have no end of a row */
const struct hub_usage_option cli_options[OPT_COUNT] = {
    [OPT_HELP] = {'h', "help", NULL, NULL, "show this"},
    [OPT_JSON] = {0, "json", NULL, NULL, "print JSON for programs"},
    [OPT_REMOTE] = {'r', "remote", "REMOTE", NULL,
                    "http://HOST[:PORT] (a hub), gcp://BUCKET, hf://ORG[/REPO] (else MINARI_HUB_URL)"},
    [OPT_TOKEN_FILE] =
        {0, "token-file", "FILE", NULL,
         "the remote's token, - for stdin (else MINARI_HUB_TOKEN or login, HF_TOKEN for hf://)"},
    [OPT_ENDPOINT] = {0, "endpoint", "URL", NULL,
                      "the server of gcp:// or hf:// (else STORAGE_EMULATOR_HOST, HF_ENDPOINT)"},
    [OPT_PROXY] = {0, "proxy", "URL", NULL, "an HTTP proxy; \"env\" takes the environment's"},
    [OPT_ATTEMPTS] = {0, "attempts", "N", NULL,
                      "tries of a request, after temporary failures (12; 4 while no byte arrives)",
                      WITHIN(NUMBER, 1, 100, NULL)},
    [OPT_TIMEOUT] = {0, "timeout", "SECONDS", NULL, "end a connection that sends nothing for so long (30)",
                     WITHIN(DURATION, 1000, 86400000, NULL)},
    [OPT_REDIRECTS] = {0, "trust-redirects", NULL, NULL, "follow redirects to any other host"},
    [OPT_VERBOSE] = {'v', "verbose", NULL, NULL,
                     "log requests to the remote on stderr; -v alone: the version"},
    [OPT_PREFIX] = {'p', "prefix", "PREFIX", NULL, "only IDs that begin with it"},
    [OPT_ALL] = {'a', "all", NULL, NULL, "all versions, not the newest of each name; plain files too"},
    [OPT_FOR] = {0, "for", "RELEASE", NULL, "only what this Minari release reads, such as 0.5.3"},
    [OPT_STATUS] = {0, "status", "STATUS", "ready|pending|broken|unsupported|remote",
                    "only datasets of this status"},
    [OPT_SORT] = {0, "sort", "KEY", NULL, "the order; -KEY: descending"},
    [OPT_ENV] = {0, "env", "NAME", NULL, "only datasets of this environment"},
    [OPT_ROBOT] = {0, "robot", "NAME", NULL, "only datasets of this robot"},
    [OPT_CAMERA] = {0, "camera", "NAME", NULL, "only datasets with this camera"},
    [OPT_AUTHOR] = {0, "author", "NAME", NULL, "only datasets by this author"},
    [OPT_ALGORITHM] = {0, "algorithm", "NAME", NULL, "only datasets recorded by this algorithm"},
    [OPT_KIND] = {0, "kind", "KIND", NULL, "only datasets of this kind, such as demos or random"},
    [OPT_LICENSE] = {0, "license", "NAME", NULL, "only datasets under this license"},
    [OPT_ACTION_DIM] = {0, "action-dim", "N", NULL, "only datasets whose actions have this many numbers"},
    [OPT_LOADABLE] = {0, "loadable", "BOOL", "true|false",
                      "only datasets that their own library loads, or refuses"},
    [OPT_FACETS] = {0, "facets", "[NAMES]", NULL, "count the datasets by value, of these names or all"},
    [OPT_FORCE] = {'f', "force", NULL, NULL, "replace a dataset; download one that is refused otherwise"},
    [OPT_OUTPUT] = {'o', "output", "PATH", NULL, "where to write"},
    [OPT_CONNECTIONS] = {0, "connections", "N", NULL, "parallel connections (4)", WITHIN(NUMBER, 1, 32, "4")},
    [OPT_ALONE] = {0, "no-combined", NULL, NULL, "without the datasets it was combined from"},
    [OPT_DIGEST_WAIT] = {0, "digest-wait", "SECONDS", NULL,
                         "the time to wait until the hub has hashed all files (30)",
                         WITHIN(DURATION, 1000, 86400000, NULL)},
    [OPT_YES] = {'y', "yes", NULL, NULL, "do not ask"},
    [OPT_AS] = {0, "as", "NAME", NULL, "store it under this name; without an ID: everything at the remote"},
    [OPT_INCLUDE] = {0, "include", "GLOB", NULL, "only files whose path or name matches; may be repeated"},
    [OPT_EXCLUDE] = {0, "exclude", "GLOB", NULL, "no files whose path or name matches; may be repeated"},
    [OPT_QUIET] = {0, "quiet", NULL, NULL, "print only errors and results"},
    [OPT_NO_PROGRESS] = {0, "no-progress", NULL, NULL, "do not show progress"},
    [OPT_RATE] = {0, "limit", "RATE", NULL, "at most this many bytes per second, such as 500K or 20M",
                  WITHIN(RATE, 64 * KIB, UINT64_MAX, NULL)},
    [OPT_SPLIT] = {0, "split", "NAME", NULL, "only episodes of this split"},
    [OPT_TASK] = {0, "task", "TASK", NULL, "only this task: its text; for episodes its number too"},
    [OPT_WHERE] = {0, "where", "TESTS", NULL,
                   "only episodes that pass these tests: \"return > 9 and steps < 50\""},
    [OPT_FIELD] = {0, "field", "FIELD", NULL, "only this one: a path, return, steps or a metric"},
    [OPT_FINDINGS] = {0, "findings", NULL, NULL, "list odd episodes, by the rule that found them"},
    [OPT_EPISODES] = {0, "episodes", "A:B", NULL,
                      "only the files of these episodes: numbers and ranges, 0:10,15,20:"},
    [OPT_DRY_RUN] = {0, "dry-run", NULL, NULL, "only print what would be transferred"},
    [OPT_LIMIT] = {'n', "limit", "N", NULL, "at most this many", WITHIN(NUMBER, 1, UINT32_MAX, NULL)},
    [OPT_ROWS] = {0, "rows", "A:B[:S]", NULL, "a slice as in Python, or one row"},
    [OPT_FORMAT] = {0, "format", "FORMAT", &HUB_REPRESENTATIONS(WORD)[1], "how rows are written"},
    [OPT_OF_FORMAT] = {0, "format", "FORMAT", NULL, "only datasets of this format, such as lerobot"},
    [OPT_WINDOWS] = {0, "windows", "N", NULL, "how many windows (1)", WITHIN(NUMBER, 1, 4096, "1")},
    [OPT_LENGTH] = {0, "length", "N", NULL, "steps of a window (1)", WITHIN(NUMBER, 1, 1000000, "1")},
    [OPT_SEED] = {0, "seed", "N", NULL, "the same seed draws the same windows or episodes"},
    [OPT_PAD] = {0, "pad", "HOW", "none|edge|zero", "fill windows that reach past the end of their episode"},
    [OPT_WEIGHT] = {0, "weight", "HOW", "steps|uniform", "every window is equally likely, or every episode"},
    [OPT_FINAL] = {0, "final", NULL, NULL, "add the state after the last step"},
    [OPT_RANDOM] = {0, "random", "N", NULL, "only this many episodes, drawn as by Minari's sample_episodes",
                    WITHIN(NUMBER, 1, UINT32_MAX, NULL)},
    [OPT_PARTITION] = {0, "partition", "N,N,...", NULL,
                       "split the episodes into parts of these sizes, as Minari's split_dataset does"},
    [OPT_PART] = {0, "part", "I", NULL, "which part, counted from 0 (0)", WITHIN(NUMBER, 0, 63, NULL)},
    [OPT_PARTITION_SEED] = {0, "partition-seed", "N", NULL, "the same seed makes the same parts"},
    [OPT_SENTINEL] = {0, "sentinel", "HOW", "keep|drop",
                      "a last action that only says that the policy has ended (MolmoSpaces)"},
    [OPT_VALID] = {0, "valid", "HOW", "only|any", "episodes that the dataset marks as valid (only), or all"},
    [OPT_START] = {0, "start", "N", NULL, "the first step of each episode; negative: counted from its end"},
    [OPT_STOP] = {0, "stop", "N", NULL, "the step after the last one; negative: counted from the end"},
    [OPT_STEP] = {0, "step", "N", NULL, "every Nth step of each episode"},
    [OPT_STEP_WHERE] = {0, "step-where", "TESTS", NULL,
                        "only steps that pass these tests: \"rewards < -10\", '\"actions\"[2] > 0.5'"},
    [OPT_LAYOUT] = {0, "layout", "LAYOUT", "rows|transitions",
                    "rows as stored, or one row per step with the state it leads to"},
    [OPT_CSV] = {0, "csv", NULL, NULL, "the same as --format csv"},
    [OPT_COLUMNS] = {0, "columns", "NAMES", NULL,
                     "columns of the table: names as in --where, separated by commas"},
    [OPT_MESSAGE] = {'m', "message", "TEXT", NULL, "what is new, for the list of commits"},
    [OPT_ALLOW] = {0, "allow", "WHAT", "broken|files",
                   "push what is refused else: a broken dataset, or files of no known format"},
    [OPT_NEXT_VERSION] = {0, "next-version", NULL, NULL, "take the version after the hub's newest"},
    [OPT_TAR] = {0, "tar", NULL, NULL, "send all files as one tar: faster where there are many small ones"},
    [OPT_NO_INSPECT] = {0, "no-inspect", NULL, NULL, "do not inspect it here first"},
    [OPT_DESCRIPTION] = {0, "description", "TEXT", NULL, "what the namespace is about"},
    [OPT_METADATA] = {0, "metadata", "JSON", NULL, "an object of what else it says of itself"},
    [OPT_REPLACE] = {0, "replace", NULL, NULL, "take the place of the dataset that is there"},
    [OPT_REVISION] = {0, "revision", "COMMIT", NULL, "which one; 7 of its digits are enough"},
};

const enum cli_option cli_common[CLI_COMMON] = {OPT_REMOTE,   OPT_TOKEN_FILE, OPT_ENDPOINT,  OPT_PROXY,
                                                OPT_ATTEMPTS, OPT_TIMEOUT,    OPT_REDIRECTS, OPT_VERBOSE,
                                                OPT_QUIET,    OPT_JSON,       OPT_HELP};

static bool takes(const struct cli_command *command, enum cli_option option)
{
    for (size_t i = 0; i < CLI_COMMON; i++)
        if (cli_common[i] == option)
            return true;
    for (size_t i = 0; command && i < HUB_COUNT(command->options) && command->options[i] != OPT_END; i++)
        if (command->options[i] == option)
            return true;
    return false;
}

static int usage(const struct cli *cli, const char *what, const char *arg)
{
    const char *name = cli->command ? cli->command->name : NULL;
    cli_error(CLI_USAGE, "%s%s%s", what, *arg ? ": " : "", cli_clean(arg));
    cli_hint("minari-cli %s%s--help shows how", name ? name : "", name ? " " : "");
    return CLI_USAGE;
}

/* The nearest that the command takes; or what the API calls a parameter, and is an argument here. A value in
 * the same word is not repeated: it may be a token. */
static int no_option(const struct cli *cli, const char *whole)
{
    const char *name = cli->command ? cli->command->name : "";
    char word[200];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(whole, "="), whole);
    if (strcmp(word, "--token") == 0)
        return cli_error(CLI_USAGE, "there is no --token: everybody on the machine sees it in the list of "
                                    "processes. minari-cli login keeps a token; or give --token-file FILE, "
                                    "or MINARI_HUB_TOKEN");
    const bool fields = strcmp(word, "--fields") == 0;
    if (fields && (!strcmp(name, "rows") || !strcmp(name, "sample") || !strcmp(name, "get"))) {
        cli_error(CLI_USAGE, "unknown option: --fields");
        cli_hint("fields are arguments: minari-cli %s %s", name, cli->command->arguments);
        return CLI_USAGE;
    }
    const char *near = hub_option_nearest(HUB_OPTIONS(cli_options), word);
    for (int i = 0; near && i < OPT_COUNT; i++)
        if (takes(cli->command, (enum cli_option)i) && strcmp(cli_options[i].name, near) == 0) {
            char text[300];
            snprintf(text, sizeof text, "%.200s, probably meant: --%s", word, near);
            return usage(cli, "unknown option", text);
        }
    return usage(cli, "unknown option", word);
}

/* -1: there is none. `value` becomes what stands in the same word, or NULL. */
static int find(const char *word, const char **value)
{
    const struct hub_usage_option *option = hub_option_find(HUB_OPTIONS(cli_options), word, value);
    const bool view = !option && strncmp(word, "--view", 6) == 0 && (!word[6] || word[6] == '=');
    if (view) /* an older name */
        *value = word[6] ? word + 7 : NULL;
    return view ? OPT_LAYOUT : option ? (int)(option - cli_options) : -1;
}

/* Whether it is names of facets between commas, or the next word of something else. */
static bool is_facets(const char *word)
{
    static const char names[] =
        ",env,task,robot,camera,author,algorithm,kind,license,action_dim,format,status,";
    char name[16];
    for (const char *at = word; *at;) {
        const size_t size = strcspn(at, ",");
        if (!size || size + 3 > sizeof name)
            return false;
        snprintf(name, sizeof name, ",%.*s,", (int)size, at);
        if (!strstr(names, name))
            return false;
        at += size + (at[size] == ',');
    }
    return *word;
}

/* `delete --remote` without an address behind it: of the hub that other commands talk to. */
static bool stands_alone(const struct cli *cli, int option, const char *next)
{
    return option == OPT_REMOTE && cli->command && cli->command->run == cli_delete &&
           (!next || *next == '-' || minari_remote_parse(next, NULL, NULL));
}

/* One option, with its value in the same word or the next. An exit code, or -1 to go on. */
static int take_option(struct cli *cli, int argc, char **argv, int *at)
{
    const char *word = argv[*at], *value;
    const int i = find(word, &value);
    if (i < 0)
        return no_option(cli, word);
    if (!cli_options[i].value && value)
        return usage(cli,
                     word[1] == '-' ? "this option takes no value" : "short options are written one by one",
                     word);
    if (i == OPT_FACETS && !value) {
        value = *at + 1 < argc && is_facets(argv[*at + 1]) ? argv[++*at] : "";
    } else if (!value && stands_alone(cli, i, *at + 1 < argc ? argv[*at + 1] : NULL)) {
        value = "";
    } else if (cli_options[i].value && !value) {
        if (*at + 1 >= argc)
            return usage(cli, "this option needs a value", word);
        value = argv[++*at];
    }
    const char **list = i == OPT_INCLUDE ? cli->include : i == OPT_EXCLUDE ? cli->exclude : NULL;
    size_t n = 0;
    while (list && list[n])
        n++;
    if (list ? n == CLI_PATTERNS : cli->values[i] && cli_options[i].value)
        return usage(cli, list ? "this option was given too often" : "this option was given twice", word);
    if (list)
        list[n] = value;
    cli->values[i] = value ? value : "";
    return -1;
}

/* One name of two options is the one that the command takes. */
static int finish_synonym(struct cli *cli, enum cli_option found, enum cli_option other)
{
    char name[32];
    if (takes(cli->command, found) || !takes(cli->command, other) || !cli->values[found])
        return -1;
    snprintf(name, sizeof name, "--%s", cli_options[found].name);
    if (cli->values[other])
        return usage(cli, "this option was given twice", name);
    cli->values[other] = cli->values[found];
    cli->values[found] = NULL;
    return -1;
}

static int check(struct cli *cli)
{
    int code =
        finish_synonym(cli, OPT_RATE, OPT_LIMIT); /* of bytes where bytes come, of lines where lines do */
    if (code < 0)
        code = finish_synonym(cli, OPT_FORMAT, OPT_OF_FORMAT); /* of rows, or of datasets */
    if (code >= 0)
        return code;
    for (int i = 0; i < OPT_COUNT; i++)
        if (cli->values[i] && !takes(cli->command, (enum cli_option)i)) {
            char name[32];
            snprintf(name, sizeof name, "--%s", cli_options[i].name);
            return usage(cli, "this command has no such option", name);
        }
    if (cli->count < cli->command->least)
        return usage(cli, "an argument is missing", cli->command->arguments);
    if (cli->command->most >= 0 && cli->count > cli->command->most)
        return usage(cli, "too many arguments, from here on", cli->arguments[cli->command->most]);
    return -1;
}

/* "-1" is an episode, no option. */
static bool is_negative(const char *word)
{
    return word[1] && strspn(word + 1, "0123456789") == strlen(word + 1);
}

static int read_words(struct cli *cli, int argc, char **argv)
{
    bool only_arguments = false;
    for (int i = 1; i < argc; i++) {
        if (!only_arguments && strcmp(argv[i], "--") == 0) {
            only_arguments = true;
        } else if (!only_arguments && argv[i][0] == '-' && argv[i][1] && !is_negative(argv[i])) {
            if (!cli->command && (!strcmp(argv[i], "--version") || !strcmp(argv[i], "-V")))
                return cli_version(cli);
            const int code = take_option(cli, argc, argv, &i);
            if (code >= 0)
                return code;
        } else if (!cli->command) {
            cli->command = cli_find_command(argv[i]);
            if (!cli->command)
                return usage(cli, "unknown command", argv[i]);
        } else {
            cli->arguments[cli->count++] = argv[i];
        }
    }
    return -1;
}

int cli_parse(struct cli *cli, int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "-v") == 0) /* as of Minari; with a command it is --verbose */
        return cli_version(cli);
    for (int i = 1; i < argc; i++) /* so that errors of the line, too, are reported in the format asked for */
        if (strcmp(argv[i], "--json") == 0)
            cli_errors_as_json();
    const int code = read_words(cli, argc, argv);
    if (code >= 0)
        return code;
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

enum cli_option cli_parse_begun(struct cli *cli, int argc, char **argv)
{
    int open = OPT_END;
    const char *last = argc > 1 ? argv[argc - 1] : "", *value;
    if (last[0] == '-' && last[1]) {
        open = find(last, &value);
        if (open < 0 || !cli_options[open].value || value)
            open = OPT_END;
    }
    if (read_words(cli, argc - (open != OPT_END), argv) >= 0 || !cli->command)
        return OPT_COUNT;
    return open == OPT_FORMAT && !takes(cli->command, OPT_FORMAT) ? OPT_OF_FORMAT : (enum cli_option)open;
}

bool cli_number(const struct cli *cli, enum cli_option option, uint64_t *out)
{
    const struct hub_usage_option *o = &cli_options[option];
    const char *text = cli->values[option] ? cli->values[option] : o->otherwise;
    struct hub_error err = {0};
    *out = 0;
    if (!text || !hub_option_set(o, text, out, &err))
        return true;
    if (o->kind == HUB_OPTION_NUMBER)
        cli_error(CLI_USAGE, "--%s must be a number from %llu to %llu, not '%s'", o->name,
                  (unsigned long long)o->least, (unsigned long long)o->most, cli_clean(text));
    else
        cli_error(CLI_USAGE, "--%s", cli_clean(err.detail));
    return false;
}

bool cli_part(const struct cli *cli, const char **partition, const char **seed, unsigned *part)
{
    uint64_t number;
    *partition = cli->values[OPT_PARTITION];
    *seed = cli->values[OPT_PARTITION_SEED];
    if (!*partition != !*seed || (!*partition && cli->values[OPT_PART])) {
        cli_error(CLI_USAGE, *partition
                                 ? "--partition needs --partition-seed N, which makes the same parts again"
                                 : "--part and --partition-seed need --partition N,N,...");
        return false;
    }
    if (!cli_number(cli, OPT_PART, &number))
        return false;
    *part = (unsigned)number;
    return true;
}
