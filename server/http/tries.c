/* Failed tries by address: see tries.h. */
#include "server/http/tries.h"

#include "storage/base/buf.h"

#include <pthread.h>
#include <stdlib.h>

enum { SETS = 1024, WAYS = 4, NETWORK_BYTES = 8 };

struct window {
    uint64_t address; /* a hash; 0: free */
    int64_t begun_ms;
    uint32_t failures;
};

struct hub_tries {
    struct hub_tries_options options;
    pthread_mutex_t lock;
    struct window windows[SETS][WAYS];
};

enum hub_status hub_tries_new(const struct hub_tries_options *options, struct hub_tries **out,
                              struct hub_error *err)
{
    HUB_TRY(hub_new(out, 1, sizeof **out, err));
    (*out)->options = *options;
    pthread_mutex_init(&(*out)->lock, NULL);
    return HUB_OK;
}

void hub_tries_free(struct hub_tries *tries)
{
    if (!tries)
        return;
    pthread_mutex_destroy(&tries->lock);
    free(tries);
}

static bool is_four(const struct hub_address *address)
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    return memcmp(address->six, mapped, sizeof mapped) == 0;
}

/* The window of an address; else the one that began first is used again. */
static struct window *find(struct hub_tries *tries, uint64_t address)
{
    struct window *set = tries->windows[address / 2 % SETS], *oldest = set;
    for (unsigned i = 0; i < WAYS; i++) {
        if (set[i].address == address)
            return &set[i];
        if (set[i].begun_ms < oldest->begun_ms)
            oldest = &set[i];
    }
    *oldest = (struct window){.address = address};
    return oldest;
}

unsigned hub_tries_fail(struct hub_tries *tries, const struct hub_address *address, int64_t now_ms)
{
    unsigned wait_s = 0;
    const size_t size = is_four(address) ? sizeof address->six : NETWORK_BYTES;
    if (!tries || !tries->options.most)
        return 0;
    pthread_mutex_lock(&tries->lock);
    struct window *window = find(tries, hub_hash(HUB_HASH_START, address->six, size) | 1);
    if (!window->failures || now_ms - window->begun_ms >= tries->options.window_ms)
        *window = (struct window){.address = window->address, .begun_ms = now_ms};
    if (window->failures >= tries->options.most)
        wait_s = (unsigned)((window->begun_ms + tries->options.window_ms - now_ms + 999) / 1000);
    else
        window->failures++;
    pthread_mutex_unlock(&tries->lock);
    return wait_s;
}
