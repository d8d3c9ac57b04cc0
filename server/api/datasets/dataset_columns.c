/* What lists show of datasets, as a table: all that are chosen, sent while it is made. */
#include "server/api/datasets/dataset_selection.h"
#include "server/api/datasets/returns.h"
#include "server/api/handlers.h"
#include "server/api/tables/value_table.h"
#include "storage/text/number.h"
#include "storage/text/time.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_VALUES = 1024 }; /* of a cell */

enum dataset_column {
    SHOWN_ID = HUB_FACET_COUNT, /* those before it are what is known of sets */
    SHOWN_NAMESPACE,
    SHOWN_NAME,
    SHOWN_VERSION,
    SHOWN_FORMAT,
    SHOWN_ERA,
    SHOWN_STATUS,
    SHOWN_REASON,
    SHOWN_LOADABLE,
    SHOWN_EPISODES,
    SHOWN_STEPS,
    SHOWN_SIZE,
    SHOWN_FILES,
    SHOWN_PROBLEMS,
    SHOWN_DESCRIPTION,
    SHOWN_REVISION,
    SHOWN_MODIFIED,
    SHOWN_RETURN_MEAN,
    SHOWN_RETURN_MIN,
    SHOWN_RETURN_MAX,
    SHOWN_RETURN_COUNT,
    SHOWN_COUNT
};

static const char *const names[] = {
    "id",          "namespace", "name",     "version",     "format",     "era",        "status",
    "reason",      "loadable",  "episodes", "steps",       "size",       "files",      "problems",
    "description", "revision",  "modified", "return_mean", "return_min", "return_max", "return_count"};

struct dataset_table {
    struct hub_value_table cells; /* first */
    struct hub_datasets chosen;
    enum dataset_column shown[HUB_VALUE_TABLE_COLUMNS];
    struct hub_value values[MAX_VALUES]; /* of the last cell */
    struct hub_returns returns;
    char time[HUB_TIME_CHARS];
};

static void dispose(struct hub_value_table *cells)
{
    hub_datasets_dispose(&((struct dataset_table *)cells)->chosen);
}

static void cells_freep(struct hub_value_table **cells)
{
    hub_value_table_free(*cells);
}

/* ---- cells ---- */

static size_t find_facet_values(struct dataset_table *t, const struct hub_summary *summary,
                                enum hub_facet wanted)
{
    struct hub_view lines = hub_view_of(summary->known), value;
    enum hub_facet kind;
    uint64_t number;
    size_t n = 0;
    while (n < MAX_VALUES && hub_facet_take(&lines, &kind, &value))
        if (kind == wanted)
            t->values[n++] = wanted == HUB_FACET_ACTION_DIM && hub_number_read(value, INT64_MAX, &number)
                                 ? hub_value_uint(number)
                                 : hub_value_text(value);
    return n;
}

static const char *text_of(struct dataset_table *t, const struct hub_summary *summary,
                           enum dataset_column what)
{
    switch ((int)what) {
    case SHOWN_ID:
        return summary->id;
    case SHOWN_NAMESPACE:
        return summary->ns;
    case SHOWN_NAME:
        return summary->name;
    case SHOWN_FORMAT:
        return summary->format;
    case SHOWN_ERA:
        return summary->era;
    case SHOWN_STATUS:
        return hub_dataset_status_name(summary->status);
    case SHOWN_REASON:
        return summary->reason;
    case SHOWN_DESCRIPTION:
        return summary->description;
    case SHOWN_REVISION:
        return summary->revision;
    case SHOWN_MODIFIED:
        hub_time_rfc3339_ms(summary->modified_ns / 1000000, t->time);
        return summary->modified_ns > 0 ? t->time : "";
    default:
        return NULL;
    }
}

static int64_t number_of(const struct hub_summary *summary, enum dataset_column what)
{
    switch ((int)what) {
    case SHOWN_VERSION:
        return summary->version;
    case SHOWN_LOADABLE:
        return hub_summary_loads(summary);
    case SHOWN_EPISODES:
        return (int64_t)summary->episodes;
    case SHOWN_STEPS:
        return (int64_t)summary->steps;
    case SHOWN_SIZE:
        return (int64_t)summary->size;
    case SHOWN_FILES:
        return summary->files;
    default:
        return summary->problems;
    }
}

static bool is_return(enum dataset_column what)
{
    return what >= SHOWN_RETURN_MEAN && what <= SHOWN_RETURN_COUNT;
}

/* False: it is not known. */
static bool return_of(struct dataset_table *t, const struct hub_summary *summary, enum dataset_column what,
                      struct hub_value *out)
{
    struct hub_returns_summary known;
    if (!hub_returns_of(&t->returns, summary, &known))
        return false;
    *out = what == SHOWN_RETURN_COUNT ? hub_value_uint(known.count)
                                      : hub_value_real(what == SHOWN_RETURN_MEAN  ? known.mean
                                                       : what == SHOWN_RETURN_MIN ? known.least
                                                                                  : known.greatest);
    return known.count || what == SHOWN_RETURN_COUNT;
}

/* "" is unknown, as is a version of -1. */
static enum hub_status get(struct hub_value_table *cells, uint32_t row, unsigned column,
                           struct hub_values *out, struct hub_error *err)
{
    (void)err;
    struct dataset_table *t = (struct dataset_table *)cells;
    const struct hub_summary *summary = t->chosen.entries[row].summary;
    const enum dataset_column what = t->shown[column];
    *out = (struct hub_values){t->values, 0};
    if (is_return(what)) {
        out->count = return_of(t, summary, what, t->values);
        return HUB_OK;
    }
    const char *text = text_of(t, summary, what);
    const int64_t number = text ? 0 : number_of(summary, what);
    *out = (struct hub_values){t->values, 1};
    if (what < SHOWN_ID)
        out->count = find_facet_values(t, summary, (enum hub_facet)what);
    else if (text)
        t->values[0] = hub_value_text(hub_view_of(text));
    else
        t->values[0] = (struct hub_value){.kind = HUB_VALUE_INT, .number = number};
    if (what >= SHOWN_ID)
        out->count = text ? *text != '\0' : number >= 0;
    return HUB_OK;
}

/* ---- columns ---- */

static const char *name_of(enum dataset_column what)
{
    return what < SHOWN_ID ? hub_facet_names[what] : names[what - SHOWN_ID];
}

static enum hub_value_table_type type_of(enum dataset_column what)
{
    const bool number = what == SHOWN_VERSION || (what >= SHOWN_EPISODES && what <= SHOWN_PROBLEMS);
    if (is_return(what))
        return what == SHOWN_RETURN_COUNT ? HUB_VALUE_TABLE_INT : HUB_VALUE_TABLE_REAL;
    return what == SHOWN_LOADABLE                        ? HUB_VALUE_TABLE_TRUTH
           : number || what == (int)HUB_FACET_ACTION_DIM ? HUB_VALUE_TABLE_INT
                                                         : HUB_VALUE_TABLE_TEXT;
}

/* As in a summary; of the others the first counts. */
static bool is_several(enum dataset_column what)
{
    return what == (int)HUB_FACET_TASK || what == (int)HUB_FACET_CAMERA || what == (int)HUB_FACET_AUTHOR;
}

static enum hub_status wrong_name(const struct hub_request *request, struct hub_view name,
                                  struct hub_error *err)
{
    char known[400] = "";
    for (int i = SHOWN_ID; i < SHOWN_COUNT + SHOWN_ID; i++) {
        const enum dataset_column what = (enum dataset_column)(i < SHOWN_COUNT ? i : i - SHOWN_COUNT);
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? ", " : "",
                 name_of(what));
    }
    return hub_request_wrong(
        request, "columns", err,
        "columns must be up to %d names separated by commas, from %s; '%.*s' is not one of them",
        HUB_VALUE_TABLE_COLUMNS, known, (int)HUB_MIN(name.size, (size_t)80), name.data);
}

static enum hub_status read_columns(const struct hub_request *request, struct dataset_table *t,
                                    struct hub_error *err)
{
    struct hub_value_table *cells = &t->cells;
    for (const char *at = hub_request_query(request, "columns").data; at;) {
        const struct hub_view name = {at, strcspn(at, ",")};
        unsigned what = 0;
        while (what < SHOWN_COUNT && !hub_view_is(name, name_of((enum dataset_column)what)))
            what++;
        if (what == SHOWN_COUNT || cells->column_count == HUB_VALUE_TABLE_COLUMNS)
            return wrong_name(request, name, err);
        t->shown[cells->column_count] = (enum dataset_column)what;
        struct hub_value_table_column *column = &cells->columns[cells->column_count++];
        *column = (struct hub_value_table_column){.name = strdup(name_of((enum dataset_column)what)),
                                                  .several = is_several((enum dataset_column)what),
                                                  .type = type_of((enum dataset_column)what)};
        HUB_TRY(hub_allocated(column->name, err));
        at = at[name.size] ? at + name.size + 1 : NULL;
    }
    return hub_value_table_check_names(request, cells, err);
}

/* ---- the answer ---- */

enum hub_status hub_datasets_columns(struct hub_request *request, struct hub_response *response,
                                     struct hub_error *err)
{
    HUB_CLEANUP(cells_freep) struct hub_value_table *cells = NULL;
    struct dataset_table *t;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_new(&t, 1, sizeof *t, err));
    cells = &t->cells;
    *cells = (struct hub_value_table){.get = get, .dispose = dispose};
    t->returns = (struct hub_returns){.app = request->app, .left = UINT64_MAX};
    HUB_TRY(hub_value_table_read_form(request, true, cells, err));
    HUB_TRY(read_columns(request, t, err));
    for (unsigned i = 0; i < cells->column_count && !request->heavy; i++)
        if (is_return(t->shown[i])) /* episodes are looked at */
            return hub_await_heavy(request);
    HUB_TRY(hub_datasets_read(request, &t->chosen, err));
    HUB_TRY(hub_datasets_choose(request, &t->chosen, err));
    cells->rows = HUB_MIN(t->chosen.count, hub_value_table_limit(request));
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-cache"));
    return hub_value_table_answer(request, response, NULL, &cells, err);
}
