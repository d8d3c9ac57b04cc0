/**
 * A client talks to one remote: a hub, a bucket, an organisation of Hugging Face. Its calls block; use it from one thread at a time, as many clients as you like.
 */
#ifndef MINARI_CLIENT_H
#define MINARI_CLIENT_H

#include <minari/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct minari_client;

/** Zero and NULL mean the default. Texts are copied. */
struct minari_client_options {
    size_t size;            /* of this structure: MINARI_CLIENT_OPTIONS_INIT sets it; 0: of version 0.1 */
    const char *base_url;   /* "http://hub:8080", "gcp://bucket/prefix", "hf://org"; must */
    const char *token;      /* sent as a bearer token, to this remote only */
    const char *user_agent; /* default "libminari/VERSION" */
    const char *proxy;      /* "http://proxy:3128"; default none */
    bool environment_proxy; /* honour http_proxy and its like */
    bool trust_redirects;   /* follow the hub's redirects to other hosts, without the token */
    unsigned connect_timeout_ms; /* default 10000 */
    /* give a connection up that was slower than 1 KiB/s for so long; default 30000 */
    unsigned stall_timeout_ms;
    unsigned attempts;    /* of one request, over failures that may pass; default 12 */
    uint64_t bytes_per_s; /* at most, of all connections together; default no limit; at least 64 KiB/s */
    /** Told before each wait for another attempt: why, the number of the attempt that failed, how long. */
    void (*waiting)(const char *why, unsigned attempt, uint64_t wait_ms, void *user);
    /** One line about each request that is over: for logs. */
    void (*trace)(const char *line, void *user);
    /** Asked several times a second during every call; non-zero ends the call with MINARI_CANCELLED. */
    int (*interrupted)(void *user);
    void *user;
    /* of gcp:// and hf://, instead of the service's own address; default STORAGE_EMULATOR_HOST, HF_ENDPOINT */
    const char *endpoint;
    /* of gcp://: a service account's JSON file; default GOOGLE_APPLICATION_CREDENTIALS, but not of emulators */
    const char *credentials;
};

#ifdef __cplusplus
static inline minari_client_options minari_client_options_init()
{
    minari_client_options options = minari_client_options();
    options.size = sizeof options;
    return options;
}
#define MINARI_CLIENT_OPTIONS_INIT minari_client_options_init()
#else
#define MINARI_CLIENT_OPTIONS_INIT                                                                           \
    {                                                                                                        \
        .size = sizeof(struct minari_client_options)                                                         \
    }
#endif

/** MINARI_INVALID without options, or for what is no remote; MINARI_DENIED for credentials that cannot be used.
 * Free the result. */
MINARI_API enum minari_status minari_client_new(const struct minari_client_options *options,
                                                struct minari_client **out, struct minari_error *err);
MINARI_API void minari_client_free(struct minari_client *client);

#ifdef __cplusplus
}
#endif

#endif
