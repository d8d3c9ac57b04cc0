/* Rows in every representation they have, searched for what must not be in them. */
#include "tests/contract/damage/damage.h"

#include "storage/encode/representation.h"

#include <stdlib.h>

#define SHOW_LIMIT (4 * MIB)

void memory_poison(size_t size)
{
    enum { LENGTH = sizeof MARKER - 1 };
    if (size > 64 * MIB)
        return;
    char *memory = malloc(size ? size : 1);
    for (size_t i = 0; memory && i + LENGTH <= size; i += LENGTH)
        memcpy(memory + i, MARKER, LENGTH);
    __asm__ volatile("" : : "r"(memory) : "memory"); /* or the compiler leaves all of it out */
    free(memory);
}

bool memory_poison_works(void)
{
    enum { SIZE = 5000 };
    memory_poison(SIZE);
    char *memory = malloc(SIZE);
    __asm__ volatile("" : : "r"(memory) : "memory");
    const bool back = memory && memmem(memory, SIZE, MARKER, sizeof MARKER - 1);
    free(memory);
    return back;
}

static bool leaks(const void *data, size_t size)
{
    return size && memmem(data, size, MARKER, sizeof MARKER - 1);
}

static enum hub_status show_npy(enum hub_field_type type, const struct hub_rows *rows, struct hub_buf *out)
{
    const bool text = type == HUB_FIELD_TEXT;
    const uint64_t longest = text ? hub_npy_longest(rows, true) : 0;
    HUB_TRY(hub_npy_array_header(text ? HUB_NPY_TEXT : HUB_NPY_VALUES, rows, false, longest, out, NULL));
    return hub_npy_array_rows(text ? HUB_NPY_TEXT : HUB_NPY_VALUES, rows, longest, out, NULL);
}

/* What has no case here is made of what has one. */
static enum hub_status show(enum hub_field_type type, const char *as, struct hub_rows *rows,
                            struct hub_buf *out)
{
    uint64_t nonfinite = 0;
    if (strcmp(as, "json") == 0)
        return hub_json_rows(type, rows, false, HUB_NONFINITE_NULL, &nonfinite, out, NULL);
    if (strcmp(as, "npy") == 0)
        return show_npy(type, rows, out);
    if (strcmp(as, "raw") == 0)
        return hub_raw_rows(rows, out, NULL); /* may swap bytes in place: behind all but pictures, of bytes */
    struct hub_drawn_range range = {.known = false};
    if (strcmp(as, "image") == 0 && (type == HUB_FIELD_IMAGE_RAW || type == HUB_FIELD_IMAGE_NUMBER))
        return hub_png_row(rows, &range, out, NULL);
    return HUB_NOT_ACCEPTABLE;
}

unsigned show_rows(enum hub_field_type type, struct hub_rows *rows, bool *leak)
{
    unsigned shown = 0;
    const uint64_t size =
        rows->offsets ? rows->offsets[rows->rows] : rows->rows * hub_variant_row_bytes(&rows->variant);
    *leak = leaks(rows->data, size);
    for (const struct hub_representation *as = hub_representations; as->name; as++) {
        struct hub_buf out = HUB_BUF_INIT(SHOW_LIMIT);
        if (hub_encode_check(type, &rows->variant, as, rows->rows, NULL) || size > SHOW_LIMIT / 8)
            continue;
        memory_poison(4096);
        shown += show(type, as->name, rows, &out) == HUB_OK;
        *leak = *leak || leaks(out.data, out.size);
        hub_buf_dispose(&out);
    }
    return shown;
}

static bool text_leaks(const char *text)
{
    return text && strstr(text, MARKER);
}

bool findings_leak(const struct hub_findings *f)
{
    bool leak = false;
    for (uint32_t i = 0; i < f->fact_count; i++)
        leak = leak || text_leaks(f->facts[i].text);
    for (uint32_t i = 0; i < f->problem_count; i++)
        leak = leak || text_leaks(f->problems[i].path) || text_leaks(f->problems[i].detail);
    for (uint32_t i = 0; i < f->field_count; i++) {
        const struct hub_found_field *field = &f->fields[i];
        leak = leak || text_leaks(field->path) || text_leaks(field->unreadable) ||
               leaks(field->layout, field->layout_size);
    }
    for (uint32_t i = 0; i < f->episode_count; i++) {
        const struct hub_found_episode *e = &f->episodes[i];
        leak = leak || text_leaks(e->name) || text_leaks(e->seed) || text_leaks(e->task) ||
               text_leaks(e->attributes) || text_leaks(e->statistics);
    }
    return leak;
}
