/*
 * Parquet pages. Input: a head saying what column and page headers claim, then the dictionary's bytes, then
 * the page's. physical codec max_def max_rep encoding version skip count (1 each), width item_size values
 * words (2), def rep dictionary (2)
 */
#include "storage/base/cursor.h"
#include "storage/codec/codec.h"

#include <stdlib.h>

enum { BUILT = 4096 };

static uint8_t *copy_of(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (copy && size)
        memcpy(copy, data, size);
    return copy;
}

static void decode(const struct hub_page_job *job)
{
    const bool bytes = job->item_size == 0;
    const size_t each = bytes ? sizeof(struct hub_page_view) : job->item_size;
    void *out = calloc(job->count + 1u, each ? each : 1);
    uint8_t *valid = calloc(job->count + 1u, 1);
    if (out && valid && !hub_page_values(job, bytes ? NULL : out, bytes ? out : NULL, valid, NULL) && bytes) {
        const struct hub_page_view *views = out;
        volatile uint8_t sink = 0;
        for (uint32_t i = 0; i < job->count; i++)
            for (uint32_t k = 0; k < views[i].length; k += 64)
                sink = hub_page_bytes(job, &views[i])[k];
        (void)sink;
    }
    free(out);
    free(valid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hub_cursor c = hub_cursor_of(data, size);
    struct hub_column column = {.physical = hub_cursor_u8(&c) % 8, .codec = hub_cursor_u8(&c) % 8};
    struct hub_page page = {0}, dictionary = {0};
    column.max_def = hub_cursor_u8(&c);
    column.max_rep = hub_cursor_u8(&c);
    page.encoding = hub_cursor_u8(&c) % 10;
    page.version = (uint8_t)(1 + hub_cursor_u8(&c) % 2);
    page.compressed = 1;
    struct hub_page_job job = {.column = &column, .page = &page};
    job.skip = hub_cursor_u8(&c);
    job.count = hub_cursor_u8(&c);
    column.width = hub_cursor_u16(&c) % 64;
    job.item_size = hub_cursor_u16(&c) % 64;
    if (column.physical == HUB_PHYS_BYTE_ARRAY)
        job.item_size = 0;
    page.values = hub_cursor_u16(&c);
    dictionary.values = hub_cursor_u16(&c);
    page.def_bytes = hub_cursor_u16(&c);
    page.rep_bytes = hub_cursor_u16(&c);
    dictionary.decoded = hub_cursor_u16(&c) % 2048;
    const uint8_t *words = hub_cursor_bytes(&c, dictionary.decoded);
    if (c.failed)
        return 0;
    job.is_float = column.physical == HUB_PHYS_FLOAT || column.physical == HUB_PHYS_DOUBLE;
    job.dictionary = dictionary.decoded ? &dictionary : NULL;
    uint8_t *own_words = copy_of(words, dictionary.decoded), *own = copy_of(c.at, hub_cursor_left(&c));
    page.stored = page.decoded = (uint32_t)hub_cursor_left(&c);
    struct hub_page_view *index = calloc(dictionary.values + 1u, sizeof *index);
    job.dictionary_data = own_words;
    job.data = own;
    if (own && own_words && index && !hub_page_index(&dictionary, own_words, 1000, index, NULL))
        job.dictionary_views = index;
    if (own && own_words) {
        uint64_t total;
        uint32_t longest;
        (void)!hub_page_total(&job, &total, &longest, NULL);
        job.built_size = BUILT;
        job.built = malloc(BUILT);
        decode(&job);
        uint8_t *unpacked = calloc(1, page.decoded * 3 + 1);
        page.decoded *= 3;
        if (unpacked && !hub_page_unpack(&column, &page, own, unpacked, NULL)) {
            job.data = unpacked;
            decode(&job);
        }
        free(unpacked);
    }
    free(index);
    free(job.built);
    free(own);
    free(own_words);
    return 0;
}
