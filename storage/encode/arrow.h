/** Within the writers of Arrow's IPC formats: the stream, and what the file has of it. */
#ifndef HUB_ENCODE_ARROW_H
#define HUB_ENCODE_ARROW_H

#include "storage/encode/flatbuffer.h"
#include "storage/encode/representation.h"

enum { HUB_ARROW_V5 = 4 }; /* Schema.fbs: MetadataVersion */

extern const struct hub_stream_writer hub_arrow_stream;

/** The Schema of a table, to which `from` refers. */
void hub_arrow_schema(struct hub_flatbuffer *f, const struct hub_table_stream *table, size_t from);

#endif
