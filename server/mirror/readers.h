/**
 * Which datasets are being read: what was pulled is not evicted while a request reads it, however slowly.
 * Safe from any thread.
 */
#ifndef HUB_MIRROR_READERS_H
#define HUB_MIRROR_READERS_H

#include <stdbool.h>

struct hub_mirrors;
struct hub_reader; /* the datasets that one request reads, for as long as it does */

/** A request begins to read a dataset, beside `others` that it reads (or NULL), which become part of the
 * result. The result is `others` where it reads the dataset already, where nothing is evicted, or where
 * there is no memory. */
struct hub_reader *hub_reader_begin(struct hub_mirrors *mirrors, const char *id, struct hub_reader *others);
/** The last byte was sent: this is when the datasets were last read. NULL is fine. */
void hub_reader_end(void *ended);
/** Is this one of the datasets that it reads? */
bool hub_reader_is_of(const struct hub_reader *reader, const char *id);
/** Does somebody read it? It may say so of one that nobody reads, but never the reverse. */
bool hub_readers_any(const struct hub_mirrors *mirrors, const char *id);

#endif
