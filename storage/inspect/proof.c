/* Records from a child, proven: see proof.h. What spans records is proven in proof_finish.c. */
#include "storage/inspect/proof.h"

#include "storage/base/order.h"
#include "storage/inspect/text.h"
#include "storage/model/video.h"

#include <math.h>
#include <stdlib.h>

/* ---- memory ---- */

static enum hub_status store(struct hub_findings_reader *r, size_t size, void **out, struct hub_error *err)
{
    struct hub_findings_block *b = r->found->blocks;
    const size_t rounded = (size + 7) & ~(size_t)7;
    r->text_bytes += rounded;
    if (r->text_bytes > HUB_MAX_FINDINGS_TEXT)
        return hub_fail(err, HUB_TOO_BIG, "more than %d bytes of descriptions", HUB_MAX_FINDINGS_TEXT);
    if (!b || b->size - b->used < rounded) {
        const size_t space = HUB_MAX(rounded, 64 * KIB);
        b = malloc(sizeof *b + space);
        HUB_TRY(hub_allocated(b, err));
        *b = (struct hub_findings_block){.next = r->found->blocks, .size = space};
        r->found->blocks = b;
    }
    *out = b->data + b->used;
    b->used += rounded;
    return HUB_OK;
}

static enum hub_status keep(struct hub_findings_reader *r, struct hub_view text, const char **out,
                            struct hub_error *err)
{
    void *copy;
    HUB_TRY(store(r, text.size + 1, &copy, err));
    if (text.size)
        memcpy(copy, text.data, text.size);
    ((char *)copy)[text.size] = '\0';
    *out = copy;
    return HUB_OK;
}

/* Empty: NULL. */
static enum hub_status keep_some(struct hub_findings_reader *r, struct hub_view text, const char **out,
                                 struct hub_error *err)
{
    *out = NULL;
    return text.size ? keep(r, text, out, err) : HUB_OK;
}

enum { CLAIMS, FACTS, PARTS, PROBLEMS, FIELDS, EPISODES, MEDIA, VIDEOS };

static const struct {
    size_t size;
    uint32_t limit;
} kinds[] = {
    [CLAIMS] = {sizeof(struct hub_found_claim), HUB_MAX_JOB_CLAIMS},
    [FACTS] = {sizeof(struct hub_found_fact), 32},
    [PARTS] = {sizeof(struct hub_found_part), HUB_MAX_PARTS},
    [PROBLEMS] = {sizeof(struct hub_found_problem), HUB_MAX_PROBLEMS},
    [FIELDS] = {sizeof(struct hub_found_field), HUB_MAX_FIELDS},
    [EPISODES] = {sizeof(struct hub_found_episode), HUB_MAX_EPISODES},
    [MEDIA] = {sizeof(struct hub_found_media), HUB_MAX_EPISODES},
    [VIDEOS] = {sizeof(struct hub_found_video), HUB_MAX_EPISODES},
};

/* Room for one more element, zeroed; the counter grows by it. */
static enum hub_status append(struct hub_findings_reader *r, unsigned which, void *array, uint32_t *count,
                              void *out, struct hub_error *err)
{
    const size_t size = kinds[which].size;
    const uint32_t limit = kinds[which].limit;
    void **elements = array;
    if (*count >= limit)
        return hub_fail(err, HUB_CORRUPT, "more than %u records of a kind", limit);
    HUB_TRY(hub_grow(array, *count, &r->capacity[which], size, err));
    *(void **)out = memset((char *)*elements + *count * size, 0, size);
    ++*count;
    return HUB_OK;
}

/* ---- pieces of records ---- */

static enum hub_status malformed(struct hub_error *err, const char *what)
{
    return hub_fail(err, HUB_CORRUPT, "%s", what);
}

/* Nothing missing, nothing left over. */
static bool whole(const struct hub_cursor *c)
{
    return !c->failed && hub_cursor_left(c) == 0;
}

static struct hub_view line(struct hub_cursor *c, size_t limit)
{
    const struct hub_view text = hub_cursor_text(c, limit);
    if (!hub_line_valid(text))
        c->failed = true;
    return text;
}

static struct hub_view json(struct hub_cursor *c, size_t limit, enum hub_json_kind kind)
{
    const struct hub_view text = hub_cursor_text(c, limit);
    if (text.size && !hub_json_valid(text, kind))
        c->failed = true;
    return text;
}

/* A list of the job's files: distinct, in range; sorted. */
static enum hub_status file_list(struct hub_findings_reader *r, struct hub_cursor *c, uint32_t **out,
                                 uint32_t *count, struct hub_error *err)
{
    const uint32_t n = hub_cursor_u32(c);
    if (c->failed || n > r->job->file_count || hub_cursor_left(c) != n * sizeof(uint32_t))
        return malformed(err, "a list of files that does not fit its frame or the job");
    if (n == 0)
        return HUB_OK;
    void *list;
    HUB_TRY(store(r, n * sizeof(uint32_t), &list, err));
    memcpy(list, hub_cursor_bytes(c, n * sizeof(uint32_t)), n * sizeof(uint32_t));
    uint32_t *files = list;
    qsort(files, n, sizeof *files, hub_by_u32);
    for (uint32_t i = 0; i < n; i++) {
        if (files[i] >= r->job->file_count || r->job->files[files[i]].directory)
            return hub_fail(err, HUB_CORRUPT, "file %u, which does not exist", files[i]);
        if (i && files[i] == files[i - 1])
            return hub_fail(err, HUB_CORRUPT, "file %u twice in one list", files[i]);
    }
    *out = files;
    *count = n;
    return HUB_OK;
}

/* ---- claims ---- */

/* It becomes part of an id, which is spelled: any name a file may have will do. */
static bool claim_name_valid(struct hub_view name)
{
    return name.size >= 1 && name.size <= 255 && name.data[0] != '.' && !memchr(name.data, '/', name.size) &&
           !memchr(name.data, 0, name.size);
}

/* The entries of a listing of the job. */
static bool in_listing(const struct hub_job *job, uint32_t listing, uint32_t entry)
{
    const uint32_t first = job->listings ? job->listings[listing] : 0;
    const uint32_t end =
        job->listings && listing + 1 < job->listing_count ? job->listings[listing + 1] : job->file_count;
    return entry >= first && entry < end;
}

static enum hub_status take_claim(struct hub_findings_reader *r, struct hub_cursor *c, struct hub_error *err)
{
    struct hub_findings *f = r->found;
    struct hub_found_claim *claim;
    const uint8_t confidence = hub_cursor_u8(c);
    const struct hub_view format = hub_cursor_text(c, 32), name = hub_cursor_text(c, 255);
    const uint32_t listing = hub_cursor_u32(c);
    if (c->failed || confidence < 1 || confidence > 100 || !hub_name_valid(format))
        return malformed(err, "a malformed claim");
    if (listing >= HUB_MAX(r->job->listing_count, 1U) ||
        (f->claim_count && listing < f->claims[f->claim_count - 1].listing))
        return malformed(err, "claims on no listing of the job, or out of order");
    if (!f->claim_count || f->claims[f->claim_count - 1].listing != listing)
        r->listing_claim = f->claim_count;
    HUB_TRY(append(r, CLAIMS, &f->claims, &f->claim_count, &claim, err));
    HUB_TRY(file_list(r, c, &claim->files, &claim->file_count, err));
    claim->confidence = confidence;
    claim->listing = listing;
    HUB_TRY(keep(r, format, &claim->format, err));
    if ((claim->file_count == 0) != (name.size == 0) ||
        (f->claims[r->listing_claim].file_count == 0) != (claim->file_count == 0))
        return malformed(err, "claims on files and on the directory at once");
    for (uint32_t i = 0; i < claim->file_count; i++)
        if (!in_listing(r->job, listing, claim->files[i]))
            return hub_fail(err, HUB_CORRUPT, "a claim on file %u of another listing", claim->files[i]);
    if (claim->file_count == 0)
        return HUB_OK;
    if (!claim_name_valid(name))
        return malformed(err, "a claim whose name cannot be part of an id");
    return keep(r, name, &claim->name, err);
}

/* ---- plans ---- */

/* A text that lies in a file lies within it. */
static bool location_fits(const struct hub_job *job, struct hub_view key, struct hub_view text)
{
    struct hub_location location;
    if (hub_fact_find(key, NULL, NULL) != HUB_FACT_PLACE)
        return true;
    if (!hub_location_read(text, &location) || location.file >= job->file_count ||
        job->files[location.file].directory)
        return false;
    const uint64_t size = job->files[location.file].size;
    return location.offset <= size && location.stored <= size - location.offset;
}

static enum hub_status take_fact(struct hub_findings_reader *r, struct hub_cursor *c, struct hub_error *err)
{
    struct hub_findings *f = r->found;
    struct hub_found_fact *fact;
    unsigned index = 0;
    const struct hub_view key = hub_cursor_text(c, 64), text = hub_cursor_text(c, HUB_MAX_TEXT);
    if (!whole(c) || hub_fact_find(key, NULL, &index) == HUB_FACT_UNKNOWN)
        return malformed(err, "a malformed or unknown fact");
    if (r->facts_seen >> index & 1)
        return hub_fail(err, HUB_CORRUPT, "the fact %.*s twice", (int)key.size, key.data);
    if (!hub_fact_valid(key, text))
        return hub_fail(err, HUB_CORRUPT, "a fact %.*s of the wrong type", (int)key.size, key.data);
    if (!location_fits(r->job, key, text))
        return hub_fail(err, HUB_CORRUPT, "a fact %.*s that is in no file", (int)key.size, key.data);
    r->facts_seen |= (uint32_t)1 << index;
    HUB_TRY(append(r, FACTS, &f->facts, &f->fact_count, &fact, err));
    HUB_TRY(keep(r, key, &fact->key, err));
    return keep(r, text, &fact->text, err);
}

static enum hub_status take_part(struct hub_findings_reader *r, struct hub_cursor *c, struct hub_error *err)
{
    struct hub_findings *f = r->found;
    struct hub_found_part *part;
    const struct hub_view name = line(c, HUB_MAX_SHORT), hint = hub_cursor_text(c, HUB_MAX_NOTE);
    if (c->failed || name.size == 0 || !hub_text_valid(hint))
        return malformed(err, "a malformed part");
    HUB_TRY(append(r, PARTS, &f->parts, &f->part_count, &part, err));
    HUB_TRY(keep(r, name, &part->name, err));
    HUB_TRY(keep(r, hint, &part->hint, err));
    return file_list(r, c, &part->files, &part->file_count, err);
}

static enum hub_status take_problem(struct hub_findings_reader *r, struct hub_cursor *c,
                                    struct hub_error *err)
{
    struct hub_findings *f = r->found;
    struct hub_found_problem *problem;
    const struct hub_view code = hub_cursor_text(c, 48), path = line(c, HUB_MAX_PATH),
                          detail = line(c, HUB_MAX_SHORT);
    if (!whole(c) || !hub_name_valid(code))
        return malformed(err, "a malformed problem");
    HUB_TRY(append(r, PROBLEMS, &f->problems, &f->problem_count, &problem, err));
    HUB_TRY(keep(r, code, &problem->code, err));
    HUB_TRY(keep_some(r, path, &problem->path, err));
    return keep(r, detail, &problem->detail, err);
}

/* ---- inspections ---- */

static enum hub_status take_field(struct hub_findings_reader *r, struct hub_cursor *c, struct hub_error *err)
{
    struct hub_findings *f = r->found;
    struct hub_found_field *field;
    const struct hub_view path = hub_cursor_text(c, HUB_MAX_PATH);
    const uint8_t type = hub_cursor_u8(c), role = hub_cursor_u8(c), axis = hub_cursor_u8(c);
    if (!whole(c) || !hub_path_valid(path))
        return malformed(err, "a malformed field");
    if (type == 0 || type >= HUB_FIELD_TYPE_COUNT || role >= HUB_ROLE_COUNT || axis >= HUB_AXIS_COUNT)
        return malformed(err, "a field of an unknown type, role or axis");
    HUB_TRY(append(r, FIELDS, &f->fields, &f->field_count, &field, err));
    field->type = type;
    field->role = role;
    field->axis = axis;
    return keep(r, path, &field->path, err);
}

/* 0, 1, 2 on the wire: unknown, no, yes. */
static int8_t tristate(struct hub_cursor *c)
{
    const uint8_t value = hub_cursor_u8(c);
    if (value > 2)
        c->failed = true;
    return (int8_t)(value - 1);
}

static enum hub_status take_episode(struct hub_findings_reader *r, struct hub_cursor *c,
                                    struct hub_error *err)
{
    struct hub_findings *f = r->found;
    struct hub_found_episode *e;
    HUB_TRY(append(r, EPISODES, &f->episodes, &f->episode_count, &e, err));
    e->number = (int64_t)hub_cursor_u64(c);
    e->file = hub_cursor_u32(c);
    e->steps = hub_cursor_u64(c);
    const uint8_t flags = hub_cursor_u8(c);
    e->has_return = flags & 1;
    e->return_computed = flags >> 1 & 1;
    e->episode_return = hub_cursor_f64(c);
    e->success = tristate(c);
    e->terminated = tristate(c);
    e->truncated = tristate(c);
    const struct hub_view name = line(c, HUB_MAX_SHORT), seed = line(c, HUB_MAX_SHORT),
                          task = hub_cursor_text(c, HUB_MAX_TASK);
    const struct hub_view splits = json(c, HUB_MAX_ATTRIBUTES, HUB_JSON_ARRAY);
    const struct hub_view attributes = json(c, HUB_MAX_ATTRIBUTES, HUB_JSON_OBJECT);
    const struct hub_view statistics = json(c, HUB_MAX_ATTRIBUTES, HUB_JSON_OBJECT);
    if (!whole(c) || flags > 3 || !hub_text_valid(task))
        return malformed(err, "a malformed episode");
    if (e->number < -1 || e->number > HUB_MAX_NUMBER || e->file >= r->job->file_count ||
        e->steps > HUB_MAX_STEPS)
        return malformed(err, "an episode with an impossible number, file or length");
    HUB_TRY(keep_some(r, name, &e->name, err));
    HUB_TRY(keep_some(r, seed, &e->seed, err));
    HUB_TRY(keep_some(r, task, &e->task, err));
    HUB_TRY(keep_some(r, splits, &e->splits, err));
    HUB_TRY(keep_some(r, attributes, &e->attributes, err));
    return keep_some(r, statistics, &e->statistics, err);
}

static bool media_possible(const struct hub_found_media *m)
{
    const bool missing = m->file == HUB_NONE;
    return (!missing || (!m->samples && !m->frames)) && !m->fps_num == !m->fps_den &&
           m->samples <= HUB_MAX_STEPS && m->first_frame <= HUB_MAX_STEPS && m->frames <= HUB_MAX_STEPS &&
           isfinite(m->from) && isfinite(m->to);
}

static enum hub_status take_media(struct hub_findings_reader *r, struct hub_cursor *c, struct hub_error *err)
{
    struct hub_findings *f = r->found;
    struct hub_found_media *media;
    const uint32_t episode = hub_cursor_u32(c);
    const struct hub_view camera = line(c, HUB_MAX_SHORT);
    const uint32_t file = hub_cursor_u32(c);
    const struct hub_view codec = line(c, HUB_MAX_SHORT);
    struct hub_found_media m = {.episode = episode, .file = file};
    m.width = hub_cursor_u32(c);
    m.height = hub_cursor_u32(c);
    m.fps_num = hub_cursor_u32(c);
    m.fps_den = hub_cursor_u32(c);
    m.samples = hub_cursor_u64(c);
    m.first_frame = hub_cursor_u64(c);
    m.frames = hub_cursor_u64(c);
    m.from = hub_cursor_f64(c);
    m.to = hub_cursor_f64(c);
    const struct hub_view problem = line(c, HUB_MAX_SHORT);
    if (!whole(c) || episode >= f->episode_count ||
        (file >= r->job->file_count && (file != HUB_NONE || !problem.size)) || !media_possible(&m))
        return malformed(err, "malformed media");
    HUB_TRY(append(r, MEDIA, &f->media, &f->media_count, &media, err));
    *media = m;
    HUB_TRY(keep(r, camera, &media->camera, err));
    HUB_TRY(keep_some(r, codec, &media->codec, err));
    return keep_some(r, problem, &media->problem, err);
}

static enum hub_status take_video(struct hub_findings_reader *r, struct hub_cursor *c, struct hub_error *err)
{
    struct hub_findings *f = r->found;
    struct hub_found_video *found;
    struct hub_video video;
    const uint32_t file = hub_cursor_u32(c);
    const struct hub_view table = hub_cursor_text(c, HUB_MAX_VIDEO_BYTES);
    if (!whole(c) || file >= r->job->file_count || !table.size)
        return malformed(err, "a malformed table of a video");
    if (table.size > HUB_MAX_PART_VIDEO_BYTES - r->video_bytes)
        return hub_fail(err, HUB_TOO_BIG, "more than %zu bytes of tables of videos",
                        HUB_MAX_PART_VIDEO_BYTES);
    r->video_bytes += table.size;
    HUB_TRY(append(r, VIDEOS, &f->videos, &f->video_count, &found, err));
    HUB_TRY(hub_new(&found->table, 1, table.size, err));
    memcpy(found->table, table.data, table.size);
    found->size = table.size;
    found->file = file;
    HUB_TRY(hub_video_open(found->table, found->size, &video, err));
    return hub_video_check(&video, r->job->files[file].size, err);
}

/* ---- layouts: taken here, proven at the end ---- */

static enum hub_status take_layout(struct hub_findings_reader *r, struct hub_cursor *c, struct hub_error *err)
{
    const uint32_t number = hub_cursor_u32(c);
    const uint64_t size = hub_cursor_u64(c);
    if (!whole(c) || number >= r->found->field_count || size < sizeof(struct hub_layout_head))
        return malformed(err, "a malformed layout");
    struct hub_found_field *field = &r->found->fields[number];
    if (field->layout)
        return malformed(err, "a second layout of a field");
    if (size > HUB_MAX_LAYOUT_BYTES)
        return malformed(err, "a layout that is too large");
    if (size > HUB_MAX_PART_LAYOUT_BYTES - r->layout_bytes)
        return hub_fail(err, HUB_TOO_BIG, "more than %zu bytes of layouts", HUB_MAX_PART_LAYOUT_BYTES);
    field->layout = malloc((size_t)size);
    HUB_TRY(hub_allocated(field->layout, err));
    field->layout_size = (size_t)size;
    r->layout_bytes += size;
    r->layout_field = number + 1;
    r->layout_got = 0;
    return HUB_OK;
}

static enum hub_status take_layout_data(struct hub_findings_reader *r, const struct hub_frame *frame,
                                        struct hub_error *err)
{
    struct hub_found_field *field = &r->found->fields[r->layout_field - 1];
    if (frame->size == 0 || frame->size > field->layout_size - r->layout_got)
        return malformed(err, "more of a layout than was announced");
    memcpy((char *)field->layout + r->layout_got, frame->data, frame->size);
    r->layout_got += frame->size;
    if (r->layout_got == field->layout_size)
        r->layout_field = 0;
    return HUB_OK;
}

static const struct record_proof {
    uint8_t type, kind, also; /* frame type; kinds of job it may occur in */
    enum hub_status (*take)(struct hub_findings_reader *r, struct hub_cursor *c, struct hub_error *err);
} records[] = {
    {HUB_FRAME_CLAIM, HUB_JOB_CLAIM, 0, take_claim},
    {HUB_FRAME_FACT, HUB_JOB_PLAN, 0, take_fact},
    {HUB_FRAME_PART, HUB_JOB_PLAN, 0, take_part},
    {HUB_FRAME_PROBLEM, HUB_JOB_PLAN, HUB_JOB_INSPECT, take_problem},
    {HUB_FRAME_FIELD, HUB_JOB_INSPECT, 0, take_field},
    {HUB_FRAME_EPISODE, HUB_JOB_INSPECT, 0, take_episode},
    {HUB_FRAME_MEDIA, HUB_JOB_INSPECT, 0, take_media},
    {HUB_FRAME_VIDEO, HUB_JOB_INSPECT, 0, take_video},
    {HUB_FRAME_LAYOUT, HUB_JOB_INSPECT, 0, take_layout},
};

enum hub_status hub_findings_take(struct hub_findings_reader *r, const struct hub_frame *frame,
                                  struct hub_error *err)
{
    if ((frame->type == HUB_FRAME_LAYOUT_DATA) != (r->layout_field != 0))
        return malformed(err, r->layout_field ? "an unfinished layout" : "a layout that was not announced");
    if (frame->type == HUB_FRAME_LAYOUT_DATA)
        return take_layout_data(r, frame, err);
    for (size_t i = 0; i < HUB_COUNT(records); i++) {
        if (records[i].type != frame->type)
            continue;
        if (records[i].kind != r->job->kind && records[i].also != r->job->kind)
            break;
        struct hub_cursor c = hub_cursor_of(frame->data, frame->size);
        return records[i].take(r, &c, err);
    }
    return hub_fail(err, HUB_CORRUPT, "a frame of type %u, which is not allowed in this job", frame->type);
}
