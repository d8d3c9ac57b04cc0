/*
 * Rows of Parquet columns as JSON text: see json.h. The leaves below a node are read side by side, entry
 * for entry: an entry's levels say how far down there is something, and which list it goes on.
 */
#include "storage/formats/parquet/json.h"

#include "storage/text/base64.h"
#include "storage/text/json.h"

#include <stdlib.h>

enum { MAX_LEAVES = 256, MAX_ROW = 16 * MIB, BATCH_BYTES = MIB, BATCH_ROWS = 65536, SLOTS = 4096 };

/* ---- texts on their way to side data ---- */

struct text_slot {
    uint64_t hash;
    uint32_t offset, length, number; /* in `values`; number + 1, or 0: empty */
};

struct json_batch {
    struct hub_files *files; /* NULL: nothing is kept */
    struct hub_parquet_texts *out;
    struct hub_buf values; /* the dictionary: each behind its length */
    struct hub_buf page;
    uint32_t distinct, rows, present, longest;
    uint64_t sum;
    struct text_slot slots[SLOTS];
    uint16_t indices[BATCH_ROWS]; /* of those that are present */
    uint8_t valid[BATCH_ROWS / 8];
};

static enum hub_status add_run(struct hub_buf *out, uint32_t count, struct hub_error *err)
{
    for (uint32_t head = (count + 7) / 8 << 1 | 1; head; head >>= 7) {
        const uint8_t byte = (uint8_t)((head & 0x7f) | (head > 0x7f ? 0x80 : 0));
        HUB_TRY(hub_buf_add(out, &byte, 1, err));
    }
    return HUB_OK;
}

/* The dictionary, and the page behind it: which rows are there, and which text each of them is. */
static enum hub_status send_batch(struct json_batch *b, struct hub_error *err)
{
    static const uint8_t index_bits = 16;
    uint64_t offset;
    const size_t dictionary = b->values.size;
    HUB_TRY(add_run(&b->page, b->rows, err));
    HUB_TRY(hub_buf_add(&b->page, b->valid, (b->rows + 7) / 8, err));
    const size_t levels = b->page.size;
    HUB_TRY(hub_buf_add(&b->page, &index_bits, 1, err));
    HUB_TRY(add_run(&b->page, b->present, err));
    HUB_TRY(hub_buf_add(&b->page, b->indices, b->present * sizeof b->indices[0], err));
    HUB_TRY(hub_buf_add(&b->values, b->page.data, b->page.size, err));
    HUB_TRY(hub_files_side_add(b->files, b->values.data, b->values.size, &offset, err));
    HUB_TRY(hub_grow(&b->out->batches, b->out->count, &b->out->capacity, sizeof *b->out->batches, err));
    struct hub_parquet_pages *to = &b->out->batches[b->out->count];
    *to = (struct hub_parquet_pages){
        .column = {.physical = HUB_PHYS_BYTE_ARRAY, .max_def = 1, .longest = b->longest}, .count = 2};
    HUB_TRY(hub_new(&to->pages, 2, sizeof *to->pages, err));
    b->out->count++;
    to->pages[0] = (struct hub_page){.offset = offset,
                                     .stored = (uint32_t)dictionary,
                                     .decoded = (uint32_t)dictionary,
                                     .values = b->distinct};
    to->pages[1] = (struct hub_page){.offset = offset + dictionary,
                                     .stored = (uint32_t)b->page.size,
                                     .decoded = (uint32_t)b->page.size,
                                     .values = b->rows,
                                     .sum = (uint32_t)HUB_MIN(b->sum, UINT32_MAX),
                                     .encoding = HUB_ENC_RLE_DICTIONARY,
                                     .version = 2,
                                     .def_bytes = (uint32_t)levels};
    return HUB_OK;
}

static enum hub_status end_batch(struct json_batch *b, struct hub_error *err)
{
    if (b->files && b->rows)
        HUB_TRY(send_batch(b, err));
    b->distinct = b->rows = b->present = b->longest = 0;
    b->sum = b->values.size = b->page.size = 0;
    memset(b->slots, 0, sizeof b->slots);
    memset(b->valid, 0, sizeof b->valid);
    return HUB_OK;
}

/* The number of a text in the dictionary, where it is put unless it stands there. */
static enum hub_status number_of(struct json_batch *b, struct hub_view text, uint32_t *number,
                                 struct hub_error *err)
{
    const uint64_t hash = hub_hash(HUB_HASH_START, text.data, text.size);
    const uint32_t length = (uint32_t)text.size;
    struct text_slot *slot = &b->slots[hash % SLOTS];
    if (!slot->number || slot->hash != hash || slot->length != length ||
        memcmp(b->values.data + slot->offset, text.data, length) != 0) {
        HUB_TRY(hub_buf_add(&b->values, &length, sizeof length, err));
        *slot = (struct text_slot){hash, (uint32_t)b->values.size, length, ++b->distinct};
        HUB_TRY(hub_buf_add_view(&b->values, text, err));
    }
    *number = slot->number - 1;
    return HUB_OK;
}

static enum hub_status add_row(struct json_batch *b, struct hub_view text, bool valid, struct hub_error *err)
{
    const uint32_t row = b->rows++;
    uint32_t number;
    if (valid) {
        HUB_TRY(number_of(b, text, &number, err));
        b->valid[row / 8] |= (uint8_t)(1U << row % 8);
        b->indices[b->present++] = (uint16_t)number;
        b->sum += text.size;
        b->longest = HUB_MAX(b->longest, (uint32_t)text.size);
    }
    return b->rows == BATCH_ROWS || b->values.size > BATCH_BYTES ? end_batch(b, err) : HUB_OK;
}

/* ---- rows from the entries of leaves ---- */

/* A leaf in one row group. */
struct stream {
    const struct hub_parquet_leaf *leaf;
    struct hub_parquet_decoder decoder;
    struct hub_parquet_pages pages;
    struct hub_parquet_entries page;
    uint32_t next, at; /* page, entry of the one that is loaded */
    bool ended;
};

struct rows {
    const struct hub_parquet *parquet;
    struct stream *streams; /* of the leaves first .. first + count - 1 */
    uint32_t first, count;
    bool alone; /* one member of lists of structs: the others are not looked at */
    struct hub_buf text;
    struct hub_json json;
};

static enum hub_status load_page(struct stream *s, struct hub_error *err)
{
    s->at = 0;
    do {
        s->ended = s->next == s->pages.count;
        if (s->ended)
            return HUB_OK;
        HUB_TRY(hub_parquet_load(&s->decoder, s->leaf, &s->pages, s->next++, &s->page, err));
    } while (s->page.count == 0);
    return HUB_OK;
}

static enum hub_status pass_entry(struct stream *s, struct hub_error *err)
{
    return ++s->at == s->page.count ? load_page(s, err) : HUB_OK;
}

static bool has_leaf(const struct rows *r, const struct hub_parquet_node *node)
{
    return HUB_MAX(node->leaf, r->first) < HUB_MIN(node->leaf + node->leaves, r->first + r->count);
}

/* The first leaf that is read of a node says what there is of it. */
static struct stream *stream_of(const struct rows *r, const struct hub_parquet_node *node)
{
    return &r->streams[HUB_MAX(node->leaf, r->first) - r->first];
}

/* Nothing is there of a node: its leaves have an entry each that says so. */
static enum hub_status pass_node(struct rows *r, const struct hub_parquet_node *node, struct hub_error *err)
{
    for (uint32_t i = HUB_MAX(node->leaf, r->first);
         i < HUB_MIN(node->leaf + node->leaves, r->first + r->count); i++) {
        if (r->streams[i - r->first].ended)
            return hub_fail(err, HUB_CORRUPT, "columns of one list have different lengths");
        HUB_TRY(pass_entry(&r->streams[i - r->first], err));
    }
    return HUB_OK;
}

static enum hub_status put_bytes(struct rows *r, struct hub_view bytes, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(2 * MAX_ROW);
    HUB_TRY(hub_base64_encode(bytes, &text, err));
    hub_json_string(&r->json, hub_buf_view(&text));
    return HUB_OK;
}

static enum hub_status put_leaf(struct rows *r, const struct hub_parquet_node *node, bool key,
                                struct hub_error *err)
{
    struct stream *s = stream_of(r, node);
    const struct hub_parquet_leaf *leaf = s->leaf;
    if (s->ended)
        return hub_fail(err, HUB_CORRUPT, "columns of one list have different lengths");
    if (s->page.defs[s->at] < leaf->max_def) {
        if (key)
            return hub_fail(err, HUB_CORRUPT, "a map without a key");
        hub_json_null(&r->json);
    } else if (leaf->item.kind == HUB_KIND_VAR) {
        const struct hub_page_view *view = &s->page.views[s->at];
        const struct hub_view bytes = {(const char *)hub_page_bytes(&s->page.job, view), view->length};
        if (key)
            hub_json_key(&r->json, bytes);
        else if (leaf->text)
            hub_json_string(&r->json, bytes);
        else
            HUB_TRY(put_bytes(r, bytes, err));
    } else {
        hub_variant_json(&leaf->item, s->page.values + (size_t)s->at * leaf->item.item_size, &r->json);
    }
    HUB_TRY(hub_json_status(&r->json));
    return pass_entry(s, err);
}

static enum hub_status put_node(struct rows *r, const struct hub_parquet_node *node, struct hub_error *err);

static enum hub_status put_struct(struct rows *r, const struct hub_parquet_node *node, struct hub_error *err)
{
    const struct hub_parquet_node *const end = r->parquet->nodes + node->end;
    if (!r->alone)
        hub_json_object(&r->json);
    for (const struct hub_parquet_node *at = node + 1; at < end; at = r->parquet->nodes + at->end) {
        if (!has_leaf(r, at))
            continue;
        if (!r->alone)
            hub_json_key(&r->json, (struct hub_view){r->parquet->names.data + at->name, at->name_size});
        HUB_TRY(put_node(r, at, err));
    }
    if (!r->alone)
        hub_json_end_object(&r->json);
    return HUB_OK;
}

/* A group of one repeated member. */
static bool is_around(const struct rows *r, const struct hub_parquet_node *node)
{
    return node->group && node->end > (uint32_t)(node - r->parquet->nodes) + 1 && node[1].repeated &&
           node[1].end == node->end;
}

/* What repeats in a list is its items, or a group around each of them: the rules are those of
 * https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists */
static const struct hub_parquet_node *item_of(const struct rows *r, const struct hub_parquet_node *list,
                                              const struct hub_parquet_node *repeated)
{
    const char *const names = r->parquet->names.data;
    const struct hub_view name = {names + repeated->name, repeated->name_size};
    const bool tuple = name.size == list->name_size + 6 && hub_view_ends(name, "_tuple") &&
                       memcmp(name.data, names + list->name, list->name_size) == 0;
    if (!repeated->group || repeated->annotation == HUB_PARQUET_LIST || tuple || hub_view_is(name, "array") ||
        repeated->end == (uint32_t)(repeated - r->parquet->nodes) + 1 || repeated[1].end != repeated->end ||
        repeated[1].repeated)
        return repeated;
    return repeated + 1;
}

static enum hub_status put_content(struct rows *r, const struct hub_parquet_node *node,
                                   struct hub_error *err);

static enum hub_status put_item(struct rows *r, const struct hub_parquet_node *repeated,
                                const struct hub_parquet_node *item, struct hub_error *err)
{
    return item == repeated ? put_content(r, item, err) : put_node(r, item, err);
}

static bool more_items(const struct rows *r, const struct hub_parquet_node *repeated)
{
    const struct stream *s = stream_of(r, repeated);
    return !s->ended && s->page.reps[s->at] == repeated->rep;
}

static bool has_items(const struct rows *r, const struct hub_parquet_node *repeated)
{
    const struct stream *s = stream_of(r, repeated);
    return !s->ended && s->page.defs[s->at] >= repeated->def;
}

static enum hub_status put_list(struct rows *r, const struct hub_parquet_node *list,
                                const struct hub_parquet_node *repeated, struct hub_error *err)
{
    const struct hub_parquet_node *item = list ? item_of(r, list, repeated) : repeated;
    hub_json_array(&r->json);
    if (!has_items(r, repeated))
        HUB_TRY(pass_node(r, repeated, err));
    else
        do
            HUB_TRY(put_item(r, repeated, item, err));
        while (more_items(r, repeated));
    hub_json_end_array(&r->json);
    return HUB_OK;
}

static enum hub_status put_map(struct rows *r, const struct hub_parquet_node *repeated, struct hub_error *err)
{
    const struct hub_parquet_node *const key = repeated + 1, *const value = r->parquet->nodes + key->end;
    const bool object = !key->group && !key->repeated && r->parquet->leaves[key->leaf].text;
    if (object)
        hub_json_object(&r->json);
    else
        hub_json_array(&r->json);
    if (!has_items(r, repeated))
        HUB_TRY(pass_node(r, repeated, err));
    else
        do {
            if (!object)
                hub_json_array(&r->json);
            HUB_TRY(object ? put_leaf(r, key, true, err) : put_node(r, key, err));
            HUB_TRY(put_node(r, value, err));
            if (!object)
                hub_json_end_array(&r->json);
        } while (more_items(r, repeated));
    if (object)
        hub_json_end_object(&r->json);
    else
        hub_json_end_array(&r->json);
    return HUB_OK;
}

static bool is_map(const struct rows *r, const struct hub_parquet_node *node)
{
    const struct hub_parquet_node *const nodes = r->parquet->nodes;
    return node->annotation == HUB_PARQUET_MAP && is_around(r, node) && node[1].group &&
           node[1].end > (uint32_t)(node - nodes) + 2 && node[2].end < node->end &&
           nodes[node[2].end].end == node->end;
}

/* What a node is once it is there; of a repeated one, of each. */
static enum hub_status put_content(struct rows *r, const struct hub_parquet_node *node, struct hub_error *err)
{
    if (!node->group)
        return put_leaf(r, node, false, err);
    if (is_map(r, node))
        return put_map(r, node + 1, err);
    if (node->annotation != HUB_PARQUET_STRUCT && is_around(r, node))
        return put_list(r, node, node + 1, err);
    return put_struct(r, node, err);
}

static bool is_null(const struct rows *r, const struct hub_parquet_node *node)
{
    const struct stream *s = stream_of(r, node);
    return !s->ended && s->page.defs[s->at] < node->def - node->repeated;
}

static enum hub_status put_node(struct rows *r, const struct hub_parquet_node *node, struct hub_error *err)
{
    if (!has_leaf(r, node) || is_null(r, node)) {
        hub_json_null(&r->json);
        return pass_node(r, node, err);
    }
    return node->repeated ? put_list(r, NULL, node, err) : put_content(r, node, err);
}

/* ---- a column ---- */

static enum hub_status put_row(struct rows *r, const struct hub_parquet_node *node, struct json_batch *b,
                               struct hub_error *err)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->streams[i].ended || r->streams[i].page.reps[r->streams[i].at] != 0)
            return hub_fail(err, HUB_CORRUPT, "columns of one list disagree on where its rows begin");
    const bool valid = !is_null(r, node);
    r->text.size = 0;
    r->json = hub_json_to(&r->text, err);
    HUB_TRY(put_node(r, node, err));
    HUB_TRY(hub_json_status(&r->json));
    return add_row(b, hub_buf_view(&r->text), valid, err);
}

static enum hub_status open_stream(const struct rows *r, uint32_t group, uint32_t leaf, struct stream *s,
                                   struct hub_error *err)
{
    const struct hub_parquet_chunk *chunk =
        &r->parquet->chunks[(size_t)group * r->parquet->leaf_count + leaf];
    hub_parquet_pages_dispose(&s->pages);
    if (chunk->trouble || s->leaf->trouble)
        return hub_fail(err, HUB_UNSUPPORTED, "%s", chunk->trouble ? chunk->trouble : s->leaf->trouble);
    HUB_TRY(hub_parquet_walk(s->decoder.source, s->leaf, chunk, &s->pages, err));
    HUB_TRY(hub_parquet_verify(&s->decoder, &s->pages, err));
    s->next = hub_parquet_first_data(&s->pages);
    return load_page(s, err);
}

static enum hub_status put_group(struct rows *r, const struct hub_parquet_node *node, uint32_t group,
                                 struct json_batch *b, struct hub_error *err)
{
    const uint64_t rows = r->parquet->group_rows[group];
    for (uint32_t i = 0; rows && i < r->count; i++)
        HUB_TRY(open_stream(r, group, r->first + i, &r->streams[i], err));
    for (uint64_t row = 0; row < rows; row++)
        HUB_TRY(put_row(r, node, b, err));
    for (uint32_t i = 0; rows && i < r->count; i++)
        if (!r->streams[i].ended)
            return hub_fail(err, HUB_CORRUPT, "a column of more rows than its row group");
    return HUB_OK;
}

static enum hub_status put_groups(struct rows *r, const struct hub_parquet_node *node, struct json_batch *b,
                                  struct hub_error *err)
{
    for (uint32_t g = 0; g < r->parquet->group_count; g++)
        HUB_TRY(put_group(r, node, g, b, err));
    return end_batch(b, err);
}

/* The outermost list around a leaf. */
static uint32_t list_around(const struct hub_parquet *parquet, uint32_t leaf)
{
    for (uint32_t i = 1; i < parquet->node_count; i++) {
        const struct hub_parquet_node *node = &parquet->nodes[i];
        if (node->leaf <= leaf && leaf < node->leaf + node->leaves &&
            (node->repeated || node->annotation != HUB_PARQUET_STRUCT))
            return i;
    }
    return HUB_NONE;
}

static void dispose(struct rows *r)
{
    for (uint32_t i = 0; r->streams && i < r->count; i++) {
        hub_parquet_pages_dispose(&r->streams[i].pages);
        hub_parquet_decoder_dispose(&r->streams[i].decoder);
    }
    free(r->streams);
    hub_buf_dispose(&r->text);
}

static void batch_freep(struct json_batch **b)
{
    if (*b) {
        hub_buf_dispose(&(*b)->values);
        hub_buf_dispose(&(*b)->page);
    }
    free(*b);
}

enum hub_status hub_parquet_json(const struct hub_parquet *parquet, uint32_t leaf,
                                 struct hub_byte_source *source, struct hub_parquet_texts *texts,
                                 struct hub_error *err)
{
    const bool whole = parquet->leaves[leaf].node != HUB_NONE;
    const uint32_t number = whole ? parquet->leaves[leaf].node : list_around(parquet, leaf);
    HUB_CLEANUP(batch_freep) struct json_batch *batch = NULL;
    HUB_CLEANUP(dispose)
    struct rows r = {
        .parquet = parquet, .first = leaf, .count = 1, .alone = !whole, .text = HUB_BUF_INIT(MAX_ROW)};
    *texts = (struct hub_parquet_texts){.count = 0};
    if (number == HUB_NONE)
        return hub_fail(err, HUB_UNSUPPORTED, "not lists");
    if (whole)
        r.count = parquet->nodes[number].leaves;
    if (r.count > MAX_LEAVES)
        return hub_fail(err, HUB_TOO_BIG, "lists of structs of %u members", r.count);
    HUB_TRY(hub_new(&r.streams, r.count, sizeof *r.streams, err));
    HUB_TRY(hub_new(&batch, 1, sizeof *batch, err));
    for (uint32_t i = 0; i < r.count; i++) {
        r.streams[i].leaf = &parquet->leaves[leaf + i];
        hub_parquet_decoder_init(&r.streams[i].decoder, source);
    }
    batch->files = source->files;
    batch->out = texts;
    batch->values = HUB_BUF_INIT(4 * MAX_ROW);
    batch->page = HUB_BUF_INIT(MAX_ROW);
    return put_groups(&r, &parquet->nodes[number], batch, err);
}

void hub_parquet_texts_dispose(struct hub_parquet_texts *texts)
{
    for (uint32_t i = 0; i < texts->count; i++)
        hub_parquet_pages_dispose(&texts->batches[i]);
    free(texts->batches);
    *texts = (struct hub_parquet_texts){.count = 0};
}
