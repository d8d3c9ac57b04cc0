/** The inside of a sink: shared by sink.c, sink_problems.c and sink_layout.c only. */
#ifndef HUB_WORKER_SINK_STATE_H
#define HUB_WORKER_SINK_STATE_H

#include "storage/worker/sink.h"

struct hub_sink_field {
    char *path;
    size_t path_size;
    uint32_t wire; /* the number the hub knows it by, or HUB_NONE: it is not sent */
    enum hub_field_type type;
    enum hub_role role;
    enum hub_axis axis;
    struct hub_layout_builder *builder;
};

enum { HUB_KIND_SHOWN = 3 }; /* problems of one kind that are reported one by one */

/** Problems of one code in the same words. */
struct hub_sink_kind {
    char code[48];
    const char *fmt;
    uint32_t count;
    uint32_t field; /* a field's problems are reported of each: its number + 1, or 0 */
    char *paths[HUB_KIND_SHOWN], *details[HUB_KIND_SHOWN];
    size_t path_sizes[HUB_KIND_SHOWN];
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
    struct hub_sink_kind *kinds;
    uint32_t kind_count;
    uint64_t problems_beyond; /* of kinds for which there was no room */
    bool too_many;
    struct hub_buf mended[8]; /* scratch: 0, 1 problems and reasons, 2.. records */
};

enum hub_status hub_sink_end_frame(struct hub_sink *sink, struct hub_error *err);
/** The text if it is valid and short enough, else a mended copy in scratch buffer `slot`. */
enum hub_status hub_sink_fit(struct hub_sink *sink, unsigned slot, struct hub_view *text, size_t limit,
                             bool line, struct hub_error *err);
enum hub_status hub_sink_send_fields(struct hub_sink *sink, struct hub_error *err);
enum hub_status hub_sink_send_problems(struct hub_sink *sink, struct hub_error *err);
void hub_sink_kinds_free(struct hub_sink *sink);

#endif
