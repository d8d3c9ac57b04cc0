/* login, logout, whoami: the tokens that this user has of hubs. */
#include "client/cli/cli.h"
#include "client/cli/tokens.h"

#include <stdlib.h>

/* The hub that is meant, and the name under which its token is kept. */
static int choose_hub(struct cli *cli, char url[TOKENS_URL])
{
    const char *given = cli->count ? cli->arguments[0] : NULL;
    if (given && strncmp(given, "mh_", 3) == 0)
        return cli_error(CLI_USAGE, "a token must not be an argument, which everybody on the machine sees in "
                                    "the list of processes: login asks for it, or takes --token-file FILE");
    if (given && cli->values[OPT_REMOTE])
        return cli_error(CLI_USAGE, "the remote is given twice: as an argument, and by --remote");
    const int code = cli_choose(cli, given);
    if (code || tokens_url(cli->remote.text, url))
        return code;
    return cli_fail(cli, MINARI_UNSUPPORTED, HUB_PROBLEM_HUB_NEEDED,
                    "%s is not a hub: its token comes from --token-file, or from where its own programs look",
                    cli_remote_name(cli));
}

static int find_file(char path[PATH_MAX])
{
    return tokens_path(path) ? CLI_OK
                             : cli_error(CLI_FAILED, "there is no folder to keep tokens in: set HOME or "
                                                     "XDG_CONFIG_HOME");
}

static int report(enum hub_status st, const struct hub_error *err)
{
    return cli_error(st == HUB_DENIED     ? CLI_NOT_ALLOWED
                     : st == HUB_NO_SPACE ? CLI_NO_SPACE
                                          : CLI_FAILED,
                     "%s", cli_clean(err->detail));
}

static int print(struct hub_json *json, const struct hub_buf *text)
{
    hub_json_end_object(json);
    if (hub_json_status(json))
        return cli_error(CLI_FAILED, "no memory");
    printf("%s\n", text->data);
    return CLI_OK;
}

/* The environment's goes before the kept one. */
static void note_variable(const struct cli *cli)
{
    const char *set = getenv("MINARI_HUB_TOKEN");
    if (set && *set)
        cli_note(cli, "MINARI_HUB_TOKEN is set: commands send that token, not one that is kept");
}

/* ---- whoami ---- */

static int identify(const struct cli *cli, struct minari_identity *who)
{
    struct minari_error err;
    return minari_identity_get(cli->client, who, &err) ? cli_report(cli, &err) : CLI_OK;
}

/* "http://hub:8080: ann (read)", or as JSON with one more text. */
static int print_identity(const struct cli *cli, const char *url, const struct minari_identity *who,
                          const char *key, const char *value)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    if (!cli->values[OPT_JSON]) {
        printf("%s: %s%s%s%s\n", url, cli_clean(who->name), *who->role ? " (" : "", cli_clean(who->role),
               *who->role ? ")" : "");
        return CLI_OK;
    }
    struct hub_json json = hub_json_to(&text, NULL);
    hub_json_object(&json);
    hub_json_put_text(&json, "hub", url);
    hub_json_put_text(&json, "name", who->name);
    hub_json_put_text(&json, "role", who->role);
    hub_json_put_bool(&json, "signed_in", who->signed_in);
    hub_json_put_text(&json, key, value);
    return print(&json, &text);
}

int cli_whoami(struct cli *cli)
{
    char url[TOKENS_URL];
    const char *token;
    struct minari_identity who;
    int code = choose_hub(cli, url);
    if (!code)
        code = cli_token_find(cli, &token);
    if (!code)
        code = cli_connect_as(cli, token);
    if (!code)
        code = identify(cli, &who);
    return code ? code : print_identity(cli, url, &who, "token_from", cli->token_source);
}

/* ---- login ---- */

/* A token that the hub knows. */
static int get_token(struct cli *cli, const char *url, const char **token, struct minari_identity *who)
{
    int code = cli_token_ask(cli, token);
    if (!code)
        code = cli_connect_as(cli, *token);
    if (!code)
        code = identify(cli, who);
    if (code || who->signed_in)
        return code;
    return cli_fail(cli, MINARI_DENIED, HUB_PROBLEM_BAD_TOKEN, "%s does not know this token", url);
}

int cli_login(struct cli *cli)
{
    char url[TOKENS_URL], path[PATH_MAX];
    const char *token;
    struct minari_identity who;
    struct hub_error err = {0};
    bool had;
    int code = choose_hub(cli, url);
    if (!code)
        code = find_file(path);
    if (!code)
        code = get_token(cli, url, &token, &who);
    if (code)
        return code;
    const enum hub_status st = tokens_put(path, url, token, &had, &err);
    if (st)
        return report(st, &err);
    cli_note(cli, "The token is kept in %s", cli_clean(path));
    note_variable(cli);
    return print_identity(cli, url, &who, "file", path);
}

int cli_logout(struct cli *cli)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    char url[TOKENS_URL], path[PATH_MAX];
    struct hub_error err = {0};
    bool had;
    int code = choose_hub(cli, url);
    if (!code)
        code = find_file(path);
    if (code)
        return code;
    const enum hub_status st = tokens_put(path, url, NULL, &had, &err);
    if (st)
        return report(st, &err);
    note_variable(cli);
    if (!cli->values[OPT_JSON]) {
        printf(had ? "%s: the token is forgotten\n" : "%s: no token was kept\n", url);
        return CLI_OK;
    }
    struct hub_json json = hub_json_to(&text, NULL);
    hub_json_object(&json);
    hub_json_put_text(&json, "hub", url);
    hub_json_put_bool(&json, "forgotten", had);
    return print(&json, &text);
}
