/** What the commands of minari-cli share: exit codes, options, the remote, errors for people. */
#ifndef HUB_CLI_H
#define HUB_CLI_H

#include "storage/base/usage.h"
#include "storage/text/json.h"

#include <minari/minari.h>

#include <stdio.h>

enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1, /* or declined */
    CLI_USAGE = 2,
    CLI_NOT_FOUND = 3,
    CLI_UNREACHABLE = 4,
    CLI_VERIFY = 5,
    CLI_NO_SPACE = 6,
    CLI_NOT_ALLOWED = 7,
    CLI_BROKEN = 8,
    CLI_INTERRUPTED = 130,
};

enum cli_option {
    OPT_HELP,
    OPT_JSON,
    OPT_REMOTE,
    OPT_TOKEN_FILE,
    OPT_PROXY,
    OPT_ENDPOINT,
    OPT_ATTEMPTS,
    OPT_TIMEOUT,
    OPT_REDIRECTS,
    OPT_VERBOSE,
    OPT_PREFIX,
    OPT_ALL,
    OPT_FOR,
    OPT_STATUS,
    OPT_SORT,
    OPT_ENV,
    OPT_ROBOT,
    OPT_CAMERA,
    OPT_AUTHOR,
    OPT_ALGORITHM,
    OPT_KIND,
    OPT_LICENSE,
    OPT_ACTION_DIM,
    OPT_LOADABLE,
    OPT_FACETS,
    OPT_FORCE,
    OPT_OUTPUT,
    OPT_CONNECTIONS,
    OPT_ALONE,
    OPT_DIGEST_WAIT,
    OPT_YES,
    OPT_AS,
    OPT_INCLUDE,
    OPT_EXCLUDE,
    OPT_QUIET,
    OPT_NO_PROGRESS,
    OPT_RATE,
    OPT_SPLIT,
    OPT_TASK,
    OPT_EPISODES,
    OPT_DRY_RUN,
    OPT_TAR,
    OPT_WHERE,
    OPT_FIELD,
    OPT_FINDINGS,
    OPT_LIMIT,
    OPT_ROWS,
    OPT_FORMAT,
    OPT_OF_FORMAT,
    OPT_WINDOWS,
    OPT_LENGTH,
    OPT_SEED,
    OPT_PAD,
    OPT_WEIGHT,
    OPT_FINAL,
    OPT_RANDOM,
    OPT_PARTITION,
    OPT_PART,
    OPT_PARTITION_SEED,
    OPT_SENTINEL,
    OPT_VALID,
    OPT_START,
    OPT_STOP,
    OPT_STEP,
    OPT_STEP_WHERE,
    OPT_LAYOUT,
    OPT_CSV,
    OPT_COLUMNS,
    OPT_MESSAGE,
    OPT_ALLOW,
    OPT_NEXT_VERSION,
    OPT_NO_INSPECT,
    OPT_DESCRIPTION,
    OPT_METADATA,
    OPT_REPLACE,
    OPT_REVISION,
    OPT_COUNT,
    OPT_END = -1,
};

enum { CLI_PATTERNS = 64 };

struct cli;

struct cli_command {
    const char *name;
    int (*run)(struct cli *cli);
    const char *arguments; /* "ID...", for the usage line */
    const char *words;     /* "local|remote": what completions offer; NULL: nothing */
    const char *summary;   /* one line */
    const char *help;      /* paragraphs and examples */
    int least, most;       /* arguments; most -1: any number */
    /* its own, ended by OPT_END; --json, --help and the connection's are everybody's */
    enum cli_option options[24];
};

struct cli {
    const struct cli_command *command;
    const char *values[OPT_COUNT]; /* "" for a switch that is on; NULL: not given */
    /* the values of the options that may be given several times, NULL-terminated */
    const char *include[CLI_PATTERNS + 1], *exclude[CLI_PATTERNS + 1];
    const char **arguments;
    int count;
    bool colour;       /* stdout is a terminal that wants colours */
    bool terminal;     /* stdout */
    bool err_terminal; /* stderr */
    struct minari_remote remote;
    struct minari_client *client;
    char *token;                   /* given for the remote, see token.c; or NULL */
    const char *token_source;      /* where it was found: "--token-file", "MINARI_HUB_TOKEN", "login" */
    const char *subject;           /* the id at hand, for remedies */
    void (*make_room)(void *user); /* before a line goes to stderr: takes a bar away; or NULL */
    void *room;
};

extern const struct cli_command cli_commands[]; /* ended by a NULL name */

int cli_list(struct cli *cli);
int cli_search(struct cli *cli);
int cli_show(struct cli *cli);
int cli_download(struct cli *cli);
int cli_upload(struct cli *cli);
int cli_drafts(struct cli *cli);
int cli_namespace(struct cli *cli);
int cli_revisions(struct cli *cli);
int cli_revert(struct cli *cli);
int cli_delete(struct cli *cli);
int cli_verify(struct cli *cli);
int cli_episodes(struct cli *cli);
int cli_get(struct cli *cli);
int cli_rows(struct cli *cli);
int cli_sample(struct cli *cli);
int cli_stats(struct cli *cli);
int cli_login(struct cli *cli);
int cli_logout(struct cli *cli);
int cli_whoami(struct cli *cli);

/* ---- facets.c ---- */

/** Instead of a list, how many datasets have each value of what --facets names. An exit code. */
int cli_facets(const struct cli *cli, const struct minari_dataset_query *query);

/* ---- options.c ---- */

enum { CLI_COMMON = 11 };
extern const struct hub_usage_option cli_options[OPT_COUNT];
extern const enum cli_option cli_common[CLI_COMMON]; /* of all commands */

/** Sort argv into command, options and arguments. An exit code, or -1 to go on. */
int cli_parse(struct cli *cli, int argc, char **argv);
/** The same of words behind which somebody writes another: the option that it is a value of, OPT_END: an
 * argument, OPT_COUNT: it is neither. */
enum cli_option cli_parse_begun(struct cli *cli, int argc, char **argv);
/** The number that an option gives, as its row says; without one 0. False after an error message. */
bool cli_number(const struct cli *cli, enum cli_option option, uint64_t *out);
/** Which part of the episodes --partition, --part and --partition-seed mean; NULL: all. False after an error
 * message. */
bool cli_part(const struct cli *cli, const char **partition, const char **seed, unsigned *part);

/* ---- usage.c ---- */

void cli_help(FILE *out, const struct cli_command *command);
/** minari-cli help [COMMAND], minari-cli version */
int cli_help_command(struct cli *cli);
int cli_version(struct cli *cli);
/** The man page or a completion on stdout, for the build (`--generate man`). An exit code. */
int cli_generate(const char *what);
/** A command by its name, or NULL. */
const struct cli_command *cli_find_command(const char *name);

/* ---- offer.c ---- */

enum { CLI_OFFERED = 64 }; /* words of the line, at most */
/** What could stand at the end of a line, a word each on stdout, for completions (`--offer LINE`). An exit
 * code. */
int cli_offer(struct cli *cli, const char *line);

/* ---- remote.c ---- */

/** Choose the remote and connect to it. "scheme://host/ID" in `*id`, if `id` is given, chooses too and is cut
 * to the ID. An exit code. */
int cli_connect(struct cli *cli, const char *chosen, const char **id);
/** The two halves of it: choose the remote; connect to it with this token or, where it is NULL, without. */
int cli_choose(struct cli *cli, const char *chosen);
int cli_connect_as(struct cli *cli, const char *token);
/** Connect to the hub behind a Unix socket. `once`: no request is repeated or reported. An exit code. */
int cli_connect_local(struct cli *cli, const char *socket, bool once);
/** Was it set for all commands, and not named for this one? Then `remote` means it. */
bool cli_remote_is_set(const struct cli *cli);
/** "http://hub:8080 (MINARI_HUB_URL)" */
const char *cli_remote_name(const struct cli *cli);
enum { CLI_ID = 1100 };
/** Of a dataset that is not found: whether the remote has an old-style id ("door-human-v2", "door-human")
 * under its new name. The whole id, of the same version where there is one, else of the newest. */
bool cli_find_new_name(const struct cli *cli, const char *id, char out[CLI_ID]);
/** The same, said with the command to give. */
void cli_offer_new_name(const struct cli *cli, const char *id);
/** Minari's folder of datasets: MINARI_DATASETS_PATH, else ~/.minari/datasets. */
const char *cli_root(void);
/** Nonzero once somebody pressed Ctrl-C. Also the library's callback. */
int cli_interrupted(void *user);
void cli_catch_interrupt(void);

/* ---- token.c ---- */

/** The token for the remote: of --token-file; else, of a hub, MINARI_HUB_TOKEN, or what `login` kept for it;
 * NULL: none. It stays the cli's until another one is found. An exit code. */
int cli_token_find(struct cli *cli, const char **token);
/** A token to keep: of --token-file, else what is typed on the terminal, where it is not shown. */
int cli_token_ask(struct cli *cli, const char **token);
/** Overwrite what is held. */
void cli_token_forget(struct cli *cli);

/* ---- say.c ---- */

/** From here on errors are JSON objects, one a line, on stderr:
 * {"error":{"exit","status","problem","detail","remedy"}} */
void cli_errors_as_json(void);
/** A line on stderr: "minari-cli: ...". Returns `code`. */
int cli_error(int code, const char *fmt, ...) HUB_PRINTF(2, 3);
/** A second line to an error, what to do about it; nothing where errors are JSON. */
void cli_hint(const char *fmt, ...) HUB_PRINTF(1, 2);
/** A hub's text to stdout; on a terminal without what it would obey. */
void cli_put(const struct cli *cli, const char *text, size_t size);
/** The next object of a list of them; the caller writes its members and ends it. */
struct hub_json cli_json_item(struct hub_buf *list);
/** A line on stderr that is no error; nothing with --quiet. */
void cli_note(const struct cli *cli, const char *fmt, ...) HUB_PRINTF(2, 3);
/** The library's error and what to do about it, on stderr. Returns the exit code. */
int cli_report(const struct cli *cli, const struct minari_error *err);
/** The same of an error of minari-cli's own. */
int cli_fail(const struct cli *cli, enum minari_status status, enum hub_problem_code problem, const char *fmt,
             ...) HUB_PRINTF(4, 5);
/** By the name of its problem. */
bool cli_is_problem(const struct minari_error *err, enum hub_problem_code problem);
/** Values that the call needs are still being measured. */
bool cli_is_being_measured(const struct minari_error *err);
/** Text from outside without what a terminal would obey: control characters become '?'. Rotates through a few
 * buffers. */
const char *cli_clean(const char *text);
enum { CLI_FOLDER = 4096 };
/** The folder below the local root of a dataset that a person names, in `out`; what is too long for it is
 * cut. */
const char *cli_folder(const char *id, char out[CLI_FOLDER]);
/** Ask for y or n on the terminal; anything else is asked again, the end of the input is a no. */
bool cli_confirm(const char *fmt, ...) HUB_PRINTF(1, 2);
/** Flush stdout: CLI_FAILED when it could not all be written. */
int cli_flush(int code);

#endif
