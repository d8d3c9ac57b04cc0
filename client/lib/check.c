/* Verification of a download: see check.h. */
#include "client/lib/check.h"

#include "storage/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEP = 1024 * 1024 };

enum hub_status hub_check_hash(int fd, uint8_t out[HUB_SHA256_BYTES], uint64_t *done, hub_tick_fn tick,
                               void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_digest_dispose) struct hub_digest digest = {0};
    HUB_CLEANUP(hub_freep) char *buffer = malloc(STEP);
    uint8_t sum[HUB_DIGEST_MAX];
    uint64_t at = 0;
    HUB_TRY(hub_allocated(buffer, err));
    HUB_TRY(hub_digest_begin(&digest, HUB_SHA256, err));
    while (true) {
        const ssize_t n = pread(fd, buffer, STEP, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return hub_fail_errno(err, errno, "reading failed");
        if (n == 0)
            break;
        HUB_TRY(hub_digest_add(&digest, (struct hub_view){buffer, (size_t)n}, err));
        at += (uint64_t)n;
        if (done)
            *done += (uint64_t)n;
        HUB_TRY(tick(user, err));
    }
    HUB_TRY(hub_digest_end(&digest, sum, err));
    memcpy(out, sum, HUB_SHA256_BYTES);
    return HUB_OK;
}

static enum hub_status hash_file(struct hub_check *c, size_t i, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    HUB_TRY(hub_fs_open_beneath(c->staging->tree, c->plan->items[i].path, O_RDONLY | O_NOFOLLOW,
                                HUB_FS_NO_LINKS, &fd, err));
    return hub_check_hash(fd, c->sums[i], &c->bytes_hashed, c->tick, c->user, err);
}

static enum hub_status compare(struct hub_check *c, struct hub_error *err)
{
    size_t bad = 0, first_bad = 0;
    c->verified = 0;
    for (size_t i = 0; i < c->plan->count; i++) {
        const struct hub_remote_file *file = &c->plan->items[i];
        if (!file->has_sha256)
            continue;
        if (memcmp(file->sha256, c->sums[i], HUB_SHA256_BYTES) == 0) {
            c->verified++;
            continue;
        }
        first_bad = bad++ ? first_bad : i;
        HUB_TRY(hub_staging_forget(c->staging, (uint32_t)i, err));
    }
    if (!bad)
        return HUB_OK;
    char want[2 * HUB_SHA256_BYTES + 1], got[2 * HUB_SHA256_BYTES + 1];
    hub_hex(c->plan->items[first_bad].sha256, HUB_SHA256_BYTES, want);
    hub_hex(c->sums[first_bad], HUB_SHA256_BYTES, got);
    return hub_fail_as(err, HUB_CORRUPT, "digest-mismatch",
                       "'%s' differs from the hub's file: its SHA-256 is %.16s..., the hub states %.16s... "
                       "(%zu of %u files)",
                       c->plan->items[first_bad].path, got, want, bad, c->plan->count);
}

enum hub_status hub_check_run(struct hub_check *c, struct hub_error *err)
{
    c->bytes_hashed = 0;
    HUB_TRY(hub_new(&c->sums, c->plan->count + 1, sizeof *c->sums, err));
    for (size_t i = 0; i < c->plan->count; i++)
        HUB_TRY(hash_file(c, i, err));
    HUB_TRY(hub_await_digests(c, err));
    return compare(c, err);
}
