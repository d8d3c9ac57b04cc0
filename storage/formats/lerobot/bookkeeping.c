/* The small columns of a data file that say whose rows they are, and what comes of them: episode, task and
 * row numbers, rewards, success. */
#include "storage/formats/lerobot/lerobot.h"

#include <stdlib.h>

/* Rows up to which they are decoded. */
#define MAX_ROWS 16000000

static bool read_group(const struct hub_parquet *parquet, struct hub_parquet_decoder *d, uint32_t leaf,
                       uint32_t group, int64_t *integers, double *reals)
{
    const struct hub_parquet_chunk *chunk = &parquet->chunks[(size_t)group * parquet->leaf_count + leaf];
    struct hub_parquet_pages pages;
    if (chunk->trouble || chunk->values != parquet->group_rows[group] ||
        hub_parquet_walk(d->source, &parquet->leaves[leaf], chunk, &pages, NULL))
        return false;
    const bool good = !hub_parquet_numbers(d, &parquet->leaves[leaf], &pages, integers, reals, NULL);
    hub_parquet_pages_dispose(&pages);
    return good;
}

/* Whole numbers of a row group that cannot be read are -1; of others everything must be readable. */
static bool read_groups(const struct hub_parquet *parquet, struct hub_parquet_decoder *d, uint32_t leaf,
                        int64_t *integers, double *reals)
{
    uint64_t row = 0;
    bool any = parquet->rows == 0;
    for (uint32_t g = 0; g < parquet->group_count; row += parquet->group_rows[g++]) {
        const bool good =
            read_group(parquet, d, leaf, g, integers ? integers + row : NULL, reals ? reals + row : NULL);
        any |= good;
        if (!good && reals)
            return false;
        for (uint64_t i = 0; integers && !good && i < parquet->group_rows[g]; i++)
            integers[row + i] = -1;
    }
    return any;
}

/* A column as integers or as reals: one of both is given. It stays NULL when there is none or it cannot be
 * read. */
static enum hub_status read_column(const struct hub_parquet *parquet, struct hub_parquet_decoder *d,
                                   const char *name, int64_t **integers, double **reals,
                                   struct hub_error *err)
{
    const uint32_t leaf = hub_parquet_find(parquet, name);
    if (leaf == HUB_NONE)
        return HUB_OK;
    HUB_CLEANUP(hub_freep) void *values = calloc((size_t)parquet->rows + 1, 8);
    HUB_TRY(hub_allocated(values, err));
    if (!read_groups(parquet, d, leaf, integers ? values : NULL, reals ? values : NULL))
        return HUB_OK;
    if (integers)
        *integers = values;
    if (reals)
        *reals = values;
    values = NULL;
    return HUB_OK;
}

enum hub_status hub_lerobot_read_small(const struct hub_parquet *parquet, struct hub_parquet_decoder *d,
                                       struct lerobot_small *s, struct hub_error *err)
{
    *s = (struct lerobot_small){.rows = parquet->rows};
    if (s->rows > MAX_ROWS)
        return HUB_OK;
    HUB_TRY(read_column(parquet, d, "episode_index", &s->episodes, NULL, err));
    HUB_TRY(read_column(parquet, d, "index", &s->indexes, NULL, err));
    HUB_TRY(read_column(parquet, d, "task_index", &s->tasks, NULL, err));
    HUB_TRY(read_column(parquet, d, "next.success", &s->success, NULL, err));
    return read_column(parquet, d, "next.reward", NULL, &s->rewards, err);
}

enum hub_status hub_lerobot_read_numbers(const struct hub_parquet *parquet, struct hub_parquet_decoder *d,
                                         int64_t **out, struct hub_error *err)
{
    *out = NULL;
    return parquet->rows > MAX_ROWS ? HUB_OK : read_column(parquet, d, "episode_index", out, NULL, err);
}

void hub_lerobot_small_dispose(struct lerobot_small *s)
{
    free(s->episodes);
    free(s->indexes);
    free(s->tasks);
    free(s->success);
    free(s->rewards);
}
