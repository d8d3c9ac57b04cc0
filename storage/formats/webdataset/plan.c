/*
 * The plan of a dataset of tar shards: what describes it, and its parts. A part is one shard; of
 * il-representations it is as many as may hold one episode: a shard whose frames go on counting where another
 * ended continues it.
 */
#include "storage/formats/webdataset/webdataset.h"
#include "storage/text/utf8.h"

#include <stdlib.h>

#define MAX_METADATA (4 * MIB)
#define MAX_CHAIN_BYTES (32 * GIB)
enum { MAX_CHAIN = 256, MAX_PACKED_CHAIN = 8, MAX_LOOK = 16, MAX_PLACE = 16 * 1024 };

struct wds_plan_state {
    struct hub_files *files;
    struct hub_sink *sink;
    uint32_t shards, refused, first, parts;
    bool several; /* series: each is a split */
    bool frames;  /* of il-representations */
};

static void count_shards(struct wds_plan_state *p)
{
    struct hub_view series = {NULL, 0};
    p->first = HUB_NONE;
    for (uint32_t i = 0; i < p->files->count; i++) {
        const struct hub_wds_shard shard = hub_wds_shard_of(p->files->entries[i].path);
        p->refused += shard.packing == HUB_WDS_REFUSED;
        if (shard.packing == HUB_WDS_NOT || shard.packing == HUB_WDS_REFUSED)
            continue;
        if (p->shards++ == 0)
            p->first = i;
        else if (!hub_view_equal(series, shard.series))
            p->several = true;
        series = shard.series;
    }
}

/* The first member of the first shard, which may be packed. */
static enum hub_status read_metadata(struct wds_plan_state *p, struct hub_byte_source *source,
                                     struct hub_buf *json, bool *found, struct hub_error *err)
{
    HUB_CLEANUP(hub_tar_dispose) struct hub_tar tar;
    HUB_CLEANUP(hub_pickle_dispose) struct hub_pickle pickle;
    struct hub_tar_member m;
    bool end = false;
    hub_tar_init(&tar, source);
    hub_pickle_init(&pickle);
    tar.beginning = true;
    const bool there = !hub_tar_next(&tar, &m, &end, NULL) && !end;
    p->frames = there && hub_wds_is_frame(m.name);
    *found = there && hub_view_is(m.name, WDS_METADATA);
    if (!*found)
        return HUB_OK;
    HUB_TRY(hub_pickle_read(&pickle, source, m.offset, m.size, err));
    return hub_pickle_json(&pickle, source, pickle.root, json, err);
}

/* ".../demos/magical/move-to-corner": kind, benchmark and task of il-representations' folders, where
 * nothing in the shards says them. */
static enum hub_status send_folder_names(const struct wds_plan_state *p, struct hub_error *err)
{
    static const char *const kinds[] = {"demos", "random"};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MAX_PLACE);
    struct hub_view above = p->files->place, names[3] = {{NULL, 0}};
    for (int i = 2; i >= 0 && above.size; i--) {
        names[i] = hub_view_behind(above, '/');
        above.size -= HUB_MIN(above.size, names[i].size + 1);
    }
    bool known = names[1].size && names[2].size;
    known = known && (hub_view_is(names[0], kinds[0]) || hub_view_is(names[0], kinds[1]));
    if (!known || !hub_utf8_valid(names[1]) || !hub_utf8_valid(names[2]))
        return HUB_OK;
    struct hub_json json = hub_json_to(&text, err);
    hub_json_object(&json);
    hub_json_key(&json, HUB_VIEW("kind"));
    hub_json_string(&json, names[0]);
    hub_json_key(&json, HUB_VIEW("benchmark"));
    hub_json_string(&json, names[1]);
    hub_json_key(&json, HUB_VIEW("task"));
    hub_json_string(&json, names[2]);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_sink_fact(p->sink, "metadata", hub_buf_view(&text), err);
}

static enum hub_status send_metadata(struct wds_plan_state *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf json = HUB_BUF_INIT((size_t)HUB_MAX_TEXT);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(MAX_METADATA);
    struct hub_byte_source source, memory;
    struct hub_error why = {0};
    bool found = false;
    hub_byte_source_file(&source, p->files, p->first);
    const struct hub_packed packed = hub_wds_packed(&source);
    enum hub_status st = packed.packing ? hub_unpack_head(&packed, &head, &why) : HUB_OK;
    hub_byte_source_memory(&memory, head.data, head.size);
    if (!st)
        st = read_metadata(p, packed.packing ? &memory : &source, &json, &found, &why);
    if (st && !hub_is_local(st))
        return hub_pass(st, &why, err);
    if (st && found)
        return hub_sink_problem(p->sink, "bad-metadata", HUB_VIEW(WDS_METADATA), err, "%s", why.detail);
    return found ? hub_sink_fact(p->sink, "metadata", hub_buf_view(&json), err) : send_folder_names(p, err);
}

static bool printable(struct hub_view text)
{
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.data[i] < 0x20 || text.data[i] == '"' || text.data[i] == '\\')
            return false;
    return text.size > 0 && text.size < 200;
}

/* ---- parts ---- */

/* Nothing is in the way of reading it. */
static enum hub_status check_shard(struct wds_plan_state *p, uint32_t file, bool *usable,
                                   struct hub_error *err)
{
    const struct hub_view path = p->files->entries[file].path;
    const struct hub_wds_shard shard = hub_wds_shard_of(path);
    *usable = false;
    if (shard.packing == HUB_WDS_NOT)
        return HUB_OK;
    if (shard.packing == HUB_WDS_REFUSED)
        return hub_sink_problem(p->sink, "compressed-shard", path, err,
                                "bzip2 and xz are not read: unpack it to .tar");
    return hub_report_unusable(p->files, file, p->sink, "a shard that cannot be read", usable, err);
}

static enum hub_status send_part(struct wds_plan_state *p, const uint32_t *shards, uint32_t count,
                                 struct hub_error *err)
{
    const struct hub_view path = p->files->entries[shards[0]].path;
    struct hub_view split = hub_wds_series_name(hub_wds_shard_of(path).series);
    if (!p->several || !printable(split))
        split = HUB_VIEW("");
    p->parts++;
    return hub_sink_part(p->sink, &(struct hub_part){path, shards, count, split}, err);
}

/* The number of the first frame behind the metadata; 0 where there is none. */
static uint64_t first_frame(struct hub_byte_source *source)
{
    HUB_CLEANUP(hub_tar_dispose) struct hub_tar tar;
    struct hub_tar_member m;
    struct hub_view key, field;
    bool end = false;
    hub_tar_init(&tar, source);
    tar.beginning = true;
    for (unsigned i = 0; i < MAX_LOOK && !hub_tar_next(&tar, &m, &end, NULL) && !end; i++) {
        if (!m.regular || hub_view_is(m.name, WDS_METADATA) || !hub_wds_split(m.name, &key, &field))
            continue;
        const size_t digits = HUB_MIN(hub_wds_digits(key), (size_t)18);
        uint64_t number = 0;
        for (const char *at = key.data + key.size - digits; at < key.data + key.size; at++)
            number = number * 10 + (unsigned)(*at - '0');
        return number;
    }
    return 0;
}

static bool continues(struct wds_plan_state *p, uint32_t file)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(MIB);
    struct hub_byte_source source, memory;
    hub_byte_source_file(&source, p->files, file);
    const struct hub_packed packed = hub_wds_packed(&source);
    if (!packed.packing)
        return first_frame(&source) > 0;
    if (hub_unpack_head(&packed, &head, NULL))
        return false; /* its part says why */
    hub_byte_source_memory(&memory, head.data, head.size);
    return first_frame(&memory) > 0;
}

/* May the shard be one part with those before it? What is unpacked shares the room for it. */
static bool fits_behind(struct wds_plan_state *p, const uint32_t *shards, uint32_t count, uint64_t bytes)
{
    const struct hub_file_entry *last = &p->files->entries[shards[count - 1]];
    const struct hub_file_entry *next = &p->files->entries[shards[count]];
    const struct hub_wds_shard a = hub_wds_shard_of(last->path), b = hub_wds_shard_of(next->path);
    return p->frames && hub_view_equal(a.series, b.series) && a.packing == b.packing &&
           count < (b.packing == HUB_WDS_PACKED ? (uint32_t)MAX_PACKED_CHAIN : (uint32_t)MAX_CHAIN) &&
           bytes + next->size <= MAX_CHAIN_BYTES && continues(p, shards[count]);
}

static enum hub_status send_parts(struct wds_plan_state *p, uint32_t *shards, struct hub_error *err)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->files->count; i++) {
        bool usable;
        HUB_TRY(check_shard(p, i, &usable, err));
        if (usable)
            shards[count++] = i;
    }
    if (p->frames)
        HUB_TRY(hub_wds_order(p->files, shards, count, err));
    for (uint32_t i = 0, n; i < count; i += n) {
        uint64_t bytes = p->files->entries[shards[i]].size;
        for (n = 1; i + n < count && fits_behind(p, shards + i, n, bytes); n++)
            bytes += p->files->entries[shards[i + n]].size;
        HUB_TRY(send_part(p, shards + i, n, err));
    }
    return HUB_OK;
}

enum hub_status hub_wds_plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint32_t *shards = calloc((size_t)files->count + 1, sizeof *shards);
    struct wds_plan_state p = {.files = files, .sink = sink};
    HUB_TRY(hub_allocated(shards, err));
    count_shards(&p);
    if (p.shards == 0 && p.refused)
        return hub_fail(err, HUB_UNSUPPORTED, "shards compressed by bzip2 or xz: unpack them to .tar");
    if (p.shards == 0)
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "there are no tar shards");
    HUB_TRY(send_metadata(&p, err));
    HUB_TRY(send_parts(&p, shards, err));
    return p.parts ? HUB_OK : hub_files_usable(files, p.first, err);
}
