/* What the metadata.json beside an episode's columns says of it. */
#include "storage/formats/minari/minari.h"

#include <math.h>
#include <stdio.h>

enum { MAX_METADATA = 1024 * 1024 };

void minari_said_dispose(struct minari_said *s)
{
    hub_buf_dispose(&s->attributes);
    hub_buf_dispose(&s->statistics);
}

static bool number_said(const json_t *value, double *out)
{
    const char *text = json_string_value(value); /* what JSON has no number for, the strict text spells */
    if (json_is_number(value))
        *out = json_number_value(value);
    else if (text && strcmp(text, "NaN") == 0)
        *out = NAN;
    else if (text && strcmp(text + (*text == '-'), "Infinity") == 0)
        *out = *text == '-' ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

static enum hub_status sort_said(struct minari_said *s, json_t *json, struct hub_error *err)
{
    struct hub_json notes = hub_json_to(&s->attributes, err), stats = hub_json_to(&s->statistics, err);
    const char *key;
    json_t *value;
    double number;
    unsigned noted = 0, counted = 0;
    s->attributes.limit = s->statistics.limit = MAX_METADATA;
    hub_json_object(&notes);
    hub_json_object(&stats);
    hub_json_put_object(&stats, "rewards");
    json_object_foreach(json, key, value)
    {
        if (strcmp(key, "id") == 0 || strcmp(key, "total_steps") == 0)
            continue;
        const char *text = json_string_value(value);
        if (strcmp(key, "seed") == 0 && (json_is_integer(value) || (text && strcmp(text, "None") != 0))) {
            if (text)
                snprintf(s->seed, sizeof s->seed, "%.*s", (int)sizeof s->seed - 1, text);
            else
                snprintf(s->seed, sizeof s->seed, "%lld", (long long)json_integer_value(value));
        } else if (strncmp(key, "rewards_", 8) == 0 && number_said(value, &number)) {
            hub_json_put_double(&stats, key + 8, number);
            counted++;
        } else {
            hub_json_key(&notes, hub_view_of(key));
            hub_json_parsed(&notes, value);
            noted++;
        }
    }
    hub_json_end_object(&notes);
    hub_json_end_object(&stats);
    hub_json_end_object(&stats);
    HUB_TRY(hub_json_status(&notes));
    HUB_TRY(hub_json_status(&stats));
    s->attributes.size = noted ? s->attributes.size : 0;
    s->statistics.size = counted ? s->statistics.size : 0;
    return HUB_OK;
}

enum hub_status minari_said_read(struct hub_files *files, struct hub_sink *sink, int64_t number,
                                 uint32_t metadata, struct minari_said *s, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf strict = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *json = NULL;
    char path[64];
    struct hub_error why = {0};
    snprintf(path, sizeof path, "data/%lld/metadata.json", (long long)number);
    s->steps = -1;
    if (metadata == HUB_NONE)
        return hub_sink_problem(sink, "metadata-missing", hub_view_of(path), err,
                                "the seed and the statistics of this episode are unknown");
    const enum hub_status st = hub_json_object_of(files, metadata, MAX_METADATA, &strict, &json, &why);
    if (st && !hub_is_local(st))
        return hub_pass(st, &why, err);
    if (st)
        return hub_sink_problem(sink, hub_problem_name_or(why.problem, "metadata-damaged"), hub_view_of(path),
                                err, "%s", why.detail);
    const json_t *steps = json_object_get(json, "total_steps"), *id = json_object_get(json, "id");
    if (json_is_integer(steps))
        s->steps = HUB_MAX(json_integer_value(steps), -1);
    s->has_id = json_is_integer(id);
    s->id = json_integer_value(id);
    s->has_sum = number_said(json_object_get(json, "rewards_sum"), &s->sum);
    return sort_said(s, json, err);
}
