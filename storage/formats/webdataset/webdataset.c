/*
 * Tar shards: plain webdataset (https://github.com/webdataset/webdataset) and the pickled frames of
 * il-representations. Here: which files are one dataset. The members of a compressed shard have no place of
 * their own in the file: those of gzip and zstd are unpacked to side data, others are refused.
 *
 * Problems: compressed-shard, not-fetched, bad-metadata; of a shard: damaged-shard, unterminated-shard,
 * trailing-bytes, repeated-key, repeated-field, skipped-members, bad-pickle, bad-member, boundary-unknown,
 * unreadable-episode, length-mismatch; of a field: uneven-field.
 */
#include "storage/formats/webdataset/webdataset.h"

#include <stdio.h>
#include <stdlib.h>

#define SMALL_FILE MIB /* beside shards there may be notes, indexes and lists */
enum { MAX_SMALL_FILES = 32, MAX_SHARDS_TRIED = 4, MAX_SERIES_TRIED = 64 };
enum { ANOTHER = -1 }; /* a bid: it is whole, and holds no samples */

/* ---- names ---- */

bool hub_wds_split(struct hub_view name, struct hub_view *key, struct hub_view *field)
{
    const char *slash = memrchr(name.data, '/', name.size), *end = name.data + name.size;
    const char *base = slash ? slash + 1 : name.data;
    const char *dot = memchr(base, '.', (size_t)(end - base));
    if (!dot || dot == base || dot + 1 == end)
        return false;
    if (hub_view_starts(name, "__")) { /* __index__ and all of __meta__/ */
        const char *stop = memchr(name.data, '/', name.size);
        const struct hub_view first = {name.data, (size_t)((stop ? stop : end) - name.data)};
        if (first.size >= 4 && hub_view_ends(first, "__"))
            return false;
    }
    *key = (struct hub_view){name.data, (size_t)(dot - name.data)};
    *field = (struct hub_view){dot + 1, (size_t)(end - dot - 1)};
    return true;
}

size_t hub_wds_digits(struct hub_view text)
{
    size_t n = 0;
    while (n < text.size && text.data[text.size - 1 - n] >= '0' && text.data[text.size - 1 - n] <= '9')
        n++;
    return n;
}

/* Which packing a name promises, and the path without its ending. */
static enum hub_wds_packing packing_of(struct hub_view path, struct hub_view *stem)
{
    static const struct {
        const char *end;
        enum hub_wds_packing packing;
    } ends[] = {{".tar", HUB_WDS_TAR},        {".tar.gz", HUB_WDS_PACKED},  {".tgz", HUB_WDS_PACKED},
                {".tar.zst", HUB_WDS_PACKED}, {".tar.xz", HUB_WDS_REFUSED}, {".tar.bz2", HUB_WDS_REFUSED}};
    for (size_t i = 0; i < HUB_COUNT(ends); i++)
        if (hub_view_ends(path, ends[i].end)) {
            *stem = (struct hub_view){path.data, path.size - strlen(ends[i].end)};
            return ends[i].packing;
        }
    *stem = (struct hub_view){NULL, 0};
    return HUB_WDS_NOT;
}

struct hub_view hub_wds_stem(struct hub_view path)
{
    struct hub_view stem;
    return packing_of(path, &stem) ? hub_view_behind(stem, '/') : hub_view_behind(path, '/');
}

struct hub_wds_shard hub_wds_shard_of(struct hub_view path)
{
    struct hub_wds_shard shard;
    shard.packing = packing_of(path, &shard.series);
    shard.numbered = false;
    shard.number = 0;
    size_t digits = hub_wds_digits(shard.series);
    struct hub_view before = {shard.series.data, shard.series.size - digits};
    if (digits && hub_view_ends(before, "-of-")) { /* train-00003-of-00010 */
        before.size -= 4;
        digits = hub_wds_digits(before);
        before.size -= digits;
    }
    if (shard.packing && digits) {
        const char *end = shard.series.data + shard.series.size;
        for (const char *at = before.data + before.size; at < end && *at >= '0' && *at <= '9'; at++)
            shard.number =
                shard.number > UINT64_MAX / 16 ? shard.number : shard.number * 10 + (unsigned)(*at - '0');
        shard.series = before;
        shard.numbered = true;
    }
    return shard;
}

struct hub_view hub_wds_series_name(struct hub_view series)
{
    series = hub_view_behind(series, '/');
    while (series.size && strchr("-_. ", series.data[series.size - 1]))
        series.size--;
    return series;
}

bool hub_wds_is_frame(struct hub_view name)
{
    struct hub_view key, field;
    if (hub_view_is(name, WDS_METADATA))
        return true;
    return hub_wds_split(name, &key, &field) && hub_view_starts(key, "frame_") &&
           hub_wds_digits(key) + 6 == key.size && key.size > 6 && hub_view_ends(field, ".pickle");
}

/* ---- order ---- */

struct ordered {
    struct hub_wds_shard shard;
    uint32_t file;
};

static int by_number(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    const size_t common = HUB_MIN(x->shard.series.size, y->shard.series.size);
    const int order = memcmp(x->shard.series.data, y->shard.series.data, common);
    if (order || x->shard.series.size != y->shard.series.size)
        return order ? order : (x->shard.series.size > y->shard.series.size) * 2 - 1;
    if (x->shard.number != y->shard.number)
        return (x->shard.number > y->shard.number) * 2 - 1;
    return (x->file > y->file) - (x->file < y->file);
}

enum hub_status hub_wds_order(const struct hub_files *files, uint32_t *numbers, uint32_t count,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct ordered *items = calloc((size_t)count + 1, sizeof *items);
    HUB_TRY(hub_allocated(items, err));
    for (uint32_t i = 0; i < count; i++)
        items[i] = (struct ordered){hub_wds_shard_of(files->entries[numbers[i]].path), numbers[i]};
    qsort(items, count, sizeof *items, by_number);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = items[i].file;
    return HUB_OK;
}

/* ---- claims ---- */

static bool is_refused(struct hub_files *files, uint32_t number)
{
    static const uint8_t xz[] = {0xfd, '7', 'z', 'X'};
    uint8_t head[4];
    size_t got;
    return !hub_files_read(files, number, 0, head, sizeof head, &got, NULL) && got == sizeof head &&
           (memcmp(head, xz, sizeof xz) == 0 || memcmp(head, "BZh", 3) == 0);
}

/* One that was never fetched may be a shard, of a numbered series all the more; a real one beside it knows
 * better. */
static int bid_on(struct hub_files *listing, uint32_t number, enum hub_wds_packing packing)
{
    enum { POINTER = 1024 }; /* what Git LFS leaves has less, a tar more */
    if (listing->entries[number].size < POINTER && hub_files_usable(listing, number, NULL) == HUB_CORRUPT)
        return hub_wds_shard_of(listing->entries[number].path).numbered ? 20 : 10;
    if (packing == HUB_WDS_REFUSED)
        return is_refused(listing, number) ? 40 : 0;
    const enum hub_wds_content content = hub_wds_look(listing, number);
    return content == HUB_WDS_SAMPLES   ? packing == HUB_WDS_TAR ? 55 : 45
           : content == HUB_WDS_UNKNOWN ? 0
                                        : ANOTHER;
}

static bool same_series(const struct hub_wds_shard *a, const struct hub_wds_shard *b)
{
    return a->packing == b->packing && a->numbered == b->numbered && hub_view_equal(a->series, b->series);
}

/* One shard that is damaged does not hide the others: the first few are looked at, until one says what they
 * are. */
static int bid_on_series(struct hub_files *listing, uint32_t first, const struct hub_wds_shard *series)
{
    unsigned looked = 0;
    int bid = 0;
    for (uint32_t i = first; i < listing->count && !bid && looked < MAX_SHARDS_TRIED; i++) {
        const struct hub_file_entry *e = &listing->entries[i];
        const struct hub_wds_shard shard = hub_wds_shard_of(e->path);
        if (e->path.size == 0 || e->directory || !same_series(&shard, series))
            continue;
        bid = bid_on(listing, i, shard.packing);
        looked++;
        if (!series->numbered)
            break; /* it is alone */
    }
    return bid;
}

/* One that holds something else makes the directory none of shards. */
static bool has_another(struct hub_files *listing)
{
    struct hub_wds_shard before = {.packing = HUB_WDS_NOT};
    unsigned tried = 0;
    for (uint32_t i = 0; i < listing->count && tried < MAX_SERIES_TRIED; i++) {
        const struct hub_wds_shard shard = hub_wds_shard_of(listing->entries[i].path);
        if (shard.packing == HUB_WDS_NOT || same_series(&shard, &before))
            continue;
        if (bid_on_series(listing, i, &shard) == ANOTHER)
            return true;
        before = shard;
        tried++;
    }
    return false;
}

/* A directory of nothing but shards. */
static int claim_directory(struct hub_files *listing)
{
    uint32_t small = 0, first = HUB_NONE;
    enum hub_wds_packing packing = HUB_WDS_NOT;
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct hub_file_entry *e = &listing->entries[i];
        const struct hub_wds_shard shard = hub_wds_shard_of(e->path);
        if (e->directory || (shard.packing == HUB_WDS_NOT && hub_names_data(e->path)))
            return 0;
        if (shard.packing == HUB_WDS_NOT && (e->size > SMALL_FILE || ++small > MAX_SMALL_FILES))
            return 0;
        if (shard.packing != HUB_WDS_NOT && (first == HUB_NONE || shard.packing < packing)) {
            first = i;
            packing = shard.packing;
        }
    }
    if (first == HUB_NONE)
        return 0;
    const struct hub_wds_shard shard = hub_wds_shard_of(listing->entries[first].path);
    const int bid = bid_on_series(listing, first, &shard);
    return bid > 0 && !has_another(listing) ? bid : 0;
}

/* The names of a series begin alike, so that they follow each other in a sorted listing. */
static void take_series(const struct hub_files *listing, uint32_t first, const struct hub_wds_shard *series,
                        struct hub_claim *claim)
{
    claim->file_count = 0;
    for (uint32_t i = first; i < listing->count; i++) {
        const struct hub_file_entry *e = &listing->entries[i];
        if (e->path.size == 0)
            continue;
        if (e->path.size < series->series.size ||
            memcmp(e->path.data, series->series.data, series->series.size) != 0)
            break;
        if (e->directory || memchr(e->path.data, '/', e->path.size))
            continue;
        const struct hub_wds_shard shard = hub_wds_shard_of(e->path);
        if (same_series(&shard, series))
            claim->files[claim->file_count++] = i;
    }
    struct hub_view name = hub_wds_series_name(series->series);
    if (name.size == 0)
        name = HUB_VIEW("shards");
    snprintf(claim->name, sizeof claim->name, "%.*s", (int)HUB_MIN(name.size, sizeof claim->name - 1),
             name.data);
}

static int claim_files(struct hub_files *listing, struct hub_claim *claim)
{
    struct hub_wds_shard refused = {.packing = HUB_WDS_NOT};
    for (uint32_t i = claim->from; i < listing->count; i++) {
        const struct hub_file_entry *e = &listing->entries[i];
        if (e->directory || e->path.size == 0 || memchr(e->path.data, '/', e->path.size))
            continue;
        const struct hub_wds_shard shard = hub_wds_shard_of(e->path);
        if (shard.packing == HUB_WDS_NOT || same_series(&shard, &refused))
            continue;
        claim->from = i;
        const int confidence = bid_on_series(listing, i, &shard);
        if (confidence > 0) {
            take_series(listing, i, &shard, claim);
            return confidence;
        }
        refused = shard;
    }
    claim->from = listing->count;
    return 0;
}

const struct hub_format hub_format_webdataset = {
    .name = "webdataset",
    .marks = hub_marks_webdataset,
    .claim_directory = claim_directory,
    .claim_files = claim_files,
    .plan = hub_wds_plan,
    .inspect = hub_wds_inspect,
};
