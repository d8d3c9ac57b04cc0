/**
 * Settings of minari-hub. One table in config.c feeds flags, environment, file, --help and `minari-hub
 * config`. Stronger wins: flags, then environment (MINARI_HUB_<NAME>, MINARI_DATASETS_PATH), then the file,
 * then the default.
 */
#ifndef HUB_CONFIG_CONFIG_H
#define HUB_CONFIG_CONFIG_H

#include "storage/base/usage.h"
#include "storage/io/roots.h"
#include "storage/text/json.h"

#include <stdio.h>

struct hub_list {
    char *items[HUB_MAX_ROOTS];
    uint32_t count;
};

/* In the order of the words that the option takes. */
enum hub_hash_mode { HUB_HASH_ON_DEMAND, HUB_HASH_IDLE, HUB_HASH_OFF };
enum hub_measure_mode { HUB_MEASURE_IDLE, HUB_MEASURE_ON_DEMAND, HUB_MEASURE_OFF };

struct hub_config {
    struct hub_list root_texts; /* as given: [NAME=]DIR[:ro] */
    struct hub_list allow_targets;
    struct hub_list cors, hosts, trusted_proxies;
    struct hub_list upstreams; /* [NAME/=]REMOTE */
    uint64_t cache_max, min_free;
    char *state, *listen, *inspector, *file, *public_url, *bucket, *hf_author, *hf_upstream;
    uint64_t memory;
    uint64_t workers, event_threads, queue; /* 0: one a core */
    uint64_t connections, connections_per_client;
    uint64_t settle_ms, sweep_ms, grace_ms;
    uint64_t inspect_ms, inspect_memory;
    unsigned hash;       /* enum hub_hash_mode */
    unsigned measure;    /* enum hub_measure_mode */
    unsigned log_format; /* 0: text, 1: JSON, as enum hub_log_format */
    bool unsafe_inspect, access_log, sync;

    /* of the file: [mirror NAME] and [upstream NAME] as {NAME: {option: [values]}}, or NULL */
    json_t *mirrors, *upstream_rules;

    bool json;    /* --json of status and problems: no setting */
    char *forget; /* --forget of scan: a root; NULL: none. No setting */

    /* filled by hub_config_finish */
    struct hub_roots roots; /* absolute directories; allow_targets among them */
    char *address;          /* NULL: it listens on its control socket alone */
    uint16_t port;

    unsigned char sources[48]; /* config.c's own: where each option's value is from */
};

/** Defaults. */
HUB_MUST_USE enum hub_status hub_config_init(struct hub_config *config, struct hub_error *err);
void hub_config_dispose(struct hub_config *config);

/** Read file, environment and flags (arguments after the command). `argv` NULL-terminated. HUB_INVALID says
 * which option, and for the file which line. */
HUB_MUST_USE enum hub_status hub_config_read(struct hub_config *config, char *const *argv,
                                             struct hub_error *err);
/** Check what belongs together: directories are made absolute and must be there, the address is split. */
HUB_MUST_USE enum hub_status hub_config_finish(struct hub_config *config, struct hub_error *err);

/** Where the state directory is, whether it is there or not. free() the result. */
HUB_MUST_USE enum hub_status hub_config_state(const struct hub_config *config, char **out,
                                              struct hub_error *err);

/** Whether a setting or the environment names it; else it is where this user's would be. */
bool hub_config_names_state(const struct hub_config *config);

/** The options of --help. */
void hub_config_help(FILE *out);
/** The same for the man page and the completions: at most `max`, and how many there are. */
size_t hub_config_usage(struct hub_usage_option *out, size_t max);
/** A configuration file that says what is set now; defaults are commented out. */
void hub_config_print(const struct hub_config *config, FILE *out);

#endif
