/*
 * The spaces of a dataset. Minari writes a Box's bounds out in full, so that two cameras of 480x640 come to
 * 17 MB: a space is read in a stream, shown in a few KB, and its text stays where it is, to be sent from
 * there.
 */
#include "storage/formats/minari/minari.h"

#include <stdio.h>

enum { MAX_SHOWN = 64 * 1024, MAX_KEPT = 1024 * 1024 };

/* ---- where pictures are ---- */

struct path {
    char text[HUB_MAX_PATH];
    size_t size;
};

static bool is_pixels(const json_t *box)
{
    const char *dtype = json_string_value(json_object_get(box, "dtype"));
    const size_t rank = json_array_size(json_object_get(box, "shape"));
    return dtype && strcmp(dtype, "uint8") == 0 && (rank == 2 || rank == 3);
}

static enum hub_status walk_space(const json_t *space, struct path *path, unsigned depth,
                                  struct hub_buf *hint);

static enum hub_status walk_child(const json_t *child, struct path *path, const char *name, unsigned depth,
                                  struct hub_buf *hint)
{
    const size_t before = path->size, room = sizeof path->text - before;
    const int n = snprintf(path->text + before, room, "/%s", name);
    if (n < 0 || (size_t)n >= room)
        return HUB_OK;
    path->size += (size_t)n;
    const enum hub_status st = walk_space(child, path, depth + 1, hint);
    path->size = before;
    path->text[before] = '\0';
    return st;
}

static enum hub_status walk_space(const json_t *space, struct path *path, unsigned depth,
                                  struct hub_buf *hint)
{
    const char *type = json_string_value(json_object_get(space, "type"));
    const json_t *children = json_object_get(space, "subspaces");
    if (!type || depth > HUB_H5_MAX_DEPTH)
        return HUB_OK;
    if (strcmp(type, "Box") == 0 && is_pixels(space))
        return hub_buf_addf(hint, NULL, "image %s\n", path->text);
    if (strcmp(type, "Dict") == 0 && json_is_object(children)) {
        const char *key;
        json_t *child;
        json_object_foreach((json_t *)children, key, child)
            HUB_TRY(walk_child(child, path, key, depth, hint));
    }
    for (size_t i = 0; strcmp(type, "Tuple") == 0 && i < json_array_size(children); i++) {
        char name[32];
        snprintf(name, sizeof name, "_index_%zu", i);
        HUB_TRY(walk_child(json_array_get(children, i), path, name, depth, hint));
    }
    return HUB_OK;
}

/* A note that does not fit says "image *": then only the bytes decide. */
enum hub_status minari_image_paths(const char *space_json, size_t size, const char *root,
                                   struct hub_buf *hint, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *space = NULL;
    struct path path = {.size = strlen(root)};
    if (hub_json_parse((struct hub_view){space_json, size}, MAX_SHOWN, &space, NULL))
        return HUB_OK;
    memcpy(path.text, root, path.size + 1);
    if (walk_space(space, &path, 0, hint) == HUB_OK)
        return HUB_OK;
    hint->size = 0;
    return hub_buf_add_text(hint, "image *\n", err);
}

/* ---- reading ---- */

/* What the stream holds next is a space, and nothing else if it is a text of its own. */
static enum hub_status read_space(struct minari_space *space, struct hub_json_stream *stream, bool alone,
                                  struct hub_error *err)
{
    struct hub_error why = {0};
    space->shown = HUB_BUF_INIT(MAX_SHOWN);
    space->there = true;
    enum hub_status st = hub_json_stream_space(stream, &space->shown, MAX_SHOWN, &space->fits, &why);
    if (!st && alone)
        st = hub_json_stream_end(stream, &why);
    if (st == HUB_CORRUPT && alone) {
        snprintf(space->trouble, sizeof space->trouble, "not JSON: %.150s", why.detail);
        return HUB_OK;
    }
    return st ? hub_fail(err, st, "%s", why.detail) : HUB_OK;
}

enum hub_status minari_space_read(struct minari_space *space, struct hub_json_stream *stream, uint32_t file,
                                  struct hub_error *err)
{
    const int c = hub_json_stream_peek(stream);
    struct hub_location location = {.file = file, .offset = hub_json_stream_offset(stream)};
    minari_space_dispose(space); /* of equal keys the last counts */
    if (c == '"') {
        HUB_TRY(hub_json_stream_enter(stream, err));
        HUB_TRY(read_space(space, stream, true, err));
        HUB_TRY(hub_json_stream_leave(stream, &location.stored, &location.decoded, err));
        location.offset++;
        location.escaped = true;
    } else {
        HUB_TRY(read_space(space, stream, false, err));
        location.stored = location.decoded = hub_json_stream_offset(stream) - location.offset;
    }
    space->there = c == '"' || c == '{'; /* null is none */
    space->located = true;
    space->location = location;
    return HUB_OK;
}

enum hub_status minari_space_attribute(struct minari_space *space, struct hub_files *files,
                                       struct hub_h5 *file, const struct hub_h5_attribute *attribute,
                                       bool *is_text, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_stream_freep) struct hub_json_stream *stream = NULL;
    struct hub_byte_source source;
    struct hub_location *location = &space->location;
    space->located = hub_h5_attribute_location(file, attribute, location, NULL) == HUB_OK;
    space->text = HUB_BUF_INIT(MAX_KEPT);
    *is_text = space->located || !hub_h5_attribute_text(file, attribute, 0, &space->text, NULL);
    if (!*is_text)
        return HUB_OK;
    if (space->located)
        hub_byte_source_file(&source, files, location->file);
    else
        hub_byte_source_memory(&source, space->text.data, space->text.size);
    HUB_TRY(hub_json_stream_new(&source, location->offset,
                                space->located ? location->offset + location->stored : source.size, &stream,
                                err));
    return read_space(space, stream, true, err);
}

void minari_space_dispose(struct minari_space *space)
{
    hub_buf_dispose(&space->shown);
    hub_buf_dispose(&space->text);
    *space = (struct minari_space){.key = space->key, .images = space->images};
}

/* ---- telling ---- */

static enum hub_status send_location(const struct minari_space *space, struct hub_sink *sink,
                                     struct hub_error *err)
{
    char key[64], location[HUB_LOCATION_CHARS];
    snprintf(key, sizeof key, "%s_%s", space->key, space->located ? "place" : "text");
    if (!space->located)
        return hub_sink_fact(sink, key, hub_buf_view(&space->text), err);
    hub_location_write(&space->location, location);
    return hub_sink_fact(sink, key, hub_view_of(location), err);
}

enum hub_status minari_space_send(const struct minari_space *space, struct hub_sink *sink,
                                  struct hub_buf *hint, struct hub_error *err)
{
    const struct hub_view key = hub_view_of(space->key);
    if (!space->there)
        return HUB_OK;
    HUB_TRY(send_location(space, sink, err));
    if (space->trouble[0])
        return hub_sink_problem(sink, "bad-metadata", key, err, "%s", space->trouble);
    if (!space->fits)
        return hub_sink_problem(sink, "bad-metadata", key, err,
                                "not shown: longer than 64 KiB even with its bounds collapsed");
    HUB_TRY(hub_sink_fact(sink, space->key, hub_buf_view(&space->shown), err));
    return minari_image_paths(space->shown.data, space->shown.size, space->images, hint, err);
}

bool minari_hint_image(struct hub_view hint, struct hub_view path)
{
    for (size_t at = 0; at < hint.size;) {
        const char *end = memchr(hint.data + at, '\n', hint.size - at);
        const size_t n = end ? (size_t)(end - hint.data) - at : hint.size - at;
        const struct hub_view line = {hint.data + at, n};
        const struct hub_view name = {line.data + 6, n > 6 ? n - 6 : 0};
        if (hub_view_starts(line, "image ") && (hub_view_is(name, "*") || hub_view_equal(name, path)))
            return true;
        at += n + 1;
    }
    return false;
}
