/* Shards, record by record: see shard.h. */
#include "storage/xet/shard.h"

#include "storage/base/cursor.h"
#include "storage/xet/xorb.h"

#include <stdlib.h>

enum { VERSION = 2, TAG = 32 };
static const uint8_t tag[TAG] = {'H',  'F',  'R',  'e',  'p',  'o',  'M',  'e',  't',  'a',  'D',
                                 'a',  't',  'a',  0x00, 0x55, 0x69, 0x67, 0x45, 0x6a, 0x7b, 0x81,
                                 0x57, 0x83, 0xa5, 0xbd, 0xd9, 0x5c, 0xcd, 0xd1, 0x4a, 0xa9};
#define HAS_VERIFICATION (UINT32_C(1) << 31)
#define HAS_METADATA (UINT32_C(1) << 30)

/* A record ends a list of files or xorbs. */
static bool is_last(const uint8_t *record)
{
    static const uint8_t ones[HUB_XET_HASH] = {[0 ... HUB_XET_HASH - 1] = 0xff};
    return memcmp(record, ones, sizeof ones) == 0;
}

static enum hub_status read_header(struct hub_shard_scan *scan, struct hub_cursor *c, struct hub_error *err)
{
    if (memcmp(hub_cursor_bytes(c, TAG), tag, TAG) != 0)
        return hub_fail(err, HUB_CORRUPT, "this is not a shard: it does not begin as one");
    const uint64_t version = hub_cursor_u64(c);
    if (version != VERSION)
        return hub_fail(err, HUB_CORRUPT, "the shard has the version %llu; only version %u is known",
                        (unsigned long long)version, VERSION);
    scan->part = HUB_SHARD_FILE;
    return HUB_OK;
}

static struct hub_shard_file *last_file(const struct hub_shard_scan *scan)
{
    return &scan->shard.files[scan->shard.file_count - 1];
}

/* The first of these parts that the file has. */
static void go_on(struct hub_shard_scan *scan)
{
    if (scan->part <= HUB_SHARD_TERM && scan->left)
        scan->part = HUB_SHARD_TERM;
    else if (scan->part <= HUB_SHARD_VERIFICATION && scan->verifications)
        scan->part = HUB_SHARD_VERIFICATION;
    else
        scan->part = HUB_SHARD_METADATA;
}

static enum hub_status read_file(struct hub_shard_scan *scan, struct hub_cursor *c, struct hub_error *err)
{
    struct hub_shard *shard = &scan->shard;
    (void)hub_cursor_skip(c, HUB_XET_HASH);
    const uint32_t flags = hub_cursor_u32(c), terms = hub_cursor_u32(c);
    if (is_last(scan->record)) {
        scan->part = HUB_SHARD_XORB;
        return HUB_OK;
    }
    if (!(flags & HAS_METADATA))
        return hub_fail(
            err, HUB_UNSUPPORTED,
            "file %u of the shard has no SHA-256: buckets are not taken here, push to a repository",
            shard->file_count);
    if (shard->file_count == HUB_SHARD_FILES || terms > HUB_SHARD_TERMS - shard->term_count)
        return hub_fail(err, HUB_TOO_BIG, "the shard has more than %u files or %u terms: push fewer at once",
                        HUB_SHARD_FILES, HUB_SHARD_TERMS);
    HUB_TRY(hub_grow(&shard->files, shard->file_count, &scan->file_capacity, sizeof *shard->files, err));
    shard->files[shard->file_count++] =
        (struct hub_shard_file){.first_term = shard->term_count, .term_count = terms};
    scan->left = terms;
    scan->verifications = flags & HAS_VERIFICATION ? terms : 0;
    go_on(scan);
    return HUB_OK;
}

static enum hub_status read_term(struct hub_shard_scan *scan, struct hub_cursor *c, struct hub_error *err)
{
    struct hub_shard *shard = &scan->shard;
    struct hub_shard_term term;
    memcpy(term.xorb, hub_cursor_bytes(c, HUB_XET_HASH), HUB_XET_HASH);
    (void)hub_cursor_u32(c); /* flags: none is known */
    term.bytes = hub_cursor_u32(c);
    term.first = hub_cursor_u32(c);
    term.end = hub_cursor_u32(c);
    if (term.first >= term.end || term.end > HUB_XORB_CHUNKS || term.bytes == 0 ||
        term.bytes > HUB_XORB_RAW_BYTES)
        return hub_fail(err, HUB_CORRUPT, "term %u of the shard states chunks %u to %u with %u bytes",
                        shard->term_count, term.first, term.end, term.bytes);
    HUB_TRY(hub_grow(&shard->terms, shard->term_count, &scan->term_capacity, sizeof *shard->terms, err));
    shard->terms[shard->term_count++] = term;
    last_file(scan)->size += term.bytes;
    scan->left--;
    go_on(scan);
    return HUB_OK;
}

static enum hub_status pass_verification(struct hub_shard_scan *scan, struct hub_cursor *c,
                                         struct hub_error *err)
{
    (void)c, (void)err;
    scan->verifications--;
    go_on(scan);
    return HUB_OK;
}

static enum hub_status read_metadata(struct hub_shard_scan *scan, struct hub_cursor *c, struct hub_error *err)
{
    (void)err;
    hub_xet_turn(hub_cursor_bytes(c, HUB_XET_HASH), last_file(scan)->sha256);
    scan->part = HUB_SHARD_FILE;
    return HUB_OK;
}

static enum hub_status read_xorb(struct hub_shard_scan *scan, struct hub_cursor *c, struct hub_error *err)
{
    (void)hub_cursor_skip(c, HUB_XET_HASH);
    (void)hub_cursor_u32(c); /* flags */
    scan->left = hub_cursor_u32(c);
    if (is_last(scan->record)) {
        scan->part = HUB_SHARD_END;
        return HUB_OK;
    }
    if (scan->left > HUB_XORB_CHUNKS)
        return hub_fail(err, HUB_CORRUPT, "the shard lists a xorb of %u chunks; a xorb has at most %u",
                        scan->left, HUB_XORB_CHUNKS);
    scan->part = scan->left ? HUB_SHARD_CHUNK : HUB_SHARD_XORB;
    return HUB_OK;
}

static enum hub_status pass_chunk(struct hub_shard_scan *scan, struct hub_cursor *c, struct hub_error *err)
{
    (void)c, (void)err;
    if (--scan->left == 0)
        scan->part = HUB_SHARD_XORB;
    return HUB_OK;
}

static enum hub_status (*const readers[])(struct hub_shard_scan *scan, struct hub_cursor *record,
                                          struct hub_error *err) = {
    [HUB_SHARD_HEADER] = read_header,     [HUB_SHARD_FILE] = read_file,
    [HUB_SHARD_TERM] = read_term,         [HUB_SHARD_VERIFICATION] = pass_verification,
    [HUB_SHARD_METADATA] = read_metadata, [HUB_SHARD_XORB] = read_xorb,
    [HUB_SHARD_CHUNK] = pass_chunk,
};

enum hub_status hub_shard_scan_add(struct hub_shard_scan *scan, struct hub_view bytes, struct hub_error *err)
{
    scan->size += bytes.size;
    if (scan->size > HUB_SHARD_BYTES)
        return hub_fail(err, HUB_TOO_BIG, "the shard has more than %u bytes", HUB_SHARD_BYTES);
    while (bytes.size && scan->part != HUB_SHARD_END) {
        const size_t taken = HUB_MIN(HUB_SHARD_RECORD - scan->record_bytes, bytes.size);
        memcpy(scan->record + scan->record_bytes, bytes.data, taken);
        scan->record_bytes += (uint32_t)taken;
        bytes.data += taken;
        bytes.size -= taken;
        if (scan->record_bytes < HUB_SHARD_RECORD)
            break;
        scan->record_bytes = 0;
        struct hub_cursor record = hub_cursor_of(scan->record, HUB_SHARD_RECORD);
        HUB_TRY(readers[scan->part](scan, &record, err));
    }
    return HUB_OK;
}

enum hub_status hub_shard_scan_end(struct hub_shard_scan *scan, struct hub_shard *out, struct hub_error *err)
{
    if (scan->part != HUB_SHARD_END)
        return hub_fail(err, HUB_CORRUPT, "the shard ends after %llu bytes, inside its list of %s",
                        (unsigned long long)scan->size, scan->part < HUB_SHARD_XORB ? "files" : "xorbs");
    *out = scan->shard;
    scan->shard = (struct hub_shard){0};
    return HUB_OK;
}

void hub_shard_dispose(struct hub_shard *shard)
{
    free(shard->files);
    free(shard->terms);
    *shard = (struct hub_shard){0};
}

void hub_shard_scan_dispose(struct hub_shard_scan *scan)
{
    hub_shard_dispose(&scan->shard);
}
