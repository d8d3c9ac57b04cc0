/* The Arrow reader: the input is a file or a stream. Every column is described and placed, and the layouts
 * must pass the hub's proof. */
#include "storage/formats/arrow/arrow.h"
#include "tests/fuzz/memory_files.h"

#include <stdio.h>

static void prove(struct hub_layout_builder *builder, const struct memory_files *m, size_t size)
{
    void *data;
    size_t made;
    struct hub_layout layout;
    struct hub_error err = {0};
    const uint64_t file_size = size;
    if (hub_layout_finish(builder, &data, &made, &err))
        return;
    if (hub_layout_open(data, made, &layout, &err) ||
        hub_layout_check(&layout, &file_size, 1, m->files.side_size, 1, &err)) {
        fprintf(stderr, "a lie: %s\n", err.detail);
        abort();
    }
    free(data);
}

static void look(struct hub_arrow *arrow, uint32_t column, bool inner, struct memory_files *m, size_t size)
{
    struct hub_arrow_rows rows = {
        .column = column, .inner = inner, .limit = inner ? UINT64_MAX : arrow->rows};
    struct hub_layout_builder *builder = NULL;
    uint32_t variant, array;
    if (hub_arrow_describe(arrow, &rows, NULL) || hub_layout_builder_new(1 * MIB, &builder, NULL))
        return;
    if (!hub_layout_variant(builder, &rows.variant, &variant, NULL) &&
        !hub_layout_array(builder, variant, &array, NULL) &&
        !hub_arrow_lay_out(arrow, &rows, &m->files, builder, NULL))
        prove(builder, m, size);
    hub_layout_builder_free(builder);
    double *numbers = rows.rows < 100000 ? calloc((size_t)rows.rows + 1, sizeof *numbers) : NULL;
    if (numbers)
        (void)!hub_arrow_numbers(arrow, &rows, numbers, NULL);
    free(numbers);
}

static void look_at_lists(struct hub_arrow *arrow, uint32_t column, struct memory_files *m, size_t size)
{
    uint64_t *offsets = arrow->rows < 100000 ? calloc((size_t)arrow->rows + 1, sizeof *offsets) : NULL;
    if (offsets && !hub_arrow_offsets(arrow, column, offsets, NULL))
        look(arrow, column, true, m, size);
    free(offsets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hub_byte_source source;
    struct hub_arrow arrow = {0};
    struct memory_files m;
    memory_files_init(&m);
    hub_byte_source_memory(&source, data, size);
    if (!hub_arrow_add(&arrow, &source, NULL))
        for (uint32_t i = 0; i < HUB_MIN(arrow.column_count, 40); i++) {
            look(&arrow, i, false, &m, size);
            if (hub_arrow_is_list(&arrow, i))
                look_at_lists(&arrow, i, &m, size);
        }
    hub_arrow_dispose(&arrow);
    memory_files_dispose(&m);
    return 0;
}
