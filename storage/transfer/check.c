/* Verification of a download: see check.h. */
#include "storage/transfer/check.h"

#include "storage/io/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static enum hub_status hash_file(struct hub_check *c, uint32_t i, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    const struct hub_file_facts *file = &c->plan->items[i];
    const struct hub_sums *sums = &c->staging->sums[i];
    c->bytes_hashed += file->size;
    if (sums->known && (sums->has_sha256 || (c->sha256_later && !file->has_sha256)))
        return HUB_OK;
    HUB_TRY(
        hub_fs_open_beneath(c->staging->tree, file->path, O_RDONLY | O_NOFOLLOW, HUB_FS_NO_LINKS, &fd, err));
    HUB_TRY(hub_sums_of(fd, file, c->tick, c->user, &c->staging->sums[i], err));
    return c->tick(c->user, err);
}

static enum hub_status compare(struct hub_check *c, struct hub_error *err)
{
    const struct hub_sums *sums = c->staging->sums;
    struct hub_sums first = {0};
    size_t bad = 0, first_bad = 0;
    c->verified = 0;
    c->digest = "SHA-256";
    for (size_t i = 0; i < c->plan->count; i++) {
        const struct hub_file_facts *file = &c->plan->items[i];
        if (!hub_file_proven(file)) {
            if (c->watch)
                c->watch->whole((uint32_t)i, c->watch->user);
            continue;
        }
        if (hub_sums_agree(&sums[i], file)) {
            c->verified++;
            if (c->watch)
                c->watch->whole((uint32_t)i, c->watch->user);
            if (!file->has_sha256 && strcmp(c->digest, "SHA-256") == 0)
                c->digest = hub_file_digest_name(file);
            continue;
        }
        if (!bad++) {
            first_bad = i;
            first = sums[i];
        }
        HUB_TRY(hub_staging_forget(c->staging, (uint32_t)i, err));
        if (c->watch)
            c->watch->lost((uint32_t)i, c->watch->user);
    }
    if (!bad)
        return HUB_OK;
    const struct hub_file_facts *file = &c->plan->items[first_bad];
    char want[2 * HUB_SHA256_BYTES + 1] = "", got[2 * HUB_SHA256_BYTES + 1] = "";
    const size_t size = file->has_sha256 ? 8 : file->other == HUB_BY_CRC32C ? 4 : 8;
    hub_hex(file->has_sha256 ? file->sha256 : file->sum, size, want);
    hub_hex(file->has_sha256 ? first.sha256 : first.other, size, got);
    return hub_fail_as(
        err, HUB_CORRUPT, "digest-mismatch",
        "'%s' differs from the %s's file: its %s is %s..., the %s states %s... (%zu of %u files)", file->path,
        c->remote->kind->noun, hub_file_digest_name(file), got, c->remote->kind->noun, want, bad,
        c->plan->count);
}

enum hub_status hub_check_run(struct hub_check *c, struct hub_error *err)
{
    c->bytes_hashed = 0;
    for (uint32_t i = 0; i < c->plan->count; i++)
        HUB_TRY(hash_file(c, i, err));
    HUB_TRY(hub_await_digests(c, err));
    return compare(c, err);
}
