/* The table of settings, and how they are shown: see settings.h. */
#include "server/config/settings.h"

#define AS(kind, member, otherwise) HUB_OPTION_##kind, offsetof(struct hub_config, member), otherwise, 0, 0
#define WITHIN(kind, member, otherwise, least, most)                                                         \
    HUB_OPTION_##kind, offsetof(struct hub_config, member), otherwise, least, most

static const struct hub_usage_option rows[] = {
    {0, "root", "[NAME=]DIR[:ro]", NULL,
     "A directory of datasets; may be given several times. With NAME= their ids begin with NAME/, with :ro "
     "the hub never writes there. "
     "Default: $MINARI_DATASETS_PATH, else ~/.minari/datasets.",
     AS(LIST, root_texts, NULL)},
    {0, "upstream", "[NAME/=]REMOTE", NULL,
     "Show the datasets of http(s)://HUB, gcp://BUCKET[/PREFIX] or hf://ORG[/REPO] as well, and fetch one "
     "when a client reads it; may be given several times. With NAME/= their ids begin with NAME/.",
     AS(LIST, upstreams, "")},
    {0, "as", "NAME/", NULL, "Put NAME/ before the ids of the upstream before it, as NAME/=REMOTE does.",
     AS(HEAD, upstreams, NULL)},
    {0, "cache-max", "BYTES", NULL,
     "Largest size of all datasets fetched from upstreams (K, M, G, T; 0: no limit): the least recently read "
     "are removed. Mirrors and datasets that others put there are never removed.",
     WITHIN(SIZE, cache_max, "0", 0, 1024 * 1024 * GIB)},
    {0, "min-free", "BYTES", NULL,
     "Space that stays free on the disk of each root: larger datasets are not fetched, fetched ones are "
     "removed as with cache-max, and larger files are not taken into drafts.",
     WITHIN(SIZE, min_free, "64M", 0, 1024 * 1024 * GIB)},
    {0, "quota", "PREFIX=BYTES", NULL,
     "What datasets that are pushed may hold whose ids begin with PREFIX, such as lab/=2T (=2T: all), open "
     "drafts included; may be given several times. A file that does not fit is refused before it is sent.",
     AS(LIST, quota_texts, "")},
    {0, "upload-cache", "BYTES", NULL,
     "What may wait, of all that clients of Hugging Face send, for the commit that names it: more is "
     "refused, "
     "and what no commit took within a day goes.",
     WITHIN(SIZE, upload_cache, "50G", 0, 1024 * 1024 * GIB)},
    {0, "upload-part", "BYTES", NULL,
     "Clients of Hugging Face send files larger than this in parts of this size, at most 1G each: less than "
     "what a proxy in front takes as one body.",
     WITHIN(SIZE, upload_part, "5G", 64 * KIB, 1024 * 1024 * GIB)},
    {0, "refuse-broken", "PREFIX", NULL,
     "Refuse tags of clients of Hugging Face on a commit that is broken, in repos whose ids begin with "
     "PREFIX, "
     "such as lab/ (/: all); may be given several times. Else such a tag carries a warning.",
     AS(LIST, refuse_broken, "")},
    {0, "on-publish-url", "URL", NULL,
     "Address that a small JSON is POSTed to when a pushed dataset is published or refused, or meets its "
     "quota: "
     "it is sent again when that fails, and no push waits for it. Default: none.",
     AS(TEXT, on_publish_url, NULL)},
    {0, "state", "DIR", NULL,
     "Directory of the catalogue. Default: the service's state directory, else ~/.local/state/minari-hub.",
     AS(TEXT, state, NULL)},
    {0, "sync", "on|off", "on|off",
     "Sync each change of the catalogue to the disk; off: faster, but a crash of the machine may damage it.",
     AS(SWITCH, sync, "on")},
    {0, "listen", "ADDR:PORT|off", NULL,
     "Address and port; 0.0.0.0:8080 answers other machines, port 0 takes any free port; off: only "
     "STATE/control.sock answers.",
     AS(TEXT, listen, "127.0.0.1:8080")},
    {0, "memory", "BYTES", NULL,
     "Memory for the buffers of answers and for caches, which hold what answers leave (K, M, G). Requests "
     "wait for it, or are answered with 503.",
     WITHIN(SIZE, memory, "256M", 8 * MIB, 1024 * GIB)},
    {0, "workers", "N", NULL, "Threads for disk and decoding; 0: one per core.",
     WITHIN(NUMBER, workers, "0", 0, 256)},
    {0, "event-threads", "N", NULL, "Threads that serve connections; 0: one per core.",
     WITHIN(NUMBER, event_threads, "0", 0, 64)},
    {0, "queue", "N", NULL, "Requests that may wait for a worker; more are answered with 503.",
     WITHIN(NUMBER, queue, "1024", 1, 100000)},
    {0, "connections", "N", NULL, "Connections that may be open at once.",
     WITHIN(NUMBER, connections, "4096", 16, 100000)},
    {0, "connections-per-client", "N", NULL,
     "Connections that one address may have open at once; 0: any number. A proxy in front is one address.",
     WITHIN(NUMBER, connections_per_client, "0", 0, 100000)},
    {0, "cors", "'*'|off|ORIGIN,...", NULL,
     "Web pages that may read the answers: of any origin (*), none (off), or of these, like "
     "https://lab.example.",
     AS(WORDS, cors, "*")},
    {0, "host", "NAME,...", NULL,
     "Names of this server that requests may use; others are refused. Default: any.", AS(WORDS, hosts, "")},
    {0, "trusted-proxies", "ADDRESS,...|off", NULL,
     "Addresses or networks of proxies whose X-Forwarded-For, -Host and -Proto are believed. The proxies "
     "must set them, nginx by proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; else clients can "
     "forge them.",
     AS(WORDS, trusted_proxies, "127.0.0.0/8,::1")},
    {0, "read-token-file", "FILE", NULL,
     "A file with an access token: who has it may read everything, and nobody else anything unless a rule "
     "says so. The hub makes it, with a new token, if it does not exist. minari-hub token makes others.",
     AS(TEXT, read_token_file, NULL)},
    {0, "write-token-file", "FILE", NULL,
     "The same for a token that may also write. It hides nothing from others.",
     AS(TEXT, write_token_file, NULL)},
    {0, "auth-header", "HEADER", NULL,
     "A header such as X-Forwarded-User in which a proxy of trusted-proxies names the user that it knows: "
     "for rules of user:NAME. The proxy must set it for each request; from elsewhere it is dropped.",
     AS(TEXT, auth_header, NULL)},
    {0, "auth-groups-header", "HEADER", NULL,
     "The same with the groups of the user, with commas between them: for rules of group:NAME.",
     AS(TEXT, auth_groups_header, NULL)},
    {0, "failed-tries", "N/TIME|off", NULL,
     "Tokens that are not valid which one address may send in that time; more are answered with 429. A valid "
     "token is never refused.",
     AS(TEXT, failed_tries, "10/1m")},
    {0, "insecure-writes", "on|off", "on|off",
     "Accept changes from other machines without TLS: whoever is on the way can read the token. Else they "
     "must come through a proxy of trusted-proxies that speaks https.",
     AS(SWITCH, insecure_writes, "off")},
    {0, "read-only", "on|off", "on|off",
     "Refuse every change that somebody asks for, with 403: pushes, tokens, rules, mirrors, scans. Reads and "
     "sign-ins go on, and so do the mirrors that are there.",
     AS(SWITCH, read_only, "off")},
    {0, "metrics-open", "on|off", "on|off",
     "Give /metrics and /api/v1/status to everybody, also where a rule hides something; what names roots, "
     "mirrors or datasets in them stays for the admins.",
     AS(SWITCH, metrics_open, "off")},
    {0, "keep-revisions", "N", NULL,
     "Earlier revisions of each published dataset that are kept; those that somebody read within a day are "
     "kept in any case.",
     WITHIN(NUMBER, keep_revisions, "10", 0, 100000)},
    {0, "trash", "TIME", NULL, "How long a published dataset that was deleted can be had back.",
     WITHIN(DURATION, trash_ms, "30d", 0, 36500 * 86400000ULL)},
    {0, "audit-keep", "TIME", NULL,
     "How long the audit of changes of tokens and rules is kept (minari-hub audit); 0: for ever.",
     WITHIN(DURATION, audit_keep_ms, "365d", 0, 36500 * 86400000ULL)},
    {0, "public-url", "URL", NULL,
     "The beginning of links in answers. Default: the address that the client used; without --host shared "
     "caches then do not store answers with links.",
     AS(TEXT, public_url, NULL)},
    {0, "hf-author", "NAME", NULL,
     "Owner of the repos that clients of Hugging Face see of folders at the top; deeper folders are "
     "ORG/NAME.",
     AS(TEXT, hf_author, "farama-minari")},
    {0, "hf-upstream", "URL", NULL,
     "Server for repos of Hugging Face that this hub does not have, like https://huggingface.co: the hub "
     "asks it with the client's token, and clients fetch files there. Default: none.",
     AS(TEXT, hf_upstream, NULL)},
    {0, "bucket", "NAME", NULL, "Name of the bucket with all datasets, for clients of Google Cloud Storage.",
     AS(TEXT, bucket, "minari-datasets")},
    {0, "settle", "TIME", NULL,
     "Time without a change after which a file is inspected (ms, s, m, h, d, w; plain: seconds).",
     WITHIN(DURATION, settle_ms, "2s", 0, 3600000)},
    {0, "sweep", "TIME", NULL, "Time between scans of all directories; 0: only at the start and on SIGHUP.",
     WITHIN(DURATION, sweep_ms, "5m", 0, 30 * 86400000ULL)},
    {0, "hash", "on-demand|idle|off", "on-demand|idle|off",
     "Which files are hashed: those that are downloaded (on-demand), also all others in idle time (idle), or "
     "none (off).",
     AS(CHOICE, hash, "on-demand")},
    {0, "measure", "idle|on-demand|off", "idle|on-demand|off",
     "Which datasets are measured by reading their rows: all while no request waits (idle), those whose "
     "statistics are requested and all rewards (on-demand), or none (off).",
     AS(CHOICE, measure, "idle")},
    {0, "allow-target", "DIR", NULL,
     "A directory outside the roots that symbolic links may lead to; may be given several times.",
     AS(LIST, allow_targets, "")},
    {0, "inspect-time", "TIME", NULL,
     "Processor time for the inspection of one part of a dataset; its wall-clock limit is four times as "
     "long.",
     WITHIN(DURATION, inspect_ms, "60s", 1000, 86400000)},
    {0, "inspect-memory", "BYTES", NULL,
     "Memory for the inspection of one part; all inspections together take at most half of the machine's.",
     WITHIN(SIZE, inspect_memory, "2G", 256 * MIB, 1024 * GIB)},
    {0, "inspector", "PATH", NULL, "The program minari-inspect. Default: the one beside minari-hub.",
     AS(TEXT, inspector, NULL)},
    {0, "unsafe-inspect", "on|off", "on|off",
     "Inspect even where the sandbox cannot be set up. Only for files you trust.",
     AS(SWITCH, unsafe_inspect, "off")},
    {0, "access-log", "on|off", "on|off",
     "Log one line per request on standard error; events of the hub and its datasets are always logged "
     "there.",
     AS(SWITCH, access_log, "on")},
    {0, "log-format", "text|json", "text|json", "Format of the log: for people or for programs.",
     AS(CHOICE, log_format, "text")},
    {0, "grace", "TIME", NULL, "Time that running answers have to finish at shutdown.",
     WITHIN(DURATION, grace_ms, "10s", 0, 600000)},
    {0, "config", "FILE", NULL, "Read settings from FILE. Default: " HUB_CONFIG_FILE ", if it exists.",
     AS(TEXT, file, NULL)},
};

_Static_assert(HUB_COUNT(rows) <= sizeof((struct hub_config *)0)->sources, "one source an option");

const struct hub_options hub_config_options = {rows, HUB_COUNT(rows)};

/* Words of `text` in lines of at most `width`, each behind `prefix`. */
static void wrap(FILE *out, const char *text, const char *prefix, size_t width)
{
    size_t column = 0;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > 0 && column + 1 + word > width) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s%.*s", column == 0 ? prefix : " ", (int)word, text);
        column += word + 1;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

void hub_config_help(FILE *out)
{
    for (size_t i = 0; i < HUB_COUNT(rows); i++) {
        fprintf(out, "  --%s %s", rows[i].name, rows[i].value);
        if (rows[i].otherwise && rows[i].otherwise[0])
            fprintf(out, "  (%s)", rows[i].otherwise);
        fputc('\n', out);
        wrap(out, rows[i].help, "      ", 74);
    }
}

static void print_value(const struct hub_config *config, const struct hub_usage_option *option, FILE *out)
{
    const void *at = (const char *)config + option->offset;
    char value[HUB_OPTION_CHARS];
    if (option->kind == HUB_OPTION_LIST || option->kind == HUB_OPTION_WORDS) {
        const struct hub_list *list = at;
        for (uint32_t n = 0; n < list->count; n++)
            fprintf(out, "%s = %s\n", option->name, list->items[n]);
    } else if (option->kind == HUB_OPTION_TEXT) {
        fprintf(out, "%s = %s\n", option->name, *(char *const *)at);
    } else {
        hub_option_show(option, config, value);
        fprintf(out, "%s = %s\n", option->name, value);
    }
}

static void print_rules(json_t *rules, const char *word, FILE *out)
{
    const char *rule, *name;
    json_t *options_of, *values, *value;
    size_t i;
    json_object_foreach(rules, rule, options_of)
    {
        fprintf(out, "\n[%s %s]\n", word, rule);
        json_object_foreach(options_of, name, values)
        {
            json_array_foreach(values, i, value) fprintf(out, "%s = %s\n", name, json_string_value(value));
        }
    }
}

static void print_access(const json_t *lines, FILE *out)
{
    size_t i;
    const json_t *line;
    if (json_array_size(lines))
        fputs("\n[access]\n", out);
    json_array_foreach(lines, i, line) fprintf(out, "set = %s\n", json_string_value(line));
}

void hub_config_print(const struct hub_config *config, FILE *out)
{
    fprintf(out, "# Settings of minari-hub: key = value. What is commented out is the default.\n");
    for (size_t i = 0; i < HUB_COUNT(rows); i++) {
        if (strcmp(rows[i].name, "config") == 0 || rows[i].kind == HUB_OPTION_HEAD)
            continue;
        fputc('\n', out);
        wrap(out, rows[i].help, "# ", 96);
        if (!config->sources[i])
            fprintf(out, "# %s = %s\n", rows[i].name, rows[i].otherwise ? rows[i].otherwise : "");
        else
            print_value(config, &rows[i], out);
    }
    print_rules(config->mirrors, "mirror", out);
    print_rules(config->upstream_rules, "upstream", out);
    print_access(config->access, out);
}
