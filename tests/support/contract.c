/* See contract.h. */
#include "tests/support/contract.h"

#include "storage/model/picture.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

/* ---- opening ---- */

/* The set's name, for messages. */
static const char *name_of(const struct inspected *d)
{
    const size_t size = strlen(HUB_FIXTURES "/");
    if (d->only)
        return d->only;
    return strncmp(d->dir, HUB_FIXTURES "/", size) == 0 ? d->dir + size : d->dir;
}

static enum hub_status open_set(struct inspected *d, struct hub_error *err, const char *format, va_list args)
{
    char name[600], path[1200];
    struct stat file;
    vsnprintf(name, sizeof name, format, args);
    snprintf(path, sizeof path, "%s%s", name[0] == '/' ? "" : HUB_FIXTURES "/", name);
    cr_assert_eq(stat(path, &file), 0, "there is no %s", path);
    *err = (struct hub_error){0};
    return S_ISREG(file.st_mode) ? inspected_open_file(d, HUB_INSPECT, path, err)
                                 : inspected_open(d, HUB_INSPECT, path, err);
}

struct inspected contract_open(const char *format, const char *name, ...)
{
    struct inspected d;
    struct hub_error err;
    va_list args;
    va_start(args, name);
    const enum hub_status st = open_set(&d, &err, name, args);
    va_end(args);
    cr_assert_eq(st, HUB_OK, "%s: %s", name_of(&d), err.detail);
    cr_assert_str_eq(d.format, format, "%s is of format %s, not %s", name_of(&d), d.format, format);
    for (uint32_t i = 0; i < d.plan.part_count; i++)
        cr_assert_eq(d.part_status[i], HUB_OK, "%s, part %u: %s", name_of(&d), i, d.part_errors[i].detail);
    return d;
}

enum hub_status contract_try(struct inspected *d, struct hub_error *err, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    const enum hub_status st = open_set(d, err, name, args);
    va_end(args);
    return st;
}

/* ---- what was found ---- */

const struct hub_findings *contract_part(const struct inspected *d, uint32_t part, uint32_t episodes,
                                         uint32_t fields)
{
    cr_assert_lt(part, d->plan.part_count, "%s has %u parts", name_of(d), d->plan.part_count);
    cr_assert_eq(d->part_status[part], HUB_OK, "%s: %s", name_of(d), d->part_errors[part].detail);
    const struct hub_findings *found = &d->parts[part];
    cr_assert_eq(found->episode_count, episodes, "%s: %u episodes", name_of(d), found->episode_count);
    cr_assert_eq(found->field_count, fields, "%s: %u fields", name_of(d), found->field_count);
    return found;
}

const struct hub_found_field *contract_field(const struct inspected *d, const char *path)
{
    const struct hub_found_field *field = inspected_field(&d->parts[0], path);
    cr_assert_not_null(field, "%s has no field %s", name_of(d), path);
    return field;
}

struct hub_layout contract_layout(const struct inspected *d, const char *path)
{
    const struct hub_found_field *field = contract_field(d, path);
    struct hub_layout layout;
    struct hub_error err = {0};
    cr_assert_not_null(field->layout, "%s: %s has no layout", name_of(d), path);
    cr_assert_eq(hub_layout_open(field->layout, field->layout_size, &layout, &err), HUB_OK, "%s: %s: %s",
                 name_of(d), path, err.detail);
    return layout;
}

void contract_check_fact(const struct inspected *d, const char *key, const char *wanted)
{
    const char *text = inspected_fact(d, key);
    cr_assert_str_eq(text, wanted, "%s: %s is '%s', not '%s'", name_of(d), key, text, wanted);
}

void contract_check_text(const struct inspected *d, const char *text, const char *wanted)
{
    cr_assert_str_eq(text ? text : "", wanted, "%s: '%s', not '%s'", name_of(d), text ? text : "", wanted);
}

void contract_check_says(const struct inspected *d, const char *text, const char *words)
{
    cr_assert(text && strstr(text, words), "%s: '%s' is not part of: %s", name_of(d), words,
              text ? text : "");
}

uint32_t contract_problems(const struct inspected *d)
{
    uint32_t count = d->plan.problem_count;
    for (uint32_t i = 0; d->parts && i < d->plan.part_count; i++)
        count += d->parts[i].problem_count;
    return count;
}

void contract_check_problems(const struct inspected *d, const char *codes)
{
    char words[400], *rest;
    snprintf(words, sizeof words, "%s", codes);
    for (const char *code = strtok_r(words, " ", &rest); code; code = strtok_r(NULL, " ", &rest))
        cr_assert_not_null(inspected_problem(d, code, NULL), "%s has no problem %s", name_of(d), code);
    cr_assert(codes[0] || contract_problems(d) == 0, "%s has %u problems", name_of(d), contract_problems(d));
}

/* ---- fields ---- */

static void describe_row(const struct hub_variant *v, enum hub_field_type type, char *out, size_t size)
{
    char name[24];
    hub_variant_name(v, type, name);
    int used = snprintf(out, size, "%s%s", v->kind == HUB_KIND_VAR ? "var " : "", name);
    for (unsigned i = 0; i < v->rank; i++)
        used += snprintf(out + used, size - (size_t)used, "%c%u", i ? 'x' : ' ', v->dims[i]);
}

static void check_rows(const struct inspected *d, const struct contract_field_case *wanted)
{
    const struct hub_layout layout = contract_layout(d, wanted->path);
    char shape[120];
    cr_assert(layout.counts[HUB_T_ARRAYS] > 0, "%s: %s has no rows", name_of(d), wanted->path);
    describe_row(&layout.variants[layout.arrays[0].variant], wanted->type, shape, sizeof shape);
    cr_assert(!wanted->shape[0] || strcmp(shape, wanted->shape) == 0, "%s: a row of %s is %s, not %s",
              name_of(d), wanted->path, shape, wanted->shape);
    const struct hub_window *first = hub_layout_window(&layout, 0);
    cr_assert(!wanted->rows || (first && first->count == wanted->rows), "%s: %s has %u rows, not %u",
              name_of(d), wanted->path, first ? (unsigned)first->count : 0, (unsigned)wanted->rows);
}

void contract_check_field(const struct inspected *d, const struct contract_field_case *wanted)
{
    const struct hub_found_field *field = contract_field(d, wanted->path);
    const char *name = name_of(d), *path = wanted->path;
    cr_assert_null(field->unreadable, "%s: %s: %s", name, path, field->unreadable);
    cr_assert_not_null(field->layout, "%s: %s has no layout", name, path);
    cr_assert_eq(field->type, wanted->type, "%s: type of %s: %s", name, path,
                 hub_field_type_name(field->type));
    cr_assert_eq(field->role, wanted->role, "%s: role of %s: %s", name, path, hub_role_name(field->role));
    cr_assert_eq(field->axis, wanted->axis, "%s: axis of %s: %s", name, path, hub_axis_name(field->axis));
    if (wanted->shape[0] || wanted->rows)
        check_rows(d, wanted);
}

void contract_check_picture(const struct inspected *d, const char *path, const char *layout, uint32_t frames,
                            uint32_t channels)
{
    const struct hub_found_field *field = contract_field(d, path);
    const struct hub_layout stored = contract_layout(d, path);
    const bool image = field->type == HUB_FIELD_IMAGE_RAW || field->type == HUB_FIELD_IMAGE_NUMBER;
    struct hub_picture p;
    cr_assert_eq(image, layout[0] != '\0', "%s: type of %s: %s", name_of(d), path,
                 hub_field_type_name(field->type));
    if (!image)
        return;
    cr_assert(hub_picture_of(&stored.variants[stored.arrays[0].variant], &p), "%s: %s", name_of(d), path);
    cr_assert_str_eq(p.layout, layout, "%s: layout of %s: %s", name_of(d), path, p.layout);
    cr_assert(p.frames == frames && p.channels == channels, "%s: %s has %u frames of %u channels", name_of(d),
              path, p.frames, p.channels);
}

/* ---- rows ---- */

struct hub_rows contract_read(const struct inspected *d, const char *path, uint32_t episode)
{
    const struct hub_found_field *field = contract_field(d, path);
    cr_assert_null(field->unreadable, "%s: %s: %s", name_of(d), path, field->unreadable);
    const struct hub_layout layout = contract_layout(d, path);
    const struct hub_window *window = hub_layout_window(&layout, episode);
    struct hub_rows rows = {0};
    struct hub_error err = {0};
    cr_assert_not_null(window, "%s: %s has no rows in episode %u", name_of(d), path, episode);
    cr_assert_eq(rows_read(d, 0, &layout, window, &rows, &err), HUB_OK, "%s: %s of episode %u: %s",
                 name_of(d), path, episode, err.detail);
    return rows;
}

double contract_number(const struct hub_rows *rows, uint64_t place)
{
    cr_assert_lt(place, rows->rows * hub_variant_row_items(&rows->variant), "there is no value %u",
                 (unsigned)place);
    return hub_variant_scalar(&rows->variant, rows->data + place * rows->variant.item_size).real;
}

struct hub_view contract_row(const struct hub_rows *rows, uint64_t row)
{
    cr_assert_lt(row, rows->rows, "there is no row %u", (unsigned)row);
    const uint64_t size = hub_variant_row_bytes(&rows->variant);
    const char *data = (const char *)rows->data;
    if (rows->offsets)
        return (struct hub_view){data + rows->offsets[row], rows->offsets[row + 1] - rows->offsets[row]};
    return (struct hub_view){data + row * size, rows->variant.kind == HUB_KIND_FIXED
                                                    ? hub_variant_text_size(&rows->variant, data + row * size)
                                                    : size};
}

void contract_check_counting(const struct inspected *d, const char *path, const struct hub_rows *rows)
{
    for (uint64_t i = 0; i < rows->rows * hub_variant_row_items(&rows->variant); i++)
        cr_assert_eq(contract_number(rows, i), (double)i, "%s: value %u of %s is %.17g", name_of(d),
                     (unsigned)i, path, contract_number(rows, i));
}
