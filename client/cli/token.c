/* The token that a command sends: where it comes from, and how it is held. */
#include "client/cli/cli.h"
#include "client/cli/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
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
