/* Reports as JSON: the members of the REST API's documents under the same names, and what only an inspection
 * knows. */
#include "storage/inspect/text.h"
#include "storage/model/facet.h"
#include "storage/model/format_row.h"
#include "storage/model/picture.h"
#include "storage/program/cli.h"

#include <stdio.h>

static void tristate(struct hub_json *j, const char *key, int8_t value)
{
    if (value >= 0)
        hub_json_put_bool(j, key, value);
}

enum hub_status hub_report_json_episode(struct hub_buf *out, const struct hub_found_episode *e,
                                        int64_t number, const char *file, struct hub_error *err)
{
    struct hub_json j = hub_json_to(out, err);
    hub_json_object(&j);
    hub_json_put_int(&j, "number", number);
    hub_json_put_text(&j, "name", e->name);
    hub_json_put_text(&j, "file", file);
    hub_json_put_uint(&j, "steps", e->steps);
    hub_json_put_text(&j, "seed", e->seed);
    if (e->has_return) {
        hub_json_put_double(&j, "return", e->episode_return);
        hub_json_put_bool(&j, "return_computed", e->return_computed);
    }
    tristate(&j, "success", e->success);
    hub_json_put_text(&j, "task", e->task);
    tristate(&j, "terminated", e->terminated);
    tristate(&j, "truncated", e->truncated);
    if (e->splits)
        hub_json_put_raw(&j, "splits", hub_view_of(e->splits));
    if (e->attributes)
        hub_json_put_raw(&j, "attributes", hub_view_of(e->attributes));
    if (e->statistics)
        hub_json_put_raw(&j, "statistics", hub_view_of(e->statistics));
    hub_json_end_object(&j);
    return hub_json_status(&j);
}

enum hub_status hub_report_json_media(struct hub_buf *out, const struct hub_found_media *m, int64_t number,
                                      const char *file, struct hub_error *err)
{
    struct hub_json j = hub_json_to(out, err);
    hub_json_object(&j);
    hub_json_put_int(&j, "episode", number);
    hub_json_put_text(&j, "camera", m->camera);
    hub_json_put_text(&j, "file", file);
    hub_media_put(&j, m);
    hub_json_end_object(&j);
    return hub_json_status(&j);
}

enum hub_status hub_report_json_problem(struct hub_buf *out, const struct hub_found_problem *p,
                                        struct hub_error *err)
{
    struct hub_json j = hub_json_to(out, err);
    hub_json_object(&j);
    hub_json_put_text(&j, "code", p->code);
    hub_json_put_text(&j, "path", p->path && *p->path ? p->path : NULL);
    hub_json_put_text(&j, "detail", p->detail);
    hub_json_end_object(&j);
    return hub_json_status(&j);
}

static void put_layout(struct hub_json *j, const struct hub_report_field *f)
{
    hub_json_put_object(j, "layout");
    hub_json_put_uint(j, "stored", f->stored);
    hub_json_put_uint(j, "bytes", f->layout_bytes);
    hub_json_put_uint(j, "chunks", f->chunks);
    hub_json_put_object(j, "pieces");
    for (unsigned k = 1; k < HUB_PIECE_KIND_COUNT; k++)
        if (f->pieces[k])
            hub_json_put_uint(j, hub_piece_kind_name(k), f->pieces[k]);
    hub_json_end_object(j);
    hub_json_end_object(j);
}

static void put_field(struct hub_json *j, const struct hub_report_field *f)
{
    char dtype[24], shape[96];
    hub_json_object(j);
    hub_json_put_text(j, "path", f->path);
    hub_json_put_text(j, "type", hub_field_type_name(f->type));
    if (f->variants) {
        hub_report_dtype(f, dtype);
        hub_json_put_text(j, "dtype", dtype);
        hub_report_shape(f, "[", "null", "]", shape);
        hub_json_put_raw(j, "shape", hub_view_of(shape));
        hub_picture_put_named(j, f->type, dtype, hub_view_of(shape));
    }
    hub_json_put_text(j, "axis", hub_axis_name(f->axis));
    hub_json_put_text(j, "role", hub_role_name(f->role));
    hub_json_put_uint(j, "episodes", f->episodes);
    hub_json_put_uint(j, "rows", f->rows);
    hub_json_put_text(j, "unreadable", f->unreadable);
    if (f->layout_bytes)
        put_layout(j, f);
    hub_json_end_object(j);
}

/* Strings stay strings; JSON texts become values; counts numbers. */
static void put_facts(struct hub_json *j, const struct hub_report *r)
{
    const struct hub_load_rule *rule = hub_report_rule(r);
    for (uint32_t i = 0; i < r->plan.fact_count; i++) {
        const struct hub_found_fact *fact = &r->plan.facts[i];
        const enum hub_fact_kind kind = hub_fact_find(hub_view_of(fact->key), NULL, NULL);
        if (kind == HUB_FACT_PLACE)
            continue; /* of the hub's own use */
        if (kind == HUB_FACT_STRING)
            hub_json_put_text(
                j, rule && strcmp(fact->key, "stated_version") == 0 ? rule->version_key : fact->key,
                fact->text);
        else
            hub_json_put_raw(j, fact->key, hub_view_of(fact->text));
    }
}

static enum hub_status find_fact(void *user, const char *key, struct hub_view *out, struct hub_error *err)
{
    const char *text = hub_report_fact(user, key);
    (void)err;
    *out = hub_view_of(text ? text : "");
    return HUB_OK;
}

static bool get_field(void *user, uint32_t number, struct hub_facet_field *out)
{
    const struct hub_report *r = user;
    if (number >= r->field_count)
        return false;
    struct hub_report_field *f = &r->fields[number];
    char dtype[24];
    hub_report_dtype(f, dtype);
    *out = (struct hub_facet_field){.path = f->path,
                                    .type = f->type,
                                    .role = f->role,
                                    .is_byte = strcmp(dtype, "uint8") == 0,
                                    .known = f->variants && !f->varies,
                                    .rank = f->variant.rank,
                                    .dims = f->variant.dims};
    return true;
}

/* What sets are chosen by, as the hub says it. */
static enum hub_status put_facets(struct hub_json *j, const struct hub_report *r, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf lines = HUB_BUF_INIT(64 * KIB);
    const struct hub_facet_source source = {(void *)r, r->id, find_fact, get_field, NULL};
    HUB_TRY(hub_facet_collect(&source, &lines, err));
    hub_facet_put(j, lines.data);
    return hub_json_status(j);
}

static void put_list(struct hub_json *j, const char *key, const struct hub_buf *members)
{
    hub_json_put_array(j, key);
    if (members->size)
        hub_json_raw(j, hub_buf_view(members));
    hub_json_end_array(j);
}

enum hub_status hub_report_json(const struct hub_report *r, struct hub_buf *out, struct hub_error *err)
{
    struct hub_json j = hub_json_to(out, err);
    hub_json_object(&j);
    hub_json_put_text(&j, "path", r->path);
    hub_json_put_text(&j, "name", r->id);
    hub_json_put_text(&j, "format", r->format ? r->format : HUB_FILES_FORMAT);
    hub_json_put_text(&j, "status", r->status);
    if (r->format && strcmp(r->status, "ready") != 0) {
        hub_json_put_text(&j, "reason", r->why.detail);
        if (r->why.problem)
            hub_json_put_text(&j, "problem", hub_problem_name(r->why.problem));
    }
    if (r->refused)
        hub_json_put_bool(&j, "loadable", false);
    put_facts(&j, r);
    HUB_TRY(put_facets(&j, r, err));
    hub_json_put_uint(&j, "episodes", r->episodes);
    hub_json_put_uint(&j, "steps", r->steps);
    hub_json_put_uint(&j, "size", r->tree.bytes);
    hub_json_put_uint(&j, "files", r->tree.set.count);
    hub_json_put_array(&j, "file_list");
    for (uint32_t i = 0; i < r->tree.set.count; i++) {
        hub_json_object(&j);
        hub_json_put_text(&j, "path", r->tree.files[i].path);
        hub_json_put_uint(&j, "size", r->tree.files[i].size);
        hub_json_end_object(&j);
    }
    hub_json_end_array(&j);
    put_list(&j, "parts", &r->part_list);
    hub_json_put_array(&j, "fields");
    for (uint32_t i = 0; i < r->field_count; i++)
        put_field(&j, &r->fields[i]);
    hub_json_end_array(&j);
    put_list(&j, "episode_list", &r->episode_list);
    put_list(&j, "media", &r->media_list);
    put_list(&j, "problems", &r->problem_list);
    hub_json_end_object(&j);
    return hub_json_status(&j);
}
