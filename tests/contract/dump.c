/*
 * contract_dump PROGRAM PATH...: what the inspector finds in datasets, folders or files, one line a thing,
 * for people and for the compare_*.py. Of every episode's rows, read from the layout alone: a CRC-32C of
 * their bytes, one of which values are null where some are, and whether slices of them are their rows. The
 * texts themselves go to the file that HUB_DUMP_TEXTS names: a line with path and count, then each behind its
 * length.
 */
#include "storage/base/digest.h"
#include "tests/support/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* What lies behind the text of fixed-length strings is nobody's. */
static void clear_padding(const struct hub_rows *rows)
{
    const struct hub_variant *v = &rows->variant;
    if (v->kind != HUB_KIND_FIXED || rows->offsets)
        return;
    for (uint64_t i = 0; i < rows->rows * hub_variant_row_items(v); i++) {
        uint8_t *item = rows->data + i * v->item_size;
        const size_t size = hub_variant_text_size(v, item);
        memset(item + size, 0, v->item_size - size);
    }
}

static bool same_row(const struct hub_rows *all, uint64_t a, const struct hub_rows *some, uint64_t b)
{
    const uint64_t size = hub_variant_row_bytes(&all->variant), items = hub_variant_row_items(&all->variant);
    for (uint64_t k = 0; k < items; k++)
        if ((!all->valid || all->valid[a * items + k]) != (!some->valid || some->valid[b * items + k]))
            return false;
    if (!all->offsets)
        return memcmp(all->data + a * size, some->data + b * size, size) == 0;
    const uint64_t length = all->offsets[a + 1] - all->offsets[a];
    return some->offsets[b + 1] - some->offsets[b] == length &&
           memcmp(all->data + all->offsets[a], some->data + some->offsets[b], length) == 0;
}

/* Do slices of a window give its rows? */
static bool slices_agree(const struct inspected *d, uint32_t part, const struct hub_layout *layout,
                         const struct hub_window *w, const struct hub_rows *all)
{
    const uint64_t n = all->rows;
    const struct hub_slice slices[] = {
        {0, 1, 1},      {n - 1, 1, 1},     {n / 3, n / 3, 1},        {n / 2, (n - n / 2 + 1) / 2, 2},
        {n - 1, n, -1}, {n / 5, n / 7, 5}, {n - 1, (n + 2) / 3, -3},
    };
    for (size_t i = 0; n && i < HUB_COUNT(slices); i++) {
        struct hub_error err = {0};
        struct hub_rows some = {0};
        bool same = slices[i].count == 0 || !rows_read_slice(d, part, layout, w, slices[i], &some, &err);
        for (uint64_t k = 0; same && k < slices[i].count; k++)
            same = same_row(all, slices[i].start + k * slices[i].step, &some, k);
        hub_rows_dispose(&some);
        if (!same)
            return false;
    }
    return true;
}

static void dump_texts(const struct hub_found_field *field, const struct hub_rows *rows)
{
    const char *name = getenv("HUB_DUMP_TEXTS");
    FILE *out = name && field->type == HUB_FIELD_TEXT ? fopen(name, "ab") : NULL;
    if (!out)
        return;
    fprintf(out, "%s\t%llu\n", field->path, (unsigned long long)rows->rows);
    for (uint64_t r = 0; r < rows->rows; r++) {
        const uint32_t length = (uint32_t)(rows->offsets[r + 1] - rows->offsets[r]);
        fwrite(&length, sizeof length, 1, out);
        fwrite(rows->data + rows->offsets[r], 1, length, out);
    }
    fclose(out);
}

static void dump_windows(struct inspected *d, uint32_t part, const struct hub_found_field *field)
{
    const struct hub_findings *f = &d->parts[part];
    struct hub_layout layout;
    struct hub_error err = {0};
    if (!field->layout || hub_layout_open(field->layout, field->layout_size, &layout, &err))
        return;
    for (uint32_t i = 0; i < f->episode_count; i++) {
        const struct hub_window *w = hub_layout_window(&layout, i);
        if (!w || hub_layout_refusal(&layout, w))
            continue;
        const struct hub_variant *v = &layout.variants[layout.arrays[w->array].variant];
        char npy[16], shape[128] = "";
        size_t n = 0;
        hub_variant_npy(v, npy);
        for (unsigned k = 0; k < v->rank; k++)
            n += (size_t)snprintf(shape + n, sizeof shape - n, "%u,", v->dims[k]);
        printf("rows\t%lld\t%s\t%s\t(%s)\t%llu", (long long)f->episodes[i].number, field->path, npy, shape,
               (unsigned long long)w->count);
        struct hub_rows rows = {0};
        if (rows_read(d, part, &layout, w, &rows, &err)) {
            printf("\tERROR %s", err.detail);
        } else if (rows.offsets) {
            uint32_t crc = 0;
            for (uint64_t r = 0; r < rows.rows; r++) {
                const uint32_t length = (uint32_t)(rows.offsets[r + 1] - rows.offsets[r]);
                crc = hub_crc32c(hub_crc32c(crc, &length, 4), rows.data + rows.offsets[r], length);
            }
            printf("\t%08x", crc);
            dump_texts(field, &rows);
        } else {
            clear_padding(&rows);
            printf("\t%08x", hub_crc32c(0, rows.data, rows.rows * hub_variant_row_bytes(v)));
        }
        if (rows.valid)
            printf("\tnulls %08x", hub_crc32c(0, rows.valid, rows.rows * hub_variant_row_items(v)));
        if (!slices_agree(d, part, &layout, w, &rows))
            printf("\tSLICES DIFFER");
        hub_rows_dispose(&rows);
        printf("\n");
    }
}

static void dump_part(struct inspected *d, uint32_t part)
{
    const struct hub_findings *f = &d->parts[part];
    printf("part\t%s\t%s\t%s\n", d->plan.parts[part].name, hub_status_name(d->part_status[part]),
           d->part_errors[part].detail);
    for (uint32_t i = 0; i < f->problem_count; i++)
        printf("problem\t%s\t%s\t%s\n", f->problems[i].code, f->problems[i].path ? f->problems[i].path : "",
               f->problems[i].detail);
    for (uint32_t i = 0; i < f->episode_count; i++) {
        const struct hub_found_episode *e = &f->episodes[i];
        printf("episode\t%lld\t%s\tsteps %llu\tseed %s\treturn %s%.17g\tdone %d %d\t%s\t%s\n",
               (long long)e->number, e->name, (unsigned long long)e->steps, e->seed ? e->seed : "-",
               e->has_return ? e->return_computed ? "computed " : "" : "unknown ", e->episode_return,
               e->terminated, e->truncated, e->attributes ? e->attributes : "-",
               e->statistics ? e->statistics : "-");
    }
    for (uint32_t i = 0; i < f->field_count; i++) {
        const struct hub_found_field *field = &f->fields[i];
        printf("field\t%s\t%s\t%s\t%s\t%s\t%zu\n", field->path, hub_field_type_name(field->type),
               hub_role_name(field->role), hub_axis_name(field->axis),
               field->unreadable ? field->unreadable : "", field->layout_size);
        dump_windows(d, part, field);
    }
}

static void dump(const char *program, const char *dir)
{
    struct inspected d;
    struct hub_error err = {0};
    struct stat file;
    const bool alone = stat(dir, &file) == 0 && S_ISREG(file.st_mode);
    const enum hub_status st =
        alone ? inspected_open_file(&d, program, dir, &err) : inspected_open(&d, program, dir, &err);
    printf("dataset\t%s\t%s\t%s\t%s\n", dir, d.format, hub_status_name(st), st ? err.detail : "");
    for (uint32_t i = 0; i < d.plan.fact_count; i++)
        printf("fact\t%s\t%.300s\n", d.plan.facts[i].key, d.plan.facts[i].text);
    for (uint32_t i = 0; i < d.plan.problem_count; i++)
        printf("problem\t%s\t%s\t%s\n", d.plan.problems[i].code,
               d.plan.problems[i].path ? d.plan.problems[i].path : "", d.plan.problems[i].detail);
    for (uint32_t i = 0; d.parts && i < d.plan.part_count; i++)
        dump_part(&d, i);
    inspected_close(&d);
}

int main(int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        dump(argv[1], argv[i]);
    return argc < 3;
}
