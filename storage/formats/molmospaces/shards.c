/*
 * MolmoSpaces' data as they are published (allenai/molmobot-data): tars of 2 GB of archives (.tar.zst), each
 * of some houses: house_H/trajectories_batch_B_of_N.h5 and the cameras' .mp4. A folder of such shards is one
 * dataset, be it of one split (00000.tar, 00001.tar, ...) or of several ({train,val,test}_shards/); a shard
 * is a part.
 *
 * Nothing in an archive has a place of its own in the shard. The files of trajectories are unpacked to side
 * data once, when the shard is inspected, and read there as those of molmospaces.c; videos stay packed, and
 * each says so.
 *
 * Problems: packed-videos, bad-archive, damaged-shard, and those of molmospaces.c.
 */
#include "storage/formats/molmospaces/molmospaces.h"
#include "storage/formats/tar.h"
#include "storage/formats/unpack.h"
#include "storage/text/utf8.h"

#include <stdlib.h>

enum { MAX_TRIED = 4, MAX_LOOK = 4, MAX_LOOK_WITHIN = 16 };

static const char *const folders[] = {"train_shards/", "val_shards/",
                                      "test_shards/"}; /* in the order of parts */
static const char *const archives[] = {".tar.zst", ".tar.gz", ".tgz", NULL};

/* ---- names ---- */

/* A shard by its name: where it stands among the folders, and its split; none in a folder of one split. */
static bool shard_of(struct hub_view path, unsigned *order, struct hub_view *split)
{
    *order = 0;
    *split = HUB_VIEW("");
    for (size_t i = 0; i < HUB_COUNT(folders); i++)
        if (hub_view_starts(path, folders[i])) {
            *order = (unsigned)i + 1;
            *split = (struct hub_view){path.data, strlen(folders[i]) - strlen("_shards/")};
            path = (struct hub_view){path.data + strlen(folders[i]), path.size - strlen(folders[i])};
        }
    return hub_view_ends(path, ".tar") && !memchr(path.data, '/', path.size);
}

/* The split of a folder of shards by its own name. */
static struct hub_view split_of_folder(struct hub_view folder)
{
    const struct hub_view name = hub_view_behind(folder, '/');
    for (size_t i = 0; i < HUB_COUNT(folders); i++)
        if (name.size + 1 == strlen(folders[i]) && memcmp(name.data, folders[i], name.size) == 0)
            return (struct hub_view){folders[i], name.size - strlen("_shards")};
    return HUB_VIEW("");
}

static struct hub_view without_dot(struct hub_view name)
{
    return hub_view_starts(name, "./") ? (struct hub_view){name.data + 2, name.size - 2} : name;
}

/* ---- archives ---- */

static enum hub_status open_archive(struct hub_byte_source *shard, const struct hub_tar_member *m,
                                    struct hub_tar *tar, struct hub_unpack_stream **stream,
                                    struct hub_error *err)
{
    struct hub_packed packed = {.source = shard, .offset = m->offset, .size = m->size};
    const uint8_t *head;
    size_t got;
    HUB_TRY(hub_byte_source_peek(shard, m->offset, (size_t)HUB_MIN(m->size, 4), &head, &got, err));
    packed.packing = hub_packing_of(head, got);
    if (packed.packing == HUB_PACKED_NOT)
        return hub_fail(err, HUB_CORRUPT, "neither zstd nor gzip");
    HUB_TRY(hub_unpack_stream_new(&packed, stream, err));
    hub_tar_begin(tar, hub_unpack_stream_read, *stream, UINT64_MAX);
    return HUB_OK;
}

static bool is_archive(const struct hub_tar_member *m)
{
    return m->regular && hub_ending_of(m->name, archives);
}

/* Do its first members belong to houses? */
static bool holds_houses(struct hub_byte_source *shard, const struct hub_tar_member *archive)
{
    HUB_CLEANUP(hub_unpack_stream_freep) struct hub_unpack_stream *stream = NULL;
    HUB_CLEANUP(hub_tar_dispose) struct hub_tar tar = {0};
    struct hub_tar_member m;
    struct molmo_location place;
    int64_t house;
    bool end = false, found = false;
    if (open_archive(shard, archive, &tar, &stream, NULL))
        return false;
    for (unsigned i = 0; i < MAX_LOOK_WITHIN && !found && !hub_tar_next(&tar, &m, &end, NULL) && !end; i++) {
        const struct hub_view name = without_dot(m.name);
        found = molmo_house_of(name, &house) || (molmo_location_of(name, &place) && place.batch >= 0);
    }
    return found;
}

static bool is_mine(struct hub_files *files, uint32_t number)
{
    HUB_CLEANUP(hub_tar_dispose) struct hub_tar tar = {0};
    struct hub_byte_source source;
    struct hub_tar_member m;
    bool end = false, found = false;
    hub_byte_source_file(&source, files, number);
    hub_tar_init(&tar, &source);
    for (unsigned i = 0; i < MAX_LOOK && !found && !hub_tar_next(&tar, &m, &end, NULL) && !end; i++)
        found = is_archive(&m) && holds_houses(&source, &m);
    return found;
}

/* ---- claim ---- */

/* Of a folder of shards all that is data are shards; one of several splits has their folders, be there tables
 * beside them. One that is damaged does not hide the others. */
static int claim(struct hub_files *listing)
{
    unsigned order, tried = 0;
    struct hub_view split;
    bool mine = false, split_up = false, others = false;
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct hub_file_entry *e = &listing->entries[i];
        const bool shard = !e->directory && shard_of(e->path, &order, &split);
        others = others || (!shard && (e->directory || hub_names_data(e->path)));
        if (!shard || mine || tried == MAX_TRIED)
            continue;
        tried++;
        mine = is_mine(listing, i);
        split_up = mine && order;
    }
    return mine && (split_up || !others) ? 70 : 0;
}

static int claim_files(struct hub_files *listing, struct hub_claim *claim)
{
    static const char *const endings[] = {".tar", NULL};
    return hub_claim_file(listing, claim, endings, is_mine, 70);
}

/* ---- plan ---- */

struct molmo_shard {
    unsigned order;
    struct hub_view split;
    uint32_t file;
};

static int by_split(const void *a, const void *b)
{
    const struct molmo_shard *x = a, *y = b;
    return x->order != y->order ? (x->order > y->order) - (x->order < y->order)
                                : hub_by_u32(&x->file, &y->file);
}

static enum hub_status plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct molmo_shard *shards = NULL;
    uint32_t count = 0, usable = 0;
    HUB_TRY(hub_new(&shards, (size_t)files->count + 1, sizeof *shards, err));
    for (uint32_t i = 0; i < files->count; i++) {
        struct molmo_shard *s = &shards[count];
        s->file = i;
        if (shard_of(files->entries[i].path, &s->order, &s->split))
            count++;
    }
    qsort(shards, count, sizeof *shards, by_split);
    for (uint32_t i = 0; i < count; i++) {
        const struct hub_view split = shards[i].order ? shards[i].split : split_of_folder(files->place);
        const struct hub_part part = {files->entries[shards[i].file].path, &shards[i].file, 1, split};
        bool readable;
        HUB_TRY(
            hub_report_unusable(files, shards[i].file, sink, "a shard that cannot be read", &readable, err));
        if (readable)
            HUB_TRY(hub_sink_part(sink, &part, err));
        usable += readable;
    }
    return usable  ? HUB_OK
           : count ? hub_files_usable(files, shards[0].file, err)
                   : hub_fail(err, HUB_NOT_ACCEPTABLE, "there are no shards");
}

/* ---- inspect ---- */

struct shard_reader {
    struct hub_files *files;
    struct hub_sink *sink;
    uint32_t shard;
    struct hub_view split;
    uint64_t videos;
    struct hub_tally bad; /* archives, and files in them */
};

/* A member of an archive, copied to the side data. */
static enum hub_status unpack_member(struct shard_reader *r, struct hub_unpack_stream *stream, uint64_t begin,
                                     struct molmo_packed *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint8_t *block = malloc(MIB); /* a multiple of 8, so that blocks adjoin */
    HUB_TRY(hub_allocated(block, err));
    for (uint64_t done = 0, at; done < out->size;) {
        const size_t size = (size_t)HUB_MIN(out->size - done, MIB);
        size_t got;
        HUB_TRY(hub_unpack_stream_read(stream, begin + done, block, size, &got, err));
        if (got < size)
            return hub_fail(err, HUB_CORRUPT, "the compressed data end too early");
        HUB_TRY(hub_files_side_add(r->files, block, size, &at, err));
        out->offset = done ? out->offset : at;
        done += size;
    }
    return HUB_OK;
}

/* A file of trajectories; what is wrong with it concerns it alone. */
static enum hub_status read_file(struct shard_reader *r, struct hub_unpack_stream *stream,
                                 struct hub_view archive, const struct hub_tar_member *m,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *path = hub_view_dup(without_dot(m->name));
    struct hub_error why = {0};
    struct molmo_packed packed = {.split = r->split, .shard = r->shard, .size = m->size};
    HUB_TRY(hub_allocated(path, err));
    packed.path = hub_view_of(path);
    enum hub_status st = unpack_member(r, stream, m->offset, &packed, &why);
    if (!st)
        st = molmo_inspect_packed(r->files, &packed, r->sink, &why);
    if (!hub_is_local(st))
        return st ? hub_pass(st, &why, err) : HUB_OK;
    hub_tally_add(&r->bad, "%.*s, %.60s: %.80s", (int)HUB_MIN(archive.size, 40), archive.data, path,
                  why.detail);
    return HUB_OK;
}

static enum hub_status read_archive(struct shard_reader *r, struct hub_byte_source *shard,
                                    const struct hub_tar_member *archive, struct hub_error *err)
{
    HUB_CLEANUP(hub_unpack_stream_freep) struct hub_unpack_stream *stream = NULL;
    HUB_CLEANUP(hub_tar_dispose) struct hub_tar tar = {0};
    struct hub_error why = {0};
    struct hub_tar_member m;
    struct molmo_location place;
    bool end = false;
    enum hub_status st = open_archive(shard, archive, &tar, &stream, &why);
    while (!st && !(st = hub_tar_next(&tar, &m, &end, &why)) && !end) {
        r->videos += m.regular && hub_view_ends(m.name, ".mp4");
        if (m.regular && m.size && hub_utf8_valid(m.name) && molmo_location_of(without_dot(m.name), &place))
            HUB_TRY(read_file(r, stream, archive->name, &m, err));
    }
    if (!hub_is_local(st))
        return st ? hub_pass(st, &why, err) : HUB_OK;
    hub_tally_add(&r->bad, "%.*s: %.120s", (int)HUB_MIN(archive->name.size, 60), archive->name.data,
                  why.detail);
    return HUB_OK;
}

static enum hub_status report_problem(const struct shard_reader *r, const struct hub_error *cut,
                                      struct hub_error *err)
{
    const struct hub_view path = r->files->entries[r->shard].path;
    if (cut->detail[0])
        HUB_TRY(hub_sink_problem(r->sink, "damaged-shard", path, err, "what follows is left out: %s",
                                 cut->detail));
    HUB_TRY(hub_tally_report(&r->bad, r->sink, "bad-archive", path,
                             "archives or files in them cannot be read", err));
    if (!r->videos)
        return HUB_OK;
    return hub_sink_problem(
        r->sink, "packed-videos", path, err,
        "%llu videos are packed in archives and cannot be played: unpack each .tar.zst of the "
        "shard into one folder, part0/%.*s, which is a dataset of MolmoSpaces",
        (unsigned long long)r->videos, (int)(r->split.size ? r->split.size : 5),
        r->split.size ? r->split.data : "train");
}

static enum hub_status inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_tar_dispose) struct hub_tar tar = {0};
    struct hub_error cut = {0};
    struct hub_byte_source source;
    struct hub_tar_member m;
    bool end = false;
    if (part->file_count != 1)
        return hub_fail(err, HUB_INVALID, "a part is one shard");
    struct shard_reader r = {.files = files, .sink = sink, .shard = part->files[0], .split = part->hint};
    hub_byte_source_file(&source, files, r.shard);
    HUB_TRY(hub_byte_source_usable(&source, err));
    hub_tar_init(&tar, &source);
    enum hub_status st;
    while (!(st = hub_tar_next(&tar, &m, &end, &cut)) && !end)
        if (is_archive(&m))
            HUB_TRY(read_archive(&r, &source, &m, err));
    if (st && !hub_is_local(st))
        return hub_pass(st, &cut, err);
    return report_problem(&r, &cut, err);
}

const struct hub_format hub_format_molmospaces_shards = {
    .name = "molmospaces-shards",
    .marks = hub_marks_molmospaces_shards,
    .claim_directory = claim,
    .claim_files = claim_files,
    .plan = plan,
    .inspect = inspect,
};
