/* What is known of the episodes that are meant, as a table: all of them, sent while it is written. A column is a
 * name of `where`; a value that an episode lacks is null, an empty cell in csv. */
#include "server/api/chosen.h"
#include "server/api/coverage.h"
#include "server/api/episodes.h"
#include "storage/base/json.h"
#include "storage/catalog/episode_reader.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_COLUMNS = 64 };

struct table;
struct form {
    const char *name, *type;
    /* Append about a stretch of it, and say when it has `ended`. */
    enum hub_status (*more)(struct table *table, struct hub_episode_reader *reader, struct hub_buf *out,
                            struct hub_error *err);
};

struct table {
    struct hub_maker maker; /* first */
    struct hub_catalog *catalog;
    const struct hub_dataset *dataset; /* what the places are of */
    const struct form *form;
    struct hub_where *names; /* what the texts of `columns` lie in */
    struct hub_property columns[MAX_COLUMNS];
    unsigned column_count, column; /* json goes column by column */
    uint32_t *places, count, at;
    bool begun, ended;
};

static void table_free(struct hub_maker *maker)
{
    struct table *table = (struct table *)maker;
    hub_dataset_put(table->dataset);
    hub_where_free(table->names);
    free(table->places);
    free(table);
}

static void table_freep(struct table **table)
{
    if (*table)
        table_free(&(*table)->maker);
}

/* ---- cells ---- */

static bool is_truth(enum hub_property_kind kind)
{
    return kind == HUB_PROPERTY_SUCCESS || kind == HUB_PROPERTY_TERMINATED ||
           kind == HUB_PROPERTY_TRUNCATED || kind == HUB_PROPERTY_UNENDED || kind == HUB_PROPERTY_FLAT_REWARD;
}

static void put_value(struct hub_json *json, enum hub_property_kind kind, const struct hub_value *value)
{
    if (value->kind == HUB_VALUE_TEXT)
        hub_json_string(json, value->text);
    else if (is_truth(kind))
        hub_json_bool(json, value->number);
    else if (value->kind == HUB_VALUE_REAL)
        hub_json_double(json, value->real);
    else if (value->kind == HUB_VALUE_UINT)
        hub_json_safe_uint(json, value->large);
    else
        hub_json_safe_int(json, value->number);
}

static enum hub_status values_of(const struct table *t, unsigned column, uint32_t row,
                                 struct hub_episode_reader *reader, struct hub_values *out,
                                 struct hub_error *err)
{
    const struct hub_dataset_episode *e = &reader->state->dataset->episodes[t->places[row]];
    return hub_episode_values_of(reader, e, &t->columns[column], out, err);
}

/* An episode's splits are a list; of all else the first is its own. */
static enum hub_status put_cell(const struct table *t, unsigned column, uint32_t row,
                                struct hub_episode_reader *reader, struct hub_json *json,
                                struct hub_error *err)
{
    const enum hub_property_kind kind = t->columns[column].kind;
    struct hub_values values;
    HUB_TRY(values_of(t, column, row, reader, &values, err));
    if (kind == HUB_PROPERTY_SPLIT) {
        hub_json_array(json);
        for (size_t i = 0; i < values.count; i++)
            put_value(json, kind, &values.first[i]);
        hub_json_end_array(json);
    } else if (values.count) {
        put_value(json, kind, values.first);
    } else {
        hub_json_null(json);
    }
    return hub_json_status(json);
}

/* RFC 4180 */
static enum hub_status add_csv_text(struct hub_buf *out, struct hub_view text, struct hub_error *err)
{
    bool plain = true;
    for (size_t i = 0; i < text.size && plain; i++)
        plain = !memchr(",\"\r\n", text.data[i], 4);
    if (plain)
        return hub_buf_add_view(out, text, err);
    HUB_TRY(hub_buf_add_text(out, "\"", err));
    for (size_t i = 0; i < text.size; i++) {
        HUB_TRY(hub_buf_add(out, &text.data[i], 1, err));
        if (text.data[i] == '"')
            HUB_TRY(hub_buf_add_text(out, "\"", err));
    }
    return hub_buf_add_text(out, "\"", err);
}

static enum hub_status add_csv_value(struct hub_buf *out, enum hub_property_kind kind,
                                     const struct hub_value *value, struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, err);
    switch (is_truth(kind) ? HUB_VALUE_REAL : value->kind) {
    case HUB_VALUE_TEXT:
        return hub_buf_add_view(out, value->text, err);
    case HUB_VALUE_INT: /* with all its digits, as no reader of csv has another way */
        return hub_buf_addf(out, err, "%" PRId64, value->number);
    case HUB_VALUE_UINT:
        return hub_buf_addf(out, err, "%" PRIu64, value->large);
    case HUB_VALUE_REAL:
        break;
    }
    put_value(&json, kind, value);
    return hub_json_status(&json);
}

/* Splits are one cell, joined by semicolons. */
static enum hub_status add_csv_cell(const struct table *t, unsigned column, uint32_t row,
                                    struct hub_episode_reader *reader, struct hub_buf *out,
                                    struct hub_error *err)
{
    const enum hub_property_kind kind = t->columns[column].kind;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf cell = HUB_BUF_INIT(1 * MIB);
    struct hub_values values;
    HUB_TRY(values_of(t, column, row, reader, &values, err));
    const size_t shown = kind == HUB_PROPERTY_SPLIT ? values.count : HUB_MIN(values.count, (size_t)1);
    for (size_t i = 0; i < shown; i++) {
        HUB_TRY(hub_buf_add_text(&cell, i ? ";" : "", err));
        HUB_TRY(add_csv_value(&cell, kind, &values.first[i], err));
    }
    HUB_TRY(add_csv_text(out, hub_buf_view(&cell), err));
    return hub_buf_add_text(out, column + 1 < t->column_count ? "," : "\r\n", err);
}

/* ---- forms ---- */

/* A name as it is asked for: steps, mean("rewards"); an attribute's without its quotes. */
static enum hub_status name_of(const struct hub_property *column, struct hub_buf *out, struct hub_error *err)
{
    out->size = 0;
    if (column->kind == HUB_PROPERTY_ATTRIBUTE)
        return hub_buf_add_view(out, column->of, err);
    HUB_TRY(hub_buf_add_text(out, hub_property_word(column->kind), err));
    return column->of.size ? hub_buf_addf(out, err, "(\"%.*s\")", (int)column->of.size, column->of.data)
                           : HUB_OK;
}

static bool is_stretch(const struct hub_buf *out)
{
    return out->size >= HUB_MADE_BLOCK;
}

static enum hub_status begin_json_column(struct table *t, struct hub_json *json, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(4 * KIB);
    HUB_TRY(name_of(&t->columns[t->column], &name, err));
    json->comma = t->column > 0;
    hub_json_key(json, hub_buf_view(&name));
    hub_json_array(json);
    t->begun = true;
    return hub_json_status(json);
}

/* {"revision":…,"total":…,"columns":{name:[…],…}} */
static enum hub_status more_json(struct table *t, struct hub_episode_reader *reader, struct hub_buf *out,
                                 struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, err);
    if (!t->begun && t->column == 0) {
        hub_json_object(&json);
        hub_json_put_text(&json, "revision", t->dataset->summary->revision);
        hub_json_put_uint(&json, "total", t->count);
        hub_json_put_object(&json, "columns");
    }
    while (t->column < t->column_count && !is_stretch(out)) {
        if (!t->begun)
            HUB_TRY(begin_json_column(t, &json, err));
        for (; t->at < t->count && !is_stretch(out); t->at++) {
            json.comma = t->at > 0;
            HUB_TRY(put_cell(t, t->column, t->at, reader, &json, err));
        }
        if (t->at < t->count)
            return HUB_OK;
        hub_json_end_array(&json);
        t->column++;
        t->at = 0;
        t->begun = false;
    }
    t->ended = t->column == t->column_count;
    HUB_TRY(hub_json_status(&json));
    return t->ended ? hub_buf_add_text(out, "}}\n", err) : HUB_OK;
}

/* An object a line. */
static enum hub_status more_jsonl(struct table *t, struct hub_episode_reader *reader, struct hub_buf *out,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(4 * KIB);
    for (; t->at < t->count && !is_stretch(out); t->at++) {
        struct hub_json json = hub_json_to(out, err);
        hub_json_object(&json);
        for (unsigned i = 0; i < t->column_count; i++) {
            HUB_TRY(name_of(&t->columns[i], &name, err));
            hub_json_key(&json, hub_buf_view(&name));
            HUB_TRY(put_cell(t, i, t->at, reader, &json, err));
        }
        hub_json_end_object(&json);
        HUB_TRY(hub_json_status(&json));
        HUB_TRY(hub_buf_add_text(out, "\n", err));
    }
    t->ended = t->at == t->count;
    return HUB_OK;
}

/* A line of names, then a line an episode. */
static enum hub_status more_csv(struct table *t, struct hub_episode_reader *reader, struct hub_buf *out,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(4 * KIB);
    for (unsigned i = 0; i < t->column_count && !t->begun; i++) {
        HUB_TRY(name_of(&t->columns[i], &name, err));
        HUB_TRY(add_csv_text(out, hub_buf_view(&name), err));
        HUB_TRY(hub_buf_add_text(out, i + 1 < t->column_count ? "," : "\r\n", err));
    }
    t->begun = true;
    for (; t->at < t->count && !is_stretch(out); t->at++)
        for (unsigned i = 0; i < t->column_count; i++)
            HUB_TRY(add_csv_cell(t, i, t->at, reader, out, err));
    t->ended = t->at == t->count;
    return HUB_OK;
}

static const struct form forms[] = {
    {"json", "application/json", more_json},
    {"jsonl", "application/x-ndjson", more_jsonl},
    {"csv", "text/csv; charset=utf-8; header=present", more_csv},
};

/* ---- the answer ---- */

/* The state is opened anew for each stretch, by whichever thread makes it: a dataset that was published since
 * ends the answer. */
static enum hub_status table_more(struct hub_maker *maker, struct hub_buf *out, struct hub_error *err)
{
    struct table *t = (struct table *)maker;
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    if (t->ended)
        return HUB_OK;
    HUB_TRY(hub_state_open(t->catalog, t->dataset->summary, &state, err));
    if (strcmp(state.dataset->summary->revision, t->dataset->summary->revision) != 0 ||
        state.dataset->episode_count != t->dataset->episode_count)
        return hub_fail_as(err, HUB_CHANGED, "dataset-changing", "it was published anew");
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = &state};
    return t->form->more(t, &reader, out, err);
}

static enum hub_status read_limit(const struct hub_request *request, uint32_t *limit, struct hub_error *err)
{
    int64_t value;
    bool given;
    HUB_TRY(hub_request_int(request, "limit", &value, &given, err));
    if (given && value < 1)
        return hub_request_wrong(request, "limit", err, "limit is 1 or more; without it all are sent");
    *limit = given && value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
    return HUB_OK;
}

static enum hub_status read_columns(const struct hub_request *request, struct table *table,
                                    struct hub_error *err)
{
    static const char *const names[] = {"json", "jsonl", "csv", NULL};
    const struct hub_view columns = hub_request_query(request, "columns");
    struct hub_error why = {0};
    int form;
    HUB_TRY(hub_request_choice(request, "format", names, &form, err));
    table->form = &forms[form < 0 ? 0 : form];
    if (hub_properties_parse(columns, &table->names, table->columns, MAX_COLUMNS, &table->column_count, &why))
        return hub_request_wrong(request, "columns", err, "columns are names between commas; %s", why.detail);
    return HUB_OK;
}

static enum hub_status choose(struct hub_request *request, struct hub_response *response,
                              struct hub_target *target, struct table *table, struct hub_error *err)
{
    static const char *const parameters[] = {
        HUB_CHOSEN_PARAMETERS "columns", "format", "limit", "for", "revision", NULL};
    struct hub_chosen_episodes chosen = {0};
    uint32_t limit = UINT32_MAX;
    HUB_TRY(hub_request_known(request, parameters, err));
    HUB_TRY(read_limit(request, &limit, err));
    HUB_TRY(read_columns(request, table, err));
    HUB_TRY(hub_resolve(request, response, parameters, HUB_TO_STATE | HUB_TO_READY, target, err));
    const enum hub_status st = hub_chosen_episodes(request, response, &target->state, limit, &chosen, err);
    table->places = chosen.places;
    table->count = chosen.count;
    return st;
}

enum hub_status hub_episodes_columns(struct hub_request *request, struct hub_response *response,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_CLEANUP(table_freep) struct table *table = NULL;
    HUB_TRY(hub_new(&table, 1, sizeof *table, err));
    table->maker = (struct hub_maker){table_more, table_free};
    table->catalog = request->app->catalog;
    HUB_TRY(choose(request, response, &target, table, err));
    HUB_TRY(hub_coverage_of_names(request, &target, table->columns, table->column_count, response, err));
    HUB_TRY(hub_response_header(response, err, "X-Total-Count", "%" PRIu32, table->count));
    table->dataset = target.state.dataset; /* its reference; the rest of the state is closed */
    target.state.dataset = NULL;
    struct table *sent = table;
    table = NULL; /* the response's */
    return hub_response_made(response, 200, sent->form->type, &sent->maker, err);
}
