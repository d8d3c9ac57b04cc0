/* Rows of a field, videos, archives: into a sink or into memory. */
#include "client/lib/internal.h"
#include "storage/text/uri.h"

#include <inttypes.h>
#include <stdio.h>

enum hub_status hub_api_slice(struct hub_buf *url, const struct minari_slice *s, struct hub_error *err)
{
    const struct {
        const char *name;
        bool has;
        int64_t value;
    } parts[] = {{"start", s->has_start, s->start},
                 {"stop", s->has_stop, s->stop},
                 {"step", s->has_step, s->step},
                 {"row", s->has_row, s->row}};
    char text[24];
    for (size_t i = 0; i < HUB_COUNT(parts); i++) {
        snprintf(text, sizeof text, "%" PRId64, parts[i].value);
        HUB_TRY(hub_api_parameter(url, parts[i].name, parts[i].has ? text : NULL, err));
    }
    return HUB_OK;
}

struct slice_request {
    const char *id;
    uint64_t episode;
    const char *const *fields;
    size_t count;
    const struct minari_slice *slice;
    const char *format;
};

/* One field has a path of its own; several are parameters of their episode. */
static enum hub_status rows_url(const struct minari_client *client, const struct slice_request *q,
                                struct hub_buf *url, struct hub_error *err)
{
    const char *const *fields = q->fields;
    const size_t count = q->count;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf rest = HUB_BUF_INIT(32 * KIB);
    for (size_t i = 0; i < HUB_MAX(count, (size_t)1); i++)
        if (!count || !fields[i] || !*fields[i])
            return hub_fail(err, HUB_INVALID, "a field is needed, such as observations");
    HUB_TRY(hub_buf_addf(&rest, err, "episodes/%" PRIu64, q->episode));
    if (count == 1) {
        HUB_TRY(hub_buf_add_text(&rest, "/", err));
        HUB_TRY(hub_uri_encode_path(hub_view_of(fields[0]), &rest, err));
    }
    HUB_TRY(hub_api_url(&client->remote, q->id ? q->id : "", rest.data, url, err));
    for (size_t i = 0; count > 1 && i < count; i++)
        HUB_TRY(hub_api_parameter(url, "fields", fields[i], err));
    HUB_TRY(hub_api_parameter(url, "format", q->format ? q->format : "json", err));
    return q->slice ? hub_api_slice(url, q->slice, err) : HUB_OK;
}

enum minari_status minari_fields_get(struct minari_client *client, const char *id, uint64_t episode,
                                     const char *const *fields, size_t count,
                                     const struct minari_slice *slice, const char *format,
                                     minari_sink_fn sink, void *user, struct minari_rows_info *info,
                                     struct minari_error *err)
{
    struct hub_error error = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    struct hub_taken taken = {.sink = sink, .user = user, .info = info};
    if (!client || !sink || !fields)
        return hub_client_report(hub_client_missing(&error), &error, err);
    const struct slice_request q = {id, episode, fields, count, slice, format};
    enum hub_status st = rows_url(client, &q, &url, &error);
    if (!st)
        st = hub_take(client, url.data, NULL, &taken, &error);
    return hub_client_report(st, &error, err);
}

/* A row is a frame of its own. */
static enum hub_status media_url(const struct minari_client *client, const struct slice_request *q,
                                 struct hub_buf *url, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf rest = HUB_BUF_INIT(32 * KIB);
    struct minari_slice s = q->slice ? *q->slice : (struct minari_slice){0};
    if (s.has_step && s.step != 1)
        return hub_fail(err, HUB_INVALID, "a video is cut in one run: it has no step");
    if (s.has_row) {
        s.has_start = true;
        s.start = s.row;
        s.has_stop = s.row != -1;
        s.stop = s.row + 1;
    }
    s.has_step = s.has_row = false;
    HUB_TRY(hub_buf_addf(&rest, err, "episodes/%" PRIu64 "/~media/", q->episode));
    HUB_TRY(hub_uri_encode_segment(hub_view_of(q->fields[0]), &rest, err));
    HUB_TRY(hub_buf_add_text(&rest, ".mp4", err));
    HUB_TRY(hub_api_url(&client->remote, q->id ? q->id : "", rest.data, url, err));
    return hub_api_slice(url, &s, err);
}

enum minari_status minari_media_get(struct minari_client *client, const char *id, uint64_t episode,
                                    const char *camera, const struct minari_slice *slice, minari_sink_fn sink,
                                    void *user, struct minari_rows_info *info, struct minari_error *err)
{
    struct hub_error error = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    struct hub_taken taken = {.sink = sink, .user = user, .info = info};
    if (!client || !sink || !camera)
        return hub_client_report(hub_client_missing(&error), &error, err);
    const struct slice_request q = {id, episode, &camera, 1, slice, NULL};
    enum hub_status st = media_url(client, &q, &url, &error);
    if (!st)
        st = hub_take(client, url.data, NULL, &taken, &error);
    return hub_client_report(st, &error, err);
}

/* What is below a dataset, encoded already. */
static enum minari_status take_whole(struct minari_client *client, const char *id, const char *rest,
                                     struct hub_taken *taken, struct minari_error *err)
{
    struct hub_error error = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    if (!client || !taken->sink)
        return hub_client_report(hub_client_missing(&error), &error, err);
    enum hub_status st = hub_api_url(&client->remote, id ? id : "", rest, &url, &error);
    if (!st)
        st = hub_take(client, url.data, NULL, taken, &error);
    return hub_client_report(st, &error, err);
}

enum minari_status minari_archive_get(struct minari_client *client, const char *id, minari_sink_fn sink,
                                      void *user, struct minari_rows_info *info, struct minari_error *err)
{
    struct hub_taken taken = {.sink = sink, .user = user, .info = info};
    return take_whole(client, id, "archive.tar", &taken, err);
}

enum minari_status minari_file_get(struct minari_client *client, const char *id, const char *path,
                                   minari_sink_fn sink, void *user, struct minari_rows_info *info,
                                   struct minari_error *err)
{
    struct hub_error error = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf rest = HUB_BUF_INIT(32 * KIB);
    struct hub_taken taken = {.sink = sink, .user = user, .info = info};
    if (hub_path_check(path ? path : "", NULL))
        return hub_client_report(hub_fail(&error, HUB_INVALID,
                                          "'%.200s' is not the path of a file of a dataset",
                                          path ? path : ""),
                                 &error, err);
    enum hub_status st = hub_buf_add_text(&rest, "files/", &error);
    if (!st)
        st = hub_uri_encode_path(hub_view_of(path), &rest, &error);
    return st ? hub_client_report(st, &error, err) : take_whole(client, id, rest.data, &taken, err);
}

enum minari_status minari_rows_get(struct minari_client *client, const char *id, uint64_t episode,
                                   const char *field, const struct minari_slice *slice, const char *format,
                                   minari_sink_fn sink, void *user, struct minari_rows_info *info,
                                   struct minari_error *err)
{
    return minari_fields_get(client, id, episode, &field, 1, slice, format, sink, user, info, err);
}

enum minari_status minari_rows_read(struct minari_client *client, const char *id, uint64_t episode,
                                    const char *field, const struct minari_slice *slice, const char *format,
                                    size_t max_bytes, char **data, size_t *size,
                                    struct minari_rows_info *info, struct minari_error *err)
{
    struct hub_error error = {0};
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf url = HUB_BUF_INIT(64 * KIB), memory = HUB_BUF_INIT(max_bytes);
    struct hub_taken taken = {.memory = &memory, .info = info};
    if (!client || !data)
        return hub_client_report(hub_client_missing(&error), &error, err);
    const struct slice_request q = {id, episode, &field, 1, slice, format};
    enum hub_status st = rows_url(client, &q, &url, &error);
    if (!st)
        st = hub_take(client, url.data, NULL, &taken, &error);
    if (!st)
        st = hub_buf_add(&memory, "", 0, &error); /* an empty answer is an empty text, not NULL */
    if (!st)
        *data = hub_buf_take(&memory, size);
    return hub_client_report(st, &error, err);
}
