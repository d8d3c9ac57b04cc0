/*
 * Demonstrations in the files that il-representations' benchmarks came with: pickles, packed by gzip,
 * plain, or as the one array of objects of a .npz. Each file holds whole trajectories, which are episodes
 * of obs, next_obs, acts, dones, and rews and infos where there are: the project's own view of them. A
 * folder of such files is one dataset, a file a part. Read by the closed interpreter of pickles: nothing is
 * imported or called.
 *
 * Problems: unreadable-episode, length-mismatch, not-checked.
 */
#include "storage/formats/il/il.h"
#include "storage/formats/unpack.h"
#include "storage/formats/zip.h"

#include <stdio.h>

#define NPZ_MEMBER "arr_0.npy" /* np.savez(file, array) */
enum { HEAD_BYTES = 16384, MAX_SMALL = 64 * 1024, MAX_TRIED = 64, MAX_PEEK = 64 * MIB };

static const char *const endings[] = {".pkl.gz", ".pickle.gz", ".pkl", ".pickle", ".npz", NULL};

/* ---- where the pickle is ---- */

/* The packed bytes of a file: all of it, or those of the archive's member. */
struct located {
    struct hub_packed packed;
    bool npz;
    struct hub_zip_member member; /* without its name */
};

static enum hub_status locate(struct hub_byte_source *file, struct located *found, struct hub_error *err)
{
    struct hub_packed *out = &found->packed;
    HUB_CLEANUP(hub_zip_dispose) struct hub_zip zip = {0};
    const uint8_t *head;
    size_t got;
    HUB_TRY(hub_byte_source_peek(file, 0, 4, &head, &got, err));
    *out = (struct hub_packed){.source = file, .size = file->size, .packing = hub_packing_of(head, got)};
    found->npz = hub_zip_is(head, got);
    if (!found->npz)
        return HUB_OK;
    HUB_TRY(hub_zip_read(&zip, file, err));
    if (zip.count != 1 || !hub_view_is(zip.members[0].name, NPZ_MEMBER))
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "not one array of objects");
    HUB_TRY(hub_zip_find(&zip, &zip.members[0], &out->offset, err));
    found->member = zip.members[0];
    found->member.name = HUB_VIEW("");
    out->size = found->member.stored;
    out->packing = found->member.method == HUB_ZIP_DEFLATED ? HUB_PACKED_DEFLATE : HUB_PACKED_NOT;
    return HUB_OK;
}

/* Its checksum: of what was unpacked to `side`, or of the archive's own bytes. */
static enum hub_status check_member(struct il_file *f, const struct located *l,
                                    const struct hub_inflated *side, struct hub_error *err)
{
    if (l->packed.packing)
        return side->size == l->member.size && side->crc == l->member.crc
                   ? HUB_OK
                   : hub_fail(err, HUB_CORRUPT, "wrong checksum or length after unpacking");
    const enum hub_status st = hub_zip_check(l->packed.source, &l->member, l->packed.offset, err);
    return st == HUB_TIMEOUT ? hub_sink_problem(f->sink, "not-checked", HUB_VIEW(""), err,
                                                "its CRC-32 was not checked: the inspection had no time left "
                                                "(--inspect-time gives more)")
                             : st;
}

/* Behind the header of a .npy whose elements are objects lies a pickle. */
static enum hub_status skip_header(const struct hub_buf *head, uint64_t *skip, struct hub_error *err)
{
    struct hub_byte_source memory;
    struct hub_npy npy = {0};
    hub_byte_source_memory(&memory, head->data, head->size);
    const enum hub_status st = hub_npy_read(&memory, 0, head->size, &npy, NULL);
    *skip = npy.data_offset;
    return st == HUB_UNSUPPORTED && npy.objects
               ? HUB_OK
               : hub_fail(err, HUB_NOT_ACCEPTABLE, "not an array of objects");
}

static enum hub_status read_head(const struct hub_packed *packed, struct hub_buf *head, struct hub_error *err)
{
    if (packed->packing)
        return hub_unpack_head(packed, head, err);
    const size_t size = (size_t)HUB_MIN(packed->size, head->limit);
    HUB_TRY(hub_buf_reserve(head, size, err));
    HUB_TRY(hub_byte_source_read(packed->source, packed->offset, head->data, size, err));
    head->size = size;
    return HUB_OK;
}

static bool is_pickle(struct hub_view head)
{
    return head.size > 2 && (uint8_t)head.data[0] == 0x80 && head.data[1] >= 2 && head.data[1] <= 5;
}

static bool has(struct hub_view head, const char *word)
{
    return memmem(head.data, head.size, word, strlen(word)) != NULL;
}

bool il_is_of_imitation(struct hub_view head)
{
    return is_pickle(head) && has(head, "imitation.data.types") && has(head, "Trajectory");
}

/* Does it begin as such a pickle does: a protocol, numpy's arrays, and one of the words for observations and
 * actions? */
static bool looks_mine(struct hub_files *files, uint32_t number)
{
    static const char *const words[] = {"obs", "states", "acts", "trajectory"};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(HEAD_BYTES);
    struct hub_byte_source file;
    struct located l;
    uint64_t skip = 0;
    bool found = false;
    hub_byte_source_file(&file, files, number);
    if (locate(&file, &l, NULL))
        return false;
    (void)!read_head(&l.packed, &head, NULL); /* of one that is cut short its beginning will do */
    if ((l.npz && skip_header(&head, &skip, NULL)) || skip + 2 > head.size)
        return false;
    const struct hub_view pickle = {head.data + skip, head.size - (size_t)skip};
    for (size_t i = 0; i < HUB_COUNT(words); i++)
        found |= has(pickle, words[i]);
    const bool other = !l.npz && !l.packed.packing && il_is_of_imitation(pickle);
    return is_pickle(pickle) && found && !other;
}

/* ---- claim ---- */

/* A folder of such files, and small notes beside them: other data are datasets of their own. */
static int claim_directory(struct hub_files *listing)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct hub_file_entry *e = &listing->entries[i];
        const bool fits = !e->directory && hub_ending_of(e->path, endings);
        if (e->directory || (!fits && (e->size > MAX_SMALL || hub_names_data(e->path))))
            return 0;
        if (fits && count++ < MAX_TRIED && !looks_mine(listing, i))
            return 0;
    }
    return count > 1 ? 50 : 0;
}

static int claim_files(struct hub_files *listing, struct hub_claim *claim)
{
    return hub_claim_file(listing, claim, endings, looks_mine, 50);
}

/* ---- a file ---- */

static void dispose(struct il_file *f)
{
    hub_pickle_dispose(&f->pickle);
}

/* The pickle of a file, unpacked where it is packed; `demos` are what it holds. */
static enum hub_status open_file(struct il_file *f, uint32_t number, struct il_demos *demos,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(HEAD_BYTES);
    struct hub_byte_source file;
    struct located l;
    struct hub_inflated side = {0};
    uint64_t skip = 0;
    hub_pickle_init(&f->pickle);
    hub_byte_source_file(&file, f->files, number);
    HUB_TRY(hub_byte_source_usable(&file, err));
    HUB_TRY(locate(&file, &l, err));
    HUB_TRY(l.packed.packing ? hub_unpack(&l.packed, f->files, &head, &side, err)
                             : read_head(&l.packed, &head, err));
    if (l.npz) {
        HUB_TRY(check_member(f, &l, &side, err));
        HUB_TRY(skip_header(&head, &skip, err));
    }
    f->number = number;
    hub_byte_source_file(&f->source, f->files, number);
    if (l.packed.packing)
        hub_byte_source_side(&f->source, f->files, side.offset + side.size);
    const uint64_t at = (l.packed.packing ? side.offset : l.packed.offset) + skip;
    HUB_TRY(hub_pickle_read(&f->pickle, &f->source, at, f->source.size - at, err));
    *demos = il_demos_of(&f->pickle);
    return demos->era ? HUB_OK
                      : hub_fail(err, HUB_UNSUPPORTED,
                                 "a pickle that holds no trajectories of observations and actions");
}

/* What MAGICAL writes beside a trajectory is the environment of all of them. */
static enum hub_status report_environment(const struct il_file *f, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_MAX_ATTRIBUTES);
    const struct hub_pickle *p = &f->pickle;
    const struct hub_view name = hub_pickle_text(p, hub_pickle_get(p, p->root, HUB_VIEW("env_name")));
    struct hub_json json = hub_json_to(&text, err);
    if (!name.size)
        return HUB_OK;
    hub_json_object(&json);
    hub_json_key(&json, HUB_VIEW("env_name"));
    hub_json_string(&json, name);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_sink_fact(f->sink, "metadata", hub_buf_view(&text), err);
}

enum hub_status il_era_of(struct hub_files *files, uint32_t number, struct hub_sink *sink, const char **era,
                          struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct il_file f = {.files = files, .sink = sink};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(MAX_PEEK);
    struct hub_byte_source file;
    struct located l;
    uint64_t skip = 0;
    *era = NULL;
    hub_pickle_init(&f.pickle);
    hub_byte_source_file(&file, files, number);
    HUB_TRY(hub_byte_source_usable(&file, err));
    if (locate(&file, &l, NULL) || read_head(&l.packed, &head, NULL) || head.size == head.limit ||
        (l.npz && skip_header(&head, &skip, NULL)))
        return HUB_OK; /* too large, or damaged: its part says so */
    hub_byte_source_memory(&f.source, head.data, head.size);
    if (hub_pickle_read(&f.pickle, &f.source, skip, head.size - skip, NULL))
        return HUB_OK;
    const struct il_demos demos = il_demos_of(&f.pickle);
    if (!demos.era)
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "a pickle without trajectories");
    if (f.sink)
        HUB_TRY(report_environment(&f, err));
    *era = demos.era;
    return HUB_OK;
}

/* Of the first file; one that turns out to be another pickle is declined. */
static enum hub_status report_era(struct hub_files *files, uint32_t number, struct hub_sink *sink,
                                  struct hub_error *err)
{
    const char *era;
    HUB_TRY(il_era_of(files, number, sink, &era, err));
    return era ? hub_sink_fact(sink, "era", hub_view_of(era), err) : HUB_OK;
}

static enum hub_status plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    uint32_t parts = 0;
    for (uint32_t i = 0; i < files->count; i++) {
        if (!hub_ending_of(files->entries[i].path, endings))
            continue;
        if (parts++ == 0)
            HUB_TRY(report_era(files, i, sink, err));
        HUB_TRY(hub_sink_part(sink, &(struct hub_part){files->entries[i].path, &i, 1, HUB_VIEW("")}, err));
    }
    return parts ? HUB_OK : hub_fail(err, HUB_NOT_ACCEPTABLE, "there are no pickles");
}

enum hub_status il_inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                           struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct il_file f = {.files = files, .sink = sink};
    struct il_demos demos;
    uint32_t unused;
    if (part->file_count != 1)
        return hub_fail(err, HUB_INVALID, "a part is one file");
    HUB_TRY(open_file(&f, part->files[0], &demos, err));
    return il_demos_report(&f, &demos, &unused, err);
}

static const char *const eras[] = {"atari: lists of states, actions and dones in a .npz",
                                   "dm_control: a list of imitation's Trajectory objects",
                                   "magical: one trajectory with its score",
                                   "procgen: lists of observations and actions", NULL};

const struct hub_format hub_format_il = {
    .name = "il-native",
    .marks = hub_marks_il,
    .eras = eras,
    .claim_directory = claim_directory,
    .claim_files = claim_files,
    .plan = plan,
    .inspect = il_inspect,
};
