/* Parameters of routes: see parameter.h. */
#include "server/http/parameter.h"

#include "server/http/http.h"
#include "storage/base/nearest.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- rows ---- */

const struct hub_parameter *hub_parameter_find(const struct hub_parameter *const *rows, struct hub_view name)
{
    for (; *rows; rows++) /* the first letter tells most of them apart */
        if ((*rows)->name[0] == name.data[0] && !(*rows)->in_path && hub_view_is(name, (*rows)->name))
            return *rows;
    return NULL;
}

struct hub_view hub_parameter_word(struct hub_view *rest)
{
    const char *blank = rest->size ? memchr(rest->data, ' ', rest->size) : NULL;
    const struct hub_view word = {rest->data, blank ? (size_t)(blank - rest->data) : rest->size};
    const size_t used = word.size + (blank != NULL);
    *rest = (struct hub_view){rest->data + used, rest->size - used};
    return word;
}

/* The index of a word among those of a row; -1: it is not one of them. */
static int word_index(const struct hub_parameter *row, struct hub_view text)
{
    struct hub_view rest = hub_view_of(row->words), word;
    for (int i = 0; (word = hub_parameter_word(&rest)).size; i++)
        if (hub_view_equal(word, text))
            return i;
    return -1;
}

bool hub_parameter_ignores_others(const struct hub_parameter *const *rows)
{
    return *rows && (*rows)->type == HUB_PARAM_OTHERS;
}

/* ---- reading ---- */

static struct hub_view first_value(const struct hub_request *request, const char *name)
{
    const struct hub_view wanted = hub_view_of(name);
    for (unsigned i = 0; i < request->query_count; i++)
        if (hub_view_equal(request->query[i].name, wanted))
            return request->query[i].value;
    return (struct hub_view){NULL, 0};
}

static const struct hub_parameter *row_of(const struct hub_request *request, const char *name)
{
    return request->parameters ? hub_parameter_find(request->parameters, hub_view_of(name)) : NULL;
}

/* Otherwise a handler reads what its route does not list. */
static bool is_listed(const struct hub_request *request, const char *name)
{
    return !request->parameters || row_of(request, name);
}

struct hub_view hub_request_query(const struct hub_request *request, const char *name)
{
    assert(is_listed(request, name));
    return first_value(request, name);
}

struct hub_view hub_request_if_taken(const struct hub_request *request, const char *name)
{
    const struct hub_view value = first_value(request, name);
    return value.data && is_listed(request, name) ? value : (struct hub_view){NULL, 0};
}

const char *hub_request_any(const struct hub_request *request, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i] && hub_request_if_taken(request, names[i]).data)
            return names[i];
    return NULL;
}

static bool read_whole(struct hub_view text, int64_t *out)
{
    char *end = NULL;
    const bool minus = hub_view_starts(text, "-");
    if (text.size <= minus || text.data[minus] < '0' || text.data[minus] > '9')
        return false;
    errno = 0;
    *out = strtoll(text.data, &end, 10);
    return !errno && end == text.data + text.size;
}

bool hub_request_int(const struct hub_request *request, const char *name, int64_t *value)
{
    const struct hub_view text = hub_request_query(request, name);
    if (text.data)
        return read_whole(text, value);
    const struct hub_parameter *row = row_of(request, name);
    if (row && row->preset)
        *value = strtoll(row->preset, NULL, 10);
    return false;
}

int hub_request_choice(const struct hub_request *request, const char *name)
{
    const struct hub_view text = hub_request_query(request, name);
    const struct hub_parameter *row = text.data ? row_of(request, name) : NULL;
    return row ? word_index(row, text) : -1;
}

static bool read_flag(struct hub_view text, bool *out)
{
    *out = !text.size || hub_view_is(text, "true") || hub_view_is(text, "1");
    return *out || hub_view_is(text, "false") || hub_view_is(text, "0");
}

bool hub_request_flag(const struct hub_request *request, const char *name)
{
    bool flag = false;
    const struct hub_view text = hub_request_query(request, name);
    return text.data && read_flag(text, &flag) && flag;
}

/* A bit for each of the words between commas; false: one of them is not of the row. */
static bool read_list(const struct hub_parameter *row, struct hub_view text, unsigned *out)
{
    *out = 0;
    for (const char *at = text.data; at && *at;) {
        const size_t size = strcspn(at, ",");
        const int index = word_index(row, (struct hub_view){at, size});
        if (index < 0)
            return false;
        *out |= 1U << index;
        at += size + (at[size] == ',');
    }
    return true;
}

unsigned hub_request_list(const struct hub_request *request, const char *name)
{
    const struct hub_view text = hub_request_query(request, name);
    const struct hub_parameter *row = text.data ? row_of(request, name) : NULL;
    unsigned list = 0;
    return row && read_list(row, text, &list) ? list : 0;
}

/* ---- what is wrong ---- */

enum hub_status hub_request_wrong(const struct hub_request *request, const char *name, struct hub_error *err,
                                  const char *fmt, ...)
{
    char detail[sizeof err->detail];
    va_list args;
    va_start(args, fmt);
    vsnprintf(detail, sizeof detail, fmt, args);
    va_end(args);
    return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, name, first_value(request, name).data,
                          "%s", detail);
}

/* Add a word to "a, b, c", if there is room. */
static void add_word(char list[400], struct hub_view word)
{
    const size_t used = strlen(list);
    if (word.size && used + word.size + 3 < 400)
        snprintf(list + used, 400 - used, "%s%.*s", used ? ", " : "", (int)word.size, word.data);
}

/* Does a parameter of this name choose the route among those of its address, as in "/a?name"? */
static bool chooses(const struct hub_route *route, const char *name)
{
    const char *at = strchr(route->pattern, '?');
    for (; at; at = strchr(at + 1, '?'))
        if (hub_view_is((struct hub_view){at + 1, strcspn(at + 1, "?")}, name))
            return true;
    return false;
}

static bool is_of_address(const struct hub_route *route, const struct hub_route *of)
{
    const size_t size = strcspn(of->pattern, "?");
    return route != of && strcspn(route->pattern, "?") == size &&
           memcmp(route->pattern, of->pattern, size) == 0;
}

/* What the address takes, for the error of a name that it does not take. */
struct taken_names {
    char list[400];
    struct hub_nearest nearest;
};

static void add_rows(struct taken_names *names, const struct hub_parameter *const *rows,
                     const struct hub_route *chosen)
{
    for (; rows && *rows; rows++) {
        const char *name = (*rows)->name;
        if ((*rows)->in_path || !*name || (chosen && !chooses(chosen, name)))
            continue;
        add_word(names->list, hub_view_of(name));
        if (names->nearest.ceiling)
            (void)hub_nearest_offer(&names->nearest, name, name);
    }
}

static enum hub_status unknown(const struct hub_request *request, struct hub_view name, struct hub_error *err)
{
    struct taken_names names = {.list = ""};
    const bool any = hub_nearest_begin(&names.nearest, name, 1);
    names.nearest.ceiling = !any ? 0 : name.size > 5 ? 3 : name.size > 2 ? 2 : 1;
    add_rows(&names, request->parameters, NULL);
    for (const struct hub_route *route = request->routes; route && route->pattern; route++)
        if (is_of_address(route, request->route))
            add_rows(&names, route->parameters, route);
    const char *near = names.nearest.count ? names.nearest.items[0] : "";
    return hub_request_wrong(request, name.data, err, "unknown parameter '%.80s'%s%s%s resource takes %s",
                             name.data, *near ? ", did you mean '" : "", near, *near ? "'? This" : "; this",
                             *names.list ? names.list : "none");
}

/* Out of bounds, or no number at all. */
static enum hub_status wrong_number(const struct hub_request *request, const struct hub_parameter *row,
                                    bool is_number, struct hub_error *err)
{
    const char *name = row->name, *what = row->type == HUB_PARAM_WHOLE ? "a whole number" : "a number";
    if (!row->least && !row->most)
        return hub_request_wrong(request, name, err, "%s must be %s", name, what);
    what = is_number ? "" : what;
    if (row->most == INT64_MAX)
        return hub_request_wrong(request, name, err, "%s must be %s%sat least %" PRId64, name, what,
                                 *what ? " of " : "", row->least);
    return hub_request_wrong(request, name, err, "%s must be %s%sfrom %" PRId64 " to %" PRId64, name, what,
                             *what ? " " : "", row->least, row->most);
}

static enum hub_status check_number(const struct hub_request *request, const struct hub_parameter *row,
                                    struct hub_view text, struct hub_error *err)
{
    const bool bounded = row->least || row->most;
    int64_t number = 0;
    bool is_number, fits;
    if (row->type == HUB_PARAM_WHOLE) {
        is_number = read_whole(text, &number);
        fits = !bounded || (number >= row->least && number <= row->most);
    } else {
        char *end = NULL;
        const double real = strtod(text.data, &end);
        is_number = text.size && end == text.data + text.size && isfinite(real);
        fits = !bounded || (real >= (double)row->least && real <= (double)row->most);
    }
    return is_number && fits ? HUB_OK : wrong_number(request, row, is_number, err);
}

static enum hub_status wrong_word(const struct hub_request *request, const struct hub_parameter *row,
                                  struct hub_error *err)
{
    char list[400] = "";
    bool turned = false;
    struct hub_view rest = hub_view_of(row->words), word;
    while ((word = hub_parameter_word(&rest)).size) {
        turned |= word.data[0] == '-';
        if (word.data[0] != '-')
            add_word(list, word);
    }
    return hub_request_wrong(request, row->name, err, "%s must be %s %s%s", row->name,
                             row->type == HUB_PARAM_WORD ? "one of" : "names separated by commas, from", list,
                             turned ? ", with - for descending" : "");
}

/* A browser sends the words of a form that nobody chose as empty texts. */
static bool is_left_open(const struct hub_request *request, struct hub_view text)
{
    return !text.size && (request->shape || hub_parameter_ignores_others(request->parameters));
}

static enum hub_status check_type(const struct hub_request *request, const struct hub_parameter *row,
                                  struct hub_view text, struct hub_error *err)
{
    bool flag;
    unsigned list;
    switch (row->type) {
    case HUB_PARAM_WHOLE:
    case HUB_PARAM_REAL:
        return check_number(request, row, text, err);
    case HUB_PARAM_FLAG:
        return read_flag(text, &flag)
                   ? HUB_OK
                   : hub_request_wrong(request, row->name, err, "%s must be true or false", row->name);
    case HUB_PARAM_WORD:
        return is_left_open(request, text) || word_index(row, text) >= 0 ? HUB_OK
                                                                         : wrong_word(request, row, err);
    case HUB_PARAM_LIST:
        return read_list(row, text, &list) ? HUB_OK : wrong_word(request, row, err);
    case HUB_PARAM_TEXT:
    case HUB_PARAM_TEXTS:
    case HUB_PARAM_FORM:
    case HUB_PARAM_OTHERS:
        break;
    }
    return HUB_OK;
}

static void take_older_names(struct hub_request *request)
{
    for (const struct hub_parameter *const *row = request->parameters; *row; row++)
        for (unsigned i = 0; (*row)->was && i < request->query_count; i++)
            if (hub_view_is(request->query[i].name, (*row)->was))
                request->query[i].name = hub_view_of((*row)->name);
}

/* Does the route take this one, and is it given once? */
static enum hub_status check_name(const struct hub_request *request, const struct hub_param *param,
                                  const struct hub_parameter *row, struct hub_error *err)
{
    if (hub_parameter_ignores_others(request->parameters))
        return HUB_OK;
    if (!row)
        return unknown(request, param->name, err);
    if (row->repeats || row->type == HUB_PARAM_TEXTS ||
        first_value(request, row->name).data == param->value.data)
        return HUB_OK;
    return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, row->name, param->value.data,
                          "parameter '%.80s' is given more than once", row->name);
}

enum hub_status hub_request_check(struct hub_request *request, struct hub_error *err)
{
    const struct hub_parameter *rows[HUB_MAX_QUERY] = {0};
    const struct hub_param *query = request->query;
    take_older_names(request);
    for (unsigned i = 0; i < request->query_count; i++) {
        rows[i] = hub_parameter_find(request->parameters, query[i].name);
        HUB_TRY(check_name(request, &query[i], rows[i], err));
    }
    for (unsigned i = 0; i < request->query_count; i++)
        if (rows[i])
            HUB_TRY(check_type(request, rows[i], query[i].value, err));
    for (const struct hub_parameter *const *row = request->parameters; *row; row++)
        if ((*row)->required && !first_value(request, (*row)->name).size)
            return hub_request_wrong(request, (*row)->name, err, "this resource needs %s=, as %s",
                                     (*row)->name, (*row)->example);
    return HUB_OK;
}

enum hub_status hub_route_call(const struct hub_route *route, struct hub_request *request,
                               struct hub_response *response, struct hub_error *err)
{
    static const struct hub_parameter others = {.name = "", .type = HUB_PARAM_OTHERS};
    static const struct hub_parameter *const none_is_read[] = {&others, NULL};
    request->ceiling_ms = route->ceiling_ms;
    request->parameters = route->parameters ? route->parameters : none_is_read;
    HUB_TRY(hub_request_check(request, err));
    return route->handler(request, response, err);
}
