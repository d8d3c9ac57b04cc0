/* Verification of a download: see check.h. */
#include "storage/transfer/check.h"

#include "storage/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEP = 1024 * 1024 };

/* The digest that a remote gives where it has no SHA-256. */
struct other {
    enum hub_remote_digest kind;
    struct hub_digest digest;
    uint32_t crc;
};

static void dispose_other(struct other *other)
{
    hub_digest_dispose(&other->digest);
}

static enum hub_status begin_other(struct other *other, const struct hub_check_sum *sum,
                                   struct hub_error *err)
{
    char head[32];
    other->kind = sum->kind;
    if (sum->kind == HUB_BY_MD5)
        return hub_digest_begin(&other->digest, HUB_MD5, err);
    if (sum->kind != HUB_GIT_SHA1)
        return HUB_OK;
    const int n = snprintf(head, sizeof head, "blob %" PRIu64, sum->size) + 1; /* its NUL counts */
    HUB_TRY(hub_digest_begin(&other->digest, HUB_SHA1, err));
    return hub_digest_add(&other->digest, (struct hub_view){head, (size_t)n}, err);
}

static enum hub_status add_other(struct other *other, struct hub_view bytes, struct hub_error *err)
{
    if (other->kind == HUB_BY_CRC32C)
        other->crc = hub_crc32c(other->crc, bytes.data, bytes.size);
    return other->digest.context ? hub_digest_add(&other->digest, bytes, err) : HUB_OK;
}

static enum hub_status end_other(struct other *other, uint8_t out[HUB_SHA1_BYTES], struct hub_error *err)
{
    uint8_t sum[HUB_DIGEST_MAX] = {0};
    for (int i = 0; i < 4; i++)
        sum[i] = (uint8_t)(other->crc >> (24 - 8 * i));
    if (other->digest.context)
        HUB_TRY(hub_digest_end(&other->digest, sum, err));
    memcpy(out, sum, HUB_SHA1_BYTES);
    return HUB_OK;
}

enum hub_status hub_check_hash(int fd, struct hub_check_sum *sum, hub_tick_fn tick, void *user,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_digest_dispose) struct hub_digest digest = {0};
    HUB_CLEANUP(dispose_other) struct other other = {0};
    HUB_CLEANUP(hub_freep) char *buffer = malloc(STEP);
    uint64_t at = 0;
    HUB_TRY(hub_allocated(buffer, err));
    HUB_TRY(hub_digest_begin(&digest, HUB_SHA256, err));
    HUB_TRY(begin_other(&other, sum, err));
    while (true) {
        const ssize_t n = pread(fd, buffer, STEP, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return hub_fail_errno(err, errno, "reading failed");
        if (n == 0)
            break;
        const struct hub_view bytes = {buffer, (size_t)n};
        HUB_TRY(hub_digest_add(&digest, bytes, err));
        HUB_TRY(add_other(&other, bytes, err));
        at += (uint64_t)n;
        if (sum->done)
            *sum->done += (uint64_t)n;
        HUB_TRY(tick(user, err));
    }
    HUB_TRY(end_other(&other, sum->other, err));
    return hub_digest_end(&digest, sum->sha256, err);
}

bool hub_check_agrees(const struct hub_check_sum *sum, const struct hub_remote_file *file)
{
    if (file->has_sha256)
        return memcmp(file->sha256, sum->sha256, HUB_SHA256_BYTES) == 0;
    return file->other && file->other == sum->kind && memcmp(file->sum, sum->other, HUB_SHA1_BYTES) == 0;
}

static enum hub_status hash_file(struct hub_check *c, size_t i, struct hub_check_sum *sum,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    const uint8_t *known = c->staging->files[i].sha256;
    if (known) { /* verified when it came here, by the digest that the remote still states */
        memcpy(c->sums[i], known, HUB_SHA256_BYTES);
        memcpy(sum->sha256, known, HUB_SHA256_BYTES);
        memcpy(sum->other, c->plan->items[i].sum, HUB_SHA1_BYTES);
        sum->kind = c->plan->items[i].other;
        c->bytes_hashed += c->plan->items[i].size;
        return c->tick(c->user, err);
    }
    HUB_TRY(hub_fs_open_beneath(c->staging->tree, c->plan->items[i].path, O_RDONLY | O_NOFOLLOW,
                                HUB_FS_NO_LINKS, &fd, err));
    *sum = (struct hub_check_sum){
        .kind = c->plan->items[i].other, .size = c->plan->items[i].size, .done = &c->bytes_hashed};
    HUB_TRY(hub_check_hash(fd, sum, c->tick, c->user, err));
    memcpy(c->sums[i], sum->sha256, HUB_SHA256_BYTES);
    return HUB_OK;
}

static enum hub_status compare(struct hub_check *c, const struct hub_check_sum *sums, struct hub_error *err)
{
    size_t bad = 0, first_bad = 0;
    c->verified = 0;
    c->digest = "SHA-256";
    for (size_t i = 0; i < c->plan->count; i++) {
        const struct hub_remote_file *file = &c->plan->items[i];
        if (!hub_remote_file_proven(file))
            continue;
        if (hub_check_agrees(&sums[i], file)) {
            c->verified++;
            if (!file->has_sha256 && strcmp(c->digest, "SHA-256") == 0)
                c->digest = hub_remote_digest_name(file);
            continue;
        }
        first_bad = bad++ ? first_bad : i;
        HUB_TRY(hub_staging_forget(c->staging, (uint32_t)i, err));
    }
    if (!bad)
        return HUB_OK;
    const struct hub_remote_file *file = &c->plan->items[first_bad];
    char want[2 * HUB_SHA256_BYTES + 1] = "", got[2 * HUB_SHA256_BYTES + 1] = "";
    const size_t size = file->has_sha256 ? 8 : file->other == HUB_BY_CRC32C ? 4 : 8;
    hub_hex(file->has_sha256 ? file->sha256 : file->sum, size, want);
    hub_hex(file->has_sha256 ? sums[first_bad].sha256 : sums[first_bad].other, size, got);
    return hub_fail_as(
        err, HUB_CORRUPT, "digest-mismatch",
        "'%s' differs from the %s's file: its %s is %s..., the %s states %s... (%zu of %u files)", file->path,
        c->remote->kind->noun, hub_remote_digest_name(file), got, c->remote->kind->noun, want, bad,
        c->plan->count);
}

enum hub_status hub_check_run(struct hub_check *c, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_check_sum *sums = NULL;
    c->bytes_hashed = 0;
    HUB_TRY(hub_new(&c->sums, c->plan->count + 1, sizeof *c->sums, err));
    HUB_TRY(hub_new(&sums, c->plan->count + 1, sizeof *sums, err));
    for (size_t i = 0; i < c->plan->count; i++)
        HUB_TRY(hash_file(c, i, &sums[i], err));
    HUB_TRY(hub_await_digests(c, err));
    return compare(c, sums, err);
}
