/* numpy arrays as fields: see array.h. */
#include "storage/formats/kit/array.h"

#include <stdio.h>
#include <stdlib.h>

enum { HEAD_BYTES = 65536 + 12 }; /* the longest header of a .npy */
enum { SLAB_BYTES = 256 * 1024 };
#define MAX_TEXT (16 * MIB) /* of one item */

/* ---- texts ---- */

static size_t put_utf8(uint32_t c, uint8_t out[4])
{
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
        c = 0xFFFD;
    const size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; c >>= 6)
        out[i] = (uint8_t)(0x80 | (c & 0x3F));
    out[0] = (uint8_t)(size == 1 ? c : (0xF00u >> size & 0xFF) | c);
    return size;
}

/* An item without the NULs behind it. How many bytes it takes; they are written where `out` is not NULL. */
static size_t put_text(const uint8_t *item, size_t chars, bool big_endian, uint8_t *out)
{
    size_t used = 0;
    while (chars && !memcmp(item + 4 * (chars - 1), "\0\0\0", 4))
        chars--;
    for (size_t i = 0; i < chars; i++) {
        uint8_t utf8[4];
        uint32_t c;
        memcpy(&c, item + 4 * i, 4);
        const size_t size = put_utf8(big_endian ? __builtin_bswap32(c) : c, utf8);
        if (out)
            memcpy(out + used, utf8, size);
        used += size;
    }
    return used;
}

/* One pass over all items: how long the longest is (`width` 0), or that they are written. Slabs are
 * multiples of 8 items, so that side data stays without gaps. */
static enum hub_status pass_texts(struct hub_files *files, struct hub_byte_source *source,
                                  const struct hub_npy *npy, size_t width, size_t *longest, uint64_t *offset,
                                  struct hub_error *err)
{
    const size_t item = npy->item.item_size;
    const uint64_t items = npy->data_bytes / item, most = HUB_MAX(SLAB_BYTES / item / 8, (size_t)1) * 8;
    HUB_CLEANUP(hub_freep) uint8_t *in = malloc(most * item), *out = calloc(most, width + 1);
    HUB_TRY(hub_allocated(in && out, err));
    for (uint64_t first = 0; first < items; first += most) {
        const uint64_t n = HUB_MIN(most, items - first);
        uint64_t at;
        HUB_TRY(hub_byte_source_read(source, npy->data_offset + first * item, in, (size_t)n * item, err));
        memset(out, 0, most * width);
        for (uint64_t i = 0; i < n; i++) {
            const size_t size =
                put_text(in + i * item, item / 4, npy->item.big_endian, width ? out + i * width : NULL);
            *longest = HUB_MAX(*longest, size);
        }
        if (width)
            HUB_TRY(hub_files_side_add(files, out, (size_t)n * width, &at, err));
        if (width && first == 0)
            *offset = at;
    }
    return HUB_OK;
}

enum hub_status hub_npy_texts(struct hub_files *files, struct hub_byte_source *source, struct hub_npy *npy,
                              uint32_t *file, struct hub_error *err)
{
    size_t longest = 0;
    uint64_t offset = 0;
    if (npy->item.item_size > MAX_TEXT)
        return hub_fail(err, HUB_UNSUPPORTED, "texts of %u characters", npy->item.item_size / 4);
    HUB_TRY(pass_texts(files, source, npy, 0, &longest, &offset, err));
    const uint64_t items = npy->data_bytes / npy->item.item_size;
    const uint64_t room = files->side_budget - HUB_MIN(files->side_budget, files->side_size);
    if (longest && items > room / longest)
        return hub_fail(err, HUB_TOO_BIG, "side-file budget");
    if (longest)
        HUB_TRY(pass_texts(files, source, npy, longest, &longest, &offset, err));
    npy->item =
        (struct hub_variant){.kind = HUB_KIND_FIXED, .item_size = (uint32_t)HUB_MAX(longest, (size_t)1)};
    npy->utf32 = false;
    npy->text = true;
    npy->data_offset = offset;
    npy->data_bytes = items * longest; /* 0: all of them are empty */
    *file = HUB_SIDE_FILE;
    return HUB_OK;
}

/* ---- archives ---- */

/* Deflated: unpacked to side data, where its header lies in front of it as in the archive. */
static enum hub_status read_deflated(struct hub_npz_reader *npz, struct hub_files *files,
                                     const struct hub_zip_member *m, struct hub_npz_array *a,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(HEAD_BYTES);
    struct hub_byte_source source;
    uint64_t offset;
    HUB_TRY(hub_zip_unpack(&npz->zip, m, files, &offset, &head, err));
    hub_byte_source_memory(&source, head.data, head.size);
    const enum hub_status st = hub_npy_read(&source, 0, m->size, &a->npy, err);
    a->npy.data_offset += offset;
    a->file = HUB_SIDE_FILE;
    if (st != HUB_UNSUPPORTED || !a->npy.utf32)
        return st;
    hub_byte_source_side(&source, files, a->npy.data_offset + a->npy.data_bytes);
    return hub_npy_texts(files, &source, &a->npy, &a->file, err);
}

static enum hub_status check_stored(struct hub_npz_reader *npz, const struct hub_zip_member *m,
                                    uint64_t offset, struct hub_error *err)
{
    const enum hub_status st = hub_zip_check(&npz->source, m, offset, err);
    if (st == HUB_TIMEOUT)
        hub_tally_add(&npz->unchecked, "%.*s", (int)HUB_MIN(m->name.size, 100), m->name.data);
    return st == HUB_TIMEOUT ? HUB_OK : st;
}

static enum hub_status read_array(struct hub_npz_reader *npz, struct hub_files *files,
                                  const struct hub_zip_member *m, struct hub_npz_array *a,
                                  struct hub_error *err)
{
    uint64_t offset;
    if (m->method == HUB_ZIP_DEFLATED)
        return read_deflated(npz, files, m, a, err);
    HUB_TRY(hub_zip_find(&npz->zip, m, &offset, err));
    HUB_TRY(check_stored(npz, m, offset, err));
    a->file = npz->source.number;
    const enum hub_status st = hub_npy_read(&npz->source, offset, m->size, &a->npy, err);
    return st == HUB_UNSUPPORTED && a->npy.utf32 ? hub_npy_texts(files, &npz->source, &a->npy, &a->file, err)
                                                 : st;
}

/* The name of an array's member without its ending; nothing for all others. */
static struct hub_view array_name(const struct hub_zip_member *m)
{
    return hub_view_ends(m->name, ".npy") ? (struct hub_view){m->name.data, m->name.size - 4}
                                          : (struct hub_view){NULL, 0};
}

static enum hub_status take_array(struct hub_npz_reader *npz, struct hub_files *files, uint32_t number,
                                  struct hub_error *err)
{
    const struct hub_zip_member *m = &npz->zip.members[number];
    struct hub_npz_array *a = &npz->arrays[npz->count++];
    struct hub_error why = {0};
    *a = (struct hub_npz_array){.path = array_name(m), .member = number};
    const enum hub_status st = read_array(npz, files, m, a, &why);
    if (st && !hub_is_local(st))
        return hub_pass(st, &why, err);
    if (st)
        snprintf(a->reason, sizeof a->reason, "%.150s", why.detail);
    return HUB_OK;
}

struct named {
    struct hub_view name;
    uint32_t member;
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    const int order = memcmp(x->name.data, y->name.data, HUB_MIN(x->name.size, y->name.size));
    return order                          ? order
           : x->name.size != y->name.size ? (x->name.size > y->name.size) - (x->name.size < y->name.size)
                                          : (x->member > y->member) - (x->member < y->member);
}

/* As zipfile and numpy have it, the last member of a name counts: which are followed by another one. */
static enum hub_status find_repeated(const struct hub_zip *zip, bool **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct named *names = calloc((size_t)zip->count + 1, sizeof *names);
    uint32_t count = 0;
    HUB_TRY(hub_allocated(names, err));
    HUB_TRY(hub_new(out, (size_t)zip->count + 1, sizeof **out, err));
    for (uint32_t i = 0; i < zip->count; i++)
        if (array_name(&zip->members[i]).size)
            names[count++] = (struct named){zip->members[i].name, i};
    if (count)
        qsort(names, count, sizeof *names, by_name);
    for (uint32_t i = 1; i < count; i++)
        (*out)[names[i - 1].member] = hub_view_equal(names[i - 1].name, names[i].name);
    return HUB_OK;
}

/* A damaged archive may seem to be the one before it. */
static bool begins_there(const struct hub_zip *zip, uint64_t begin)
{
    for (uint32_t i = 0; i < zip->count; i++)
        if (zip->members[i].header < begin)
            return false;
    return true;
}

enum hub_status hub_npz_reader_open(struct hub_npz_reader *npz, struct hub_files *files, uint32_t number,
                                    struct hub_error *err)
{
    hub_byte_source_file(&npz->source, files, number);
    return hub_npz_reader_read(npz, files, 0, err);
}

enum hub_status hub_npz_reader_read(struct hub_npz_reader *npz, struct hub_files *files, uint64_t begin,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) bool *repeated = NULL;
    HUB_TRY(hub_zip_read(&npz->zip, &npz->source, err));
    if (!begins_there(&npz->zip, begin))
        return hub_fail(err, HUB_CORRUPT, "the directory points elsewhere");
    HUB_TRY(hub_new(&npz->arrays, (size_t)npz->zip.count + 1, sizeof *npz->arrays, err));
    HUB_TRY(find_repeated(&npz->zip, &repeated, err));
    for (uint32_t i = 0; i < npz->zip.count; i++) {
        const struct hub_zip_member *m = &npz->zip.members[i];
        const int shown = (int)HUB_MIN(m->name.size, 100);
        if (repeated[i])
            hub_tally_add(&npz->repeated, "%.*s", shown, m->name.data);
        else if (array_name(m).size)
            HUB_TRY(take_array(npz, files, i, err));
        else if (!hub_view_ends(m->name, "/"))
            hub_tally_add(&npz->others, "%.*s", shown, m->name.data);
    }
    return HUB_OK;
}

enum hub_status hub_npz_reader_report_unchecked(const struct hub_npz_reader *npz, struct hub_sink *sink,
                                                struct hub_error *err)
{
    return npz->unchecked.count
               ? hub_sink_problem(sink, "not-checked", HUB_VIEW(""), err,
                                  "members whose CRC-32 was not checked, because the inspection had no time "
                                  "left (--inspect-time gives more): %u, the first is %s",
                                  npz->unchecked.count, npz->unchecked.first)
               : HUB_OK;
}

enum hub_status hub_npz_reader_report(const struct hub_npz_reader *npz, struct hub_sink *sink,
                                      struct hub_error *err)
{
    HUB_TRY(hub_npz_reader_report_unchecked(npz, sink, err));
    if (npz->repeated.count)
        HUB_TRY(hub_sink_problem(sink, "repeated-member", HUB_VIEW(""), err,
                                 "members with the name of an earlier one are left out: %u, the first is %s",
                                 npz->repeated.count, npz->repeated.first));
    if (npz->others.count)
        return hub_sink_problem(sink, "not-an-array", HUB_VIEW(""), err,
                                "members that are not arrays are left out: %u, the first is %s",
                                npz->others.count, npz->others.first);
    return HUB_OK;
}

void hub_npz_reader_dispose(struct hub_npz_reader *npz)
{
    hub_zip_dispose(&npz->zip);
    free(npz->arrays);
}

/* ---- fields ---- */

uint64_t hub_npy_rows(const struct hub_npy *npy)
{
    return npy->rank ? npy->shape[0] : 1;
}

/* Fortran order: the first axis is the one whose items adjoin. */
static enum hub_status put_strides(struct hub_layout_builder *b, const struct hub_npy *npy,
                                   const struct hub_variant *v, struct hub_piece *piece,
                                   struct hub_error *err)
{
    int64_t strides[HUB_MAX_RANK], stride = (int64_t)(v->item_size * npy->shape[0]);
    piece->row_stride = v->item_size;
    for (uint32_t i = 0; i < v->rank; i++) {
        strides[i] = stride;
        stride *= v->dims[i];
    }
    return hub_layout_strides(b, strides, v->rank, &piece->geometry, err);
}

static enum hub_status add_piece(struct hub_layout_builder *b, const struct hub_npy *npy,
                                 const struct hub_variant *v, uint32_t file, struct hub_error *err)
{
    const uint64_t rows = hub_npy_rows(npy);
    struct hub_piece piece = {.kind = HUB_PIECE_STRIDED,
                              .file = file,
                              .rows = rows,
                              .offset = npy->data_offset,
                              .row_stride = (int64_t)hub_variant_row_bytes(v),
                              .geometry = HUB_NONE};
    if (npy->data_bytes == 0) /* no rows, or rows without items: nothing is stored */
        piece =
            (struct hub_piece){.kind = HUB_PIECE_FILL, .file = HUB_NONE, .rows = rows, .offset = HUB_NONE};
    else if (npy->fortran && npy->rank > 1)
        HUB_TRY(put_strides(b, npy, v, &piece, err));
    return hub_layout_piece(b, &piece, err);
}

enum hub_status hub_report_unreadable(struct hub_sink *sink, struct hub_view path, uint32_t index,
                                      const char *why, struct hub_error *err)
{
    const struct hub_field field = {
        .path = path, .type = HUB_FIELD_OPAQUE, .role = hub_role_of(path), .axis = HUB_AXIS_NONE};
    uint32_t number;
    HUB_TRY(hub_sink_field(sink, &field, &number, err));
    return hub_sink_refuse(sink, number, index, why, err);
}

enum hub_status hub_npz_reader_cut(struct hub_sink *sink, const struct hub_npz_array *a, enum hub_axis axis,
                                   struct hub_window *windows, uint32_t count, struct hub_error *err)
{
    const struct hub_npy *npy = &a->npy;
    const struct hub_view named = a->named.size ? a->named : a->path;
    struct hub_field field = {.path = a->path, .role = hub_role_of(named), .axis = axis};
    struct hub_layout_builder *b;
    struct hub_variant v;
    struct hub_error why = {0};
    uint32_t number, array;
    if (hub_npy_variant(&npy->item, npy->shape + (npy->rank > 0), npy->rank - (npy->rank > 0), &v, &why)) {
        for (uint32_t i = 0; i < count; i++)
            HUB_TRY(hub_report_unreadable(sink, a->path, windows[i].episode, why.detail, err));
        return HUB_OK;
    }
    field.type = npy->text ? HUB_FIELD_TEXT : hub_array_type(&v, named);
    HUB_TRY(hub_sink_field(sink, &field, &number, err));
    HUB_TRY(hub_sink_layout(sink, number, &b, err));
    HUB_TRY(hub_layout_array_of(b, &v, &array, err));
    HUB_TRY(add_piece(b, npy, &v, a->file, err));
    if (npy->rank == 0)
        hub_layout_scalar(b, array);
    for (uint32_t i = 0; i < count; i++) {
        windows[i].array = array;
        HUB_TRY(hub_layout_add_window(b, &windows[i], err));
    }
    return HUB_OK;
}

enum hub_status hub_npy_lay_out(struct hub_sink *sink, const struct hub_npz_array *array, uint32_t index,
                                uint64_t steps, struct hub_error *err)
{
    const uint64_t rows = hub_npy_rows(&array->npy);
    const enum hub_axis axis = array->npy.rank == 0 ? HUB_AXIS_NONE : hub_axis_of(rows, steps);
    struct hub_window window = {.episode = index, .count = rows};
    return hub_npz_reader_cut(sink, array, axis, &window, 1, err);
}

struct hub_row_vote hub_row_vote_of(const struct hub_variant *item, const uint64_t *shape, uint32_t rank)
{
    enum { LEAST_SIDE = 32 };
    struct hub_variant whole;
    struct hub_picture p;
    return (struct hub_row_vote){shape[0], rank == 3 && !hub_npy_variant(item, shape, rank, &whole, NULL) &&
                                               hub_picture_of(&whole, &p) && !p.ranged && p.frames == 1 &&
                                               p.channels >= 3 && HUB_MIN(p.height, p.width) >= LEAST_SIDE};
}

uint64_t hub_common_rows(const struct hub_row_vote *votes, size_t count)
{
    uint64_t most = 0;
    size_t best = 0;
    bool fewer = false, pictures = count > 0;
    for (size_t i = 0; i < count; i++) {
        size_t found = 0;
        for (size_t j = i; j < count && count - i >= best; j++)
            found += votes[j].rows == votes[i].rows;
        if (found > best || (found == best && votes[i].rows > most)) {
            best = found;
            most = votes[i].rows;
        }
    }
    for (size_t i = 0; i < count; i++) {
        fewer |= most > 1 && votes[i].rows == most - 1;
        pictures &= votes[i].rows != most || votes[i].picture;
    }
    return pictures ? 1 : most - fewer;
}
