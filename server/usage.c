/* --help, the man page and the completions of minari-hub: one table of commands, and that of the settings. */
#include "server/usage.h"

#include "server/commands/access_command.h"
#include "server/commands/admin.h"
#include "server/commands/adopt_command.h"
#include "server/commands/backup_command.h"
#include "server/commands/check_command.h"
#include "server/commands/tar_command.h"
#include "server/service/mirror_options.h"

static const char summary[] = "serves directories of offline-RL and robot-learning datasets over HTTP";

static const struct hub_usage_option json[] = {
    {0, "json", NULL, NULL, "print JSON", HUB_OPTION_AT(TEXT, struct hub_asked, json)}};

static const struct hub_usage_option forget[] = {
    {0, "forget", "ROOT", NULL, "forget the datasets that the root no longer has: it is not just unmounted",
     HUB_OPTION_AT(TEXT, struct hub_asked, forget)}};

static const char mirror_help[] =
    "A rule says which datasets of a remote are copied and how often they are checked; without a running "
    "hub\n"
    "`run` does it now. Changed datasets are fetched, verified and replaced as a whole; copies of deleted "
    "ones\n"
    "stay, unless --delete is given.\n\n"
    "  add REMOTE     make a rule: gcp://BUCKET[/PREFIX], hf://ORG[/REPO], http(s)://HUB; it shows what\n"
    "                 it would take, and asks\n"
    "  list           all rules, their last results and when they are due\n"
    "  show NAME      one rule, with its last error\n"
    "  run NAME       look now; --anew also into a root whose datasets are gone\n"
    "  pause NAME     until resume NAME\n"
    "  remove NAME    remove the rule; its copies stay\n\n"
    "  minari-hub mirror add hf://farama-minari --prefix D4RL/ --every 1d --limit 50M\n"
    "  minari-hub mirror add http://hub.other-lab:8080 --as theirs/ --delete";

static const char token_help[] =
    "A new token is printed once, alone on standard output; the hub keeps its digest. A token by itself\n"
    "closes nothing: a rule does, see minari-hub help access. Changes act within a second.\n\n"
    "  add NAME       make a token; --read, --label and --write set the rules of its name\n"
    "  list           all tokens: when they expire, when they were last used, their rules\n"
    "  revoke NAME    end it, and remove its rules\n"
    "  rotate NAME    another secret takes its place\n\n"
    "  minari-hub token add ann --read lab/ --write lab/ann/ --expires 90d";

static const char access_help[] =
    "WHO is '*', signed-in, token:NAME, user:NAME, group:NAME or net:CIDR. LEVEL is one of none, read,\n"
    "label, write and admin; each includes those before it. PREFIX is whole segments of ids: lab/ is all\n"
    "below lab, lab/arm one name with all its versions, and an empty one ('') all datasets. The longest\n"
    "PREFIX decides; where several have it: token or user, then group, then network, signed-in, '*'.\n"
    "Without a rule everybody may read.\n\n"
    "  minari-hub access set '*' none lab/secret/\n"
    "  minari-hub access explain token:ann lab/secret/arm-v1";

static const char backup_help[] =
    "DIR gets hub.db (tokens, rules, commits, origins) as it is at one moment, the configuration that the "
    "hub\n"
    "was started with, and manifest.json: the datasets that were pushed or mirrored, with the digests of "
    "their\n"
    "files. The hub may run, and people may push meanwhile. Again with the same DIR it replaces the backup "
    "when\n"
    "the new one is whole, and copies what is new. DIR can be read by you alone: keep it so. Files that "
    "hold\n"
    "tokens (--read-token-file) and datasets that somebody copied into a root by hand are not in it.\n\n"
    "  minari-hub backup /backup/hub\n"
    "  minari-hub backup /backup/hub --data --state /var/lib/minari-hub\n"
    "  minari-hub restore /backup/hub --state /var/lib/minari-hub --root /data";

static const char restore_help[] =
    "The state directory must be empty. Each root of the backup gets a place by one --root [NAME=]DIR, "
    "those\n"
    "without a name in their order; without --root the roots are listed. Files are checked by their digests\n"
    "and appear in whole datasets; a dataset that is there already stays. What is missing is listed, with\n"
    "where it came from. Run it as the user of the hub, then start the hub; an interrupted restore is "
    "repeated.\n\n"
    "  minari-hub restore /backup/hub --state /var/lib/minari-hub --root /data\n"
    "  minari-hub restore /backup/hub --state /srv/state --root main=/data --root lab=/nfs/lab";

static const char adopt_help[] = "Datasets that somebody copied into a root by hand are never changed by a "
                                 "push. One that is adopted is the\n"
                                 "hub's own, as if it had been pushed: its files become read-only, it gets a "
                                 "commit, and who names that as\n"
                                 "the base of a push takes its place. Nothing is copied; all files are read "
                                 "for their digests. It refuses,\n"
                                 "and says why: files that somebody has open for writing, links and files "
                                 "with several names, copies of a\n"
                                 "mirror, another file system than that of the root, and what the hub may "
                                 "not change. What was interrupted\n"
                                 "is done again.\n\n"
                                 "  minari-hub adopt lab/arm-v0\n"
                                 "  minari-hub adopt --all lab/";

static const struct hub_usage_command commands[] = {
    {"serve", "", NULL, "serve, and keep the catalogue up to date", NULL, NULL, 0},
    {"mirror", "add REMOTE|list|show NAME|run NAME|pause NAME|resume NAME|remove NAME",
     "add|list|show|run|pause|resume|remove", "keep copies of the datasets of a remote", mirror_help,
     hub_mirror_rows, HUB_MIRROR_OPTIONS},
    {"token", "add NAME|list|revoke NAME|rotate NAME", "add|list|revoke|rotate",
     "access tokens, which programs and people carry", token_help, hub_token_rows, HUB_TOKEN_OPTIONS},
    {"access", "set WHO LEVEL PREFIX|unset WHO PREFIX|list|explain WHO ID", "set|unset|list|explain",
     "rules of who may read and write what", access_help, hub_access_rows, HUB_ACCESS_OPTIONS},
    {"audit", "", NULL, "who changed which token or rule, oldest first", NULL, hub_audit_rows,
     HUB_AUDIT_OPTIONS},
    {"export", "ID...", NULL, "write datasets into a tar", NULL, hub_export_rows, HUB_EXPORT_OPTIONS},
    {"import", "FILE.tar|-", NULL, "add the datasets of a tar, verified, each at once", NULL, hub_import_rows,
     HUB_IMPORT_OPTIONS},
    {"check", "[ID|GLOB...]", NULL, "read files again and find what is damaged on the disk", NULL,
     hub_check_usage, HUB_CHECK_OPTIONS},
    {"adopt", "ID...", NULL, "make datasets that were put there by hand the hub's own", adopt_help,
     hub_adopt_usage, HUB_ADOPT_OPTIONS},
    {"backup", "DIR", NULL, "write what the hub knows and owns into a folder, also while it runs",
     backup_help, hub_backup_rows, HUB_BACKUP_OPTIONS},
    {"restore", "DIR", NULL, "make a hub of a backup, in an empty state directory", restore_help,
     hub_restore_rows, HUB_RESTORE_OPTIONS},
    {"scan", "", NULL, "scan the directories once, print a summary, exit", NULL, forget, 1},
    {"status", "", NULL, "what the running hub does: datasets, load, mirrors, alerts; repeated on a terminal",
     NULL, json, 1},
    {"problems", "", NULL, "what is wrong with it and its datasets, one line each", NULL, json, 1},
    {"config", "", NULL, "print the settings as a commented configuration file", NULL, NULL, 0},
    {"version", "", NULL, "the versions of this program and of its libraries", NULL, NULL, 0},
    {"help", "", NULL, "this text", NULL, NULL, 0},
};

static const char examples[] = "  minari-hub serve\n"
                               "      the datasets of Python Minari (~/.minari/datasets), for this machine\n"
                               "  minari-hub serve --root /data --listen 0.0.0.0:8080\n"
                               "      /data, for everybody on the network\n"
                               "  minari-hub serve --root main=/data --root lab=/nfs/datasets:ro\n"
                               "      two directories; the hub never writes into the second\n"
                               "  minari-hub mirror add gcp://minari-remote --prefix D4RL/ --every 6h\n"
                               "      a copy of the D4RL datasets of a bucket, kept up to date\n"
                               "  minari-hub export D4RL/door/human-v2 -o - | ssh lab minari-hub import -\n"
                               "      a dataset into another hub, over anything that carries a tar\n"
                               "  minari-hub config --root /data > /etc/minari-hub.conf\n"
                               "      a file with every setting and what it means\n"
                               "  curl 'http://127.0.0.1:8080/api/v1/datasets'\n"
                               "      what a hub has; the answers have links to the rest\n";

static const char settings[] =
    "Each option is also a line `option = value` of the configuration file, and a variable\n"
    "MINARI_HUB_<OPTION> of the environment. Flags win over the environment, the environment over the\n"
    "file. An option that is on or off may stand alone (on) or be written --no-OPTION (off).\n"
    "Sizes such as 50G are powers of 1024; sizes in messages are powers of 1000.\n"
    "status, problems, check, adopt and scan find a running hub by its state directory (--state) and ask it "
    "over\n"
    "STATE/control.sock, where `curl --unix-socket` works too.\n";

static const char signals[] =
    "SIGHUP scans the directories now, and reads the access rules and token files of the\n"
    "configuration again; SIGTERM lets running answers finish.\n";

static const char guide[] =
    "A running hub shows its guide at /~guide, such as http://127.0.0.1:8080/~guide.\n";

static const char exit_codes[] = "0 ok, 1 failed, 2 usage, 3 no such dataset, 4 no hub runs on the state "
                                 "directory, 5 files or a tar are damaged, 6 no\n"
                                 "space on its disk, 7 not allowed,\n"
                                 "130 interrupted.\n";

static void help_options(FILE *out, const struct hub_usage_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  --%s%s%s\n      %s\n", options[i].name, options[i].value ? " " : "",
                options[i].value ? options[i].value : "", options[i].help);
}

/* Those without arguments go by the settings. */
static void help_command(FILE *out, const struct hub_usage_command *command)
{
    const bool own = command->options != NULL;
    fprintf(out, "minari-hub %s: %s\n\nusage: minari-hub %s%s%s [OPTION...]\n", command->name,
            command->summary, command->name, *command->arguments ? " " : "", command->arguments);
    if (command->help)
        fprintf(out, "\n%s\n", command->help);
    fprintf(out, "\nOptions%s:\n", own ? "" : " (and defaults)");
    if (own) {
        help_options(out, command->options, command->option_count);
        fprintf(out, "and the settings (--state and --root matter here); minari-hub help has them all.\n");
    } else {
        hub_config_help(out);
    }
}

void hub_help(FILE *out, const char *command)
{
    for (size_t i = 0; command && i < HUB_COUNT(commands); i++)
        if (strcmp(commands[i].name, command) == 0 &&
            commands[i].summary != commands[HUB_COUNT(commands) - 1].summary) {
            help_command(out, &commands[i]);
            return;
        }
    fprintf(out, "minari-hub " HUB_VERSION " %s.\n\nusage: minari-hub COMMAND [OPTION...]\n\nCommands:\n",
            summary);
    for (size_t i = 0; i < HUB_COUNT(commands); i++)
        fprintf(out, "  %-9s %s%s\n", commands[i].name, commands[i].summary,
                commands[i].options ? " (--json)" : "");
    fprintf(out, "\nExamples:\n%s\nGuide: %s\n%s\nSignals: %sExit codes: %s\nOptions (and defaults):\n",
            examples, guide, settings, signals, exit_codes);
    hub_config_help(out);
}

struct hub_options hub_own_options(const char *command)
{
    size_t i = 0;
    while (i + 1 < HUB_COUNT(commands) && strcmp(commands[i].name, command) != 0)
        i++;
    return (struct hub_options){commands[i].options, commands[i].option_count};
}

int hub_generate(const char *what)
{
    static const struct hub_usage_part parts[] = {{"SETTINGS", settings},
                                                  {"SIGNALS", signals},
                                                  {"EXIT STATUS", exit_codes},
                                                  {"EXAMPLES", examples},
                                                  {"GUIDE", guide}};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(1 * MIB);
    struct hub_error err = {0};
    const struct hub_usage usage = {.program = "minari-hub",
                                    .version = HUB_VERSION,
                                    .section = 8,
                                    .summary = summary,
                                    .text = "Indexes every dataset below its roots, answers any slice of any "
                                            "episode over HTTP, and serves the files.",
                                    .commands = commands,
                                    .command_count = HUB_COUNT(commands),
                                    .options = hub_config_options.rows,
                                    .option_count = hub_config_options.count,
                                    .parts = parts,
                                    .part_count = HUB_COUNT(parts)};
    if (hub_usage_write(&usage, what, &out, &err)) {
        fprintf(stderr, "minari-hub: --generate %s\n", err.detail);
        return HUB_EXIT_USAGE;
    }
    fwrite(out.data, 1, out.size, stdout);
    return fflush(stdout) ? HUB_EXIT_FAILED : 0;
}
