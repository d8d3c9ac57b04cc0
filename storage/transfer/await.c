/* Digests the hub did not know when it listed the files. It hashes on demand: what was downloaded, and what
 * is asked for by HEAD. */
#include "storage/transfer/download.h"

#include "storage/text/time.h"
#include "storage/text/uri.h"

#include <stdlib.h>
#include <time.h>

enum { ASK_AT_ONCE = 4, ASK_MOST = 512, LONGEST_PAUSE_MS = 2000 };

/* The digest of no bytes at all. */
static const uint8_t empty_sha256[HUB_SHA256_BYTES] = {
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
    0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55};

static void learn(struct hub_file_facts *file, const uint8_t sha256[HUB_SHA256_BYTES])
{
    if (!file->has_sha256)
        memcpy(file->sha256, sha256, HUB_SHA256_BYTES);
    file->has_sha256 = true;
}

static size_t unknown(const struct hub_remote_files *plan)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->count; i++)
        n += !hub_file_proven(&plan->items[i]);
    return n;
}

/* ---- the listing again ---- */

static enum hub_status take_over(struct hub_remote_files *plan, const struct hub_remote_files *now,
                                 struct hub_error *err)
{
    if (now->count != plan->count && !plan->partial)
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_CHANGED, "the files of '%s' have changed", plan->id);
    for (size_t i = 0, k = 0; i < plan->count; i++, k++) { /* both are sorted */
        struct hub_file_facts *file = &plan->items[i];
        while (k < now->count && strcmp(now->items[k].path, file->path) < 0)
            k++;
        if (k == now->count || strcmp(file->path, now->items[k].path) != 0 ||
            file->size != now->items[k].size)
            return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_CHANGED, "'%s' has changed", file->path);
        if (now->items[k].has_sha256)
            learn(file, now->items[k].sha256);
    }
    return HUB_OK;
}

static enum hub_status list_again(struct hub_download *d, struct hub_error *err)
{
    struct hub_remote_files now;
    HUB_TRY(hub_remote_list_files(d->remote, d->plan->id, d->plan->revision, &now, err));
    const enum hub_status st = take_over(d->plan, &now, err);
    hub_remote_files_dispose(&now);
    return st;
}

/* ---- HEAD of each file that is still unknown: the hub hashes those first ---- */

struct digest_query {
    struct hub_fetch fetch;
    struct hub_buf url;
    struct digest_queries *asking;
    size_t file;
    bool used;
};

struct digest_queries {
    struct hub_download *check;
    struct digest_query questions[ASK_AT_ONCE];
    size_t next, asked;
};

static enum hub_status answered(struct hub_fetch *fetch, enum hub_status st, struct hub_error *err);

static enum hub_status send_queries(struct digest_queries *a, struct hub_error *err)
{
    const struct hub_remote *remote = a->check->remote;
    const struct hub_remote_files *plan = a->check->plan;
    for (size_t i = 0; i < ASK_AT_ONCE; i++) {
        struct digest_query *q = &a->questions[i];
        while (a->next < plan->count && hub_file_proven(&plan->items[a->next]))
            a->next++;
        if (a->next >= plan->count || a->asked >= ASK_MOST)
            return HUB_OK;
        if (q->used)
            continue;
        q->url.limit = 64 * KIB;
        q->url.size = 0;
        *q = (struct digest_query){.url = q->url, .asking = a, .file = a->next++, .used = true};
        q->fetch = (struct hub_fetch){.head_only = true, .finished = answered, .user = q};
        HUB_TRY(remote->kind->open(remote, plan, &plan->items[q->file], &q->url, &q->fetch, err));
        q->fetch.url = q->url.data;
        a->asked++;
        hub_transport_submit(remote->transport, &q->fetch);
    }
    return HUB_OK;
}

static enum hub_status answered(struct hub_fetch *fetch, enum hub_status st, struct hub_error *err)
{
    struct digest_query *q = fetch->user;
    struct hub_file_facts *file = &q->asking->check->plan->items[q->file];
    q->used = false;
    if (st == HUB_NOT_FOUND)
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_CHANGED, "'%s' no longer exists", file->path);
    if (st)
        return st;
    if (fetch->answer.has_sha256)
        learn(file, fetch->answer.sha256);
    return send_queries(q->asking, err);
}

static enum hub_status ask(struct hub_download *d, struct hub_error *err)
{
    struct digest_queries a = {.check = d};
    struct hub_transport *transport = d->remote->transport;
    enum hub_status st = send_queries(&a, err);
    if (st)
        hub_transport_drop(transport);
    else
        st = hub_transport_drive(transport, &(struct hub_drive){0}, err);
    for (size_t i = 0; i < ASK_AT_ONCE; i++)
        hub_buf_dispose(&a.questions[i].url);
    return st;
}

/* ---- */

static enum hub_status sleep_ms(const struct hub_download *d, unsigned ms, struct hub_error *err)
{
    for (unsigned slept = 0; slept < ms; slept += 50) {
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000000}, NULL);
        HUB_TRY(d->tick(d->user, err));
    }
    return HUB_OK;
}

enum hub_status hub_download_await(struct hub_download *d, struct hub_error *err)
{
    uint64_t last_news = hub_time_mono_ms();
    for (size_t i = 0; i < d->plan->count; i++)
        if (!d->plan->items[i].size)
            learn(&d->plan->items[i], empty_sha256); /* its size says all */
    size_t left = d->remote->kind->digests_come ? unknown(d->plan) : 0;
    for (unsigned pause = 50; left && hub_time_mono_ms() - last_news < d->wait_ms;
         pause = HUB_MIN(pause * 2, (unsigned)LONGEST_PAUSE_MS)) {
        HUB_TRY(sleep_ms(d, pause, err));
        HUB_TRY(list_again(d, err));
        if (unknown(d->plan))
            HUB_TRY(ask(d, err));
        if (unknown(d->plan) < left) {
            last_news = hub_time_mono_ms();
            pause = 50;
        }
        left = unknown(d->plan);
    }
    return HUB_OK;
}
