/* Files out of chunks: see rebuild.h. */
#include "storage/xet/rebuild.h"

#include "storage/io/fs.h"

#include <stdlib.h>

enum {
    RUN = 128, /* chunks that are read at once */
    STORED_BYTES = HUB_REBUILD_BLOCK + HUB_XORB_CHUNK_STORED + HUB_XORB_HEADER,
    RAW_BYTES = HUB_REBUILD_BLOCK + HUB_XORB_CHUNK_BYTES
};

enum hub_status hub_rebuild_init(struct hub_rebuild *rebuild, const struct hub_shard *shard,
                                 struct hub_xorbs *xorbs, struct hub_error *err)
{
    *rebuild = (struct hub_rebuild){.shard = shard, .xorbs = xorbs};
    rebuild->stored = malloc(STORED_BYTES);
    rebuild->raw = malloc(RAW_BYTES);
    rebuild->scratch = malloc(HUB_XORB_SCRATCH);
    const bool all = rebuild->stored && rebuild->raw && rebuild->scratch;
    if (!all)
        hub_rebuild_dispose(rebuild);
    return hub_allocated(all, err);
}

void hub_rebuild_dispose(struct hub_rebuild *rebuild)
{
    free(rebuild->stored);
    free(rebuild->raw);
    free(rebuild->scratch);
    *rebuild = (struct hub_rebuild){0};
}

/* A term states what its chunks say. */
static enum hub_status check_term(struct hub_rebuild *rebuild, const struct hub_shard_term *term,
                                  struct hub_error *err)
{
    const struct hub_xorb_file *file;
    struct hub_xorb_chunk first[2], last[2];
    HUB_TRY(hub_xorbs_find(rebuild->xorbs, term->xorb, &file, err));
    HUB_TRY(hub_xorb_file_chunks(file, term->first, 1, first, err));
    HUB_TRY(hub_xorb_file_chunks(file, term->end - 1, 1, last, err));
    if (last[1].raw_end - first[0].raw_end == term->bytes)
        return HUB_OK;
    return hub_fail(err, HUB_INVALID, "the shard states %u bytes for chunks %u to %u, which have %u",
                    term->bytes, term->first, term->end, last[1].raw_end - first[0].raw_end);
}

enum hub_status hub_rebuild_begin(struct hub_rebuild *rebuild, uint32_t file, struct hub_error *err)
{
    const struct hub_shard_file *f = &rebuild->shard->files[file];
    const struct hub_shard_term *terms = rebuild->shard->terms;
    rebuild->term = f->first_term;
    rebuild->last_term = f->first_term + f->term_count;
    rebuild->chunk = f->term_count ? terms[f->first_term].first : 0;
    for (uint32_t i = rebuild->term; i < rebuild->last_term; i++)
        HUB_TRY(check_term(rebuild, &terms[i], err));
    return HUB_OK;
}

/* How many of the chunks that follow rows[0] fill a block, of at least one. */
static uint32_t count_run(const struct hub_xorb_chunk *rows, uint32_t count)
{
    uint32_t taken = 1;
    while (taken < count && rows[taken].raw_end - rows[0].raw_end < HUB_REBUILD_BLOCK &&
           rows[taken].end - rows[0].end < HUB_REBUILD_BLOCK)
        taken++;
    return taken;
}

/* The table is ours, but disks fail: no chunk of it may lead out of the buffers. */
static bool is_sane(const struct hub_xorb_chunk *rows, uint32_t count, uint32_t size)
{
    for (uint32_t i = 1; i <= count; i++)
        if (rows[i].end <= rows[i - 1].end || rows[i].raw_end <= rows[i - 1].raw_end || rows[i].end > size ||
            rows[i].end - rows[i - 1].end > HUB_XORB_CHUNK_STORED + HUB_XORB_HEADER ||
            rows[i].raw_end - rows[i - 1].raw_end > HUB_XORB_CHUNK_BYTES)
            return false;
    return true;
}

static enum hub_status decode_run(struct hub_rebuild *rebuild, const struct hub_xorb_chunk *rows,
                                  uint32_t count, struct hub_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct hub_view chunk = {(const char *)rebuild->stored + (rows[i].end - rows[0].end),
                                       rows[i + 1].end - rows[i].end};
        HUB_TRY(hub_xorb_chunk_decode(chunk, rebuild->raw + (rows[i].raw_end - rows[0].raw_end),
                                      rows[i + 1].raw_end - rows[i].raw_end, rebuild->scratch, err));
    }
    return HUB_OK;
}

static enum hub_status read_run(struct hub_rebuild *rebuild, const struct hub_shard_term *term,
                                struct hub_view *out, struct hub_error *err)
{
    const struct hub_xorb_file *file;
    struct hub_xorb_chunk rows[RUN + 1];
    uint32_t count = HUB_MIN(term->end - rebuild->chunk, RUN);
    HUB_TRY(hub_xorbs_find(rebuild->xorbs, term->xorb, &file, err));
    HUB_TRY(hub_xorb_file_chunks(file, rebuild->chunk, count, rows, err));
    if (!is_sane(rows, count, file->size))
        return hub_fail(err, HUB_CORRUPT, "a xorb is damaged: run the push again");
    count = count_run(rows, count);
    const size_t size = rows[count].end - rows[0].end;
    if (hub_fs_pread(file->fd, rebuild->stored, size, rows[0].end) != (ssize_t)size)
        return hub_fail(err, HUB_CORRUPT, "a xorb cannot be read: run the push again");
    HUB_TRY(decode_run(rebuild, rows, count, err));
    rebuild->chunk += count;
    *out = (struct hub_view){(const char *)rebuild->raw, rows[count].raw_end - rows[0].raw_end};
    return HUB_OK;
}

enum hub_status hub_rebuild_next(struct hub_rebuild *rebuild, struct hub_view *out, struct hub_error *err)
{
    *out = (struct hub_view){NULL, 0};
    if (rebuild->term == rebuild->last_term)
        return HUB_OK;
    const struct hub_shard_term *term = &rebuild->shard->terms[rebuild->term];
    HUB_TRY(read_run(rebuild, term, out, err));
    if (rebuild->chunk == term->end && ++rebuild->term < rebuild->last_term)
        rebuild->chunk = term[1].first;
    return HUB_OK;
}
