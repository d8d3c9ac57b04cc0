/* Verification of a download: see download.h. */
#include "storage/transfer/download.h"

#include "storage/io/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static enum hub_status hash_file(struct hub_download *c, uint32_t i, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    const struct hub_file_facts *file = &c->plan->items[i];
    const struct hub_sums *sums = &c->staging->files[i].sums;
    c->bytes_hashed += file->size;
    if (sums->known && (sums->has_sha256 || (c->sha256_later && !file->has_sha256)))
        return HUB_OK;
    HUB_TRY(
        hub_fs_open_beneath(c->staging->tree, file->path, O_RDONLY | O_NOFOLLOW, HUB_FS_NO_LINKS, &fd, err));
    HUB_TRY(hub_sums_of(fd, file, c->tick, c->user, &c->staging->files[i].sums, err));
    return c->tick(c->user, err);
}

static enum hub_status mismatch(const struct hub_download *c, uint32_t first, uint32_t bad,
                                struct hub_error *err)
{
    const struct hub_file_facts *file = &c->plan->items[first];
    const struct hub_sums *sums = &c->staging->files[first].sums;
    const char *noun = c->remote->kind->noun;
    char want[2 * HUB_SHA256_BYTES + 1] = "", got[2 * HUB_SHA256_BYTES + 1] = "";
    const size_t size = !file->has_sha256 && file->other == HUB_BY_CRC32C ? 4 : 8;
    hub_hex(file->has_sha256 ? file->sha256 : file->sum, size, want);
    hub_hex(file->has_sha256 ? sums->sha256 : sums->other, size, got);
    return hub_fail_as(
        err, HUB_CORRUPT, "digest-mismatch",
        "'%s' differs from the %s's file: its %s is %s..., the %s states %s... (%u of %u files)", file->path,
        noun, hub_file_digest_name(file), got, noun, want, bad, c->plan->count);
}

static enum hub_status compare(struct hub_download *c, struct hub_error *err)
{
    uint32_t bad = 0, first = 0;
    c->verified = 0;
    c->digest = "SHA-256";
    for (uint32_t i = 0; i < c->plan->count; i++) {
        const struct hub_file_facts *file = &c->plan->items[i];
        const bool proven = hub_file_proven(file);
        if (proven && !hub_sums_agree(&c->staging->files[i].sums, file)) {
            first = bad++ ? first : i;
            HUB_TRY(hub_staging_forget(c->staging, i, err));
            if (c->watch)
                c->watch->lost(i, c->watch->user);
            continue;
        }
        c->verified += proven;
        if (c->watch)
            c->watch->whole(i, c->watch->user);
        if (proven && !file->has_sha256 && strcmp(c->digest, "SHA-256") == 0)
            c->digest = hub_file_digest_name(file);
    }
    return bad ? mismatch(c, first, bad, err) : HUB_OK;
}

enum hub_status hub_download_check(struct hub_download *c, struct hub_error *err)
{
    c->bytes_hashed = 0;
    for (uint32_t i = 0; i < c->plan->count; i++)
        HUB_TRY(hash_file(c, i, err));
    HUB_TRY(hub_download_await(c, err));
    return compare(c, err);
}
