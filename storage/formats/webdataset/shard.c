/*
 * One tar shard. Plain webdataset: a shard is an episode, its samples are the steps, fields are told apart by
 * extension; JSON is given as text. A shard of il-representations (its first member is _metadata.meta.pickle)
 * holds frames of pickles: episodes end where `dones` is true, arrays are rows where they lie in the file,
 * scalars are gathered in side data.
 */
#include "storage/base/order.h"
#include "storage/formats/webdataset/webdataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct shard {
    struct hub_files *files;
    struct hub_sink *sink;
    struct hub_view path, split;
    uint32_t file; /* its number */
    struct hub_source source;
    struct hub_tar tar;
    struct hub_pickle pickle;
    struct hub_wds_columns columns;
    bool frames;        /* of il-representations */
    struct hub_buf key; /* of the current sample */
    uint32_t samples;
    uint64_t *hashes; /* of the samples' keys */
    uint32_t hash_capacity;
    uint32_t skipped;
    struct hub_error cut; /* why the archive ends early */
};

/* ---- samples ---- */

static enum hub_status begin_sample(struct shard *s, struct hub_view key, struct hub_error *err)
{
    if (s->samples == WDS_MAX_SAMPLES)
        return hub_fail(err, HUB_TOO_BIG, "more than %d samples in a shard", WDS_MAX_SAMPLES);
    HUB_TRY(hub_grow(&s->hashes, s->samples, &s->hash_capacity, sizeof *s->hashes, err));
    s->key.size = 0;
    HUB_TRY(hub_buf_add_view(&s->key, key, err));
    s->hashes[s->samples++] = hub_hash(HUB_HASH_START, key.data, key.size);
    return HUB_OK;
}

static enum hub_status tell_member(struct shard *s, const struct hub_tar_member *m, const char *code,
                                   const char *why, struct hub_error *err)
{
    return hub_sink_problem(s->sink, code, s->path, err, "%.*s: %s", (int)HUB_MIN(m->name.size, 200),
                            m->name.data, why);
}

static enum hub_status take_pickle(struct shard *s, struct hub_view field, const struct hub_tar_member *m,
                                   struct hub_error *err)
{
    struct hub_error why = {0};
    const size_t end = sizeof ".pickle" - 1;
    const struct hub_view name = {field.data, field.size - end};
    struct hub_wds_pickled pickled = {&s->columns, s->files, &s->source, &s->pickle, s->samples - 1, m};
    const enum hub_status st = hub_wds_pickle_values(&pickled, name, &why);
    if (hub_is_local(st))
        return tell_member(s, m, "bad-pickle", why.detail, err);
    return st ? hub_pass(st, &why, err) : HUB_OK;
}

static enum hub_status take_plain(struct shard *s, struct hub_view field, const struct hub_tar_member *m,
                                  struct hub_error *err)
{
    struct hub_wds_column *column;
    struct hub_wds_value value;
    struct hub_error why = {0};
    uint32_t row;
    HUB_TRY(hub_wds_column(&s->columns, field, s->samples - 1, &column, err));
    if (hub_wds_has(column, s->samples - 1, 1, &row))
        return tell_member(s, m, "repeated-field", "the sample has this field already", err);
    const enum hub_status st = hub_wds_member_value(&s->source, field, m, &value, &why);
    if (!st)
        return hub_wds_give(&s->columns, column, s->samples - 1, &value, err);
    if (!hub_is_local(st))
        return hub_pass(st, &why, err);
    hub_wds_spoil(column, "%.100s", why.detail);
    return HUB_OK;
}

static enum hub_status take_member(struct shard *s, const struct hub_tar_member *m, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf field = HUB_BUF_INIT(HUB_TAR_MAX_NAME);
    struct hub_view key, ext;
    if (!m->regular || hub_view_is(m->name, WDS_METADATA))
        return HUB_OK;
    if (!hub_wds_split(m->name, &key, &ext)) {
        s->skipped++;
        return HUB_OK;
    }
    if (s->samples == 0 || !hub_view_equal(key, hub_buf_view(&s->key)))
        HUB_TRY(begin_sample(s, key, err));
    HUB_TRY(hub_buf_add_view(&field, ext, err));
    for (size_t i = 0; i < field.size; i++)
        if (field.data[i] >= 'A' && field.data[i] <= 'Z')
            field.data[i] = (char)(field.data[i] - 'A' + 'a');
    if (s->frames && hub_view_ends(hub_buf_view(&field), ".pickle"))
        return take_pickle(s, hub_buf_view(&field), m, err);
    return take_plain(s, hub_buf_view(&field), m, err);
}

/* A shard that is cut short or damaged is read up to there. */
static enum hub_status walk(struct shard *s, struct hub_error *err)
{
    bool first = true;
    for (;;) {
        struct hub_tar_member m;
        bool end = false;
        const enum hub_status st = hub_tar_next(&s->tar, &m, &end, &s->cut);
        if (st && !hub_is_local(st))
            return hub_fail(err, st, "%s", s->cut.detail);
        if (st || end)
            return HUB_OK;
        if (first)
            s->frames = hub_view_is(m.name, WDS_METADATA);
        first = false;
        HUB_TRY(take_member(s, &m, err));
    }
}

/* ---- problems of the whole shard ---- */

static uint32_t repeated_keys(struct shard *s)
{
    uint32_t n = 0;
    if (s->samples)
        qsort(s->hashes, s->samples, sizeof *s->hashes, hub_by_i64);
    for (uint32_t i = 1; i < s->samples; i++)
        n += s->hashes[i] == s->hashes[i - 1];
    return n;
}

static enum hub_status tell_shard(struct shard *s, struct hub_error *err)
{
    const uint32_t again = repeated_keys(s);
    if (s->cut.detail[0])
        HUB_TRY(hub_sink_problem(s->sink, "damaged-shard", s->path, err, "read up to its damage: %s",
                                 s->cut.detail));
    else if (s->tar.unterminated)
        HUB_TRY(hub_sink_problem(s->sink, "unterminated-shard", s->path, err,
                                 "the archive has no end: what followed its last member may be lost"));
    if (s->tar.trailing)
        HUB_TRY(hub_sink_problem(s->sink, "trailing-bytes", s->path, err,
                                 "bytes after the archive's end are not read"));
    if (again)
        HUB_TRY(hub_sink_problem(s->sink, "repeated-key", s->path, err,
                                 "%u samples have the key of an earlier one", again));
    if (s->skipped)
        HUB_TRY(hub_sink_problem(s->sink, "skipped-members", s->path, err, "%u members belong to no sample",
                                 s->skipped));
    return HUB_OK;
}

/* ---- episodes ---- */

static const struct hub_wds_column *find_column(const struct shard *s, const char *path)
{
    for (uint32_t i = 0; i < s->columns.count; i++)
        if (strcmp(s->columns.items[i].path, path) == 0)
            return &s->columns.items[i];
    return NULL;
}

static enum hub_status send_episode(struct shard *s, struct hub_wds_window *w, const char *attributes,
                                    unsigned number, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(4 * KIB), splits = HUB_BUF_INIT(4 * KIB);
    const struct hub_wds_column *rewards = s->frames ? find_column(s, "rews") : NULL;
    const struct hub_view stem = hub_wds_stem(s->path);
    struct hub_episode e = {
        .number = -1, .file = s->file, .steps = w->count, .success = -1, .terminated = -1, .truncated = -1};
    uint32_t row;
    HUB_TRY(hub_buf_addf(&name, err, s->frames ? "%.*s/%u" : "%.*s", (int)HUB_MIN(stem.size, 200), stem.data,
                         number));
    e.name = hub_buf_view(&name);
    if (s->split.size)
        HUB_TRY(hub_buf_addf(&splits, err, "[\"%.*s\"]", (int)s->split.size, s->split.data));
    e.splits = hub_buf_view(&splits);
    e.attributes = hub_view_of(attributes);
    if (rewards && rewards->sample.held && hub_wds_has(rewards, w->first, w->count, &row)) {
        for (uint32_t i = 0; i < w->count; i++)
            e.episode_return += hub_wds_number(rewards, w->first + i);
        e.has_return = e.return_computed = isfinite(e.episode_return);
        e.episode_return = e.has_return ? e.episode_return : 0;
    }
    return hub_sink_episode(s->sink, &e, &w->episode, err);
}

/* Frames are cut where dones is true; what follows the last one is an episode that nobody ended. */
static enum hub_status send_frames(struct shard *s, struct hub_wds_window *windows, uint32_t *count,
                                   struct hub_error *err)
{
    const struct hub_wds_column *dones = find_column(s, "dones");
    const bool known = dones && dones->sample.held;
    uint32_t start = 0;
    for (uint32_t i = 0; known && i < s->samples; i++) {
        if (hub_wds_number(dones, i) == 0)
            continue;
        windows[*count] = (struct hub_wds_window){.first = start, .count = i + 1 - start};
        HUB_TRY(send_episode(s, &windows[*count], "", *count, err));
        start = i + 1;
        ++*count;
    }
    if (start == s->samples)
        return HUB_OK;
    if (*count == 0)
        HUB_TRY(hub_sink_problem(s->sink, "boundary-unknown", s->path, err,
                                 "no frame is marked as the last of an episode: all %u are one", s->samples));
    windows[*count] = (struct hub_wds_window){.first = start, .count = s->samples - start};
    HUB_TRY(send_episode(s, &windows[*count],
                         *count ? "{\"boundary\":\"open\"}" : "{\"boundary\":\"unknown\"}", *count, err));
    ++*count;
    return HUB_OK;
}

/* Where the archive ends too early the last sample may lack members: it is left out, so that the fields stay
 * even. */
static void drop_half_sample(struct shard *s)
{
    bool half = false;
    uint32_t row;
    for (uint32_t i = 0; i < s->columns.count; i++)
        half |= s->samples > 1 && hub_wds_has(&s->columns.items[i], s->samples - 2, 1, &row) &&
                !hub_wds_has(&s->columns.items[i], s->samples - 1, 1, &row);
    if (!half || (!s->cut.detail[0] && !s->tar.unterminated))
        return;
    s->samples--;
    hub_wds_trim(&s->columns, s->samples);
}

static enum hub_status report(struct shard *s, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_wds_window *windows = calloc((size_t)s->samples + 1, sizeof *windows);
    uint32_t count = 0;
    HUB_TRY(hub_allocated(windows, err));
    if (s->samples == 0 && s->cut.detail[0])
        return hub_fail(err, HUB_CORRUPT, "%s", s->cut.detail);
    drop_half_sample(s);
    HUB_TRY(tell_shard(s, err));
    if (s->frames) {
        HUB_TRY(send_frames(s, windows, &count, err));
    } else {
        windows[0].count = s->samples;
        HUB_TRY(send_episode(s, &windows[0], "", 0, err));
        count = 1;
    }
    return hub_wds_finish(&s->columns, s->files, s->sink, s->samples, windows, count, err);
}

/* What is compressed is unpacked to side data, whose tar is read like any other. */
static enum hub_status open_shard(struct shard *s, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(0);
    struct hub_source file;
    struct hub_packed packed = {.source = &file};
    struct hub_unpacked out = {0};
    uint8_t magic[4];
    size_t got;
    hub_source_file(&file, s->files, s->file);
    HUB_TRY(hub_source_usable(&file, err));
    HUB_TRY(hub_files_read(s->files, s->file, 0, magic, sizeof magic, &got, err));
    packed.size = file.size;
    packed.packing = hub_packing_of(magic, got);
    hub_source_file(&s->source, s->files, s->file);
    if (packed.packing) {
        struct hub_error why = {0};
        const enum hub_status st = hub_unpack(&packed, s->files, &head, &out, &why);
        if (st == HUB_TOO_BIG)
            return hub_fail(
                err, st, "too large to be unpacked here: unpack it to .tar, which is read in place (%.80s)",
                why.detail);
        if (st)
            return hub_pass(st, &why, err);
        hub_source_side(&s->source, s->files, out.offset + out.size);
    }
    hub_tar_init(&s->tar, &s->source);
    s->tar.at = out.offset;
    return HUB_OK;
}

static void dispose(struct shard *s)
{
    hub_tar_dispose(&s->tar);
    hub_pickle_dispose(&s->pickle);
    hub_wds_dispose(&s->columns);
    hub_buf_dispose(&s->key);
    free(s->hashes);
}

enum hub_status hub_wds_inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                                struct hub_error *err)
{
    HUB_CLEANUP(dispose)
    struct shard s = {
        .files = files, .sink = sink, .split = part->hint, .key = HUB_BUF_INIT(HUB_TAR_MAX_NAME)};
    hub_pickle_init(&s.pickle);
    if (part->file_count != 1)
        return hub_fail(err, HUB_INVALID, "a shard is one file");
    s.file = part->files[0];
    s.path = files->entries[s.file].path;
    HUB_TRY(open_shard(&s, err));
    HUB_TRY(walk(&s, err));
    return report(&s, err);
}
