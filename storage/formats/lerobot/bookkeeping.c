/* The small columns of a data file that say whose rows they are, and what comes of them: episode, task and
 * row numbers, rewards, success. */
#include "storage/formats/lerobot/lerobot.h"

#include <stdlib.h>

/* Rows up to which they are decoded. */
#define MAX_ROWS 16000000

static bool read_group(struct hub_table *t, uint32_t leaf, uint32_t group, int64_t *integers, double *reals)
{
    const struct hub_parquet *parquet = &t->parquet;
    const struct hub_parquet_chunk *chunk = &parquet->chunks[(size_t)group * parquet->leaf_count + leaf];
    struct hub_parquet_pages pages;
    if (chunk->trouble || chunk->values != parquet->group_rows[group] ||
        hub_parquet_walk(&t->source, &parquet->leaves[leaf], chunk, &pages, NULL))
        return false;
    const bool good =
        !hub_parquet_numbers(&t->decoder, &parquet->leaves[leaf], &pages, integers, reals, NULL);
    hub_parquet_pages_dispose(&pages);
    return good;
}

/* Whole numbers of a row group that cannot be read are -1; of others everything must be readable. */
static bool read_groups(struct hub_table *t, uint32_t leaf, int64_t *integers, double *reals)
{
    const uint64_t *rows = t->parquet.group_rows;
    bool any = t->rows == 0;
    for (uint64_t row = 0, g = 0; g < t->parquet.group_count; row += rows[g++]) {
        const bool good =
            read_group(t, leaf, (uint32_t)g, integers ? integers + row : NULL, reals ? reals + row : NULL);
        any |= good;
        if (!good && reals)
            return false;
        for (uint64_t i = 0; integers && !good && i < rows[g]; i++)
            integers[row + i] = -1;
    }
    return any;
}

/* A column as integers or as reals: one of both is given. It stays NULL when there is none or it cannot be
 * read. */
static enum hub_status read_column(struct hub_table *t, const char *name, int64_t **integers, double **reals,
                                   struct hub_error *err)
{
    const uint32_t leaf = hub_table_find(t, name);
    HUB_CLEANUP(hub_freep) void *values = NULL;
    if (leaf == HUB_NONE)
        return HUB_OK;
    HUB_TRY(hub_new(&values, (size_t)t->rows + 1, 8, err));
    if (!read_groups(t, leaf, integers ? values : NULL, reals ? values : NULL))
        return HUB_OK;
    if (integers)
        *integers = values;
    if (reals)
        *reals = values;
    values = NULL;
    return HUB_OK;
}

enum hub_status hub_lerobot_read_small(struct hub_table *t, struct lerobot_small *s, struct hub_error *err)
{
    *s = (struct lerobot_small){.rows = t->rows};
    if (s->rows > MAX_ROWS)
        return HUB_OK;
    HUB_TRY(read_column(t, "episode_index", &s->episodes, NULL, err));
    HUB_TRY(read_column(t, "index", &s->indexes, NULL, err));
    HUB_TRY(read_column(t, "task_index", &s->tasks, NULL, err));
    HUB_TRY(read_column(t, "next.success", &s->success, NULL, err));
    return read_column(t, "next.reward", NULL, &s->rewards, err);
}

enum hub_status hub_lerobot_read_numbers(struct hub_table *t, int64_t **out, struct hub_error *err)
{
    *out = NULL;
    return t->rows > MAX_ROWS ? HUB_OK : read_column(t, "episode_index", out, NULL, err);
}

void hub_lerobot_small_dispose(struct lerobot_small *s)
{
    free(s->episodes);
    free(s->indexes);
    free(s->tasks);
    free(s->success);
    free(s->rewards);
}
