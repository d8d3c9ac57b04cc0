/** The settings of minari-hub: their table, which feeds flags, environment, file, --help, completions and
 * `minari-hub config`, and the struct that their values go to. */
#ifndef HUB_CONFIG_SETTINGS_H
#define HUB_CONFIG_SETTINGS_H

#include "storage/io/roots.h"
#include "storage/text/json.h"
#include "storage/text/options.h"

#include <stdio.h>

#define HUB_CONFIG_FILE "/etc/minari-hub.conf"
#define HUB_SERVING_CONF "serving.conf" /* in the state directory: the settings of the last hub there */

struct hub_list {
    char *items[HUB_MAX_ROOTS];
    uint32_t count;
};

/* In the order of the words that the option takes. */
enum hub_hash_mode { HUB_HASH_ON_DEMAND, HUB_HASH_IDLE, HUB_HASH_OFF };
enum hub_measure_mode { HUB_MEASURE_IDLE, HUB_MEASURE_ON_DEMAND, HUB_MEASURE_OFF };

struct hub_config {
    struct hub_list root_texts; /* [NAME=]DIR[:ro], as given; absolute behind hub_config_finish */
    struct hub_list allow_targets;
    struct hub_list cors, hosts, trusted_proxies;
    struct hub_list upstreams; /* [NAME/=]REMOTE */
    uint64_t cache_max, min_free, upload_cache, upload_part;
    uint64_t keep_revisions, trash_ms;
    struct hub_list quota_texts; /* as given: PREFIX=SIZE */
    struct hub_list refuse_broken;
    char *on_publish_url;
    char *state, *listen, *inspector, *file, *public_url, *bucket, *hf_author, *hf_upstream;
    uint64_t memory;
    uint64_t workers, event_threads, queue; /* 0: one a core */
    uint64_t connections, connections_per_client;
    uint64_t settle_ms, sweep_ms, grace_ms;
    uint64_t inspect_ms, inspect_memory;
    unsigned hash;       /* enum hub_hash_mode */
    unsigned measure;    /* enum hub_measure_mode */
    unsigned log_format; /* 0: text, 1: JSON, as enum hub_log_format */
    bool unsafe_inspect, access_log, sync, metrics_open;

    /* of the file: [mirror NAME] and [upstream NAME] as {NAME: {option: [values]}}, or NULL */
    json_t *mirrors, *upstream_rules;
    json_t *access; /* of [access]: the values of `set`, or NULL */
    char *read_token_file, *write_token_file, *auth_header, *auth_groups_header, *failed_tries;
    bool insecure_writes, read_only;
    uint64_t audit_keep_ms;

    bool json;          /* --json of status and problems: no setting */
    const char *forget; /* --forget of scan: a root; NULL: none. No setting */

    /* filled by hub_config_finish */
    char *quota_prefixes[HUB_MAX_ROOTS]; /* of quota_texts: "lab/", or "" */
    uint64_t quota_bytes[HUB_MAX_ROOTS];
    struct hub_roots roots; /* absolute directories; allow_targets among them */
    char *address;          /* NULL: it listens on its control socket alone */
    uint16_t port;
    uint64_t tries, tries_ms; /* of failed_tries; 0: any number */

    unsigned char sources[64]; /* where each option's value is from; 0: its default */
};

extern const struct hub_options hub_config_options;

/** The options of --help. */
void hub_config_help(FILE *out);
/** A configuration file that says what is set now; defaults are commented out. */
void hub_config_print(const struct hub_config *config, FILE *out);

#endif
