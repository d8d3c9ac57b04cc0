/* Metadata of v3 that lies in Parquet: a table is opened once, and its columns are read by name. */
#include "storage/formats/lerobot/lerobot.h"

#include <math.h>
#include <stdlib.h>

/* Its writer ends a file with a footer when recording ends: what has none was never closed. */
static enum hub_status check_footer(struct hub_files *files, uint32_t number, struct hub_error *err)
{
    struct hub_byte_source source;
    uint8_t head[4], tail[4];
    hub_byte_source_file(&source, files, number);
    HUB_TRY(hub_byte_source_usable(&source, err));
    if (source.size < sizeof head)
        return HUB_OK;
    HUB_TRY(hub_byte_source_read(&source, 0, head, sizeof head, err));
    HUB_TRY(hub_byte_source_read(&source, source.size - sizeof tail, tail, sizeof tail, err));
    if (memcmp(head, "PAR1", sizeof head) == 0 && memcmp(tail, "PAR", 3) != 0)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_NOT_FINALIZED,
                           "not finalized: the writer was stopped before its footer, or the file was cut "
                           "short; %llu bytes without PAR1 at the end",
                           (unsigned long long)source.size);
    return HUB_OK;
}

enum hub_status hub_lerobot_open_rows(struct hub_files *files, uint32_t number, struct hub_table *out,
                                      struct hub_error *err)
{
    HUB_TRY(check_footer(files, number, err));
    return hub_table_open_parquet(files, number, out, err);
}

enum hub_status hub_lerobot_table_open(struct hub_files *files, uint32_t number, struct hub_table *out,
                                       struct hub_error *err)
{
    return files->entries[number].size ? hub_lerobot_open_rows(files, number, out, err)
                                       : hub_fail(err, HUB_CORRUPT, "0 bytes: an empty file");
}

static enum hub_status read_groups(struct hub_table *t, uint32_t leaf, struct hub_parquet_items *items,
                                   struct hub_error *err)
{
    const struct hub_parquet *parquet = &t->parquet;
    for (uint32_t g = 0; g < parquet->group_count; g++) {
        const struct hub_parquet_chunk *chunk = &parquet->chunks[(size_t)g * parquet->leaf_count + leaf];
        const uint64_t rows = parquet->group_rows[g], before = items->seen;
        struct hub_parquet_pages pages = {0};
        if (rows == 0 || before + rows <= items->first_row || before >= items->first_row + items->row_count) {
            items->seen += rows;
            continue;
        }
        if (chunk->trouble)
            return hub_fail(err, HUB_UNSUPPORTED, "%s", chunk->trouble);
        enum hub_status st = hub_parquet_walk(&t->source, &parquet->leaves[leaf], chunk, &pages, err);
        if (!st)
            st = hub_parquet_items(&t->decoder, &parquet->leaves[leaf], &pages, items, err);
        hub_parquet_pages_dispose(&pages);
        HUB_TRY(st);
        if (items->seen - before != rows)
            return hub_fail(err, HUB_CORRUPT, "%llu rows in a row group of %llu",
                            (unsigned long long)(items->seen - before), (unsigned long long)rows);
    }
    return HUB_OK;
}

enum hub_status hub_lerobot_table_leaf(struct hub_table *t, uint32_t leaf, uint64_t first, uint64_t count,
                                       struct hub_parquet_items *out, struct hub_error *err)
{
    *out = (struct hub_parquet_items){.first_row = first, .row_count = count};
    HUB_TRY(hub_new(&out->starts, (size_t)count + 1, sizeof *out->starts, err));
    HUB_TRY(read_groups(t, leaf, out, err));
    out->starts[count] = out->numbers.size / sizeof(double);
    return HUB_OK;
}

enum hub_status hub_lerobot_table_read(struct hub_table *t, const char *name, uint64_t first, uint64_t count,
                                       struct hub_parquet_items *out, struct hub_error *err)
{
    *out = (struct hub_parquet_items){.seen = 0};
    const uint32_t leaf = hub_parquet_find(&t->parquet, name);
    if (leaf == HUB_NONE)
        return hub_fail(err, HUB_NOT_FOUND, "it has no column %s", name);
    return hub_lerobot_table_leaf(t, leaf, first, count, out, err);
}

double hub_lerobot_number(const struct hub_parquet_items *items, uint64_t row)
{
    double value;
    if (!items->starts || row >= items->row_count || items->starts[row] == items->starts[row + 1])
        return NAN;
    memcpy(&value, items->numbers.data + items->starts[row] * sizeof value, sizeof value);
    return value;
}

int64_t hub_lerobot_integer(const struct hub_parquet_items *items, uint64_t row)
{
    const double value = hub_lerobot_number(items, row);
    return value >= 0 && value <= (double)HUB_MAX_NUMBER ? (int64_t)value : -1;
}

struct hub_view hub_lerobot_string(const struct hub_parquet_items *items, uint64_t item)
{
    uint64_t from = 0, to;
    memcpy(&to, items->numbers.data + item * sizeof to, sizeof to);
    if (item)
        memcpy(&from, items->numbers.data + (item - 1) * sizeof from, sizeof from);
    return (struct hub_view){items->text.data + from, (size_t)(to - from)};
}
