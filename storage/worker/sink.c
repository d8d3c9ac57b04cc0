/* What a driver says, as frames: see sink.h. The layouts are in sink_layout.c. */
#include "storage/worker/sink_state.h"

#include "storage/inspect/text.h"
#include "storage/text/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_LOCAL_FIELDS = 65536, BATCH = 256 * 1024 };

enum hub_status hub_sink_new(const struct hub_files *files, struct hub_frame_writer *writer,
                             hub_sink_flush *flush, void *user, struct hub_sink **out, struct hub_error *err)
{
    struct hub_sink *sink = calloc(1, sizeof *sink);
    HUB_TRY(hub_allocated(sink, err));
    sink->files = files;
    sink->w = writer;
    sink->flush = flush;
    sink->user = user;
    for (size_t i = 0; i < HUB_COUNT(sink->mended); i++)
        sink->mended[i] = HUB_BUF_INIT((size_t)HUB_MAX_TEXT);
    *out = sink;
    return HUB_OK;
}

void hub_sink_freep(struct hub_sink **pointer)
{
    struct hub_sink *sink = *pointer;
    if (!sink)
        return;
    for (uint32_t i = 0; i < sink->field_count; i++) {
        hub_layout_builder_free(sink->fields[i].builder);
        free(sink->fields[i].path);
    }
    for (size_t i = 0; i < HUB_COUNT(sink->mended); i++)
        hub_buf_dispose(&sink->mended[i]);
    hub_sink_kinds_free(sink);
    free(sink->fields);
    free(sink->slots);
    free(sink);
}

enum hub_status hub_sink_end_frame(struct hub_sink *sink, struct hub_error *err)
{
    HUB_TRY(hub_frame_end(sink->w, err));
    return sink->w->out.size >= BATCH ? sink->flush(sink->user, sink->w, err) : HUB_OK;
}

/* The text if it is valid and short enough, else a mended copy in scratch buffer `slot`. */
enum hub_status hub_sink_fit(struct hub_sink *sink, unsigned slot, struct hub_view *text, size_t limit,
                             bool line, struct hub_error *err)
{
    if (text->size <= limit && (line ? hub_line_valid(*text) : hub_text_valid(*text)))
        return HUB_OK;
    HUB_TRY(hub_text_mend(*text, limit, line, &sink->mended[slot], err));
    *text = hub_buf_view(&sink->mended[slot]);
    return HUB_OK;
}

/* JSON as Python writes it becomes strict JSON, in scratch buffer `slot`; what is no JSON at all stays as it
 * is. */
static void fit_python(struct hub_sink *sink, unsigned slot, struct hub_view *text, enum hub_json_kind kind)
{
    if (text->size == 0 || text->size > HUB_MAX_TEXT || hub_json_valid(*text, kind))
        return;
    sink->mended[slot].size = 0;
    if (hub_json_strict(*text, &sink->mended[slot], NULL) == HUB_OK)
        *text = hub_buf_view(&sink->mended[slot]);
}

/* ---- plan ---- */

enum hub_status hub_sink_fact(struct hub_sink *sink, const char *key, struct hub_view text,
                              struct hub_error *err)
{
    unsigned index = 0;
    enum hub_json_kind json = HUB_JSON_VALUE;
    const enum hub_fact_kind kind = hub_fact_find(hub_view_of(key), &json, &index);
    if (kind == HUB_FACT_UNKNOWN)
        return hub_fail(err, HUB_INVALID, "the driver reports an unknown fact: %s", key);
    if (sink->facts_sent >> index & 1)
        return hub_sink_problem(sink, "repeated-metadata", hub_view_of(key), err,
                                "it occurs twice; the first one is used");
    if (kind == HUB_FACT_STRING)
        HUB_TRY(hub_sink_fit(sink, 2, &text, HUB_MAX_TEXT, false, err));
    else if (kind == HUB_FACT_JSON)
        fit_python(sink, 2, &text, json);
    if (!hub_fact_valid(hub_view_of(key), text))
        return hub_sink_problem(sink, "bad-metadata", hub_view_of(key), err, "not shown: %s",
                                text.size > HUB_MAX_TEXT ? "longer than 4 MiB"
                                                         : "not a value of the right type");
    sink->facts_sent |= (uint32_t)1 << index;
    hub_frame_begin(sink->w, HUB_FRAME_FACT);
    hub_frame_text(sink->w, hub_view_of(key));
    hub_frame_text(sink->w, text);
    return hub_sink_end_frame(sink, err);
}

enum hub_status hub_sink_part(struct hub_sink *sink, const struct hub_part *part, struct hub_error *err)
{
    if (!hub_line_valid(part->name) || part->name.size == 0 || part->name.size > HUB_MAX_SHORT)
        return hub_fail(err, HUB_CORRUPT, "a part's name is empty, too long or not text");
    if (part->hint.size > HUB_MAX_NOTE || !hub_text_valid(part->hint))
        return hub_fail(err, HUB_INVALID, "the hint of part %.*s is too long or not text",
                        (int)part->name.size, part->name.data);
    if (++sink->parts > HUB_MAX_PARTS)
        return hub_fail(err, HUB_TOO_BIG, "more than %d parts", HUB_MAX_PARTS);
    hub_frame_begin(sink->w, HUB_FRAME_PART);
    hub_frame_text(sink->w, part->name);
    hub_frame_text(sink->w, part->hint);
    hub_frame_u32(sink->w, part->file_count);
    hub_frame_bytes(sink->w, part->files, part->file_count * sizeof *part->files);
    return hub_sink_end_frame(sink, err);
}

/* ---- fields ---- */

static uint32_t *find_slot(struct hub_sink *sink, struct hub_view path)
{
    uint32_t at = (uint32_t)hub_hash(HUB_HASH_START, path.data, path.size) & (sink->slot_count - 1);
    while (sink->slots[at] && !hub_view_equal((struct hub_view){sink->fields[sink->slots[at] - 1].path,
                                                                sink->fields[sink->slots[at] - 1].path_size},
                                              path))
        at = (at + 1) & (sink->slot_count - 1);
    return &sink->slots[at];
}

uint32_t hub_sink_find_field(struct hub_sink *sink, struct hub_view path)
{
    const uint32_t number = sink->slot_count ? *find_slot(sink, path) : 0;
    return number ? number - 1 : HUB_NONE;
}

/* Room for one more field; the hash table is kept at most half full. */
static enum hub_status grow(struct hub_sink *sink, struct hub_error *err)
{
    if (sink->field_count * 2 < sink->slot_count || sink->field_count == MAX_LOCAL_FIELDS)
        return HUB_OK;
    const uint32_t slots = sink->slot_count ? sink->slot_count * 2 : 64;
    struct hub_sink_field *fields = realloc(sink->fields, slots / 2 * sizeof *fields);
    if (fields)
        sink->fields = fields;
    uint32_t *table = calloc(slots, sizeof *table);
    if (!fields || !table) {
        free(table);
        return hub_no_memory(err);
    }
    free(sink->slots);
    sink->slots = table;
    sink->slot_count = slots;
    for (uint32_t i = 0; i < sink->field_count; i++)
        *find_slot(sink, (struct hub_view){fields[i].path, fields[i].path_size}) = i + 1;
    return HUB_OK;
}

/* Whether the hub may see this field; if not, its rows are not described. */
static enum hub_status admit(struct hub_sink *sink, const struct hub_field *field, uint32_t *wire,
                             struct hub_error *err)
{
    *wire = HUB_NONE;
    if (field->path.size > HUB_MAX_PATH || !hub_path_valid(field->path))
        return hub_sink_problem(
            sink, "bad-field-name", field->path, err,
            "not shown: its name is too long, not UTF-8, or has an empty, '.' or '..' segment");
    if (sink->wire_count == HUB_MAX_FIELDS || sink->field_count == MAX_LOCAL_FIELDS) {
        if (!sink->too_many)
            HUB_TRY(hub_sink_problem(sink, "too-many-fields", field->path, err, "only %u fields are shown",
                                     sink->wire_count));
        sink->too_many = true;
        return HUB_OK;
    }
    *wire = sink->wire_count++;
    return HUB_OK;
}

enum hub_status hub_sink_field(struct hub_sink *sink, const struct hub_field *field, uint32_t *number,
                               struct hub_error *err)
{
    HUB_TRY(grow(sink, err));
    uint32_t *slot = find_slot(sink, field->path);
    if (*slot == 0 && sink->field_count == MAX_LOCAL_FIELDS) {
        *number = MAX_LOCAL_FIELDS - 1; /* which is not shown, and stands for all the others */
        return HUB_OK;
    }
    if (*slot == 0) {
        struct hub_sink_field *f = &sink->fields[sink->field_count];
        *f = (struct hub_sink_field){.path = hub_view_dup(field->path), .path_size = field->path.size};
        HUB_TRY(hub_allocated(f->path, err));
        *slot = ++sink->field_count;
        HUB_TRY(admit(sink, field, &f->wire, err));
    }
    *number = *slot - 1;
    struct hub_sink_field *f = &sink->fields[*number];
    f->type = field->type;
    f->role = field->role;
    f->axis = field->axis;
    return HUB_OK;
}

enum hub_status hub_sink_send_fields(struct hub_sink *sink, struct hub_error *err)
{
    for (uint32_t i = 0; i < sink->field_count; i++) {
        const struct hub_sink_field *f = &sink->fields[i];
        if (f->wire == HUB_NONE)
            continue;
        hub_frame_begin(sink->w, HUB_FRAME_FIELD);
        hub_frame_text(sink->w, (struct hub_view){f->path, f->path_size});
        hub_frame_u8(sink->w, (uint8_t)f->type);
        hub_frame_u8(sink->w, (uint8_t)f->role);
        hub_frame_u8(sink->w, (uint8_t)f->axis);
        HUB_TRY(hub_sink_end_frame(sink, err));
    }
    return HUB_OK;
}

/* ---- episodes ---- */

/* JSON the hub would refuse is left out and reported. */
static enum hub_status fit_json(struct hub_sink *sink, unsigned slot, struct hub_view *text,
                                enum hub_json_kind kind, struct hub_view episode, const char *what,
                                struct hub_error *err)
{
    fit_python(sink, slot, text, kind);
    if (text->size == 0 || (text->size <= HUB_MAX_ATTRIBUTES && hub_json_valid(*text, kind)))
        return HUB_OK;
    const bool big = text->size > HUB_MAX_ATTRIBUTES;
    *text = (struct hub_view){"", 0};
    return hub_sink_problem(sink, "bad-attributes", episode, err, "its %s are not shown: %s", what,
                            big ? "over 64 KiB" : "not JSON");
}

int8_t hub_success_of(struct hub_view attributes)
{
    static const char key[] = "\"success\"";
    HUB_CLEANUP(hub_json_decrefp) json_t *object = NULL;
    if (!attributes.size || !memmem(attributes.data, attributes.size, key, sizeof key - 1) ||
        hub_json_parse(attributes, HUB_MAX_ATTRIBUTES, &object, NULL))
        return -1;
    const json_t *value = json_object_get(object, "success");
    if (json_is_boolean(value))
        return json_is_true(value);
    return json_is_number(value) ? json_number_value(value) != 0 : -1;
}

static int8_t tristate(int8_t value)
{
    return value < 0 ? -1 : value > 0;
}

static void put_episode(struct hub_frame_writer *w, const struct hub_episode *e)
{
    hub_frame_begin(w, HUB_FRAME_EPISODE);
    hub_frame_u64(w, (uint64_t)(e->number < 0 ? -1 : e->number));
    hub_frame_u32(w, e->file);
    hub_frame_u64(w, e->steps);
    hub_frame_u8(w, (uint8_t)(e->has_return | e->return_computed << 1));
    hub_frame_f64(w, e->episode_return);
    hub_frame_u8(w, (uint8_t)(tristate(e->success) + 1));
    hub_frame_u8(w, (uint8_t)(tristate(e->terminated) + 1));
    hub_frame_u8(w, (uint8_t)(tristate(e->truncated) + 1));
    hub_frame_text(w, e->name);
    hub_frame_text(w, e->seed);
    hub_frame_text(w, e->task);
    hub_frame_text(w, e->splits);
    hub_frame_text(w, e->attributes);
    hub_frame_text(w, e->statistics);
}

enum hub_status hub_sink_episode(struct hub_sink *sink, const struct hub_episode *episode, uint32_t *index,
                                 struct hub_error *err)
{
    struct hub_episode e = *episode;
    if (sink->episodes == HUB_MAX_EPISODES)
        return hub_fail(err, HUB_TOO_BIG, "more than %d episodes in a part", HUB_MAX_EPISODES);
    HUB_TRY(hub_sink_fit(sink, 2, &e.name, HUB_MAX_SHORT, true, err));
    HUB_TRY(hub_sink_fit(sink, 3, &e.seed, HUB_MAX_SHORT, true, err));
    HUB_TRY(hub_sink_fit(sink, 4, &e.task, HUB_MAX_TASK, false, err));
    HUB_TRY(fit_json(sink, 5, &e.splits, HUB_JSON_ARRAY, e.name, "splits", err));
    HUB_TRY(fit_json(sink, 6, &e.attributes, HUB_JSON_OBJECT, e.name, "attributes", err));
    HUB_TRY(fit_json(sink, 7, &e.statistics, HUB_JSON_OBJECT, e.name, "statistics", err));
    if (e.success < 0)
        e.success = hub_success_of(e.attributes);
    if (e.number > HUB_MAX_NUMBER) {
        HUB_TRY(hub_sink_problem(sink, "bad-number", e.name, err,
                                 "an episode with the number %lld: it is numbered by its position instead",
                                 (long long)e.number));
        e.number = -1;
    }
    if (e.steps > HUB_MAX_STEPS) {
        HUB_TRY(hub_sink_problem(sink, "bad-steps", e.name, err, "an episode of %llu steps",
                                 (unsigned long long)e.steps));
        e.steps = 0;
    }
    put_episode(sink->w, &e);
    HUB_TRY(hub_sink_end_frame(sink, err));
    *index = sink->episodes++;
    return HUB_OK;
}

enum hub_status hub_sink_media(struct hub_sink *sink, const struct hub_media *media, struct hub_error *err)
{
    struct hub_view camera = media->camera, codec = media->codec, problem = media->problem;
    const bool timed = isfinite(media->from) && isfinite(media->to);
    HUB_TRY(hub_sink_fit(sink, 2, &camera, HUB_MAX_SHORT, true, err));
    HUB_TRY(hub_sink_fit(sink, 3, &codec, HUB_MAX_SHORT, true, err));
    HUB_TRY(hub_sink_fit(sink, 4, &problem, HUB_MAX_SHORT, true, err));
    hub_frame_begin(sink->w, HUB_FRAME_MEDIA);
    hub_frame_u32(sink->w, media->episode);
    hub_frame_text(sink->w, camera);
    hub_frame_u32(sink->w, media->file);
    hub_frame_text(sink->w, codec);
    hub_frame_u32(sink->w, media->width);
    hub_frame_u32(sink->w, media->height);
    hub_frame_u32(sink->w, media->fps_den ? media->fps_num : 0);
    hub_frame_u32(sink->w, media->fps_num ? media->fps_den : 0);
    hub_frame_u64(sink->w, HUB_MIN(media->samples, HUB_MAX_STEPS));
    hub_frame_u64(sink->w, HUB_MIN(media->first_frame, HUB_MAX_STEPS));
    hub_frame_u64(sink->w, HUB_MIN(media->frames, HUB_MAX_STEPS));
    hub_frame_f64(sink->w, timed ? media->from : 0);
    hub_frame_f64(sink->w, timed ? media->to : 0);
    hub_frame_text(sink->w, problem);
    return hub_sink_end_frame(sink, err);
}

enum hub_status hub_sink_video(struct hub_sink *sink, uint32_t file, struct hub_view table,
                               struct hub_error *err)
{
    hub_frame_begin(sink->w, HUB_FRAME_VIDEO);
    hub_frame_u32(sink->w, file);
    hub_frame_text(sink->w, table);
    return hub_sink_end_frame(sink, err);
}
