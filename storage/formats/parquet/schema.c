/*
 * Parquet's schema: a tree stored depth first. Lists are known by their repeated group, never by the names
 * of their levels, which differ between writers (element, item, array). Members of structs in lists are
 * lists of their own where all are numbers; with a text among them, and of a map, the column is the whole.
 * Not supported, and said by name: decimals, intervals, INT96.
 */
#include "storage/formats/parquet/schema.h"

#include <stdlib.h>

enum { REQUIRED, OPTIONAL, REPEATED };
enum {
    CONVERTED_UTF8,
    CONVERTED_MAP,
    CONVERTED_MAP_KEY_VALUE,
    CONVERTED_LIST,
    CONVERTED_ENUM,
    CONVERTED_DECIMAL,
    CONVERTED_UINT_8 = 11,
    CONVERTED_INT_64 = 18,
    CONVERTED_JSON = 19,
    CONVERTED_INTERVAL = 21
};
enum {
    LOGICAL_NONE,
    LOGICAL_STRING,
    LOGICAL_MAP,
    LOGICAL_LIST,
    LOGICAL_ENUM,
    LOGICAL_DECIMAL,
    LOGICAL_INTERVAL = 9, /* no number in parquet.thrift: kept for it */
    LOGICAL_INTEGER = 10,
    LOGICAL_JSON = 12,
    LOGICAL_FLOAT16 = 15
};

struct element {
    struct hub_view name;
    int64_t type;                                         /* -1: a group */
    int64_t type_length, repetition, children, converted; /* converted: -1 none */
    int64_t logical, bits;
    bool is_signed;
};

static void read_integer(struct hub_thrift *t, const struct hub_thrift_field *field, struct element *e)
{
    if (!hub_thrift_enter(t, field))
        return;
    for (struct hub_thrift_field f = {0}; hub_thrift_next(t, &f);) {
        if (f.id == 1)
            e->bits = hub_thrift_int(t, &f);
        else if (f.id == 2)
            e->is_signed = hub_thrift_bool(t, &f);
        else
            hub_thrift_skip(t, &f);
    }
}

static void read_logical(struct hub_thrift *t, const struct hub_thrift_field *field, struct element *e)
{
    if (!hub_thrift_enter(t, field))
        return;
    for (struct hub_thrift_field f = {0}; hub_thrift_next(t, &f);) {
        e->logical = f.id;
        if (f.id == LOGICAL_INTEGER)
            read_integer(t, &f, e);
        else
            hub_thrift_skip(t, &f);
    }
}

static void read_element(struct hub_thrift *t, const struct hub_thrift_field *field, struct element *e)
{
    *e = (struct element){.name = HUB_VIEW(""), .type = -1, .converted = -1, .is_signed = true};
    if (!hub_thrift_enter(t, field))
        return;
    int64_t *const targets[] = {
        [1] = &e->type, [2] = &e->type_length, [3] = &e->repetition, [5] = &e->children, [6] = &e->converted};
    for (struct hub_thrift_field f = {0}; hub_thrift_next(t, &f);)
        if (f.id == 4)
            e->name = hub_thrift_binary(t, &f);
        else if (f.id == 10)
            read_logical(t, &f, e);
        else
            hub_thrift_take(t, &f, targets, HUB_COUNT(targets));
}

/* The older converted types say the same as logical ones. */
static void merge_converted(struct element *e)
{
    if (e->logical != LOGICAL_NONE || e->converted < 0)
        return;
    if (e->converted >= CONVERTED_UINT_8 && e->converted <= CONVERTED_INT_64) {
        e->logical = LOGICAL_INTEGER;
        e->bits = (int64_t)8 << ((e->converted - CONVERTED_UINT_8) % 4);
        e->is_signed = e->converted >= CONVERTED_UINT_8 + 4;
    } else if (e->converted == CONVERTED_UTF8 || e->converted == CONVERTED_ENUM ||
               e->converted == CONVERTED_JSON) {
        e->logical = LOGICAL_STRING;
    } else if (e->converted == CONVERTED_MAP || e->converted == CONVERTED_MAP_KEY_VALUE) {
        e->logical = LOGICAL_MAP;
    } else if (e->converted == CONVERTED_DECIMAL) {
        e->logical = LOGICAL_DECIMAL;
    } else if (e->converted == CONVERTED_INTERVAL) {
        e->logical = LOGICAL_INTERVAL;
    }
}

static const char *describe_integer(struct hub_parquet_leaf *leaf, const struct element *e, uint32_t size)
{
    leaf->item.kind = HUB_KIND_INT;
    leaf->item.item_size = size;
    if (e->logical != LOGICAL_INTEGER)
        return NULL; /* times and dates are given as the integers they are */
    if ((e->bits != 8 && e->bits != 16 && e->bits != 32 && e->bits != 64) || e->bits > (int64_t)size * 8)
        return "an integer type of impossible width";
    leaf->item.kind = e->is_signed ? HUB_KIND_INT : HUB_KIND_UINT;
    leaf->item.item_size = (uint32_t)e->bits / 8;
    return NULL;
}

static const char *describe_bytes(struct hub_parquet_leaf *leaf, const struct element *e)
{
    leaf->item = (struct hub_variant){.kind = HUB_KIND_VAR};
    leaf->text = leaf->physical == HUB_PHYS_BYTE_ARRAY &&
                 (e->logical == LOGICAL_STRING || e->logical == LOGICAL_ENUM || e->logical == LOGICAL_JSON);
    return NULL;
}

static const char *describe_fixed(struct hub_parquet_leaf *leaf, const struct element *e)
{
    if (e->type_length < 1 || e->type_length > (int64_t)HUB_MAX_CHUNK_BYTES)
        return "values of an impossible width";
    leaf->width = (uint32_t)e->type_length;
    if (e->logical != LOGICAL_FLOAT16)
        return describe_bytes(leaf, e);
    leaf->item = (struct hub_variant){.kind = HUB_KIND_FLOAT, .item_size = 2};
    return leaf->width == 2 ? NULL : "a FLOAT16 of another width";
}

static const char *describe_leaf(struct hub_parquet_leaf *leaf, const struct element *e)
{
    leaf->physical = (uint8_t)e->type;
    if (e->logical == LOGICAL_DECIMAL)
        return "decimal numbers";
    if (e->logical == LOGICAL_INTERVAL)
        return "intervals";
    if (leaf->max_rep > HUB_MAX_RANK)
        return "lists are nested too deeply";
    switch ((enum hub_physical)e->type) {
    case HUB_PHYS_BOOLEAN:
        leaf->item = (struct hub_variant){.kind = HUB_KIND_BOOL, .item_size = 1};
        return NULL;
    case HUB_PHYS_INT32:
        return describe_integer(leaf, e, 4);
    case HUB_PHYS_INT64:
        return describe_integer(leaf, e, 8);
    case HUB_PHYS_FLOAT:
        leaf->item = (struct hub_variant){.kind = HUB_KIND_FLOAT, .item_size = 4};
        return NULL;
    case HUB_PHYS_DOUBLE:
        leaf->item = (struct hub_variant){.kind = HUB_KIND_FLOAT, .item_size = 8};
        return NULL;
    case HUB_PHYS_BYTE_ARRAY:
        return describe_bytes(leaf, e);
    case HUB_PHYS_FIXED:
        return describe_fixed(leaf, e);
    case HUB_PHYS_INT96:
        return "physical type INT96";
    }
    return "unknown physical type";
}

/* Where the traversal stands: what the groups above have added. */
struct schema_position {
    const char *path;
    const char *trouble;
    unsigned depth, def, rep, element_def;
    bool image; /* directly inside a struct {bytes, path} */
    bool whole; /* inside a list or map, which decides what the column is */
};

struct traversal {
    struct element *elements;
    uint32_t count, next;
    struct hub_parquet *out;
};

static enum hub_status add_leaf(struct traversal *w, const struct element *e,
                                const struct schema_position *at, struct hub_error *err)
{
    struct hub_parquet *out = w->out;
    if (out->leaf_count == HUB_PARQUET_MAX_LEAVES)
        return hub_fail(err, HUB_TOO_BIG, "more than %d columns", HUB_PARQUET_MAX_LEAVES);
    struct hub_parquet_leaf *leaf = &out->leaves[out->leaf_count];
    *leaf = (struct hub_parquet_leaf){.node = HUB_NONE,
                                      .max_def = (uint8_t)at->def,
                                      .max_rep = (uint8_t)at->rep,
                                      .element_def = (uint8_t)at->element_def};
    const char *trouble = describe_leaf(leaf, e);
    leaf->trouble = at->trouble ? at->trouble : trouble;
    leaf->image = at->image && hub_view_is(e->name, "bytes");
    leaf->part = at->image && !leaf->image;
    HUB_TRY(hub_dup(&leaf->path, at->path, err));
    out->leaf_count++;
    return HUB_OK;
}

static bool is_image(const struct traversal *w, const struct element *group)
{
    if (group->children != 2 || w->count - w->next < 2)
        return false;
    const struct element *a = &w->elements[w->next], *b = a + 1;
    if (a->type != HUB_PHYS_BYTE_ARRAY || b->type != HUB_PHYS_BYTE_ARRAY)
        return false;
    return (hub_view_is(a->name, "bytes") && hub_view_is(b->name, "path")) ||
           (hub_view_is(a->name, "path") && hub_view_is(b->name, "bytes"));
}

static enum hub_status walk_element(struct traversal *w, const struct schema_position *above,
                                    struct hub_error *err);

static uint8_t annotation_of(const struct element *e)
{
    if (e->type >= 0)
        return HUB_PARQUET_STRUCT;
    if (e->logical == LOGICAL_MAP)
        return HUB_PARQUET_MAP;
    return e->logical == LOGICAL_LIST || e->converted == CONVERTED_LIST ? HUB_PARQUET_LIST
                                                                        : HUB_PARQUET_STRUCT;
}

/* A group that is a struct to the reader: its members get paths of their own. The repeated group of a list
 * has one member, or is the struct itself. */
static bool is_struct(const struct element *e, const struct schema_position *at)
{
    return at->depth > 0 && (e->repetition != REPEATED || e->children > 1) && e->logical != LOGICAL_LIST &&
           e->logical != LOGICAL_MAP && e->converted != CONVERTED_LIST;
}

static enum hub_status walk_group(struct traversal *w, const struct element *e, struct schema_position *at,
                                  struct hub_error *err)
{
    struct schema_position below = *at;
    if (!below.trouble && at->rep > HUB_MAX_RANK)
        below.trouble = "lists are nested too deeply";
    const bool members = is_struct(e, at) && !below.trouble;
    below.image = members && is_image(w, e);
    below.depth++;
    if (e->children < 0 || e->children > w->count - w->next)
        return hub_fail(err, HUB_CORRUPT, "schema group '%.*s' has %lld children",
                        (int)HUB_MIN(e->name.size, 80), e->name.data, (long long)e->children);
    for (int64_t i = 0; i < e->children; i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(HUB_MAX_PATH);
        if (w->next == w->count)
            return hub_fail(err, HUB_CORRUPT, "the schema ends early");
        const struct hub_view name = w->elements[w->next].name;
        HUB_TRY(hub_buf_add_text(&path, at->path, err));
        if (at->depth == 0 || (members && !below.image)) {
            if (path.size)
                HUB_TRY(hub_buf_add_text(&path, "/", err));
            HUB_TRY(hub_buf_add_view(&path, name, err));
        }
        below.path = path.data ? path.data : "";
        if (memchr(below.path, '\0', path.size))
            return hub_fail(err, HUB_CORRUPT, "a column name holds a NUL byte");
        HUB_TRY(walk_element(w, &below, err));
    }
    return HUB_OK;
}

/* Is a list or a map of these leaves one column, whose rows are JSON text? */
static bool is_whole(const struct hub_parquet *out, const struct hub_parquet_node *node)
{
    bool whole = false;
    for (uint32_t i = node->leaf; i < node->leaf + node->leaves; i++)
        whole |= out->leaves[i].item.kind == HUB_KIND_VAR;
    for (const struct hub_parquet_node *at = node; at < out->nodes + node->end; at++)
        whole |= at->annotation == HUB_PARQUET_MAP && at->leaves > 1;
    return whole && node->leaves > 1;
}

static enum hub_status make_whole(struct hub_parquet *out, uint32_t number, const char *path,
                                  struct hub_error *err)
{
    const struct hub_parquet_node *node = &out->nodes[number];
    struct hub_parquet_leaf *first = &out->leaves[node->leaf];
    char *name;
    HUB_TRY(hub_dup(&name, path, err));
    free(first->path);
    first->path = name;
    first->node = number;
    for (uint32_t i = node->leaf; i < node->leaf + node->leaves; i++) {
        out->leaves[i].part = i > node->leaf;
        if (!first->trouble)
            first->trouble = out->leaves[i].image ? "a list of images" : out->leaves[i].trouble;
    }
    return HUB_OK;
}

static enum hub_status walk_element(struct traversal *w, const struct schema_position *above,
                                    struct hub_error *err)
{
    const uint32_t number = w->next++;
    const struct element *e = &w->elements[number];
    struct hub_parquet_node *node = &w->out->nodes[number];
    struct schema_position at = *above;
    if (at.depth > HUB_PARQUET_MAX_DEPTH)
        return hub_fail(err, HUB_TOO_BIG, "the schema is nested deeper than %d", HUB_PARQUET_MAX_DEPTH);
    if (at.depth > 0) {
        at.def += e->repetition != REQUIRED;
        at.rep += e->repetition == REPEATED;
        if (e->repetition == REPEATED)
            at.element_def = at.def;
    }
    if (e->repetition < REQUIRED || e->repetition > REPEATED)
        return hub_fail(err, HUB_CORRUPT, "unknown repetition of a column");
    const bool group = e->type < 0 || at.depth == 0;
    *node = (struct hub_parquet_node){.name = (uint32_t)w->out->names.size,
                                      .name_size = (uint32_t)e->name.size,
                                      .leaf = w->out->leaf_count,
                                      .annotation = annotation_of(e),
                                      .def = (uint8_t)at.def,
                                      .rep = (uint8_t)at.rep,
                                      .repeated = at.depth > 0 && e->repetition == REPEATED,
                                      .group = group};
    HUB_TRY(hub_buf_add_view(&w->out->names, e->name, err));
    at.whole |= at.depth > 0 && (node->repeated || node->annotation != HUB_PARQUET_STRUCT);
    HUB_TRY(group ? walk_group(w, e, &at, err) : add_leaf(w, e, &at, err));
    node->leaves = w->out->leaf_count - node->leaf;
    node->end = w->next;
    return at.whole && !above->whole && is_whole(w->out, node) ? make_whole(w->out, number, at.path, err)
                                                               : HUB_OK;
}

enum hub_status hub_parquet_read_schema(struct hub_thrift *t, const struct hub_thrift_field *field,
                                        struct hub_parquet *out, struct hub_error *err)
{
    struct hub_thrift_field element;
    const uint32_t count = hub_thrift_list(t, field, &element);
    if (hub_thrift_failed(t) || count == 0 || out->leaves)
        return hub_fail(err, HUB_CORRUPT, "malformed schema");
    if (count > 4 * HUB_PARQUET_MAX_LEAVES)
        return hub_fail(err, HUB_TOO_BIG, "a schema of %u elements", count);
    HUB_CLEANUP(hub_freep) struct element *elements = calloc(count, sizeof *elements);
    out->leaves = calloc(HUB_MIN(count, HUB_PARQUET_MAX_LEAVES), sizeof *out->leaves);
    out->nodes = calloc(count, sizeof *out->nodes);
    out->node_count = count;
    out->names.limit = HUB_PARQUET_MAX_FOOTER;
    HUB_TRY(hub_allocated(elements && out->leaves && out->nodes, err));
    for (uint32_t i = 0; i < count && !hub_thrift_failed(t); i++) {
        read_element(t, &element, &elements[i]);
        merge_converted(&elements[i]);
    }
    if (hub_thrift_failed(t))
        return hub_fail(err, HUB_CORRUPT, "malformed schema");
    struct traversal w = {elements, count, 0, out};
    HUB_TRY(walk_element(&w, &(struct schema_position){.path = ""}, err));
    if (w.next != count)
        return hub_fail(err, HUB_CORRUPT, "%u schema elements are left over", count - w.next);
    return HUB_OK;
}
