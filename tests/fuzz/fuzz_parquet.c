/* The Parquet reader: the input is a file, whose magic bytes are mended first. Everything inspection looks at
 * is looked at: footer, pages, checksums, levels, first values, rows as text. */
#include "storage/formats/parquet/extents.h"
#include "storage/formats/parquet/json.h"

#include <stdlib.h>

static void look(struct hub_parquet_decoder *d, const struct hub_parquet *file, uint32_t leaf, uint32_t group)
{
    const struct hub_parquet_leaf *l = &file->leaves[leaf];
    const struct hub_parquet_chunk *chunk = &file->chunks[(size_t)group * file->leaf_count + leaf];
    struct hub_parquet_shape shape = {0};
    struct hub_parquet_pages pages;
    uint8_t head[8];
    size_t got;
    if (chunk->trouble || hub_parquet_walk(d->source, l, chunk, &pages, NULL))
        return;
    if (chunk->values < 100000) {
        struct hub_extent *extents = NULL;
        (void)!hub_parquet_verify(d, &pages, NULL);
        (void)!hub_parquet_extents(d, &pages, &extents, NULL);
        free(extents);
        (void)!hub_parquet_scan(d, l, &pages, file->group_rows[group], &shape, NULL);
        int64_t *numbers = calloc((size_t)chunk->values + 1, sizeof *numbers);
        if (numbers)
            (void)!hub_parquet_numbers(d, l, &pages, numbers, NULL, NULL);
        free(numbers);
        if (l->item.kind == HUB_KIND_VAR && !hub_parquet_measure(d, l, &pages, NULL))
            (void)!hub_parquet_first_bytes(d, l, &pages, head, sizeof head, &got, NULL);
    }
    hub_parquet_pages_dispose(&pages);
}

static void read_texts(struct hub_byte_source *source, const struct hub_parquet *file, uint32_t leaf)
{
    struct hub_parquet_texts texts;
    for (uint32_t g = 0; g < file->group_count; g++)
        if (file->group_rows[g] > 100000)
            return;
    (void)!hub_parquet_json(file, leaf, source, &texts, NULL);
    hub_parquet_texts_dispose(&texts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hub_byte_source source;
    struct hub_parquet file;
    struct hub_parquet_decoder d;
    HUB_CLEANUP(hub_freep) uint8_t *copy = malloc(size + 1);
    if (!copy || size < 12)
        return 0;
    memcpy(copy, data, size);
    memcpy(copy, "PAR1", 4);
    memcpy(copy + size - 4, "PAR1", 4);
    hub_byte_source_memory(&source, copy, size);
    if (hub_parquet_open(&source, &file, NULL))
        return 0;
    hub_parquet_decoder_init(&d, &source);
    for (uint32_t g = 0; g < HUB_MIN(file.group_count, 4); g++)
        for (uint32_t i = 0; i < HUB_MIN(file.leaf_count, 100); i++)
            look(&d, &file, i, g);
    for (uint32_t i = 0; i < HUB_MIN(file.leaf_count, 100); i++)
        read_texts(&source, &file, i);
    hub_parquet_decoder_dispose(&d);
    hub_parquet_dispose(&file);
    return 0;
}
