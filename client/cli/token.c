/* The token that a command sends: where it comes from, and how it is held. */
#include "client/cli/cli.h"
#include "client/cli/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static const char file_option[] = "--token-file", variable[] = "MINARI_HUB_TOKEN", login[] = "login";

/* From here on the process leaves no core, and its memory is for root alone. */
static void guard(void)
{
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static void hold(struct cli *cli, char *token, const char *source)
{
    tokens_free(cli->token);
    cli->token = token;
    cli->token_source = token ? source : NULL;
}

void cli_token_forget(struct cli *cli)
{
    hold(cli, NULL, NULL);
}

/* Take what a source gave, or say what is wrong with it. */
static int take(struct cli *cli, enum hub_status st, char *token, const char *source,
                const struct hub_error *err)
{
    if (st)
        return cli_error(st == HUB_INVALID ? CLI_USAGE : CLI_FAILED, "%s: %s", source,
                         cli_clean(err->detail));
    hold(cli, token, source);
    return CLI_OK;
}

/* A pipe can be read only once: what came is used for all remotes of the command. */
static int of_file(struct cli *cli)
{
    const char *name = cli->values[OPT_TOKEN_FILE];
    struct hub_error err = {0};
    struct stat st;
    char *token = NULL;
    if (cli->token_source == file_option)
        return CLI_OK;
    guard();
    HUB_CLEANUP(hub_closep)
    const int fd =
        strcmp(name, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st))
        return cli_error(errno == EACCES ? CLI_NOT_ALLOWED : CLI_FAILED, "%s: '%s' cannot be opened: %s",
                         file_option, cli_clean(name), strerror(errno));
    if (S_ISREG(st.st_mode) && tokens_open_to_others(st.st_mode))
        cli_note(cli, "warning: others may read the token in '%s': chmod 600 makes it yours alone",
                 cli_clean(name));
    const enum hub_status got = tokens_read(fd, &token, &err);
    return take(cli, got, token, file_option, &err);
}

static int of_environment(struct cli *cli, const char *text)
{
    struct hub_error err = {0};
    char *token = NULL;
    guard();
    const enum hub_status st = tokens_take(hub_view_of(text), &token, &err);
    return take(cli, st, token, variable, &err);
}

/* A file that cannot be used is left out: the hub may not want a token. */
static int of_login(struct cli *cli)
{
    char url[TOKENS_URL], path[PATH_MAX];
    struct hub_error err = {0};
    char *token = NULL;
    if (tokens_url(cli->remote.text, url) && tokens_path(path) && access(path, F_OK) == 0) {
        guard();
        if (tokens_get(path, url, &token, &err))
            cli_note(cli, "warning: %s", cli_clean(err.detail));
    }
    hold(cli, token, login);
    return CLI_OK;
}

int cli_token_find(struct cli *cli, const char **token)
{
    const bool hub = cli->remote.kind == MINARI_REMOTE_HUB;
    const char *set = hub ? getenv(variable) : NULL; /* for hubs alone */
    int code = CLI_OK;
    if (cli->values[OPT_TOKEN_FILE]) {
        code = of_file(cli);
    } else if (set && *set) {
        code = of_environment(cli, set);
    } else if (hub) {
        code = of_login(cli);
    } else {
        guard(); /* storage/remote may find one, as huggingface_hub does */
        hold(cli, NULL, NULL);
    }
    *token = cli->token;
    return code;
}

/* ---- asking for one ---- */

/* A line of the terminal that is not shown. */
static int read_hidden(char *line, size_t room, size_t *size)
{
    enum { NAP_MS = 100 };
    struct termios shown, hidden;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (tcgetattr(STDIN_FILENO, &shown))
        return cli_error(CLI_USAGE,
                         "there is no terminal to type the token on: give it by --token-file FILE, "
                         "or by --token-file - from the standard input");
    hidden = shown;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    hidden.c_lflag |= ECHONL;
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    fputs("Token (it is not shown): ", stderr);
    fflush(stderr);
    while (!cli_interrupted(NULL) && poll(&input, 1, NAP_MS) <= 0)
        ;
    const bool interrupted = cli_interrupted(NULL);
    const ssize_t n = interrupted ? 0 : read(STDIN_FILENO, line, room);
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
    *size = n > 0 ? (size_t)n : 0;
    if (interrupted)
        fputc('\n', stderr);
    return interrupted ? CLI_INTERRUPTED : CLI_OK;
}

int cli_token_ask(struct cli *cli, const char **token)
{
    char line[TOKENS_CHARS], *typed = NULL;
    struct hub_error err = {0};
    size_t size = 0;
    int code = CLI_OK;
    guard();
    if (cli->values[OPT_TOKEN_FILE]) {
        code = of_file(cli);
    } else {
        code = read_hidden(line, sizeof line, &size);
        const enum hub_status st = code ? HUB_OK : tokens_take((struct hub_view){line, size}, &typed, &err);
        explicit_bzero(line, sizeof line);
        if (!code)
            code = take(cli, st, typed, "what was typed", &err);
    }
    *token = cli->token;
    return code;
}
