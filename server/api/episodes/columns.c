/* What is known of the episodes that are meant, as a table: all of them, sent while it is made. A column is
 * a name of `where`; a value that an episode lacks is null. */
#include "server/api/handlers.h"

#include "server/api/episodes/coverage.h"
#include "server/api/episodes/episode_selection.h"
#include "server/api/tables/table_answer.h"
#include "server/api/tables/value_table.h"
#include "storage/episodes/episode_reader.h"

#include <stdlib.h>

#define ENCODER_VERSION "3"

struct episode_table {
    struct hub_value_table cells; /* first */
    struct hub_catalog *catalog;
    const struct hub_dataset *dataset; /* what the places are of */
    struct hub_where *names;           /* what the texts of `columns` lie in */
    struct hub_property columns[HUB_VALUE_TABLE_COLUMNS];
    uint32_t *places;
    struct hub_coverage measured;
    struct hub_state state; /* of a block */
    struct hub_episode_reader reader;
};

static void dispose(struct hub_value_table *cells)
{
    struct episode_table *table = (struct episode_table *)cells;
    hub_dataset_put(table->dataset);
    hub_where_free(table->names);
    free(table->places);
}

static void cells_freep(struct hub_value_table **cells)
{
    hub_value_table_free(*cells);
}

/* ---- cells ---- */

static enum hub_status get(struct hub_value_table *cells, uint32_t row, unsigned column,
                           struct hub_values *out, struct hub_error *err)
{
    struct episode_table *t = (struct episode_table *)cells;
    const struct hub_dataset_episode *e = &t->state.dataset->episodes[t->places[row]];
    return hub_episode_values_of(&t->reader, e, &t->columns[column], out, err);
}

/* The state is opened again for each block, by whichever thread makes it: a dataset that was published since
 * ends the answer. */
static enum hub_status begin(struct hub_value_table *cells, struct hub_error *err)
{
    struct episode_table *t = (struct episode_table *)cells;
    HUB_TRY(hub_state_open(t->catalog, t->dataset->summary, &t->state, err));
    t->reader.state = &t->state;
    return strcmp(t->state.dataset->summary->revision, t->dataset->summary->revision) == 0 &&
                   t->state.dataset->episode_count == t->dataset->episode_count
               ? HUB_OK
               : hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DATASET_CHANGING, "it was published again");
}

static void end(struct hub_value_table *cells)
{
    struct episode_table *t = (struct episode_table *)cells;
    hub_episode_reader_dispose(&t->reader);
    hub_state_close(&t->state);
    t->reader = (struct hub_episode_reader){0};
    t->state = (struct hub_state){0};
}

/* ---- columns ---- */

static enum hub_value_table_type type_of(enum hub_property_kind kind)
{
    static const enum hub_value_table_type types[] = {
        [HUB_PROPERTY_INT] = HUB_VALUE_TABLE_INT,     [HUB_PROPERTY_REAL] = HUB_VALUE_TABLE_REAL,
        [HUB_PROPERTY_TRUTH] = HUB_VALUE_TABLE_TRUTH, [HUB_PROPERTY_TEXT] = HUB_VALUE_TABLE_TEXT,
        [HUB_PROPERTY_TEXTS] = HUB_VALUE_TABLE_TEXT,  [HUB_PROPERTY_ANY] = HUB_VALUE_TABLE_ANY};
    return types[hub_property_row(kind)->type];
}

/* A name as it is asked for: steps, mean("rewards"); an attribute's without its quotes. */
static enum hub_status name_of(const struct hub_property *column, char **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * KIB);
    if (column->kind == HUB_PROPERTY_ATTRIBUTE)
        HUB_TRY(hub_buf_add_view(&text, column->of, err));
    else
        HUB_TRY(hub_property_spell(column, &text, err));
    *out = hub_view_dup(hub_buf_view(&text));
    return hub_allocated(*out, err);
}

static enum hub_status read_columns(const struct hub_request *request, struct episode_table *t,
                                    struct hub_error *err)
{
    const struct hub_view columns = hub_request_query(request, "columns");
    struct hub_value_table *cells = &t->cells;
    struct hub_error why = {0};
    unsigned count;
    HUB_TRY(hub_value_table_read_form(request, false, cells, err));
    if (hub_properties_parse(columns, &t->names, t->columns, HUB_VALUE_TABLE_COLUMNS, &count, &why))
        return hub_request_wrong(request, "columns", err, "columns must be names separated by commas; %s",
                                 why.detail);
    for (; cells->column_count < count; cells->column_count++) {
        const struct hub_property *as = &t->columns[cells->column_count];
        struct hub_value_table_column *column = &cells->columns[cells->column_count];
        *column = (struct hub_value_table_column){.several = as->kind == HUB_PROPERTY_SPLIT,
                                                  .type = type_of(as->kind)};
        HUB_TRY(name_of(as, &column->name, err));
    }
    return hub_value_table_check_names(request, cells, err);
}

static enum hub_status choose(struct hub_request *request, struct hub_response *response,
                              struct hub_target *target, struct episode_table *table, struct hub_error *err)
{
    struct hub_episode_selection chosen = {0};
    const uint32_t limit = hub_value_table_limit(request);
    HUB_TRY(read_columns(request, table, err));
    HUB_TRY(hub_resolve(request, response, HUB_TO_STATE | HUB_TO_READY, target, err));
    struct hub_coverage *measured = &table->measured;
    HUB_TRY(hub_coverage_require(request, response, target, table->columns, table->cells.column_count,
                                 measured, err));
    const enum hub_status st =
        hub_episode_selection_open(request, response, &target->state, limit, &chosen, err);
    table->places = chosen.places;
    table->cells.rows = chosen.count;
    table->cells.measured[0] = measured->named ? measured->parts : 0;
    table->cells.measured[1] = measured->named ? measured->of_parts : 0;
    return st;
}

static enum hub_status check_condition(struct hub_request *request, const struct hub_target *target,
                                       const struct episode_table *t, struct hub_response *response,
                                       char etag[40], bool *done, struct hub_error *err)
{
    const struct hub_table_facts facts = {ENCODER_VERSION, target->summary, t->cells.as, t->measured.state};
    hub_table_etag(request, &facts, etag);
    HUB_TRY(hub_coverage_named_headers(request, target, &t->measured, response, err));
    return hub_resolve_conditions(request, response, etag, -1, done, err);
}

enum hub_status hub_episodes_columns(struct hub_request *request, struct hub_response *response,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_CLEANUP(cells_freep) struct hub_value_table *cells = NULL;
    struct episode_table *table;
    char etag[40];
    bool done = false;
    HUB_TRY(hub_new(&table, 1, sizeof *table, err));
    cells = &table->cells;
    *cells = (struct hub_value_table){.get = get, .begin = begin, .end = end, .dispose = dispose};
    table->catalog = request->app->catalog;
    HUB_TRY(choose(request, response, &target, table, err));
    HUB_TRY(check_condition(request, &target, table, response, etag, &done, err));
    if (done)
        return HUB_OK;
    table->dataset = target.state.dataset; /* its reference; the rest of the state is closed */
    target.state.dataset = NULL;
    hub_state_close(&target.state);
    cells->revision = table->dataset->summary->revision;
    return hub_value_table_answer(request, response, etag, &cells, err);
}
