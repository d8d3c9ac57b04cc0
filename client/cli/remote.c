/* The hub to talk to, and this machine's folder of datasets. */
#include "client/cli/cli.h"
#include "storage/ids/id.h"
#include "storage/ids/spell.h"
#include "storage/text/options.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    interrupted = signal;
}

void cli_catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = on_interrupt,
                               .sa_flags = (int)SA_RESETHAND}; /* a second one kills */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int cli_interrupted(void *user)
{
    (void)user;
    return interrupted;
}

const char *cli_folder(const char *id, char out[CLI_FOLDER])
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf folder = HUB_BUF_INIT(CLI_FOLDER);
    snprintf(out, CLI_FOLDER, "%s", hub_id_folder(hub_view_of(id), &folder, NULL) ? id : folder.data);
    return out;
}

const char *cli_root(void)
{
    static char path[PATH_MAX];
    const char *set = getenv("MINARI_DATASETS_PATH"), *home = getenv("HOME");
    if (set && *set)
        snprintf(path, sizeof path, "%s", set);
    else
        snprintf(path, sizeof path, "%s/.minari/datasets", home ? home : ".");
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = '\0';
    return path;
}

bool cli_remote_is_set(const struct cli *cli)
{
    return strncmp(cli->remote.origin, "MINARI", 6) == 0 || strcmp(cli->remote.origin, "default") == 0;
}

const char *cli_remote_name(const struct cli *cli)
{
    static char text[700];
    snprintf(text, sizeof text, "%s (%s)", cli->remote.text, cli->remote.origin);
    return text;
}

/* "http://hub:8080/D4RL/door/human-v2", "gcp://bucket/D4RL/door/human-v2": the remote is what stands before
 * the third slash; of hf://ORG/REPO@REVISION/REST the revision belongs to it, and the id is REPO/REST. */
static const char *split_url(const char *text, const char **id)
{
    static char base[600], own[1200];
    const char *host = strstr(text, "://"), *slash = host ? strchr(host + 3, '/') : NULL;
    const char *at = slash && strncmp(text, "hf://", 5) == 0 ? strchr(slash, '@') : NULL;
    const char *end = at ? strchrnul(at, '/') : slash;
    if (!slash || !slash[1] || (size_t)(end - text) >= sizeof base)
        return NULL;
    snprintf(base, sizeof base, "%.*s", (int)(end - text), text);
    snprintf(own, sizeof own, "%.*s%s", at ? (int)(at - slash - 1) : 0, slash + 1, at ? end : slash + 1);
    *id = own;
    return base;
}

int cli_choose(struct cli *cli, const char *chosen)
{
    struct minari_error err;
    const char *option = chosen ? chosen : cli->values[OPT_REMOTE];
    if (minari_remote_choose(option, getenv("MINARI_HUB_URL"), getenv("MINARI_REMOTE"), &cli->remote, &err))
        return cli_report(cli, &err);
    if (chosen)
        snprintf(cli->remote.origin, sizeof cli->remote.origin, "argument");
    if (minari_remote_is_spoken(&cli->remote))
        return CLI_OK;
    cli_error(CLI_FAILED, "the remote is %s (%s), which this version cannot talk to", cli->remote.text,
              cli->remote.origin);
    cli_hint("point at one: --remote http://HOST[:PORT], or export MINARI_HUB_URL=http://HOST[:PORT]");
    cli_hint("a hub of your own over a folder of datasets: minari-hub serve --root DIR");
    return CLI_FAILED;
}

/* The hub does not answer: nobody should sit before a silent program. */
static void on_waiting(const char *why, unsigned attempt, uint64_t wait_ms, void *user)
{
    if (attempt > 1) /* one that passes at once is not worth a word */
        cli_note(user, "%s; trying again in %.1f s (attempt %u failed)", cli_clean(why),
                 (double)wait_ms / 1000, attempt);
}

static void on_trace(const char *line, void *user)
{
    cli_note(user, "%s", cli_clean(line));
}

/* What of the connection is a number. */
struct limits {
    uint64_t attempts, timeout_ms, rate;
};

static int read_limits(const struct cli *cli, struct limits *out)
{
    if (!cli_number(cli, OPT_ATTEMPTS, &out->attempts) || !cli_number(cli, OPT_TIMEOUT, &out->timeout_ms))
        return CLI_USAGE;
    const char *rate = cli->values[OPT_RATE];
    out->rate = 0;
    if (rate && hub_option_set(&cli_options[OPT_RATE], rate, &out->rate, NULL))
        return cli_error(CLI_USAGE,
                         "--limit must be a number of bytes per second, at least 66K, such as 500K or 20M");
    return CLI_OK;
}

int cli_connect_local(struct cli *cli, const char *socket, bool once)
{
    struct limits limits;
    struct minari_error err;
    if (read_limits(cli, &limits))
        return CLI_USAGE;
    minari_client_free(cli->client);
    cli->client = NULL;
    const struct minari_client_options options = {.size = sizeof options,
                                                  .base_url = "http://localhost",
                                                  .unix_socket = socket,
                                                  .user_agent = "minari-cli/" HUB_VERSION,
                                                  .attempts = once ? 1 : (unsigned)limits.attempts,
                                                  .stall_timeout_ms = (unsigned)limits.timeout_ms,
                                                  .waiting = on_waiting,
                                                  .trace =
                                                      cli->values[OPT_VERBOSE] && !once ? on_trace : NULL,
                                                  .interrupted = cli_interrupted,
                                                  .user = cli};
    return minari_client_new(&options, &cli->client, &err) ? cli_report(cli, &err) : CLI_OK;
}

int cli_connect_as(struct cli *cli, const char *token)
{
    const char *proxy = cli->values[OPT_PROXY];
    struct limits limits;
    struct minari_error err;
    if (read_limits(cli, &limits))
        return CLI_USAGE;
    minari_client_free(cli->client);
    cli->client = NULL;
    const bool from_environment = proxy && strcmp(proxy, "env") == 0;
    const struct minari_client_options options = {.base_url = cli->remote.text,
                                                  .token = token,
                                                  .endpoint = cli->values[OPT_ENDPOINT],
                                                  .user_agent = "minari-cli/" HUB_VERSION,
                                                  .proxy = from_environment ? NULL : proxy,
                                                  .environment_proxy = from_environment,
                                                  .attempts = (unsigned)limits.attempts,
                                                  .stall_timeout_ms = (unsigned)limits.timeout_ms,
                                                  .trust_redirects = cli->values[OPT_REDIRECTS],
                                                  .bytes_per_s = limits.rate,
                                                  .waiting = on_waiting,
                                                  .trace = cli->values[OPT_VERBOSE] ? on_trace : NULL,
                                                  .interrupted = cli_interrupted,
                                                  .user = cli};
    return minari_client_new(&options, &cli->client, &err) ? cli_report(cli, &err) : CLI_OK;
}

int cli_connect(struct cli *cli, const char *chosen, const char **id)
{
    const char *from_id = id ? split_url(*id, id) : NULL, *token = NULL;
    if (id)
        cli->subject = *id;
    if (from_id && (chosen || cli->values[OPT_REMOTE]))
        return cli_error(CLI_USAGE, "the remote is given twice: in the id, and by --remote");
    if (cli->client && !from_id)
        return CLI_OK;
    int code = cli_choose(cli, from_id ? from_id : chosen);
    if (!code)
        code = cli_token_find(cli, &token);
    return code ? code : cli_connect_as(cli, token);
}

/* Of Minari before 0.5 an id was ENVIRONMENT-NAME-vN; what was D4RL's is now D4RL/ENVIRONMENT/NAME-vN. */
bool cli_find_new_name(const struct cli *cli, const char *id, char out[CLI_ID])
{
    const char *dash = strchr(id, '-');
    struct hub_view alias;
    uint32_t version = 0;
    struct minari_dataset *dataset = NULL;
    const bool versioned = hub_id_split_alias(hub_view_of(id), &alias, &version);
    if (!dash || dash == id || strchr(id, '/') || dash + 1 >= alias.data + alias.size)
        return false;
    snprintf(out, CLI_ID, "D4RL/%.*s/%.*s", (int)(dash - id), id, (int)(alias.data + alias.size - dash - 1),
             dash + 1);
    if (minari_dataset_get(cli->client, out, NULL, &dataset, NULL))
        return false;
    snprintf(out, CLI_ID, "%s", minari_dataset_summary(dataset)->id);
    for (size_t i = 0; versioned && i < minari_dataset_version_count(dataset); i++)
        if (minari_dataset_version_at(dataset, i)->version == version)
            snprintf(out, CLI_ID, "%s", minari_dataset_version_at(dataset, i)->id);
    minari_dataset_free(dataset);
    return true;
}

void cli_offer_new_name(const struct cli *cli, const char *id)
{
    char name[CLI_ID];
    struct hub_view alias, other;
    uint32_t version = 0, offered = 0;
    if (!cli_find_new_name(cli, id, name))
        return;
    const bool versioned = hub_id_split_alias(hub_view_of(id), &alias, &version);
    (void)hub_id_split_alias(hub_view_of(name), &other, &offered);
    const bool from_environment = cli_remote_is_set(cli);
    if (versioned && version != offered)
        cli_hint("since Minari 0.5 it is %.*s, and there is no v%u of it: the newest is %s", (int)other.size,
                 cli_clean(name), version, cli_clean(name));
    else
        cli_hint("since Minari 0.5 it has another name: %s", cli_clean(name));
    cli_hint("minari-cli %s %s%s%s", cli->command->name, cli_clean(name),
             from_environment ? "" : " --remote ", from_environment ? "" : cli->remote.text);
}
