/* What all drivers share: see kit.h. */
#include "storage/formats/kit/kit.h"

#include "storage/text/number.h"

#include <math.h>
#include <stdio.h>

enum hub_role hub_role_of(struct hub_view path)
{
    static const struct {
        const char *word;
        enum hub_role role;
    } words[] = {{"obs", HUB_ROLE_OBSERVATION},  {"observation", HUB_ROLE_OBSERVATION},
                 {"act", HUB_ROLE_ACTION},       {"action", HUB_ROLE_ACTION},
                 {"rew", HUB_ROLE_REWARD},       {"reward", HUB_ROLE_REWARD},
                 {"done", HUB_ROLE_DONE},        {"terminated", HUB_ROLE_DONE},
                 {"termination", HUB_ROLE_DONE}, {"truncated", HUB_ROLE_DONE},
                 {"truncation", HUB_ROLE_DONE},  {"success", HUB_ROLE_DONE},
                 {"terminal", HUB_ROLE_DONE},    {"timeout", HUB_ROLE_DONE},
                 {"info", HUB_ROLE_INFO}};
    if (hub_view_starts(path, "next_") || hub_view_starts(path, "next."))
        path = (struct hub_view){path.data + 5, path.size - 5};
    struct hub_view word = {path.data, 0};
    while (word.size < path.size && path.data[word.size] >= 'a' && path.data[word.size] <= 'z')
        word.size++;
    if (word.size && word.data[word.size - 1] == 's' && !hub_view_is(word, "obs") &&
        !hub_view_is(word, "success"))
        word.size--; /* its plural */
    for (size_t i = 0; i < HUB_COUNT(words); i++)
        if (hub_view_is(word, words[i].word))
            return words[i].role;
    return HUB_ROLE_OTHER;
}

bool hub_names_data(struct hub_view path)
{
    static const char *const endings[] = {".h5",     ".hdf5",   ".npy",   ".npz",     ".pkl",
                                          ".pickle", ".pkl.gz", ".arrow", ".feather", ".parquet",
                                          ".tar",    ".tar.gz", ".tgz",   ".tar.zst", NULL};
    return hub_ending_of(path, endings) != NULL;
}

enum hub_field_type hub_array_type(const struct hub_variant *variant, struct hub_view path)
{
    return variant->kind == HUB_KIND_BOOL ? HUB_FIELD_BOOL
           : variant->kind == HUB_KIND_FIXED
               ? HUB_FIELD_BYTES
               : hub_picture_type(variant, path, hub_role_of(path) == HUB_ROLE_OBSERVATION);
}

enum hub_status hub_sink_run(struct hub_sink *sink, int64_t number, const uint32_t *files, uint32_t count,
                             struct hub_error *err)
{
    char name[40];
    snprintf(name, sizeof name, "episodes-%06lld", (long long)(number / HUB_RUN * HUB_RUN));
    return hub_sink_part(sink, &(struct hub_part){hub_view_of(name), files, count, HUB_VIEW("")}, err);
}

bool hub_numbered(struct hub_view name, const char *prefix, int64_t *out)
{
    const size_t start = strlen(prefix);
    uint64_t value;
    if (!hub_view_starts(name, prefix) || name.size == start || name.size > start + 18 ||
        (name.data[start] == '0' && name.size > start + 1) ||
        !hub_number_read((struct hub_view){name.data + start, name.size - start}, INT64_MAX, &value))
        return false;
    *out = (int64_t)value;
    return true;
}

const char *hub_ending_of(struct hub_view name, const char *const *endings)
{
    while (*endings && (!hub_view_ends(name, *endings) || name.size == strlen(*endings)))
        endings++;
    return *endings;
}

int hub_claim_file(struct hub_files *listing, struct hub_claim *claim, const char *const *endings,
                   bool (*is_mine)(struct hub_files *listing, uint32_t number), int confidence)
{
    for (; claim->from < listing->count; claim->from++) {
        const struct hub_file_entry *e = &listing->entries[claim->from];
        const char *ending = hub_ending_of(e->path, endings);
        if (e->directory || !ending || memchr(e->path.data, '/', e->path.size) ||
            !is_mine(listing, claim->from))
            continue;
        claim->files[0] = claim->from;
        claim->file_count = 1;
        snprintf(claim->name, sizeof claim->name, "%.*s", (int)(e->path.size - strlen(ending)), e->path.data);
        return confidence;
    }
    return 0;
}

void hub_tally_add(struct hub_tally *tally, const char *fmt, ...)
{
    va_list args;
    if (tally->count++)
        return;
    va_start(args, fmt);
    vsnprintf(tally->first, sizeof tally->first, fmt, args);
    va_end(args);
}

enum hub_status hub_tally_report(const struct hub_tally *tally, struct hub_sink *sink, const char *code,
                                 struct hub_view path, const char *what, struct hub_error *err)
{
    return tally->count
               ? hub_sink_problem(sink, code, path, err, "%u %s: %s", tally->count, what, tally->first)
               : HUB_OK;
}

struct hub_episode hub_episode_of(struct hub_view name, uint32_t file, uint64_t steps)
{
    return (struct hub_episode){.number = -1,
                                .name = name,
                                .file = file,
                                .steps = steps,
                                .success = -1,
                                .terminated = -1,
                                .truncated = -1};
}

void hub_episode_sum(struct hub_episode *episode, const double *rewards, uint64_t count)
{
    double sum = rewards ? 0 : NAN;
    for (uint64_t i = 0; rewards && i < count; i++)
        sum += rewards[i];
    episode->has_return = episode->return_computed = !isnan(sum);
    episode->episode_return = isnan(sum) ? 0 : sum;
}

enum hub_status hub_json_one(struct hub_view split, struct hub_buf *out, struct hub_error *err)
{
    if (split.size == 0)
        return HUB_OK;
    HUB_TRY(hub_buf_add_text(out, "[", err));
    HUB_TRY(hub_json_add_string(out, split, err));
    return hub_buf_add_text(out, "]", err);
}

enum hub_axis hub_axis_of(uint64_t rows, uint64_t steps)
{
    return rows == steps ? HUB_AXIS_STEP : rows == steps + 1 ? HUB_AXIS_STATE : HUB_AXIS_NONE;
}

enum hub_field_type hub_column_type(enum hub_field_type type, const struct hub_variant *variant,
                                    struct hub_view path, bool expected)
{
    return type == HUB_FIELD_NUMBER ? hub_picture_type(variant, path, expected) : type;
}

uint64_t hub_lost_nulls(const struct hub_variant *variant, uint64_t nulls)
{
    return variant->kind == HUB_KIND_FLOAT || variant->kind == HUB_KIND_VAR ? 0 : nulls;
}

enum hub_status hub_report_nulls(struct hub_sink *sink, struct hub_view path, uint64_t nulls,
                                 struct hub_error *err)
{
    if (!nulls)
        return HUB_OK;
    return hub_sink_problem(sink, "nulls", path, err,
                            "%llu nulls in a column of numbers: null in JSON, 0 in arrays",
                            (unsigned long long)nulls);
}

enum hub_status hub_report_repeated(struct hub_sink *sink, struct hub_view path, struct hub_error *err)
{
    return hub_sink_problem(sink, "repeated-column", path, err, "the first of this name is shown");
}

enum hub_status hub_report_odd(struct hub_sink *sink, struct hub_view path, uint32_t odd, enum hub_axis axis,
                               const char *first, struct hub_error *err)
{
    if (!odd)
        return HUB_OK;
    return hub_sink_problem(sink, "rows-differ", path, err,
                            "in %u episodes the number of rows does not match the field's axis (%s)%s%s", odd,
                            hub_axis_name(axis), *first ? ": " : "", first);
}

enum hub_status hub_readings_report(const struct hub_readings *readings, struct hub_sink *sink,
                                    struct hub_view path, const char *of, struct hub_error *err)
{
    const struct hub_tally *bad = &readings->unreadable;
    if (!bad->count || !readings->readable)
        return HUB_OK;
    return hub_sink_problem(sink, "unreadable-in-episodes", path, err, "in %u of %u %s: %s", bad->count,
                            readings->readable + bad->count, of, bad->first);
}

enum hub_status hub_report_unusable(struct hub_files *files, uint32_t number, struct hub_sink *sink,
                                    const char *consequence, bool *usable, struct hub_error *err)
{
    struct hub_byte_source source;
    struct hub_error why = {0};
    const struct hub_view path = files->entries[number].path;
    hub_byte_source_file(&source, files, number);
    const enum hub_status st = hub_byte_source_usable(&source, &why);
    *usable = !st;
    if (!st)
        return HUB_OK;
    if (st != HUB_CORRUPT && st != HUB_DENIED)
        return hub_pass(st, &why, err);
    HUB_TRY(hub_sink_problem(sink, hub_problem_name(why.problem), path, err, "%s", why.detail));
    return hub_sink_problem(sink, "not-loadable", path, err, "%s", consequence);
}

#define MAX_JSON (16 * MIB)

enum hub_status hub_json_of_python(struct hub_view text, struct hub_buf *strict, json_t **out,
                                   struct hub_error *err)
{
    strict->size = 0;
    HUB_TRY(hub_json_strict(text, strict, err));
    return hub_json_parse(hub_buf_view(strict), strict->limit, out, err);
}

enum hub_status hub_json_file(struct hub_files *files, const char *path, struct hub_buf *strict, json_t **out,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf text = HUB_BUF_INIT(MAX_JSON), own = HUB_BUF_INIT(2 * MAX_JSON);
    const uint32_t number = hub_files_find(files, path);
    if (number == HUB_NONE)
        return hub_fail(err, HUB_NOT_FOUND, "there is no %s", path);
    HUB_TRY(hub_files_load(files, number, &text, err));
    const enum hub_status st = hub_json_of_python(hub_buf_view(&text), strict ? strict : &own, out, err);
    if (st == HUB_CORRUPT) {
        char why[200];
        snprintf(why, sizeof why, "%.199s", err ? err->detail : "");
        return hub_fail(err, st, "%s: %s", path, text.size ? why : "the file is empty");
    }
    return st;
}

enum hub_status hub_json_object_of(struct hub_files *files, uint32_t number, size_t limit,
                                   struct hub_buf *strict, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(limit);
    strict->limit = 2 * limit;
    HUB_TRY(hub_files_usable(files, number, err));
    HUB_TRY(hub_files_load(files, number, &text, err));
    HUB_TRY(hub_json_of_python(hub_buf_view(&text), strict, out, err));
    return json_is_object(*out) ? HUB_OK : hub_fail(err, HUB_CORRUPT, "not a JSON object");
}

enum hub_status hub_json_beside(struct hub_files *files, struct hub_sink *sink, const char *path,
                                json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *value = NULL;
    struct hub_error why = {0};
    const enum hub_status st = hub_json_file(files, path, NULL, &value, &why);
    if (st == HUB_NOT_FOUND || (st && !hub_is_local(st)))
        return st == HUB_NOT_FOUND ? HUB_OK : hub_pass(st, &why, err);
    if (st || !json_is_object(value))
        return hub_sink_problem(sink, "bad-metadata", hub_view_of(path), err, "%s",
                                st ? why.detail : "not an object");
    *out = value;
    value = NULL;
    return HUB_OK;
}

enum hub_status hub_json_text_of(struct hub_view json, const char *key, bool first, struct hub_buf *out,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *whole = NULL;
    size_t i;
    json_t *part;
    if (hub_json_parse(json, HUB_MAX_ATTRIBUTES, &whole, NULL))
        return HUB_OK;
    const json_t *value = key ? json_object_get(whole, key) : whole;
    if (first && json_is_array(value))
        value = json_array_get(value, 0);
    if (json_is_string(value))
        return hub_buf_add(out, json_string_value(value), json_string_length(value), err);
    json_array_foreach(value, i, part) if (json_is_string(part))
        HUB_TRY(hub_buf_add(out, json_string_value(part), json_string_length(part), err));
    return HUB_OK;
}

enum hub_status hub_sink_json(struct hub_sink *sink, const char *key, const json_t *value,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_MAX_TEXT);
    struct hub_json json = hub_json_to(&text, err);
    if (!json_is_object(value))
        return HUB_OK;
    hub_json_parsed(&json, value);
    HUB_TRY(hub_json_status(&json));
    return hub_sink_fact(sink, key, hub_buf_view(&text), err);
}

enum hub_status hub_sink_count(struct hub_sink *sink, const char *key, int64_t count, struct hub_error *err)
{
    char digits[24];
    if (count < 0)
        return hub_sink_problem(sink, "bad-metadata", hub_view_of(key), err, "a negative count");
    snprintf(digits, sizeof digits, "%lld", (long long)count);
    return hub_sink_fact(sink, key, hub_view_of(digits), err);
}

void hub_json_parsed(struct hub_json *json, const json_t *value)
{
    const char *key;
    json_t *item;
    size_t i;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        hub_json_object(json);
        json_object_foreach((json_t *)value, key, item)
        {
            hub_json_key(json, hub_view_of(key));
            hub_json_parsed(json, item);
        }
        hub_json_end_object(json);
        return;
    case JSON_ARRAY:
        hub_json_array(json);
        json_array_foreach(value, i, item) hub_json_parsed(json, item);
        hub_json_end_array(json);
        return;
    case JSON_STRING:
        hub_json_string(json, (struct hub_view){json_string_value(value), json_string_length(value)});
        return;
    case JSON_INTEGER:
        hub_json_safe_int(json, json_integer_value(value));
        return;
    case JSON_REAL:
        hub_json_double(json, json_real_value(value));
        return;
    case JSON_TRUE:
    case JSON_FALSE:
        hub_json_bool(json, json_is_true(value));
        return;
    case JSON_NULL:
        hub_json_null(json);
        return;
    }
}
