/* Verification of a download: see download.h. */
#include "storage/transfer/download.h"

#include "storage/io/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static enum hub_status hash_file(struct hub_download *d, uint32_t i, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    const struct hub_file_facts *file = &d->plan->items[i];
    const struct hub_sums *sums = &d->staging->files[i].sums;
    d->bytes_hashed += file->size;
    if (sums->known && (sums->has_sha256 || (d->sha256_later && !file->has_sha256)))
        return HUB_OK;
    HUB_TRY(
        hub_fs_open_beneath(d->staging->tree, file->path, O_RDONLY | O_NOFOLLOW, HUB_FS_NO_LINKS, &fd, err));
    HUB_TRY(hub_sums_of(fd, file, d->tick, d->user, &d->staging->files[i].sums, err));
    return d->tick(d->user, err);
}

static enum hub_status mismatch(const struct hub_download *d, uint32_t first, uint32_t bad,
                                struct hub_error *err)
{
    const struct hub_file_facts *file = &d->plan->items[first];
    const struct hub_sums *sums = &d->staging->files[first].sums;
    const char *noun = d->remote->kind->noun;
    char want[2 * HUB_SHA256_BYTES + 1] = "", got[2 * HUB_SHA256_BYTES + 1] = "";
    const size_t size = !file->has_sha256 && file->other == HUB_BY_CRC32C ? 4 : 8;
    hub_hex(file->has_sha256 ? file->sha256 : file->sum, size, want);
    hub_hex(file->has_sha256 ? sums->sha256 : sums->other, size, got);
    return hub_fail_as(
        err, HUB_CORRUPT, HUB_PROBLEM_DIGEST_MISMATCH,
        "'%s' differs from the %s's file: its %s is %s..., the %s states %s... (%u of %u files)", file->path,
        noun, hub_file_digest_name(file), got, noun, want, bad, d->plan->count);
}

static enum hub_status compare(struct hub_download *d, struct hub_error *err)
{
    uint32_t bad = 0, first = 0;
    d->verified = 0;
    d->digest = "SHA-256";
    for (uint32_t i = 0; i < d->plan->count; i++) {
        const struct hub_file_facts *file = &d->plan->items[i];
        const bool proven = hub_file_proven(file);
        if (proven && !hub_sums_agree(&d->staging->files[i].sums, file)) {
            first = bad++ ? first : i;
            HUB_TRY(hub_staging_forget(d->staging, i, err));
            if (d->watch)
                d->watch->lost(i, d->watch->user);
            continue;
        }
        d->verified += proven;
        if (d->watch)
            d->watch->whole(i, d->watch->user);
        if (proven && !file->has_sha256 && strcmp(d->digest, "SHA-256") == 0)
            d->digest = hub_file_digest_name(file);
    }
    return bad ? mismatch(d, first, bad, err) : HUB_OK;
}

enum hub_status hub_download_check(struct hub_download *d, struct hub_error *err)
{
    d->bytes_hashed = 0;
    for (uint32_t i = 0; i < d->plan->count; i++)
        HUB_TRY(hash_file(d, i, err));
    HUB_TRY(hub_download_await(d, err));
    return compare(d, err);
}
