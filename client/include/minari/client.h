/**
 * A client talks to one remote: a hub, a bucket, an organisation of Hugging Face. Its calls block; use it
 * from one thread at a time, as many clients as you like.
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

/**
 * Zero and NULL mean the default. Texts are copied: they stay the caller's, who may change or free them after
 * minari_client_new.
 *
 * The token is what RFC 6750 allows: letters, digits and -._~+/, with = at its end. libminari sends it to
 * base_url alone, and not to another host or port that this redirects to; only from http to https of the same
 * host it goes along. It writes the token into no file, no error and no line of `trace`, and overwrites its
 * copy in minari_client_free. What it cannot promise: libcurl has copies that it frees without overwriting
 * them; whoever is on the way reads what goes over http://, a proxy as well; a core dump, a debugger and swap
 * have the memory of the whole process. A program that minds calls prctl(PR_SET_DUMPABLE, 0) before it reads
 * the token, as minari-cli does.
 */
struct minari_client_options {
    size_t size;            /* of this structure: MINARI_CLIENT_OPTIONS_INIT sets it; 0: of version 0.1 */
    const char *base_url;   /* "http://hub:8080", "gcp://bucket/prefix", "hf://org"; must */
    const char *token;      /* sent as a bearer token, see above; default none */
    const char *user_agent; /* default "libminari/VERSION" */
    const char *proxy;      /* "http://proxy:3128"; default none */
    bool environment_proxy; /* honour http_proxy and its like */
    bool trust_redirects;   /* follow the hub's redirects to other hosts, without the token */
    unsigned connect_timeout_ms; /* default 10000 */
    /* give a connection up that was slower than 1 KiB/s for so long; default 30000 */
    unsigned stall_timeout_ms;
    unsigned attempts;    /* of one request, over failures that may pass; default 12, of stalls 4 */
    uint64_t bytes_per_s; /* at most, of all connections together; default no limit; at least 64 KiB/s */
    /** Called before each wait for another attempt: why, the number of the attempt that failed, how long. */
    void (*waiting)(const char *why, unsigned attempt, uint64_t wait_ms, void *user);
    /** One line about each request that is over: for logs. */
    void (*trace)(const char *line, void *user);
    /** Called several times per second during every call; non-zero ends it with MINARI_CANCELLED. */
    int (*interrupted)(void *user);
    void *user;
    /* of gcp:// and hf://, instead of the service's own address; default STORAGE_EMULATOR_HOST,
     * HF_ENDPOINT */
    const char *endpoint;
    /* of gcp://: a service account's JSON file; default GOOGLE_APPLICATION_CREDENTIALS, but not of
     * emulators */
    const char *credentials;
    /* of a hub on this machine: connect to this Unix socket (its STATE/control.sock), whatever host
     * base_url names */
    const char *unix_socket;
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

/** MINARI_INVALID without options, for what is no remote, or for a token that no header can carry;
 * MINARI_DENIED for credentials that cannot be used. Free the result. */
MINARI_API enum minari_status minari_client_new(const struct minari_client_options *options,
                                                struct minari_client **out, struct minari_error *err);
MINARI_API void minari_client_free(struct minari_client *client);

/** The name and the role of a client, as its hub says. */
struct minari_identity {
    char name[128]; /* of the token; "anonymous" without one that the hub knows */
    char role[32];  /* what it may do at most: "read", "write" */
    bool signed_in; /* the hub knows the token */
};

/** Ask the hub who this client is. MINARI_DENIED "bad-token": the hub refuses its token; MINARI_UNSUPPORTED:
 * the remote is not a hub. */
MINARI_API enum minari_status minari_identity_get(struct minari_client *client, struct minari_identity *out,
                                                  struct minari_error *err);

enum { MINARI_TAG_CHARS = 96 };

/**
 * How an answer that goes into a sink goes on after a break: in another attempt of the same call, or in
 * another program. That takes a remote that names what it sends (ETag) and gives parts of it
 * (Accept-Ranges); else, and where it has another answer now, the answer comes from its first byte again.
 * Zero it.
 */
struct minari_resume {
    size_t size; /* of this structure */
    /* Names the answer, of letters, digits, ".", "_" and "-". Before the call: of the one that `offset`
     * bytes are there of, or empty. Written before `begin`: of the one that comes; empty: its parts cannot
     * be had. */
    char tag[MINARI_TAG_CHARS];
    uint64_t offset; /* bytes that are there; written before `begin`: how many of them count */
    uint64_t total;  /* written before `begin`: bytes of the whole answer; 0: unknown */
    /** NULL, or called before the sink's first byte, and again when the answer begins again or goes on after
     * a break: what the sink has beyond `offset` is to be forgotten. Non-zero stops with MINARI_CANCELLED. */
    int (*begin)(struct minari_resume *resume);
    void *user;
};

/** For the next call with a sink, and not for more; borrowed until that returns. NULL takes it back. */
MINARI_API void minari_client_resume(struct minari_client *client, struct minari_resume *resume);

#ifdef __cplusplus
}
#endif

#endif
