/* Arrays where they lie: GET …/~kerchunk.json. References of kerchunk
 * (https://fsspec.github.io/kerchunk/spec.html, version 1) to the files' bytes, by which fsspec and zarr
 * (format 2) read "episodes/NUMBER/FIELD" without the hub's decoding. Only arrays whose pieces are bytes
 * that numcodecs can read have them; the others are named beside. */
#include "server/api/handlers.h"

#include "server/api/resolve.h"
#include "storage/catalog/dataset.h"
#include "storage/ids/spell.h"
#include "storage/text/uri.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_AXES = HUB_MAX_RANK + 1 };

struct left_out {
    const char *why; /* of the first episode; a constant */
    uint32_t episodes;
};

/* Made episode by episode, field by field, and within a large one some chunks at a time. */
struct references {
    struct hub_body_producer maker; /* first */
    struct hub_catalog *catalog;
    const struct hub_dataset *dataset; /* its own reference */
    struct left_out *left;             /* by field */
    struct hub_buf files;              /* the address of the dataset's files */
    const char *revision;              /* the dataset's */
    uint32_t episode, field;
    uint64_t chunk;
    bool begun, ended;
};

static void references_free(struct hub_body_producer *maker)
{
    struct references *r = (struct references *)maker;
    hub_dataset_put(r->dataset);
    hub_buf_dispose(&r->files);
    free(r->left);
    free(r);
}

/* ---- where the rows of one episode lie ---- */

struct kerchunk_source {
    const struct hub_layout *layout;
    const struct hub_variant *variant;
    const struct hub_piece *piece;
    const struct hub_pipeline *pipeline; /* NULL: as they are */
    uint64_t first, rows;                /* of the piece */
    unsigned axes;                       /* 0: a value of its own */
    uint64_t chunk[MAX_AXES], across[MAX_AXES], chunks;
};

static const char *codec_of(uint32_t filter)
{
    switch (filter) {
    case HUB_FILTER_DEFLATE:
        return "{\"id\":\"zlib\",\"level\":1}";
    case HUB_FILTER_SHUFFLE:
        return ""; /* has a parameter: add_filters */
    case HUB_FILTER_FLETCHER32:
        return "{\"id\":\"fletcher32\"}";
    case HUB_FILTER_ZSTD:
        return "{\"id\":\"zstd\",\"level\":1}";
    case HUB_FILTER_BLOSC:
        return "{\"id\":\"blosc\",\"cname\":\"lz4\",\"clevel\":5,\"shuffle\":1,\"blocksize\":0}";
    default:
        return NULL;
    }
}

static const struct hub_piece *piece_of(const struct hub_layout *layout, const struct hub_window *window)
{
    const struct hub_array *array = &layout->arrays[window->array];
    for (uint32_t i = 0; i < array->piece_count; i++) {
        const struct hub_piece *p = &layout->pieces[array->first_piece + i];
        if (window->first >= p->first_row && window->first - p->first_row <= p->rows &&
            window->count <= p->rows - (window->first - p->first_row) && p->rows)
            return p;
    }
    return NULL;
}

/* The place of a chunk, counted from the first of the window, in the piece's table. */
static uint64_t entry_of(const struct kerchunk_source *s, uint64_t chunk)
{
    uint64_t inner = 1;
    for (unsigned i = 1; i < s->axes; i++)
        inner *= s->across[i];
    return s->piece->table + s->first / s->chunk[0] * inner + chunk;
}

static const char *look_at_grid(struct kerchunk_source *s)
{
    const struct hub_grid *grid = &s->layout->grids[s->piece->geometry];
    if (grid->element)
        return "its items are parts of larger elements";
    if (s->first % grid->chunk[0])
        return "it begins within a chunk";
    s->pipeline = &s->layout->pipelines[grid->pipeline];
    for (uint32_t i = 0; i < s->pipeline->count; i++)
        if (!codec_of(s->pipeline->filters[i].id))
            return "numcodecs does not have its filters";
    s->chunks = 1;
    for (unsigned i = 0; i < s->axes; i++) {
        const uint64_t size = i ? s->variant->dims[i - 1] : s->rows;
        s->chunk[i] = grid->chunk[i];
        s->across[i] = (size + s->chunk[i] - 1) / s->chunk[i];
        s->chunks *= s->across[i];
    }
    for (uint64_t i = 0; i < s->chunks; i++) {
        const struct hub_chunk *c = &s->layout->chunks[entry_of(s, i)];
        if (c->offset == HUB_ABSENT && grid->fill != HUB_NONE)
            return "absent chunks stand for a value other than zero";
        if (c->offset != HUB_ABSENT && c->mask)
            return "filters were skipped for some of its chunks";
    }
    return NULL;
}

/* NULL: it has references. */
static const char *look_at(const struct hub_layout *layout, const struct hub_window *window,
                           struct kerchunk_source *s)
{
    const struct hub_array *array = &layout->arrays[window->array];
    *s = (struct kerchunk_source){
        .layout = layout, .variant = &layout->variants[array->variant], .rows = window->count};
    const uint64_t row_bytes = hub_variant_row_bytes(s->variant);
    s->axes = array->flags & HUB_ARRAY_SCALAR ? 0 : 1U + s->variant->rank;
    s->piece = piece_of(layout, window);
    if (s->variant->kind == HUB_KIND_VAR)
        return "its rows are of varying length";
    if (!s->piece)
        return "its rows are in several pieces, or missing";
    if (s->piece->file == HUB_SIDE_FILE)
        return "its rows are decoded in a file of the hub";
    s->first = window->first - s->piece->first_row;
    for (unsigned i = 0; i < s->axes; i++) {
        s->chunk[i] = i ? s->variant->dims[i - 1] : s->rows;
        s->across[i] = 1;
    }
    s->chunks = s->rows > 0;
    switch (s->piece->kind) {
    case HUB_PIECE_STRIDED:
        return s->piece->geometry != HUB_NONE || (s->rows > 1 && s->piece->row_stride != (int64_t)row_bytes)
                   ? "its items do not adjoin each other"
                   : NULL;
    case HUB_PIECE_EXTENTS:
        s->chunk[0] = 1;
        s->across[0] = s->chunks = s->rows;
        return s->axes ? NULL : "it is a single value";
    case HUB_PIECE_CHUNKED:
        return s->axes ? look_at_grid(s) : "it is a single value in a chunk";
    case HUB_PIECE_PAGES:
        return "its rows are in pages of Parquet";
    default:
        return "its values are only in the catalogue";
    }
}

/* ---- what is said of them ---- */

static enum hub_status add_name(const struct references *r, const char *behind, struct hub_buf *out,
                                struct hub_error *err)
{
    const struct hub_dataset *d = r->dataset;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_buf_addf(&name, err, "episodes/%" PRId64 "/%s%s", d->episodes[r->episode].number,
                         d->fields[r->field].path, behind));
    HUB_TRY(hub_buf_add_text(out, ",\n", err));
    HUB_TRY(hub_json_add_string(out, hub_buf_view(&name), err));
    return hub_buf_add_text(out, ":", err);
}

static enum hub_status add_sizes(struct hub_buf *out, const char *name, unsigned axes, const uint64_t *sizes,
                                 uint64_t least, struct hub_error *err)
{
    HUB_TRY(hub_buf_addf(out, err, "\"%s\":[", name));
    for (unsigned i = 0; i < axes; i++)
        HUB_TRY(hub_buf_addf(out, err, "%s%" PRIu64, i ? "," : "", HUB_MAX(sizes[i], least)));
    return hub_buf_add_text(out, "],", err);
}

static enum hub_status add_type(const struct hub_variant *v, struct hub_buf *out, struct hub_error *err)
{
    static const char *const fills[HUB_KIND_COUNT] = {[HUB_KIND_BOOL] = "false",
                                                      [HUB_KIND_INT] = "0",
                                                      [HUB_KIND_UINT] = "0",
                                                      [HUB_KIND_FLOAT] = "0.0",
                                                      [HUB_KIND_COMPLEX] = "[0.0,0.0]"};
    static const char letters[HUB_KIND_COUNT] = {
        [HUB_KIND_BOOL] = 'b',  [HUB_KIND_INT] = 'i',     [HUB_KIND_UINT] = 'u',
        [HUB_KIND_FLOAT] = 'f', [HUB_KIND_COMPLEX] = 'c', [HUB_KIND_FIXED] = 'S'};
    const bool bytes = v->item_size == 1 || v->kind == HUB_KIND_FIXED;
    return hub_buf_addf(out, err, "\"dtype\":\"%c%c%" PRIu32 "\",\"fill_value\":%s,",
                        bytes           ? '|'
                        : v->big_endian ? '>'
                                        : '<',
                        letters[v->kind], v->item_size, fills[v->kind] ? fills[v->kind] : "null");
}

static enum hub_status add_filters(const struct hub_pipeline *pipeline, struct hub_buf *out,
                                   struct hub_error *err)
{
    if (!pipeline || !pipeline->count)
        return hub_buf_add_text(out, "\"filters\":null,", err);
    for (uint32_t i = 0; i < pipeline->count; i++) {
        const struct hub_filter *f = &pipeline->filters[i];
        HUB_TRY(hub_buf_add_text(out, i ? "," : "\"filters\":[", err));
        HUB_TRY(f->id == HUB_FILTER_SHUFFLE
                    ? hub_buf_addf(out, err, "{\"id\":\"shuffle\",\"elementsize\":%" PRIu32 "}", f->param)
                    : hub_buf_add_text(out, codec_of(f->id), err));
    }
    return hub_buf_add_text(out, "],", err);
}

static enum hub_status add_array(const struct references *r, const struct kerchunk_source *s,
                                 struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(16 * KIB);
    uint64_t shape[MAX_AXES] = {s->rows};
    for (unsigned i = 1; i < s->axes; i++)
        shape[i] = s->variant->dims[i - 1];
    HUB_TRY(hub_buf_add_text(&text, "{\"zarr_format\":2,\"order\":\"C\",\"compressor\":null,", err));
    HUB_TRY(add_filters(s->pipeline, &text, err));
    HUB_TRY(add_type(s->variant, &text, err));
    HUB_TRY(add_sizes(&text, "shape", s->axes, shape, 0, err));
    HUB_TRY(add_sizes(&text, "chunks", s->axes, s->chunk, 1, err));
    text.size--; /* the last comma */
    HUB_TRY(hub_buf_add_text(&text, "}", err));
    HUB_TRY(add_name(r, "/.zarray", out, err));
    return hub_json_add_string(out, hub_buf_view(&text), err);
}

/* "/2.0.1" */
static void write_key(const struct kerchunk_source *s, uint64_t chunk, char out[24 * MAX_AXES])
{
    uint64_t at[MAX_AXES] = {0};
    size_t used = 0;
    for (unsigned i = s->axes; i--;) {
        at[i] = chunk % s->across[i];
        chunk /= s->across[i];
    }
    for (unsigned i = 0; i < HUB_MAX(s->axes, 1U); i++)
        used += (size_t)snprintf(out + used, 24 * MAX_AXES - used, "%c%" PRIu64, i ? '.' : '/', at[i]);
}

static enum hub_status add_chunk(const struct references *r, const struct kerchunk_source *s, uint64_t chunk,
                                 struct hub_buf *out, struct hub_error *err)
{
    char key[24 * MAX_AXES];
    const struct hub_piece *p = s->piece;
    const uint64_t row_bytes = hub_variant_row_bytes(s->variant);
    uint64_t offset = p->offset + s->first * (uint64_t)p->row_stride, size = s->rows * row_bytes;
    if (p->kind == HUB_PIECE_CHUNKED) {
        const struct hub_chunk *c = &s->layout->chunks[entry_of(s, chunk)];
        offset = c->offset;
        size = c->size;
    } else if (p->kind == HUB_PIECE_EXTENTS) {
        const struct hub_extent *e = &s->layout->extents[p->table + s->first + chunk];
        offset = e->offset;
        size = e->length;
    }
    if (offset == HUB_ABSENT)
        return HUB_OK;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    write_key(s, chunk, key);
    HUB_TRY(add_name(r, key, out, err));
    HUB_TRY(hub_spell_path(hub_view_of(r->dataset->files[p->file].path), &text, err));
    HUB_TRY(hub_buf_add_text(out, "[\"{{u}}/", err));
    HUB_TRY(hub_uri_encode_path(hub_buf_view(&text), out, err));
    return hub_buf_addf(out, err, "?revision=%s\",%" PRIu64 ",%" PRIu64 "]", r->revision, offset, size);
}

/* ---- the document ---- */

/* The groups that a field lies in and the one before did not. */
static enum hub_status add_groups(const struct references *r, struct hub_buf *out, struct hub_error *err)
{
    const struct hub_dataset *d = r->dataset;
    const char *path = d->fields[r->field].path, *before = r->field ? d->fields[r->field - 1].path : NULL;
    const int64_t number = d->episodes[r->episode].number;
    if (!before)
        HUB_TRY(hub_buf_addf(out, err, ",\n\"episodes/%" PRId64 "/.zgroup\":\"{\\\"zarr_format\\\":2}\"",
                             number));
    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(64 * KIB);
        if (before && strncmp(before, path, (size_t)(at + 1 - path)) == 0)
            continue;
        HUB_TRY(
            hub_buf_addf(&name, err, "episodes/%" PRId64 "/%.*s/.zgroup", number, (int)(at - path), path));
        HUB_TRY(hub_buf_add_text(out, ",\n", err));
        HUB_TRY(hub_json_add_string(out, hub_buf_view(&name), err));
        HUB_TRY(hub_buf_add_text(out, ":\"{\\\"zarr_format\\\":2}\"", err));
    }
    return HUB_OK;
}

static void leave_out(struct references *r, const char *why)
{
    struct left_out *left = &r->left[r->field];
    if (!left->episodes++)
        left->why = why;
}

/* All of a field of an episode, or what of it has room; then r->chunk is not 0. */
static enum hub_status add_field(struct references *r, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_layout_putp) struct hub_layout_ref *ref = NULL;
    const struct hub_dataset_episode *episode = &r->dataset->episodes[r->episode];
    struct kerchunk_source s;
    if (!r->chunk)
        HUB_TRY(add_groups(r, out, err));
    const enum hub_status st =
        hub_layout_get(r->catalog, r->dataset, episode->part, r->field, true, &ref, err);
    if (st == HUB_NOT_FOUND)
        return HUB_OK;
    HUB_TRY(st);
    const struct hub_layout *layout = hub_layout_of(ref);
    const struct hub_window *window = hub_layout_window(layout, episode->index);
    if (!window)
        return HUB_OK;
    const char *why = window->array == HUB_NONE ? "its rows cannot be read" : look_at(layout, window, &s);
    if (why) {
        leave_out(r, why);
        return HUB_OK;
    }
    if (!r->chunk)
        HUB_TRY(add_array(r, &s, out, err));
    for (; r->chunk < s.chunks && out->size < HUB_BODY_STREAM_BLOCK; r->chunk++)
        HUB_TRY(add_chunk(r, &s, r->chunk, out, err));
    if (r->chunk == s.chunks)
        r->chunk = 0;
    return HUB_OK;
}

static enum hub_status add_fields(struct references *r, struct hub_buf *out, struct hub_error *err)
{
    while (r->episode < r->dataset->episode_count && out->size < HUB_BODY_STREAM_BLOCK) {
        if (r->field < r->dataset->field_count)
            HUB_TRY(add_field(r, out, err));
        r->field += !r->chunk;
        if (r->field < r->dataset->field_count)
            continue;
        r->field = 0;
        r->episode++;
    }
    return HUB_OK;
}

static enum hub_status add_head(const struct references *r, struct hub_buf *out, struct hub_error *err)
{
    HUB_TRY(hub_buf_add_text(out, "{\"version\":1,\"templates\":{\"u\":", err));
    HUB_TRY(hub_json_add_string(out, hub_buf_view(&r->files), err));
    return hub_buf_add_text(out,
                            "},\"refs\":{\".zgroup\":\"{\\\"zarr_format\\\":2}\",\n"
                            "\"episodes/.zgroup\":\"{\\\"zarr_format\\\":2}\"",
                            err);
}

static enum hub_status add_left_out(const struct references *r, struct hub_buf *out, struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, err);
    HUB_TRY(hub_buf_add_text(out, "},\n\"left_out\":", err));
    hub_json_array(&json);
    for (uint32_t i = 0; i < r->dataset->field_count; i++) {
        if (!r->left[i].episodes)
            continue;
        hub_json_object(&json);
        hub_json_put_text(&json, "path", r->dataset->fields[i].path);
        hub_json_put_uint(&json, "episodes", r->left[i].episodes);
        hub_json_put_text(&json, "detail", r->left[i].why);
        hub_json_end_object(&json);
    }
    hub_json_end_array(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_buf_add_text(out, "}\n", err);
}

static enum hub_status more(struct hub_body_producer *maker, struct hub_buf *out, struct hub_error *err)
{
    struct references *r = (struct references *)maker;
    if (r->ended)
        return HUB_OK;
    if (!r->begun)
        HUB_TRY(add_head(r, out, err));
    r->begun = true;
    HUB_TRY(add_fields(r, out, err));
    r->ended = r->episode == r->dataset->episode_count;
    return r->ended ? add_left_out(r, out, err) : HUB_OK;
}

static enum hub_status begin(struct hub_request *request, struct hub_target *target, struct references *r,
                             struct hub_error *err)
{
    r->maker = (struct hub_body_producer){more, references_free};
    r->catalog = request->app->catalog;
    r->files = HUB_BUF_INIT(64 * KIB);
    r->dataset = target->state.dataset; /* which is its own from now on */
    target->state.dataset = NULL;
    r->revision = r->dataset->summary->revision;
    HUB_TRY(hub_buf_addf(&r->files, err, "%s/api/v1/datasets/", hub_base_url(request)));
    HUB_TRY(hub_uri_encode_path(hub_view_of(r->dataset->summary->id), &r->files, err));
    HUB_TRY(hub_buf_add_text(&r->files, "/files", err));
    return hub_new(&r->left, r->dataset->field_count + 1, sizeof *r->left, err);
}

enum hub_status hub_kerchunk_show(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    struct references *r = NULL;
    char etag[40];
    bool done = false;
    HUB_TRY(hub_resolve(request, response, HUB_TO_DATASET | HUB_TO_READY, &target, err));
    const struct hub_view parts[] = {hub_view_of(target.summary->revision), hub_view_of(target.summary->id),
                                     hub_view_of(hub_base_url(request)), HUB_VIEW("kerchunk 1")};
    hub_fingerprint(etag, parts, HUB_COUNT(parts));
    HUB_TRY(hub_resolve_headers(request, &target, response, err));
    HUB_TRY(hub_resolve_conditions(request, response, etag, -1, &done, err));
    if (done)
        return HUB_OK;
    HUB_TRY(hub_new(&r, 1, sizeof *r, err));
    const enum hub_status st = begin(request, &target, r, err);
    if (st) {
        references_free(&r->maker);
        return st;
    }
    return hub_response_made(response, 200, "application/json", &r->maker, err);
}
