/**
 * The child's side of format.h's sink: turns what a driver says into frames. It mends or drops what the
 * dataset's writer got wrong (and says so as a problem), so that one bad name or text hides nothing else; the
 * hub only refuses.
 */
#ifndef HUB_WORKER_SINK_H
#define HUB_WORKER_SINK_H

#include "storage/inspect/protocol.h"
#include "storage/worker/format.h"

/** Sends and empties w->out; a failure ends the job. */
typedef enum hub_status hub_sink_flush(void *user, struct hub_frame_writer *w, struct hub_error *err);

/** `files` (for their sizes and the side data's) and `writer` are borrowed; `writer` is shared with whoever
 * asks for files. */
HUB_MUST_USE enum hub_status hub_sink_new(const struct hub_files *files, struct hub_frame_writer *writer,
                                          hub_sink_flush *flush, void *user, struct hub_sink **out,
                                          struct hub_error *err);
/** Send the layouts and the number of problems beyond the limit. Once, when the driver is done. */
HUB_MUST_USE enum hub_status hub_sink_finish(struct hub_sink *sink, struct hub_error *err);
void hub_sink_freep(struct hub_sink **pointer);

#endif
