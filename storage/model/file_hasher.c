/* Digests of files: see file_hasher.h. */
#include "storage/model/file_hasher.h"

#include "storage/io/fs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEP = 256 * 1024 }; /* that stays in a cache */

enum hub_status hub_file_hasher_begin(struct hub_file_hasher *h, enum hub_file_digest kind, uint64_t size,
                                      struct hub_error *err)
{
    char head[32];
    *h = (struct hub_file_hasher){.kind = kind, .pieces = HUB_BUF_INIT(4 * GIB)};
    HUB_TRY(hub_digest_begin(&h->sha256, HUB_SHA256, err));
    if (kind == HUB_BY_MD5)
        return hub_digest_begin(&h->other, HUB_MD5, err);
    if (kind != HUB_GIT_SHA1)
        return HUB_OK;
    const int n = snprintf(head, sizeof head, "blob %" PRIu64, size) + 1; /* its NUL counts */
    HUB_TRY(hub_digest_begin(&h->other, HUB_SHA1, err));
    return hub_digest_add(&h->other, (struct hub_view){head, (size_t)n}, err);
}

static void put_crc(uint32_t crc32c, uint8_t at[4])
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(crc32c >> (24 - 8 * i));
}

/* @param size  bytes of it */
static enum hub_status end_piece(struct hub_file_hasher *h, uint64_t size, struct hub_error *err)
{
    uint8_t sum[4];
    put_crc(h->piece, sum);
    h->crc32c = hub_crc32c_join(h->crc32c, h->piece, size);
    h->piece = 0;
    return hub_buf_add(&h->pieces, sum, sizeof sum, err);
}

static enum hub_status add_pieces(struct hub_file_hasher *h, struct hub_view bytes, struct hub_error *err)
{
    for (uint64_t at = h->at; bytes.size;) {
        const size_t n = HUB_MIN(bytes.size, (size_t)(HUB_SUM_PIECE - at % HUB_SUM_PIECE));
        h->piece = hub_crc32c(h->piece, bytes.data, n);
        bytes = (struct hub_view){bytes.data + n, bytes.size - n};
        at += n;
        if (at % HUB_SUM_PIECE == 0)
            HUB_TRY(end_piece(h, HUB_SUM_PIECE, err));
    }
    return HUB_OK;
}

enum hub_status hub_file_hasher_add(struct hub_file_hasher *h, struct hub_view bytes, struct hub_error *err)
{
    HUB_TRY(add_pieces(h, bytes, err));
    h->at += bytes.size;
    if (h->other.context)
        HUB_TRY(hub_digest_add(&h->other, bytes, err));
    return hub_digest_add(&h->sha256, bytes, err);
}

enum hub_status hub_file_hasher_end(struct hub_file_hasher *h, struct hub_sums *out, struct hub_error *err)
{
    uint8_t sum[HUB_DIGEST_MAX] = {0};
    if (h->at % HUB_SUM_PIECE)
        HUB_TRY(end_piece(h, h->at % HUB_SUM_PIECE, err));
    hub_sums_dispose(out);
    put_crc(h->crc32c, out->crc32c);
    memcpy(sum, out->crc32c, sizeof out->crc32c);
    if (h->other.context)
        HUB_TRY(hub_digest_end(&h->other, sum, err));
    if (h->at > HUB_SUM_PIECE)
        out->pieces = (uint8_t *)hub_buf_take(&h->pieces, &out->pieces_size);
    hub_buf_dispose(&h->pieces);
    memcpy(out->other, sum, sizeof out->other);
    HUB_TRY(hub_digest_end(&h->sha256, out->sha256, err));
    out->kind = (uint8_t)h->kind;
    out->known = out->has_sha256 = true;
    return HUB_OK;
}

void hub_file_hasher_dispose(struct hub_file_hasher *h)
{
    hub_digest_dispose(&h->sha256);
    hub_digest_dispose(&h->other);
    hub_buf_dispose(&h->pieces);
}

void hub_sums_dispose(struct hub_sums *sums)
{
    free(sums->pieces);
    *sums = (struct hub_sums){0};
}

enum hub_status hub_sums_begin(struct hub_sums *sums, uint64_t size, struct hub_error *err)
{
    const size_t bytes = 4 * (size_t)((size + HUB_SUM_PIECE - 1) / HUB_SUM_PIECE);
    hub_sums_dispose(sums);
    HUB_TRY(hub_new(&sums->pieces, bytes, 1, err));
    sums->pieces_size = bytes;
    return HUB_OK;
}

void hub_sums_put(struct hub_sums *sums, uint64_t piece, uint32_t crc32c)
{
    put_crc(crc32c, sums->pieces + 4 * piece);
}

/* Pieces are kept where there are several. */
void hub_sums_end(struct hub_sums *sums, uint64_t size)
{
    uint32_t all = 0;
    for (uint64_t at = 0; at < size; at += HUB_SUM_PIECE) {
        const uint8_t *sum = sums->pieces + at / HUB_SUM_PIECE * 4;
        const uint32_t crc = (uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 | sum[3];
        all = hub_crc32c_join(all, crc, HUB_MIN(size - at, (uint64_t)HUB_SUM_PIECE));
    }
    if (size <= HUB_SUM_PIECE)
        hub_sums_dispose(sums);
    put_crc(all, sums->crc32c);
    memcpy(sums->other, sums->crc32c, sizeof sums->crc32c);
    sums->kind = HUB_BY_CRC32C;
    sums->known = true;
}

enum hub_status hub_file_hasher_read(struct hub_file_hasher *h, int fd, uint64_t end, hub_tick_fn tick,
                                     void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *buffer = malloc(STEP);
    HUB_TRY(hub_allocated(buffer, err));
    while (h->at < end) {
        const ssize_t n = hub_fs_pread(fd, buffer, (size_t)HUB_MIN(end - h->at, (uint64_t)STEP), h->at);
        if (n <= 0)
            return hub_fail_errno(err, n ? errno : EIO, "a file cannot be read back");
        HUB_TRY(hub_file_hasher_add(h, (struct hub_view){buffer, (size_t)n}, err));
        if (tick)
            HUB_TRY(tick(user, err));
    }
    return HUB_OK;
}

enum hub_status hub_sums_of(int fd, const struct hub_file_facts *file, hub_tick_fn tick, void *user,
                            struct hub_sums *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_file_hasher_dispose) struct hub_file_hasher hasher = {0};
    HUB_TRY(hub_file_hasher_begin(&hasher, file->other, file->size, err));
    HUB_TRY(hub_file_hasher_read(&hasher, fd, file->size, tick, user, err));
    return hub_file_hasher_end(&hasher, out, err);
}

bool hub_sums_agree(const struct hub_sums *sums, const struct hub_file_facts *file)
{
    if (file->has_sha256)
        return sums->has_sha256 && memcmp(file->sha256, sums->sha256, HUB_SHA256_BYTES) == 0;
    return file->other && file->other == sums->kind && memcmp(file->sum, sums->other, HUB_SHA1_BYTES) == 0;
}
