/*
 * Minari datasets in Arrow or Parquet, as releases from 0.5 on write them with data_format "arrow" and
 * "parquet": data/<episode>/part-0.arrow (an IPC file) beside a metadata.json of the episode. A row is a step
 * and one more: actions, rewards, terminations and truncations are padded by a last row that is none. Dicts
 * are structs, tuples structs of "0", "1"..., which are called _index_0, _index_1 as in HDF5; arrays are
 * lists of one length, whose shape the space or, of infos, a note of the column says; images are JPEG files.
 * A part is a run of 1,000 episode numbers.
 *
 * Problems: metadata-missing, metadata-damaged, missing-file, extra-file, unreadable-episode, not-loadable;
 * of an episode length-mismatch, number-mismatch, attributes-too-big; of a field type-differs,
 * repeated-column, nulls, unreadable-in-episodes.
 */
#include "storage/formats/kit/table_kit.h"
#include "storage/formats/minari/minari.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_ROWS = 16 * 1024 * 1024 };
static const char metadata_path[] = "data/metadata.json";

/* An episode's folder, as the list of files has it. */
struct episode_folder {
    int64_t number;          /* first, to be sorted by */
    uint32_t data, metadata; /* files, or HUB_NONE */
    uint32_t first, count;   /* all its files in the list */
};

/* ---- claim ---- */

static int states_format(struct hub_files *listing, const char *format)
{
    const uint32_t number = hub_files_find(listing, metadata_path);
    HUB_CLEANUP(hub_freep) char *head = malloc(64 * KIB);
    size_t got = 0;
    if (number == HUB_NONE || listing->entries[number].directory || !head ||
        hub_files_read(listing, number, 0, head, 64 * KIB, &got, NULL))
        return 0;
    const char *at = memmem(head, got, "\"data_format\"", 13), *end = head + got;
    if (!at)
        return got == 64 * KIB ? -1 : 0;
    for (at += 13; at < end && (*at == ' ' || *at == ':'); at++)
        ;
    const size_t size = strlen(format);
    return (size_t)(end - at) >= size + 2 && *at == '"' && memcmp(at + 1, format, size) == 0 &&
           at[size + 1] == '"';
}

static int claim(struct hub_files *listing, const char *format)
{
    const int states = states_format(listing, format);
    return states > 0 ? 96 : states < 0 && hub_files_find(listing, "data/0") != HUB_NONE ? 60 : 0;
}

static int arrow_claim(struct hub_files *listing)
{
    return claim(listing, "arrow");
}

static int parquet_claim(struct hub_files *listing)
{
    return claim(listing, "parquet");
}

/* ---- the list of episodes ---- */

/* "data/12/part-0.arrow" -> 12 and "part-0.arrow". */
static bool in_episode(struct hub_view path, int64_t *number, struct hub_view *name)
{
    const char *slash = path.size > 5 ? memchr(path.data + 5, '/', path.size - 5) : NULL;
    if (!slash || !hub_view_starts(path, "data/"))
        return false;
    *name = (struct hub_view){slash + 1, (size_t)(path.data + path.size - slash - 1)};
    return hub_numbered((struct hub_view){path.data, (size_t)(slash - path.data)}, "data/", number);
}

/* Those among the given files, by number; all of them when `chosen` is NULL. Files of a folder adjoin. */
static enum hub_status list_episodes(const struct hub_files *files, const uint32_t *chosen, uint32_t count,
                                     const char *format, struct episode_folder **out, uint32_t *out_count,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct episode_folder *entries = NULL;
    uint32_t n = 0, capacity = 0;
    char first[32];
    snprintf(first, sizeof first, "part-0.%s", format);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t file = chosen ? chosen[i] : i;
        struct hub_view name;
        int64_t number;
        if (!in_episode(files->entries[file].path, &number, &name))
            continue;
        if (n == 0 || entries[n - 1].number != number) {
            HUB_TRY(hub_grow(&entries, n, &capacity, sizeof *entries, err));
            entries[n++] = (struct episode_folder){number, HUB_NONE, HUB_NONE, i, 0};
        }
        entries[n - 1].count++;
        if (hub_view_is(name, first))
            entries[n - 1].data = file;
        else if (hub_view_is(name, "metadata.json"))
            entries[n - 1].metadata = file;
    }
    if (n)
        qsort(entries, n, sizeof *entries, hub_by_i64);
    *out = entries;
    *out_count = n;
    entries = NULL;
    return HUB_OK;
}

/* ---- plan ---- */

static enum hub_status send_part(struct hub_sink *sink, const char *format, uint32_t metadata,
                                 const struct episode_folder *entries, uint32_t count, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint32_t *numbers = NULL;
    char name[40];
    uint32_t total = 1, n = 0;
    for (uint32_t i = 0; i < count; i++)
        total += entries[i].count;
    HUB_TRY(hub_new(&numbers, total, sizeof *numbers, err));
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < entries[i].count; k++)
            numbers[n++] = entries[i].first + k;
    numbers[n++] = metadata;
    snprintf(name, sizeof name, "episodes-%06lld",
             (long long)(count ? entries[0].number / HUB_RUN * HUB_RUN : 0));
    return hub_sink_part(sink, &(struct hub_part){hub_view_of(name), numbers, n, hub_view_of(format)}, err);
}

static enum hub_status plan(struct hub_files *files, struct hub_sink *sink, const char *format,
                            struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf hint = HUB_BUF_INIT(MINARI_MAX_HINT);
    HUB_CLEANUP(hub_freep) struct episode_folder *entries = NULL;
    const uint32_t metadata = hub_files_find(files, metadata_path);
    uint32_t count = 0, n;
    char stated[16];
    if (metadata == HUB_NONE)
        return hub_fail(err, HUB_CORRUPT, "%s is missing", metadata_path);
    HUB_TRY(hub_files_usable(files, metadata, err));
    HUB_TRY(minari_facts_json(files, metadata, sink, &hint, stated, err));
    if (strcmp(stated, format) != 0)
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "Minari data_format '%s'", stated);
    HUB_TRY(list_episodes(files, NULL, files->count, format, &entries, &count, err));
    for (uint32_t i = 0; i < count; i += n) {
        for (n = 1; i + n < count && entries[i + n].number / HUB_RUN == entries[i].number / HUB_RUN; n++)
            ;
        HUB_TRY(send_part(sink, format, metadata, &entries[i], n, err));
    }
    return count ? HUB_OK : send_part(sink, format, metadata, NULL, 0, err);
}

static enum hub_status arrow_plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    return plan(files, sink, "arrow", err);
}

static enum hub_status parquet_plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    return plan(files, sink, "parquet", err);
}

/* ---- a part ---- */

struct columns_part {
    struct hub_files *files;
    struct hub_sink *sink;
    json_t *spaces[2];
    const json_t *space; /* of the column at hand, or NULL */
    uint64_t steps;      /* of the episode at hand */
    struct hub_table_fields fields;
    uint32_t done, failed;
    struct hub_error first_failure;
    struct hub_tally steps_differ, ids_differ;
};

/* ---- fields ---- */

/* Arrays are stored flat: what was said of their shape counts when it comes to as many numbers. */
static void reshape(const json_t *space, const char *path, const struct hub_table *table,
                    struct hub_table_column *c)
{
    struct hub_variant shaped = c->variant;
    if (c->variant.kind != HUB_KIND_VAR && c->variant.rank == 1 &&
        (minari_space_shape(space, &shaped) ||
         minari_noted_shape(hub_table_shape(table, c->index), &shaped))) {
        memset(shaped.dims + shaped.rank, 0, (HUB_MAX_RANK - shaped.rank) * sizeof *shaped.dims);
        if (hub_variant_valid(&shaped) && hub_variant_row_items(&shaped) == c->variant.dims[0])
            c->variant = shaped;
    }
    c->type = hub_column_type(c->type, &c->variant, hub_view_of(path), space != NULL);
}

static bool is_padded(const char *path)
{
    static const char *const roots[] = {"actions", "rewards", "terminations", "truncations"};
    for (size_t i = 0; i < HUB_COUNT(roots); i++) {
        const size_t n = strlen(roots[i]);
        if (strncmp(path, roots[i], n) == 0 && (path[n] == '/' || path[n] == '\0'))
            return true;
    }
    return false;
}

static enum hub_status read_column(void *user, struct hub_table *table, struct hub_table_field *field,
                                   struct hub_table_column *c, struct hub_error *why)
{
    const struct columns_part *p = user;
    const uint64_t rows = is_padded(hub_table_path(table, c->index)) ? p->steps : table->rows;
    HUB_TRY(hub_table_read(table, c->index, rows, c, why));
    reshape(p->space, field->path, table, c);
    return HUB_OK;
}

static const struct hub_table_dialect dialect = {.read = read_column};

static enum hub_status add_column(struct columns_part *p, struct hub_table *table, uint32_t index,
                                  uint32_t episode, struct hub_error *err)
{
    const char *path = hub_table_path(table, index);
    struct hub_table_field *field;
    struct minari_spelled as;
    if (!path)
        return HUB_OK;
    p->space = minari_space_of(p->spaces, path, &as);
    HUB_TRY(hub_table_fields_find(&p->fields, as.fits ? as.text : path, index, &field, err));
    if (field->last == episode)
        return hub_report_repeated(p->sink, hub_view_of(path), err);
    field->last = episode;
    const bool state = field->role == HUB_ROLE_OBSERVATION || field->role == HUB_ROLE_INFO;
    field->axis = state || !is_padded(field->path) ? HUB_AXIS_STATE : HUB_AXIS_STEP;
    struct hub_window window = {.episode = episode, .count = is_padded(path) ? p->steps : table->rows};
    return hub_table_field_add(&p->fields, field, table, index, &window, 1, err);
}

static enum hub_status finish_field(const struct columns_part *p, const struct hub_table_field *field,
                                    struct hub_error *err)
{
    const struct hub_view path = hub_view_of(field->path);
    HUB_TRY(hub_report_nulls(p->sink, path, field->nulls, err));
    return hub_readings_report(&field->readings, p->sink, path, "episodes", err);
}

/* ---- an episode ---- */

/* All rows but the padding. Where observations are as many as steps nothing was padded, and total_steps
 * says so. */
static uint64_t steps_of(struct columns_part *p, const struct episode_folder *e, const struct minari_said *s,
                         uint64_t rows)
{
    const uint64_t padded = rows ? rows - 1 : 0;
    if (s->steps >= 0 && (uint64_t)s->steps == rows)
        return rows;
    if (s->steps >= 0 && (uint64_t)s->steps != padded)
        hub_tally_add(&p->steps_differ, "episode %lld says %lld and has %llu", (long long)e->number,
                      (long long)s->steps, (unsigned long long)padded);
    return padded;
}

/* Was the number of a step not 0? -1: it is unknown. */
static enum hub_status flag_at(struct hub_table *table, const char *path, uint64_t rows, int8_t *out,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) double *numbers = NULL;
    HUB_TRY(hub_table_numbers(table, path, NULL, MAX_ROWS, &numbers, err));
    if (numbers && rows)
        *out = isnan(numbers[rows - 1]) ? -1 : numbers[rows - 1] != 0;
    return HUB_OK;
}

/* What the rewards come to, and how it ended. Columns that cannot be read so leave it unknown. */
static enum hub_status sum_up(struct hub_table *table, struct hub_episode *episode, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) double *rewards = NULL;
    if (table->rows > MAX_ROWS)
        return HUB_OK;
    HUB_TRY(flag_at(table, "terminations", episode->steps, &episode->terminated, err));
    HUB_TRY(flag_at(table, "truncations", episode->steps, &episode->truncated, err));
    episode->success = hub_success_of(episode->attributes);
    if (episode->success < 0)
        HUB_TRY(flag_at(table, "infos/success", table->rows, &episode->success, err));
    if (episode->has_return)
        return HUB_OK;
    HUB_TRY(hub_table_numbers(table, "rewards", NULL, MAX_ROWS, &rewards, err));
    hub_episode_sum(episode, rewards, episode->steps);
    return HUB_OK;
}

static enum hub_status send_episode(struct columns_part *p, const struct episode_folder *e,
                                    struct hub_table *table, struct hub_error *err)
{
    HUB_CLEANUP(minari_said_dispose) struct minari_said said = {.steps = -1};
    char name[40];
    uint32_t index;
    HUB_TRY(minari_said_read(p->files, p->sink, e->number, e->metadata, &said, err));
    if (said.has_id && said.id != e->number)
        hub_tally_add(&p->ids_differ, "data/%lld/metadata.json says %lld", (long long)e->number,
                      (long long)said.id);
    snprintf(name, sizeof name, "episode_%lld", (long long)e->number);
    struct hub_episode episode =
        hub_episode_of(hub_view_of(name), e->data, steps_of(p, e, &said, table->rows));
    episode.number = e->number;
    episode.seed = hub_view_of(said.seed);
    episode.attributes = hub_buf_view(&said.attributes);
    episode.statistics = hub_buf_view(&said.statistics);
    episode.episode_return = said.sum;
    episode.has_return = said.has_sum;
    HUB_TRY(sum_up(table, &episode, err));
    if (said.attributes.size > HUB_MAX_ATTRIBUTES) {
        HUB_TRY(hub_sink_problem(p->sink, "attributes-too-big", hub_view_of(name), err,
                                 "%zu bytes of attributes are left out", said.attributes.size));
        episode.attributes = HUB_VIEW("");
    }
    HUB_TRY(hub_sink_episode(p->sink, &episode, &index, err));
    p->steps = episode.steps;
    for (uint32_t i = 0; i < table->count; i++)
        HUB_TRY(add_column(p, table, i, index, err));
    p->done++;
    return HUB_OK;
}

static enum hub_status inspect_episode(struct columns_part *p, const struct episode_folder *e,
                                       const char *format, struct hub_error *err)
{
    char path[64];
    struct hub_error why = {0};
    HUB_CLEANUP(hub_table_dispose) struct hub_table table = {.rows = 0};
    snprintf(path, sizeof path, "data/%lld/part-0.%s", (long long)e->number, format);
    if (e->count > 1u + (e->metadata != HUB_NONE))
        HUB_TRY(hub_sink_problem(p->sink, "extra-file", hub_view_of(path), err,
                                 "%u files beside it, which Minari does not write, are not read",
                                 e->count - 1 - (e->metadata != HUB_NONE)));
    if (e->data == HUB_NONE)
        return hub_sink_problem(p->sink, "missing-file", hub_view_of(path), err, "the episode is left out");
    const enum hub_status st = hub_table_open(p->files, e->data, &table, &why);
    if (!hub_is_local(st))
        return st ? hub_pass(st, &why, err) : send_episode(p, e, &table, err);
    if (p->failed++ == 0)
        p->first_failure = why;
    HUB_TRY(hub_sink_problem(p->sink, "not-loadable", hub_view_of(path), err,
                             "cannot be read: Minari cannot load the dataset without it"));
    return hub_sink_problem(p->sink, hub_problem_name_or(why.problem, "unreadable-episode"),
                            hub_view_of(path), err, "%s", why.detail);
}

static enum hub_status finish(struct columns_part *p, struct hub_error *err)
{
    for (uint32_t i = 0; i < p->fields.count; i++)
        HUB_TRY(finish_field(p, &p->fields.items[i], err));
    if (p->steps_differ.count)
        HUB_TRY(hub_sink_problem(p->sink, "length-mismatch", HUB_VIEW(""), err,
                                 "total_steps of %u episodes differs from their number of rewards: %s",
                                 p->steps_differ.count, p->steps_differ.first));
    if (p->ids_differ.count)
        HUB_TRY(hub_sink_problem(p->sink, "number-mismatch", HUB_VIEW(""), err,
                                 "the id of %u episodes differs from that of their folder: %s",
                                 p->ids_differ.count, p->ids_differ.first));
    return HUB_OK;
}

static enum hub_status inspect_part(struct columns_part *p, const struct hub_part *part,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct episode_folder *entries = NULL;
    uint32_t count = 0;
    char format[16];
    snprintf(format, sizeof format, "%.*s", (int)HUB_MIN(part->hint.size, 15), part->hint.data);
    HUB_TRY(minari_spaces_load(p->files, part->files[part->file_count - 1], p->spaces, err));
    HUB_TRY(list_episodes(p->files, part->files, part->file_count, format, &entries, &count, err));
    for (uint32_t i = 0; i < count; i++)
        HUB_TRY(inspect_episode(p, &entries[i], format, err));
    if (p->done == 0 && p->failed)
        return hub_fail(err, HUB_CORRUPT, "no episode can be read; the first: %s", p->first_failure.detail);
    return finish(p, err);
}

static enum hub_status inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                               struct hub_error *err)
{
    struct columns_part p = {.files = files, .sink = sink};
    p.fields = (struct hub_table_fields){.dialect = &dialect, .user = &p, .files = files, .sink = sink};
    if (part->file_count < 1)
        return hub_fail(err, HUB_INVALID, "a part without a file");
    const enum hub_status st = inspect_part(&p, part, err);
    hub_table_fields_dispose(&p.fields);
    json_decref(p.spaces[0]);
    json_decref(p.spaces[1]);
    return st;
}

static const char *const asides[] = {"namespace_metadata.json", NULL};
static const char *const eras[] = {"E5: written by Minari 0.5 or later", NULL};

const struct hub_format hub_format_minari_arrow = {
    .name = "minari-arrow",
    .marks = hub_marks_minari_arrow,
    .asides = asides,
    .eras = eras,
    .claim_directory = arrow_claim,
    .plan = arrow_plan,
    .inspect = inspect,
};

const struct hub_format hub_format_minari_parquet = {
    .name = "minari-parquet",
    .marks = hub_marks_minari_parquet,
    .asides = asides,
    .eras = eras,
    .claim_directory = parquet_claim,
    .plan = parquet_plan,
    .inspect = inspect,
};
