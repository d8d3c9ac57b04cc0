/* The table of representations, and the words of a refusal. */
#include "storage/encode/representation.h"

#include <stdio.h>

#define DECLARE(name, type, writer, ...) extern const struct hub_writer hub_write_##writer;
HUB_REPRESENTATIONS(DECLARE)

#define ROW(name, type, writer, table, suffixes) {#name, type, &hub_write_##writer, HUB_TABLE_##table},
const struct hub_representation hub_representations[] = {
    HUB_REPRESENTATIONS(ROW){NULL, NULL, NULL, HUB_TABLE_NONE}};

const struct hub_representation *hub_representation_named(const char *name)
{
    const struct hub_representation *as = hub_representations;
    while (as->name && strcmp(as->name, name) != 0)
        as++;
    return as->name ? as : NULL;
}

bool hub_representation_is_of_rows(const struct hub_representation *as)
{
    return as->writer->table && as->writer->table->rows;
}

bool hub_representation_is_listed(enum hub_representation_list which, const struct hub_representation *as)
{
    switch (which) {
    case HUB_LIST_ALL:
        return true;
    case HUB_LIST_OF_SEVERAL:
        return as->writer->several;
    case HUB_LIST_OF_VALUES:
        return as->table >= HUB_TABLE_VALUES;
    case HUB_LIST_OF_ROWS:
        return as->table >= HUB_TABLE_ROWS;
    case HUB_LIST_OF_WINDOWS:
        return as->table == HUB_TABLE_WINDOWS;
    case HUB_LIST_OF_PAGES:
        return as->writer->table && as->writer->table->lists;
    }
    return false;
}

const struct hub_representation *hub_representations_next(enum hub_representation_list which,
                                                          const struct hub_representation *as)
{
    as = as ? as + 1 : hub_representations;
    while (as->name && !hub_representation_is_listed(which, as))
        as++;
    return as->name ? as : NULL;
}

void hub_representations_list(enum hub_representation_list which, bool types,
                              char out[HUB_REPRESENTATIONS_CHARS])
{
    const struct hub_representation *as = NULL;
    size_t n = 0;
    out[0] = '\0';
    while ((as = hub_representations_next(which, as)) && n < HUB_REPRESENTATIONS_CHARS)
        if (!types || !strchr(as->media_type, '*'))
            n += (size_t)snprintf(out + n, HUB_REPRESENTATIONS_CHARS - n, "%s%s", n ? ", " : "",
                                  types ? as->media_type : as->name);
}

bool hub_encode_as_bytes(enum hub_field_type type, const struct hub_variant *variant)
{
    switch (type) {
    case HUB_FIELD_BYTES:
    case HUB_FIELD_OPAQUE:
    case HUB_FIELD_IMAGE_JPEG:
    case HUB_FIELD_IMAGE_PNG:
        return true;
    default:
        return variant->kind == HUB_KIND_VAR && type != HUB_FIELD_TEXT;
    }
}

bool hub_encode_as_item(enum hub_field_type type, const struct hub_variant *variant)
{
    const bool sized = variant->kind == HUB_KIND_FIXED || variant->kind == HUB_KIND_VAR;
    if (type != HUB_FIELD_TEXT && type != HUB_FIELD_PADDED_JSON && !hub_encode_as_bytes(type, variant))
        return false;
    return sized ? !variant->rank && !(variant->kind == HUB_KIND_VAR && variant->sequence)
                 : variant->item_size == 1 && variant->rank == 1;
}

static enum hub_fit fit_of(const struct hub_representation *as, enum hub_field_type type,
                           const struct hub_variant *variant)
{
    return as->writer->fit ? as->writer->fit(type, variant) : HUB_FIT_ROWS;
}

/* What would do instead: each writer once, by its first name. */
static void list_others(enum hub_field_type type, const struct hub_variant *variant, char out[256])
{
    const struct hub_writer *last = NULL;
    size_t n = 0;
    out[0] = '\0';
    for (const struct hub_representation *as = hub_representations; as->name; last = as++->writer) {
        const enum hub_fit fit = fit_of(as, type, variant);
        if (as->writer != last && n < 256 && (fit == HUB_FIT_ROWS || fit == HUB_FIT_ONE_ROW))
            n += (size_t)snprintf(out + n, 256 - n, "%s%s%s", n ? ", " : "", as->name,
                                  fit == HUB_FIT_ONE_ROW ? " (one row)" : "");
    }
}

enum hub_status hub_encode_check(enum hub_field_type type, const struct hub_variant *variant,
                                 const struct hub_representation *as, uint64_t rows, struct hub_error *err)
{
    char others[256];
    if (type < HUB_FIELD_NUMBER || type >= HUB_FIELD_TYPE_COUNT)
        return hub_fail(err, HUB_INVALID, "no such representation");
    const enum hub_fit fit = fit_of(as, type, variant);
    if (fit == HUB_FIT_ROWS || (fit == HUB_FIT_ONE_ROW && rows == 1))
        return HUB_OK;
    if (fit == HUB_FIT_ONE_ROW)
        return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                           "%s rows are available as %s one at a time: choose one with row=",
                           hub_field_type_name(type), as->name);
    char dims[32] = "";
    if (variant->rank > 1)
        snprintf(dims, sizeof dims, " of %u dimensions", variant->rank);
    list_others(type, variant, others);
    return hub_fail_as(err, HUB_NOT_ACCEPTABLE,
                       fit == HUB_FIT_DECODED ? HUB_PROBLEM_NEEDS_DECODING : HUB_PROBLEM_NOT_ACCEPTABLE,
                       "%s rows%s are not available as %s, but as %s", hub_field_type_name(type), dims,
                       as->name, others);
}

enum hub_status hub_encode_check_named(const char *name, enum hub_field_type type,
                                       const struct hub_variant *variant, const struct hub_representation *as,
                                       uint64_t rows, struct hub_error *err)
{
    struct hub_error why = {0};
    const enum hub_status st = hub_encode_check(type, variant, as, rows, &why);
    return st ? hub_fail_as(err, st, why.problem, "'%.200s': %s", name, why.detail) : HUB_OK;
}

enum hub_status hub_encoding_check(const struct hub_encoding *e, struct hub_error *err)
{
    if (!e->single && !e->as->writer->several) {
        char list[HUB_REPRESENTATIONS_CHARS];
        hub_representations_list(HUB_LIST_OF_SEVERAL, false, list);
        return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                           "several fields come as one of %s; %s is for one field", list, e->as->name);
    }
    for (const struct hub_encoding_field *c = e->fields; c < e->fields + e->count; c++)
        HUB_TRY(e->single ? hub_encode_check(c->type, c->plan->variant, e->as, c->plan->slice.count, err)
                          : hub_encode_check_named(c->name, c->type, c->plan->variant, e->as,
                                                   c->plan->slice.count, err));
    return e->as->writer->check ? e->as->writer->check(e, err) : HUB_OK;
}

const char *hub_encoding_media_type(const struct hub_encoding *e)
{
    return e->as->writer->media_type ? e->as->writer->media_type(e) : e->as->media_type;
}

uint64_t hub_encoding_bytes(const struct hub_encoding *e)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < e->count; i++)
        bytes += e->fields[i].plan->bytes_out;
    return bytes;
}
