/**
 * A client talks to one hub. Its calls block; use it from one thread at a time, as many clients as you like.
 */
#ifndef MINARI_CLIENT_H
#define MINARI_CLIENT_H

#include <minari/error.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct minari_client;

/** Zero and NULL mean the default. Texts are copied. */
struct minari_client_options {
    const char *base_url;        /* "http://hub:8080"; must */
    const char *token;           /* sent as a bearer token, to this hub only */
    const char *user_agent;      /* default "libminari/VERSION" */
    const char *proxy;           /* "http://proxy:3128"; default none */
    bool environment_proxy;      /* honour http_proxy and its like */
    unsigned connect_timeout_ms; /* default 10000 */
    unsigned stall_timeout_ms;   /* give a connection up after so long without a byte; default 30000 */
    unsigned attempts;           /* of one request, over failures that may pass; default 8 */
    /** Asked several times a second during every call; non-zero ends the call with MINARI_CANCELLED. */
    int (*interrupted)(void *user);
    void *user;
};

#define MINARI_CLIENT_OPTIONS_INIT                                                                           \
    {                                                                                                        \
        0                                                                                                    \
    }

/** MINARI_INVALID for a URL that is not http:// or https:// with a host. Free the result. */
MINARI_API enum minari_status minari_client_new(const struct minari_client_options *options,
                                                struct minari_client **out, struct minari_error *err);
MINARI_API void minari_client_free(struct minari_client *client);

#ifdef __cplusplus
}
#endif

#endif
