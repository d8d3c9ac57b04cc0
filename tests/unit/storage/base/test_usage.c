#include "storage/base/usage.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct hub_usage_option list_options[] = {
    {'s', "status", "STATUS", "ready|broken", "of this status"},
    {0, "all", NULL, NULL, "don't [only] show the newest: everything"},
};
static const struct hub_usage_option common[] = {
    {'o', "output", "DIR", NULL, "where to write"},
    {0, "config", "FILE", NULL, "what to read"},
    {'n', "limit", "N", NULL, "how many"},
    {'h', "help", NULL, NULL, "show this"},
};
static const struct hub_usage_command commands[] = {
    {"list", "local | remote", "local|remote", "show what is there",
     "One line\nand more.\n\n  tool list -a 'x\\y'\n", list_options, HUB_COUNT(list_options)},
    {"get", "ID", NULL, "get it", NULL, NULL, 0},
};
static const struct hub_usage_part parts[] = {{"EXIT STATUS", "0 ok, 1 not."}};
static const struct hub_usage usage = {.program = "my-tool",
                                       .version = "1.2",
                                       .section = 1,
                                       .summary = "does it",
                                       .text = ".it begins with a dot",
                                       .commands = commands,
                                       .command_count = HUB_COUNT(commands),
                                       .options = common,
                                       .option_count = HUB_COUNT(common),
                                       .parts = parts,
                                       .part_count = HUB_COUNT(parts)};

static const struct hub_usage without_commands = {.program = "my-tool",
                                                  .version = "1.2",
                                                  .section = 1,
                                                  .summary = "does it",
                                                  .text = "It does it.",
                                                  .arguments = "PATH",
                                                  .options = common,
                                                  .option_count = HUB_COUNT(common)};

static char *write_usage(const struct hub_usage *of, const char *what)
{
    struct hub_buf out = HUB_BUF_INIT(1 * MIB);
    cr_assert_eq(hub_usage_write(of, what, &out, NULL), HUB_OK);
    return hub_buf_take(&out, NULL);
}

static char *written(const char *what)
{
    return write_usage(&usage, what);
}

/* What a shell prints for a script on its standard input. */
static void run(const char *command, const char *script, char *out, size_t room)
{
    char path[] = "/tmp/hub-usage-XXXXXX", line[256];
    const int fd = mkstemp(path);
    cr_assert(fd >= 0 && write(fd, script, strlen(script)) == (ssize_t)strlen(script));
    close(fd);
    snprintf(line, sizeof line, "%s %s 2>&1", command, path);
    FILE *p = popen(line, "r");
    cr_assert_not_null(p);
    out[fread(out, 1, room - 1, p)] = '\0';
    cr_assert_eq(pclose(p), 0, "%s", out);
    unlink(path);
}

static void completes_of(const struct hub_usage *of, const char *words, const char *expected)
{
    char script[16384], got[4096];
    HUB_CLEANUP(hub_freep) char *text = write_usage(of, "bash");
    snprintf(script, sizeof script,
             "compopt() { :; }\n%s\nCOMP_WORDS=(%s)\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_my_tool\n"
             "echo \"${COMPREPLY[*]}\"\n",
             text, words);
    run("bash", script, got, sizeof got);
    got[strcspn(got, "\n")] = '\0';
    cr_assert_str_eq(got, expected, "%s: '%s'", words, got);
}

static void completes(const char *words, const char *expected)
{
    completes_of(&usage, words, expected);
}

Test(usage, a_program_without_commands)
{
    HUB_CLEANUP(hub_freep) char *man = write_usage(&without_commands, "man");
    HUB_CLEANUP(hub_freep) char *zsh = write_usage(&without_commands, "zsh");
    cr_assert(strstr(man, "\\fBmy\\-tool\\fR [\\fIOPTION\\fR...] \\fIPATH\\fR\n") &&
              !strstr(man, "COMMANDS"));
    cr_assert(strstr(zsh, "    _arguments \\\n            '(-o --output)'") &&
              strstr(zsh, "'*:argument:_files'\n}\n"));
    completes_of(&without_commands, "my-tool --", "--output --config --limit --help");
    completes_of(&without_commands, "my-tool --output /us", "/usr");
    completes_of(&without_commands, "my-tool x", "");
}

Test(usage, bash_completes)
{
    completes("my-tool ''", "list get");
    completes("my-tool l", "list");
    completes("my-tool list ''", "local remote");
    completes("my-tool list --", "--status --all --output --config --limit --help");
    completes("my-tool get --", "--output --config --limit --help");
    completes("my-tool list --status ''", "ready broken");
    completes("my-tool list -s b", "broken");
    completes("my-tool list --status = r", "ready");
    completes("my-tool list --status =", "ready broken");
    completes("my-tool list --limit ''", "");
    completes("my-tool get --output /us", "/usr");
    completes("my-tool list local --all l", "local");
}

/* The program is a function here. */
Test(usage, bash_asks_the_program_for_the_rest)
{
    struct hub_usage offers = usage;
    offers.offers = true;
    static const char *const lines[][2] = {
        {"my-tool get ''", "asked:my-tool get "},
        {"my-tool get a --limit ''", "asked:my-tool get a --limit "},
        {"my-tool list ''", "local remote"},
        {"my-tool list --status ''", "ready broken"},
        {"my-tool get --o", "--output"},
        {"my-tool ''", "list get"},
        {"my-tool get --output /us", "/usr"},
    };
    for (size_t i = 0; i < HUB_COUNT(lines); i++) {
        char script[16384], got[4096];
        HUB_CLEANUP(hub_freep) char *text = write_usage(&offers, "bash");
        snprintf(
            script, sizeof script,
            "compopt() { :; }\nmy-tool() { echo \"asked:$2\"; }\n%s\nCOMP_WORDS=(%s)\n"
            "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\nCOMP_LINE=\"${COMP_WORDS[*]}\" COMP_POINT=999\n_my_tool\n"
            "echo \"${COMPREPLY[*]}\"\n",
            text, lines[i][0]);
        run("bash", script, got, sizeof got);
        got[strcspn(got, "\n")] = '\0';
        cr_assert_str_eq(got, lines[i][1], "%s: '%s'", lines[i][0], got);
    }
}

Test(usage, zsh_and_fish_ask_the_program_for_the_rest)
{
    struct hub_usage offers = usage;
    offers.offers = true;
    HUB_CLEANUP(hub_freep) char *zsh = write_usage(&offers, "zsh"), *fish = write_usage(&offers, "fish");
    cr_assert(strstr(zsh, "'*:argument:_my_tool_offer' ;;") && strstr(zsh, "\n_my_tool_offer() {\n"));
    cr_assert(strstr(zsh, "'[how many]:N:_my_tool_offer'"));
    cr_assert(strstr(fish, "complete -c my-tool -n '__fish_seen_subcommand_from get' -a "
                           "'(my-tool --offer (commandline -cp) 2>/dev/null)'\n"));
    cr_assert(strstr(
        fish, " -l limit -s n -x -a '(my-tool --offer (commandline -cp) 2>/dev/null)' -d 'how many'\n"));
    HUB_CLEANUP(hub_freep) char *plain = written("zsh");
    cr_assert(!strstr(plain, "offer"));
}

Test(usage, the_man_page)
{
    HUB_CLEANUP(hub_freep) char *man = written("man");
    cr_assert(strstr(man, "\n\\&.it begins with a dot\n"), "a dot at the start is no command");
    cr_assert(
        strstr(man, "\\fB\\-s\\fR, \\fB\\-\\-status\\fR \\fISTATUS\\fR\nof this status: ready, broken\n"));
    cr_assert(strstr(man, ".nf\ntool list \\-a \\(aqx\\ey\\(aq\n.fi"));
    cr_assert(strstr(man, ".SH \"EXIT STATUS\"\n0 ok, 1 not.\n"));
}

Test(usage, zsh_and_fish)
{
    HUB_CLEANUP(hub_freep) char *zsh = written("zsh"), *fish = written("fish");
    cr_assert(hub_view_starts(hub_view_of(zsh), "#compdef my-tool\n"));
    cr_assert(strstr(zsh, "'(-s --status)'{-s+,--status=}'[of this status]:STATUS:(ready broken)'"));
    cr_assert(strstr(zsh, "'--all[don'\\''t \\[only\\] show the newest: everything]'"));
    cr_assert(strstr(zsh, "'[where to write]:DIR:_files -/'"));
    cr_assert(
        strstr(fish, "complete -c my-tool -f -n __fish_use_subcommand -a list -d 'show what is there'\n"));
    cr_assert(strstr(fish,
                     "complete -c my-tool -n '__fish_seen_subcommand_from list' -l status -s s -x -a 'ready "
                     "broken' -d 'of this status'\n"));
    cr_assert(strstr(fish, "complete -c my-tool -l config -r -F -d 'what to read'\n"));
    cr_assert(strstr(fish, "-d 'don\\'t [only] show the newest: everything'"));
}

Test(usage, anything_else_is_refused)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(1 * MIB);
    cr_assert_eq(hub_usage_write(&usage, "csh", &out, NULL), HUB_INVALID);
}
