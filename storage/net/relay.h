/**
 * Requests that are passed on to another server as they are, and its answers as they are: no redirect is
 * followed, nothing is tried again, an error is an answer. One thread for all of them; who asks waits by a
 * fetch, without one. Clients share the places and connections: one alone gets at most half, and those behind
 * it half of what is left. An answer that finds no memory waits at the upstream, for a few seconds at most.
 *
 * Thread-safety: a relay is any thread's. What came is the asker's once its fetch is done.
 */
#ifndef HUB_NET_RELAY_H
#define HUB_NET_RELAY_H

#include "storage/base/buf.h"
#include "storage/io/fetch.h"

struct hub_relay;

enum { HUB_RELAYED_AT_ONCE = 32, HUB_RELAYED_MOST = 512, HUB_RELAYED_MS = 30000 };
#define HUB_RELAYED_BYTES (16 * MIB) /* of an answer */

/** Where the memory of answers is from. May be called from any thread. */
struct hub_relay_memory {
    bool (*take)(void *user, uint32_t client, uint64_t bytes); /* false: there is none now */
    void (*give)(void *user, uint32_t client, uint64_t bytes);
    void *user;
};

/** One request. All of it is copied. */
struct hub_relay_request {
    uint32_t client;    /* a number made of its address */
    const char *method; /* GET, HEAD, POST */
    const char *url;
    const char *const *headers; /* "Name: value", NULL at the end */
    struct hub_view body;       /* of a POST */
};

/** The upstream's answer; a counted reference. */
struct hub_relayed;

HUB_MUST_USE enum hub_status hub_relay_start(const char *user_agent, const struct hub_relay_memory *memory,
                                             struct hub_relay **out, struct hub_error *err);
/** What is under way ends with HUB_CANCELLED. */
void hub_relay_stop(struct hub_relay *relay);

/**
 * Begin. Nobody waits for its fetch any more: it ends.
 * @param[out] out  the caller's, to be put
 * @return HUB_OK; HUB_BUSY: too many are under way, or too many of this client
 */
HUB_MUST_USE enum hub_status hub_relay_send(struct hub_relay *relay, const struct hub_relay_request *request,
                                            struct hub_relayed **out, struct hub_error *err);
void hub_relayed_put(struct hub_relayed *relayed);

/** Done with HUB_OK: an answer came, whatever it says. HUB_IO "upstream-unavailable"; HUB_TOO_BIG
 * "upstream-failed"; HUB_BUSY "overloaded": there was no memory, or no connection. */
struct hub_file_fetch *hub_relayed_fetch(const struct hub_relayed *relayed);
unsigned hub_relayed_status(const struct hub_relayed *relayed);
/** Its first line of this name, without spaces around it, or an empty view. */
struct hub_view hub_relayed_header(const struct hub_relayed *relayed, const char *name);
/** Its body becomes the caller's, and the memory of hub_relay_memory that it lies in: `reserved` bytes. */
void hub_relayed_take(struct hub_relayed *relayed, struct hub_buf *out, uint64_t *reserved);

#endif
