/*
 * The shards of a part. Plain webdataset: a shard is an episode, its samples are the steps, fields are
 * distinguished by extension; JSON is given as text. A shard of il-representations (its first member is
 * _metadata.meta.pickle) holds frames of pickles: episodes end where `dones` is true, be it in the next
 * shard, arrays are rows where they lie in the file, scalars are gathered in side data.
 */
#include "storage/base/order.h"
#include "storage/formats/webdataset/webdataset.h"

#include <stdio.h>
#include <stdlib.h>

/* The samples of one shard of a part. */
struct span {
    uint32_t first, file;
    bool joined; /* its first frame is the one behind the last of the shard before */
};

struct wds_shard {
    struct hub_files *files;
    struct hub_sink *sink;
    struct hub_view path, split;
    uint32_t file; /* its number */
    struct span *spans;
    uint32_t span_count, span_capacity;
    bool gap; /* the shard before is not all there */
    struct hub_byte_source source;
    struct hub_tar tar;
    struct hub_pickle pickle;
    struct hub_wds_columns columns;
    bool frames;        /* of il-representations */
    bool demos;         /* its samples are whole demonstrations, and reported */
    bool beside;        /* the current sample has members that are none */
    uint32_t reported;  /* episodes of demonstrations */
    struct hub_buf key; /* of the current sample */
    uint32_t samples;
    struct hub_wds_windows windows; /* of the episodes */
    unsigned in_span;               /* of them that began in the span of the last one, before it */
    uint64_t *hashes;               /* of the samples' keys */
    uint32_t hash_capacity;
    uint32_t skipped;
    struct hub_error cut; /* why the archive ends early */
};

/* ---- samples ---- */

/* "frame_1000" is the one behind "frame_999". */
static bool follows(struct hub_view key, struct hub_view next)
{
    const size_t a = hub_wds_digits(key), b = hub_wds_digits(next);
    uint64_t numbers[2] = {0};
    if (!a || !b || a > 18 || b > 18 || key.size - a != next.size - b ||
        memcmp(key.data, next.data, key.size - a) != 0)
        return false;
    for (size_t i = key.size - a; i < key.size; i++)
        numbers[0] = numbers[0] * 10 + (unsigned)(key.data[i] - '0');
    for (size_t i = next.size - b; i < next.size; i++)
        numbers[1] = numbers[1] * 10 + (unsigned)(next.data[i] - '0');
    return numbers[1] == numbers[0] + 1;
}

static struct span *last_span(const struct wds_shard *s)
{
    return &s->spans[s->span_count - 1];
}

/* In which shard a sample is. */
static const struct span *span_of(const struct wds_shard *s, uint32_t sample)
{
    const struct span *at = s->spans;
    while (at + 1 < s->spans + s->span_count && at[1].first <= sample)
        at++;
    return at;
}

static enum hub_status add_window(struct wds_shard *s, const struct hub_wds_window *window,
                                  struct hub_error *err)
{
    struct hub_wds_windows *w = &s->windows;
    HUB_TRY(hub_grow(&w->items, w->count, &w->capacity, sizeof *w->items, err));
    w->items[w->count++] = *window;
    return HUB_OK;
}

/* A demonstration of this sample was reported. */
static enum hub_status add_reported(struct wds_shard *s, uint32_t sample, struct hub_error *err)
{
    return add_window(s, &(struct hub_wds_window){s->reported++, sample, 1}, err);
}

/* Among demonstrations a sample without one is an episode of no steps, so that what it has is seen. */
static enum hub_status end_sample(struct wds_shard *s, struct hub_error *err)
{
    const struct hub_view key = hub_buf_view(&s->key);
    const uint32_t sample = s->samples - 1;
    const bool shown = s->windows.count && s->windows.items[s->windows.count - 1].first == sample;
    if (!s->demos || !s->beside || shown)
        return HUB_OK;
    const struct hub_episode e =
        hub_episode_of((struct hub_view){key.data, HUB_MIN(key.size, 230)}, span_of(s, sample)->file, 0);
    s->beside = false;
    HUB_TRY(hub_sink_episode(s->sink, &e, &s->reported, err));
    return add_reported(s, sample, err);
}

static enum hub_status begin_sample(struct wds_shard *s, struct hub_view key, struct hub_error *err)
{
    if (s->samples == WDS_MAX_SAMPLES)
        return hub_fail(err, HUB_TOO_BIG, "more than %d samples in a shard", WDS_MAX_SAMPLES);
    HUB_TRY(hub_grow(&s->hashes, s->samples, &s->hash_capacity, sizeof *s->hashes, err));
    if (s->samples && last_span(s)->first == s->samples)
        last_span(s)->joined = s->frames && !s->gap && follows(hub_buf_view(&s->key), key);
    HUB_TRY(end_sample(s, err));
    s->beside = false;
    s->key.size = 0;
    HUB_TRY(hub_buf_add_view(&s->key, key, err));
    s->hashes[s->samples++] = hub_hash(HUB_HASH_START, key.data, key.size);
    return HUB_OK;
}

static enum hub_status report_member(struct wds_shard *s, const struct hub_tar_member *m, const char *code,
                                     const char *why, struct hub_error *err)
{
    return hub_sink_problem(s->sink, code, s->path, err, "%.*s: %s", (int)HUB_MIN(m->name.size, 200),
                            m->name.data, why);
}

static enum hub_status take_pickle(struct wds_shard *s, struct hub_view field, const struct hub_tar_member *m,
                                   struct hub_error *err)
{
    struct hub_error why = {0};
    const size_t end = sizeof ".pickle" - 1;
    const struct hub_view name = {field.data, field.size - end};
    struct hub_wds_pickled pickled = {&s->columns,    s->files, &s->source, &s->pickle,
                                      s->samples - 1, m,        false};
    const enum hub_status st = hub_wds_pickle_values(&pickled, name, &why);
    if (hub_is_local(st))
        return report_member(s, m, "bad-pickle", why.detail, err);
    return st ? hub_pass(st, &why, err) : HUB_OK;
}

static struct hub_wds_container container_of(struct wds_shard *s, struct hub_view field,
                                             const struct hub_tar_member *m)
{
    return (struct hub_wds_container){.columns = &s->columns,
                                      .files = s->files,
                                      .sink = s->sink,
                                      .source = &s->source,
                                      .pickle = &s->pickle,
                                      .key = hub_buf_view(&s->key),
                                      .field = field,
                                      .member = m,
                                      .file = s->file,
                                      .row = s->samples - 1};
}

/* A text, a picture, or the bytes it is. */
static enum hub_status take_bytes(struct wds_shard *s, struct hub_view field, const struct hub_tar_member *m,
                                  struct hub_error *err)
{
    struct hub_wds_column *column;
    struct hub_wds_value value;
    HUB_TRY(hub_wds_column(&s->columns, field, s->samples - 1, &column, err));
    hub_wds_member_value(&s->source, field, m, &value);
    return hub_wds_give(&s->columns, column, s->samples - 1, &value, err);
}

/* One that cannot be read is reported, and stored as the bytes it is. */
static enum hub_status take_container(struct wds_shard *s, struct hub_view field,
                                      const struct hub_tar_member *m, struct hub_error *err)
{
    const struct hub_wds_container c = container_of(s, field, m);
    struct hub_error why = {0};
    const enum hub_status st = hub_wds_give_container(&c, &why);
    if (!hub_is_local(st))
        return st ? hub_pass(st, &why, err) : HUB_OK;
    HUB_TRY(report_member(s, m, "bad-member", why.detail, err));
    return take_bytes(s, field, m, err);
}

/* A shard whose first sample is a demonstration has such in its others. */
static enum hub_status take_demos(struct wds_shard *s, struct hub_view field, const struct hub_tar_member *m,
                                  bool *found, struct hub_error *err)
{
    const struct hub_wds_container c = container_of(s, field, m);
    struct hub_error why = {0};
    uint32_t episodes;
    *found = false;
    if (!hub_wds_is_container(field))
        return HUB_OK;
    const enum hub_status st = hub_wds_report_demos(&c, &episodes, &why);
    if (st && !hub_is_local(st))
        return hub_pass(st, &why, err);
    *found = episodes || (st && s->demos);
    for (; episodes; episodes--)
        HUB_TRY(add_reported(s, s->samples - 1, err));
    if (!st || !*found)
        return HUB_OK; /* else it is reported where it is a field */
    return report_member(s, m, "unreadable-episode", why.detail, err);
}

static enum hub_status take_plain(struct wds_shard *s, struct hub_view field, const struct hub_tar_member *m,
                                  struct hub_error *err)
{
    const struct hub_wds_column *column = hub_wds_find(&s->columns, field);
    uint32_t row;
    if (column && hub_wds_has(column, s->samples - 1, 1, &row))
        return report_member(s, m, "repeated-field", "the sample has this field already", err);
    return hub_wds_is_container(field) || hub_wds_is_npy(field) ? take_container(s, field, m, err)
                                                                : take_bytes(s, field, m, err);
}

static enum hub_status take_member(struct wds_shard *s, const struct hub_tar_member *m, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf field = HUB_BUF_INIT(HUB_TAR_MAX_NAME);
    struct hub_view key, ext;
    if (!m->regular || hub_view_is(m->name, WDS_METADATA))
        return HUB_OK;
    if (!hub_wds_split(m->name, &key, &ext)) {
        s->skipped++;
        return HUB_OK;
    }
    if (s->samples == last_span(s)->first || !hub_view_equal(key, hub_buf_view(&s->key)))
        HUB_TRY(begin_sample(s, key, err));
    HUB_TRY(hub_buf_add_view(&field, ext, err));
    for (size_t i = 0; i < field.size; i++)
        if (field.data[i] >= 'A' && field.data[i] <= 'Z')
            field.data[i] = (char)(field.data[i] - 'A' + 'a');
    const struct hub_view name = hub_buf_view(&field);
    bool found = false;
    if (s->frames && hub_view_ends(name, ".pickle"))
        return take_pickle(s, name, m, err);
    if (!s->frames && (s->demos || s->samples == 1))
        HUB_TRY(take_demos(s, name, m, &found, err));
    s->demos = s->demos || found;
    s->beside = s->beside || !found;
    return found ? HUB_OK : take_plain(s, name, m, err);
}

/* A shard that is cut short or damaged is read up to there. */
static enum hub_status walk(struct wds_shard *s, struct hub_error *err)
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
        if (first && s->samples == 0)
            s->frames = hub_wds_is_frame(m.name);
        first = false;
        HUB_TRY(take_member(s, &m, err));
    }
}

/* ---- problems of the whole shard ---- */

static uint32_t repeated_keys(struct wds_shard *s)
{
    const uint32_t first = last_span(s)->first;
    uint32_t n = 0;
    if (s->samples > first)
        qsort(s->hashes + first, s->samples - first, sizeof *s->hashes, hub_by_i64);
    for (uint32_t i = first + 1; i < s->samples; i++)
        n += s->hashes[i] == s->hashes[i - 1];
    return n;
}

static enum hub_status report_shard(struct wds_shard *s, struct hub_error *err)
{
    const uint32_t again = repeated_keys(s);
    if (s->cut.detail[0])
        HUB_TRY(hub_sink_problem(s->sink, "damaged-shard", s->path, err, "read up to its damage: %s",
                                 s->cut.detail));
    else if (s->tar.unterminated)
        HUB_TRY(hub_sink_problem(s->sink, "unterminated-shard", s->path, err,
                                 "the archive has no end mark: members after the last one may be lost"));
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

static const struct hub_wds_column *find_column(const struct wds_shard *s, const char *path)
{
    for (uint32_t i = 0; i < s->columns.count; i++)
        if (strcmp(s->columns.items[i].path, path) == 0)
            return &s->columns.items[i];
    return NULL;
}

/* The sum of the rewards, where each step has one. */
static void add_return(const struct wds_shard *s, const struct hub_wds_window *w, struct hub_episode *e)
{
    const struct hub_wds_column *rewards = s->frames ? find_column(s, "rews") : NULL;
    uint32_t row;
    if (!rewards || !rewards->sample.held || !hub_wds_has(rewards, w->first, w->count, &row))
        return;
    double sum = 0;
    for (uint32_t i = 0; i < w->count; i++)
        sum += hub_wds_number(rewards, w->first + i);
    hub_episode_sum(e, &sum, 1);
}

/* Named after the shard it begins in; `number`: in that shard. */
static enum hub_status send_episode(struct wds_shard *s, struct hub_wds_window *w, const char *attributes,
                                    unsigned number, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(4 * KIB), splits = HUB_BUF_INIT(4 * KIB);
    const uint32_t file = span_of(s, w->first)->file;
    const struct hub_view stem = hub_wds_stem(s->files->entries[file].path);
    HUB_TRY(hub_buf_addf(&name, err, s->frames ? "%.*s/%u" : "%.*s", (int)HUB_MIN(stem.size, 200), stem.data,
                         number));
    struct hub_episode e = hub_episode_of(hub_buf_view(&name), file, w->count);
    HUB_TRY(hub_json_one(s->split, &splits, err));
    e.splits = hub_buf_view(&splits);
    e.attributes = hub_view_of(attributes);
    add_return(s, w, &e);
    return hub_sink_episode(s->sink, &e, &w->episode, err);
}

static enum hub_status cut(struct wds_shard *s, uint32_t first, uint32_t end, const char *attributes,
                           struct hub_error *err)
{
    struct hub_wds_window w = {.first = first, .count = end - first};
    const struct hub_wds_windows *all = &s->windows;
    const bool same = all->count && span_of(s, all->items[all->count - 1].first) == span_of(s, first);
    s->in_span = same ? s->in_span + 1 : 0;
    HUB_TRY(send_episode(s, &w, attributes, s->in_span, err));
    return add_window(s, &w, err);
}

/* Frames that follow each other, be it from shard to shard, are cut where dones is true; what follows the
 * last one is an episode that nobody ended. */
static enum hub_status cut_run(struct wds_shard *s, uint32_t first, uint32_t end, struct hub_error *err)
{
    const struct hub_wds_column *dones = find_column(s, "dones");
    const bool known = dones && dones->sample.held;
    uint32_t start = first;
    for (uint32_t i = first; known && i < end; i++) {
        if (hub_wds_number(dones, i) == 0)
            continue;
        HUB_TRY(cut(s, start, i + 1, "", err));
        start = i + 1;
    }
    if (start == end)
        return HUB_OK;
    if (start == first)
        HUB_TRY(hub_sink_problem(s->sink, "boundary-unknown", s->files->entries[span_of(s, first)->file].path,
                                 err, "no frame is marked as the last of an episode: all %u are one",
                                 end - first));
    return cut(s, start, end, start > first ? "{\"boundary\":\"open\"}" : "{\"boundary\":\"unknown\"}", err);
}

static enum hub_status send_frames(struct wds_shard *s, struct hub_error *err)
{
    for (uint32_t i = 0, next; i < s->span_count; i = next) {
        for (next = i + 1; next < s->span_count && s->spans[next].joined;)
            next++;
        HUB_TRY(cut_run(s, s->spans[i].first, next < s->span_count ? s->spans[next].first : s->samples, err));
    }
    return HUB_OK;
}

/* Where the archive ends too early the last sample may lack members: it is left out, so that the fields stay
 * even. */
static void drop_half_sample(struct wds_shard *s)
{
    bool half = false;
    uint32_t row;
    for (uint32_t i = 0; i < s->columns.count; i++)
        half |= s->samples > last_span(s)->first + 1 &&
                hub_wds_has(&s->columns.items[i], s->samples - 2, 1, &row) &&
                !hub_wds_has(&s->columns.items[i], s->samples - 1, 1, &row);
    s->gap = s->cut.detail[0] || (half && s->tar.unterminated);
    if (!half || !s->gap || s->demos)
        return;
    s->samples--;
    hub_wds_trim(&s->columns, s->samples);
}

static enum hub_status report(struct wds_shard *s, struct hub_error *err)
{
    struct hub_wds_windows *w = &s->windows;
    w->axis = s->demos ? HUB_AXIS_NONE : HUB_AXIS_STEP;
    if (s->demos)
        HUB_TRY(end_sample(s, err));
    else
        HUB_TRY(s->frames ? send_frames(s, err) : cut(s, 0, s->samples, "", err));
    w->samples = s->samples;
    return hub_wds_finish(&s->columns, s->files, s->sink, w, err);
}

/* What is compressed is unpacked to side data, whose tar is read like any other. */
static enum hub_status open_shard(struct wds_shard *s, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(0);
    struct hub_byte_source file;
    struct hub_packed packed = {.source = &file};
    struct hub_inflated out = {0};
    uint8_t magic[4];
    size_t got;
    hub_byte_source_file(&file, s->files, s->file);
    HUB_TRY(hub_byte_source_usable(&file, err));
    HUB_TRY(hub_files_read(s->files, s->file, 0, magic, sizeof magic, &got, err));
    packed.size = file.size;
    packed.packing = hub_packing_of(magic, got);
    hub_byte_source_file(&s->source, s->files, s->file);
    if (packed.packing) {
        struct hub_error why = {0};
        const enum hub_status st = hub_unpack(&packed, s->files, &head, &out, &why);
        if (st == HUB_TOO_BIG)
            return hub_fail(
                err, st, "too large to be unpacked here: unpack it to .tar, which is read in place (%.80s)",
                why.detail);
        if (st)
            return hub_pass(st, &why, err);
        hub_byte_source_side(&s->source, s->files, out.offset + out.size);
    }
    hub_tar_dispose(&s->tar);
    hub_tar_init(&s->tar, &s->source);
    s->tar.at = out.offset;
    return HUB_OK;
}

static enum hub_status begin_span(struct wds_shard *s, uint32_t file, struct hub_error *err)
{
    if (s->span_count && last_span(s)->first == s->samples)
        s->span_count--; /* an empty one */
    HUB_TRY(hub_grow(&s->spans, s->span_count, &s->span_capacity, sizeof *s->spans, err));
    s->spans[s->span_count++] = (struct span){s->samples, file, false};
    s->file = file;
    s->path = s->files->entries[file].path;
    s->skipped = 0;
    s->cut = (struct hub_error){0};
    return HUB_OK;
}

/* One shard of several that cannot be read hides no other. */
static enum hub_status read_shard(struct wds_shard *s, uint32_t file, bool alone, struct hub_error *err)
{
    struct hub_error why = {0};
    HUB_TRY(begin_span(s, file, err));
    const enum hub_status st = open_shard(s, &why);
    if (st && (alone || !hub_is_local(st)))
        return hub_pass(st, &why, err);
    s->gap = s->gap || st;
    if (st)
        return hub_sink_problem(s->sink, "damaged-shard", s->path, err, "not read: %s", why.detail);
    HUB_TRY(walk(s, err));
    if (alone && s->samples == 0 && s->cut.detail[0])
        return hub_fail(err, HUB_CORRUPT, "%s", s->cut.detail);
    drop_half_sample(s);
    return report_shard(s, err);
}

static void dispose(struct wds_shard *s)
{
    hub_tar_dispose(&s->tar);
    hub_pickle_dispose(&s->pickle);
    hub_wds_dispose(&s->columns);
    hub_buf_dispose(&s->key);
    free(s->hashes);
    free(s->spans);
    free(s->windows.items);
}

enum hub_status hub_wds_inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                                struct hub_error *err)
{
    HUB_CLEANUP(dispose)
    struct wds_shard s = {
        .files = files, .sink = sink, .split = part->hint, .key = HUB_BUF_INIT(HUB_TAR_MAX_NAME)};
    HUB_CLEANUP(hub_freep) uint32_t *shards = calloc((size_t)part->file_count + 1, sizeof *shards);
    HUB_TRY(hub_allocated(shards, err));
    hub_pickle_init(&s.pickle);
    if (part->file_count == 0)
        return hub_fail(err, HUB_INVALID, "a part has a shard");
    memcpy(shards, part->files, part->file_count * sizeof *shards);
    HUB_TRY(hub_wds_order(files, shards, part->file_count, err));
    for (uint32_t i = 0; i < part->file_count; i++)
        HUB_TRY(read_shard(&s, shards[i], part->file_count == 1, err));
    return report(&s, err);
}
