/** The inside of a sink: shared by sink.c and sink_layout.c only. */
#ifndef HUB_INSPECT_SINK_STATE_H
#define HUB_INSPECT_SINK_STATE_H

#include "storage/inspect/sink.h"

struct hub_sink_field {
    char *path;
    size_t path_size;
    uint32_t wire;    /* the number the hub knows it by, or HUB_NONE: it was not told */
    char *unreadable; /* NULL: readable so far */
    struct hub_layout_builder *builder;
};

struct hub_sink {
    const struct hub_files *files;
    struct hub_frame_writer *w;
    hub_sink_flush *flush;
    void *user;
    struct hub_sink_field *fields;
    uint32_t field_count, wire_count;
    uint32_t *slots; /* hash of paths: field number + 1 */
    uint32_t slot_count;
    uint32_t facts_sent; /* bit: index of the key */
    uint32_t parts, episodes;
    uint64_t problems;
    bool too_many;
    struct hub_buf mended[8]; /* scratch: 0, 1 problems and reasons, 2.. records */
};

enum hub_status hub_sink_end_frame(struct hub_sink *sink, struct hub_error *err);
enum hub_status hub_sink_put_problem(struct hub_sink *sink, const char *code, struct hub_view path,
                                     struct hub_view detail, struct hub_error *err);

#endif
