/* Problems of a part: many of one kind are one line with their count, so they are kept until the end. */
#include "storage/worker/sink_state.h"

#include "storage/inspect/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_KINDS = HUB_MAX_PROBLEMS - 1 }; /* the last line is kept for the count of those beyond */

void hub_sink_kinds_free(struct hub_sink *sink)
{
    for (uint32_t i = 0; i < sink->kind_count; i++)
        for (uint32_t k = 0; k < HUB_KIND_SHOWN; k++) {
            free(sink->kinds[i].paths[k]);
            free(sink->kinds[i].details[k]);
        }
    free(sink->kinds);
}

/* Problems of one code in the same words are of one kind; but which fields have one is what
 * people ask, so each field is a kind of its own. NULL: there are too many kinds. */
static enum hub_status find_kind(struct hub_sink *sink, const char *code, struct hub_view path,
                                 const char *fmt, struct hub_sink_kind **out, struct hub_error *err)
{
    const uint32_t number = hub_sink_find_field(sink, path), field = number == HUB_NONE ? 0 : number + 1;
    *out = NULL;
    for (uint32_t i = 0; i < sink->kind_count && !*out; i++)
        if (sink->kinds[i].fmt == fmt && sink->kinds[i].field == field &&
            strcmp(sink->kinds[i].code, code) == 0)
            *out = &sink->kinds[i];
    if (*out || sink->kind_count == MAX_KINDS)
        return HUB_OK;
    if (!sink->kinds)
        HUB_TRY(hub_new(&sink->kinds, MAX_KINDS, sizeof *sink->kinds, err));
    *out = &sink->kinds[sink->kind_count++];
    (*out)->fmt = fmt;
    (*out)->field = field;
    snprintf((*out)->code, sizeof(*out)->code, "%s", code);
    return HUB_OK;
}

enum hub_status hub_sink_problem(struct hub_sink *sink, const char *code, struct hub_view path,
                                 struct hub_error *err, const char *fmt, ...)
{
    char detail[HUB_MAX_SHORT];
    struct hub_sink_kind *kind;
    const bool named = strlen(code) < sizeof kind->code && hub_name_valid(hub_view_of(code));
    HUB_TRY(find_kind(sink, named ? code : "other", path, fmt, &kind, err));
    if (!kind) {
        sink->problems_beyond++;
        return HUB_OK;
    }
    if (kind->count++ >= HUB_KIND_SHOWN)
        return HUB_OK;
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(detail, sizeof detail, fmt, args) < 0)
        detail[0] = '\0';
    va_end(args);
    path.size = HUB_MIN(path.size, 4 * (size_t)HUB_MAX_PATH);
    kind->paths[kind->count - 1] = hub_view_dup(path);
    kind->path_sizes[kind->count - 1] = path.size;
    kind->details[kind->count - 1] = strdup(detail);
    return hub_allocated(kind->paths[kind->count - 1] && kind->details[kind->count - 1], err);
}

static enum hub_status put_problem(struct hub_sink *sink, const char *code, struct hub_view path,
                                   struct hub_view detail, struct hub_error *err)
{
    HUB_TRY(hub_sink_fit(sink, 0, &path, HUB_MAX_PATH, true, err));
    HUB_TRY(hub_sink_fit(sink, 1, &detail, HUB_MAX_SHORT, true, err));
    hub_frame_begin(sink->w, HUB_FRAME_PROBLEM);
    hub_frame_text(sink->w, hub_view_of(code));
    hub_frame_text(sink->w, path);
    hub_frame_text(sink->w, detail);
    return hub_sink_end_frame(sink, err);
}

static enum hub_status put_kind(struct hub_sink *sink, const struct hub_sink_kind *kind, uint32_t room,
                                struct hub_error *err)
{
    char text[HUB_MAX_SHORT];
    const uint32_t lines = kind->count <= HUB_MIN(HUB_KIND_SHOWN, room) ? kind->count : 1;
    for (uint32_t i = 0; i < lines; i++) {
        struct hub_view detail = hub_view_of(kind->details[i]);
        if (lines < kind->count) {
            const int n =
                snprintf(text, sizeof text, "%.900s ... and %u more", kind->details[0], kind->count - 1);
            detail = (struct hub_view){text, (size_t)n};
        }
        HUB_TRY(put_problem(sink, kind->code, (struct hub_view){kind->paths[i], kind->path_sizes[i]}, detail,
                            err));
    }
    return HUB_OK;
}

enum hub_status hub_sink_send_problems(struct hub_sink *sink, struct hub_error *err)
{
    char text[64];
    uint32_t sent = 0;
    for (uint32_t i = 0; i < sink->kind_count; i++) { /* each kind that follows has a line at least */
        const uint32_t room = MAX_KINDS - sent - (sink->kind_count - i - 1);
        HUB_TRY(put_kind(sink, &sink->kinds[i], room, err));
        sent += sink->kinds[i].count <= HUB_MIN(HUB_KIND_SHOWN, room) ? sink->kinds[i].count : 1;
    }
    if (!sink->problems_beyond)
        return HUB_OK;
    snprintf(text, sizeof text, "%llu further problems", (unsigned long long)sink->problems_beyond);
    return put_problem(sink, "more-problems", (struct hub_view){"", 0}, hub_view_of(text), err);
}
