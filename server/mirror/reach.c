/* The remote of a rule: its token, its limit, and when a job gives up on it. */
#include "server/mirror/work.h"

#include "storage/io/fs.h"
#include "storage/text/time.h"

#include <fcntl.h>
#include <stdlib.h>

enum { SILENCE_MS = 10000, LOOK_MS = 1000 };

/* A remote from which nothing comes does not hold a thread that another one waits for: its job is tried again
 * behind the others. */
static enum hub_status give_way(struct hub_mirror_work *w, struct hub_error *err)
{
    const int64_t now_ms = hub_time_mono_ms();
    const uint64_t silent_ms =
        w->lane && w->remote.transport ? hub_transport_silent_ms(w->remote.transport) : 0;
    const unsigned most_ms = w->mirrors->options.silence_ms;
    if (silent_ms < (most_ms ? most_ms : SILENCE_MS) || now_ms - w->looked_ms < LOOK_MS)
        return HUB_OK;
    w->looked_ms = now_ms;
    if (w->kind->lane == HUB_LANE_LISTS)
        (void)!hub_rules_due(w->mirrors->options.truth, NULL); /* as those do who are free */
    return hub_job_rule_waits(w->mirrors->options.truth, w->lane)
               ? hub_fail_as(err, HUB_TIMEOUT, HUB_PROBLEM_STALLED, "nothing came from %.200s for %u s",
                             w->remote.base, (unsigned)(silent_ms / 1000))
               : HUB_OK;
}

/* The transport's question; the reason to stop outlives what the transport says of it. */
static int interrupted(void *user)
{
    struct hub_mirror_work *w = user;
    return hub_mirror_keep(w, &w->ended) || give_way(w, &w->ended);
}

/* Its first word. */
static enum hub_status read_token(const char *path, char token[HUB_MIRROR_TOKEN], struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_MIRROR_TOKEN - 1);
    const enum hub_status st = hub_fs_read(AT_FDCWD, path, &text, err);
    if (!st && text.size) {
        const size_t from = strspn(text.data, " \t\r\n");
        snprintf(token, HUB_MIRROR_TOKEN, "%.*s", (int)strcspn(text.data + from, " \t\r\n"),
                 text.data + from);
        explicit_bzero(text.data, text.size);
    }
    return st ? st : *token ? HUB_OK : hub_fail(err, HUB_DENIED, "the token file %.200s is empty", path);
}

static bool is_json_file(const char *path)
{
    return hub_view_ends(hub_view_of(path), ".json"); /* of a service account */
}

/* A rule's limit, which all that works for it shares. */
struct hub_mirror_rate {
    struct hub_mirror_rate *next;
    struct hub_rate rate;
    char rule[];
};

static struct hub_rate *rate_of(struct hub_mirrors *mirrors, const struct hub_rule *rule)
{
    struct hub_mirror_rate *at;
    pthread_mutex_lock(&mirrors->workers.lock);
    for (at = mirrors->rates; at && strcmp(at->rule, rule->name) != 0; at = at->next) {
    }
    if (!at && (at = calloc(1, sizeof *at + strlen(rule->name) + 1))) {
        strcpy(at->rule, rule->name);
        at->next = mirrors->rates;
        mirrors->rates = at;
    }
    pthread_mutex_unlock(&mirrors->workers.lock);
    if (at)
        atomic_store(&at->rate.per_s, hub_member_uint(rule->spec, "limit"));
    return at ? &at->rate : NULL;
}

void hub_mirror_rates_free(struct hub_mirrors *mirrors)
{
    while (mirrors->rates) {
        struct hub_mirror_rate *rate = mirrors->rates;
        mirrors->rates = rate->next;
        free(rate);
    }
}

enum hub_status hub_mirror_reach(const json_t *spec, char token[HUB_MIRROR_TOKEN],
                                 struct hub_remote_options *out, struct hub_error *err)
{
    const char *file = hub_member_text(spec, "token-file");
    const bool account = file && is_json_file(file);
    if (file && !account)
        HUB_TRY(read_token(file, token, err));
    *out = (struct hub_remote_options){
        .transport = {.token = *token ? token : NULL,
                      .user_agent = "minari-hub/" HUB_VERSION,
                      .environment_proxy = true,
                      .other_hosts = json_is_true(json_object_get(spec, "internal")) ? HUB_OTHER_HOSTS_ANY
                                                                                     : HUB_OTHER_HOSTS_NONE,
                      .connect_timeout_ms = 10000,
                      .stall_timeout_ms = 30000,
                      .retry = HUB_RETRY_DEFAULT},
        .credentials = account ? file : NULL};
    return HUB_OK;
}

enum hub_status hub_mirror_open_remote(struct hub_mirror_work *w, const char *address, struct hub_error *err)
{
    struct hub_remote_options options;
    struct hub_transport_options *transport = &options.transport;
    HUB_TRY(hub_mirror_reach(w->rule.spec, w->token, &options, err));
    transport->bytes_per_s = hub_member_uint(w->rule.spec, "limit");
    transport->rate = rate_of(w->mirrors, &w->rule);
    transport->interrupted = interrupted;
    transport->user = w;
    if (w->looks) {
        transport->connect_timeout_ms = 3000;
        transport->stall_timeout_ms = 10000;
        transport->retry = HUB_MIRROR_BRIEFLY;
    }
    return hub_remote_open(address, &options, &w->remote, err);
}
