/* Files into a draft: see send.h. */
#include "client/lib/send.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    REPEATED = 1024 * 1024, /* bytes: a file up to it is sent again from its beginning after a break */
    MOST_FAILURES = 8,      /* of a file, while no byte of it arrives */
    FIRST_WAIT_MS = 500,
    LONGEST_WAIT_MS = 15000,
    ANSWER_BYTES = 64 * 1024,
    STALL_MS = 30000,
    HASHED_PER_MS = 50 * 1000, /* bytes of what came before, which the hub reads first */
    ROUNDS = 2,
};

/* One file at a time: HEAD where it goes on, PUT of the rest. */
struct lane {
    struct sender *all;
    struct hub_fetch fetch;
    struct hub_sends sends;
    struct hub_buf url, answer;
    struct hub_digest digest; /* of the bytes before `hashed`, which passed in their order */
    uint64_t hashed;
    uint64_t offset; /* where the PUT begins */
    uint32_t file;
    unsigned failures;
    int fd;
    bool sends_now;
};

struct sender {
    struct hub_send *send;
    struct lane lanes[HUB_MAX_CONNECTIONS];
    uint32_t next;        /* file */
    uint64_t bytes_there; /* of files that are whole */
};

static const struct hub_file_facts *file_of(const struct lane *lane)
{
    return &lane->all->send->folder->files.items[lane->file];
}

static struct hub_sent_file *state_of(const struct lane *lane)
{
    return &lane->all->send->states[lane->file];
}

static enum hub_status begin(struct lane *lane, struct hub_error *err);

/* ---- the digest of what passes ---- */

static void passing(struct hub_fetch *fetch, uint64_t at, struct hub_view bytes)
{
    struct lane *lane = fetch->user;
    if (at == 0) {
        hub_digest_dispose(&lane->digest);
        lane->hashed = 0;
        if (hub_digest_begin(&lane->digest, HUB_SHA256, NULL))
            return;
    }
    if (at == lane->hashed && lane->digest.context && !hub_digest_add(&lane->digest, bytes, NULL))
        lane->hashed += bytes.size;
}

/* Whether all of it passed, and its digest then. */
static bool has_passed(struct lane *lane, uint8_t out[HUB_DIGEST_MAX])
{
    if (!file_of(lane)->size) /* nothing passes of an empty file */
        return !hub_digest_of(HUB_SHA256, HUB_VIEW(""), out, NULL);
    return lane->digest.context && lane->hashed == file_of(lane)->size &&
           !hub_digest_end(&lane->digest, out, NULL);
}

/* ---- answers ---- */

static enum hub_status answer_head(struct hub_fetch *fetch, const struct hub_answer *answer,
                                   struct hub_error *err)
{
    (void)answer, (void)err;
    ((struct lane *)fetch->user)->answer.size = 0;
    fetch->done = 0;
    return HUB_OK;
}

static enum hub_status answer_body(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    return hub_buf_add_view(&((struct lane *)fetch->user)->answer, bytes, err);
}

/* The hub has all of it: with the digest of what passed here, or one that is compared later. */
static enum hub_status finish(struct lane *lane, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    struct hub_sent_file *state = state_of(lane);
    uint8_t passed[HUB_DIGEST_MAX];
    const char *hex = hub_json_parse(hub_buf_view(&lane->answer), ANSWER_BYTES, &document, NULL)
                          ? NULL
                          : hub_member_text(document, "sha256");
    if (!hex || !hub_unhex(hub_view_of(hex), state->sha256, HUB_SHA256_BYTES))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "the hub does not say which digest '%.200s' has: is it a hub?",
                           file_of(lane)->path);
    state->there = true;
    state->unproven = !has_passed(lane, passed);
    if (!state->unproven && memcmp(passed, state->sha256, HUB_SHA256_BYTES) != 0) {
        *state = (struct hub_sent_file){0};
        lane->all->send->again++;
    } else {
        lane->all->bytes_there += file_of(lane)->size;
        lane->all->send->files_done++;
    }
    return begin(lane, err);
}

/* ---- one file ---- */

static enum hub_status set_url(struct lane *lane, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf rest = HUB_BUF_INIT(64 * KIB);
    const struct hub_send *send = lane->all->send;
    HUB_TRY(hub_draft_file_rest(file_of(lane)->path, &rest, err));
    return hub_draft_url(&send->client->remote, send->draft, rest.data, &lane->url, err);
}

static enum hub_status on_put(struct hub_fetch *fetch, enum hub_status st, struct hub_error *err);
static enum hub_status on_offset(struct hub_fetch *fetch, enum hub_status st, struct hub_error *err);

static void put(struct lane *lane)
{
    const uint64_t size = file_of(lane)->size;
    lane->sends = (struct hub_sends){.fd = lane->fd,
                                     .first = lane->offset,
                                     .count = size - lane->offset,
                                     .size = size,
                                     .passing = passing};
    lane->fetch = (struct hub_fetch){
        .url = lane->url.data,
        .sends = &lane->sends,
        .restartable = size <= REPEATED && !lane->offset,
        .limit = ANSWER_BYTES,
        .stall_timeout_ms = STALL_MS + (unsigned)HUB_MIN(lane->offset / HASHED_PER_MS, 86400000U),
        .head = answer_head,
        .body = answer_body,
        .finished = on_put,
        .user = lane};
    lane->sends_now = true;
    hub_transport_submit(lane->all->send->client->remote.transport, &lane->fetch);
}

/* How far it is, after a break. */
static void ask(struct lane *lane, unsigned wait_ms)
{
    lane->sends_now = false;
    lane->fetch = (struct hub_fetch){
        .url = lane->url.data, .head_only = true, .wait_ms = wait_ms, .finished = on_offset, .user = lane};
    hub_transport_submit(lane->all->send->client->remote.transport, &lane->fetch);
}

static enum hub_status on_offset(struct hub_fetch *fetch, enum hub_status st, struct hub_error *err)
{
    struct lane *lane = fetch->user;
    const struct hub_answer *answer = &fetch->answer;
    if (st && st != HUB_NOT_FOUND) /* a draft that is gone answers the PUT */
        return st;
    const uint64_t offset = !st && answer->has_offset ? answer->offset : 0;
    if (offset > lane->offset)
        lane->failures = 0;
    lane->offset = offset < file_of(lane)->size ? offset : 0;
    put(lane);
    if (err)
        *err = (struct hub_error){0};
    return HUB_OK;
}

static bool may_pass(enum hub_status st, const struct hub_error *err)
{
    return st == HUB_IO || st == HUB_BUSY || st == HUB_TIMEOUT || err->problem == HUB_PROBLEM_UPLOAD_OFFSET ||
           err->problem == HUB_PROBLEM_DRAFT_BUSY;
}

static unsigned wait_of(const struct lane *lane, const struct hub_error *err)
{
    const unsigned ms = (unsigned)FIRST_WAIT_MS << HUB_MIN(lane->failures, 6U);
    return HUB_MAX(HUB_MIN(ms, (unsigned)LONGEST_WAIT_MS), HUB_MIN(err->retry_after_s, 60U) * 1000);
}

static enum hub_status on_put(struct hub_fetch *fetch, enum hub_status st, struct hub_error *err)
{
    struct lane *lane = fetch->user;
    if (!st && fetch->answer.status == 201)
        return finish(lane, err);
    if (!st)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "the hub has not taken all of '%.200s'",
                           file_of(lane)->path);
    const struct hub_error why = *err;
    if (may_pass(st, &why) && lane->failures < MOST_FAILURES) {
        ask(lane, wait_of(lane, &why));
        lane->failures++;
        *err = (struct hub_error){0};
        return HUB_OK;
    }
    snprintf(err->detail, sizeof err->detail, "'%.200s': %.280s", file_of(lane)->path, why.detail);
    return st;
}

static void release(struct lane *lane)
{
    hub_closep(&lane->fd);
    lane->fd = -1;
    hub_digest_dispose(&lane->digest);
    lane->hashed = 0;
    lane->sends_now = false;
}

/* The next file that is not there. */
static enum hub_status begin(struct lane *lane, struct hub_error *err)
{
    struct sender *all = lane->all;
    const struct hub_send *send = all->send;
    release(lane);
    while (all->next < send->folder->files.count && send->states[all->next].there)
        all->next++;
    if (all->next == send->folder->files.count)
        return HUB_OK;
    lane->file = all->next++;
    lane->failures = 0;
    lane->offset = state_of(lane)->offset;
    HUB_TRY(hub_folder_file(send->folder, lane->file, &lane->fd, err));
    HUB_TRY(set_url(lane, err));
    put(lane);
    return HUB_OK;
}

/* ---- all of them ---- */

static enum hub_status tick(void *user, struct hub_error *err)
{
    const struct sender *all = user;
    struct hub_send *send = all->send;
    send->bytes_done = all->bytes_there;
    for (size_t i = 0; i < HUB_MAX_CONNECTIONS; i++)
        if (all->lanes[i].fd >= 0)
            send->bytes_done +=
                all->lanes[i].offset + (all->lanes[i].sends_now ? all->lanes[i].sends.sent : 0);
    return send->tick ? send->tick(send->user, err) : HUB_OK;
}

static enum hub_status drive(struct sender *all, struct hub_error *err)
{
    const unsigned lanes = HUB_MIN(HUB_MAX(all->send->connections, 1U), (unsigned)HUB_MAX_CONNECTIONS);
    for (size_t i = 0; i < HUB_MAX_CONNECTIONS; i++)
        all->lanes[i] = (struct lane){
            .all = all, .fd = -1, .url = HUB_BUF_INIT(64 * KIB), .answer = HUB_BUF_INIT(ANSWER_BYTES)};
    for (size_t i = 0; i < lanes; i++)
        HUB_TRY(begin(&all->lanes[i], err));
    return hub_transport_drive(all->send->client->remote.transport,
                               &(struct hub_drive){.tick = tick, .user = all}, err);
}

static enum hub_status send_once(struct hub_send *send, struct hub_error *err)
{
    struct sender *all;
    HUB_TRY(hub_new(&all, 1, sizeof *all, err));
    all->send = send;
    send->files_done = 0;
    for (uint32_t i = 0; i < send->folder->files.count; i++) {
        all->bytes_there += send->states[i].there ? send->folder->files.items[i].size : 0;
        send->files_done += send->states[i].there;
    }
    const enum hub_status st = drive(all, err);
    if (st)
        hub_transport_drop(send->client->remote.transport);
    for (size_t i = 0; i < HUB_MAX_CONNECTIONS; i++) {
        release(&all->lanes[i]);
        hub_buf_dispose(&all->lanes[i].url);
        hub_buf_dispose(&all->lanes[i].answer);
    }
    send->bytes_done = all->bytes_there;
    free(all);
    return st;
}

enum hub_status hub_send_compare(struct hub_send *send, uint32_t file, const uint8_t sha256[HUB_SHA256_BYTES],
                                 bool *same, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    HUB_CLEANUP(hub_sums_dispose) struct hub_sums sums = {0};
    const struct hub_file_facts plain = {.size = send->folder->files.items[file].size};
    HUB_TRY(hub_folder_file(send->folder, file, &fd, err));
    send->checks = true;
    const enum hub_status st = hub_sums_of(fd, &plain, send->tick, send->user, &sums, err);
    send->checks = false;
    HUB_TRY(st);
    send->bytes_hashed += plain.size;
    *same = memcmp(sums.sha256, sha256, HUB_SHA256_BYTES) == 0;
    return HUB_OK;
}

/* Those that went on after a break. */
static enum hub_status prove(struct hub_send *send, struct hub_error *err)
{
    for (uint32_t i = 0; i < send->folder->files.count; i++) {
        struct hub_sent_file *state = &send->states[i];
        bool same;
        if (!state->unproven)
            continue;
        HUB_TRY(hub_send_compare(send, i, state->sha256, &same, err));
        state->unproven = false;
        if (same)
            continue;
        *state = (struct hub_sent_file){0};
        send->again++;
    }
    return HUB_OK;
}

static const char *first_missing(const struct hub_send *send)
{
    for (uint32_t i = 0; i < send->folder->files.count; i++)
        if (!send->states[i].there)
            return send->folder->files.items[i].path;
    return NULL;
}

enum hub_status hub_send_all(struct hub_send *send, struct hub_error *err)
{
    for (unsigned round = 0; round < ROUNDS && first_missing(send); round++) {
        HUB_TRY(send_once(send, err));
        HUB_TRY(prove(send, err));
    }
    const char *missing = first_missing(send);
    return missing
               ? hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_DIGEST_MISMATCH,
                             "the hub has other bytes of '%.200s' than were sent, twice: check that nobody "
                             "writes to the folder, and run the same again",
                             missing)
               : HUB_OK;
}
