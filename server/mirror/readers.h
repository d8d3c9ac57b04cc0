/**
 * Which datasets are being read: what was pulled is not evicted while a request reads it, however slowly.
 * Safe from any thread.
 */
#ifndef HUB_MIRROR_READERS_H
#define HUB_MIRROR_READERS_H

#include <stdbool.h>

struct hub_mirrors;
struct hub_reader; /* one dataset, for as long as one request reads it */

/** Somebody begins to read a dataset. NULL: nothing is evicted here, or there is no memory to hold it. */
struct hub_reader *hub_reader_begin(struct hub_mirrors *mirrors, const char *id);
/** The last byte was sent: this is when the dataset was last read. NULL is fine. */
void hub_reader_end(void *ended);
/** Does it read this dataset? */
bool hub_reader_is_of(const struct hub_reader *reader, const char *id);
/** Does somebody read it? It may say so of one that nobody reads, but never the reverse. */
bool hub_readers_any(const struct hub_mirrors *mirrors, const char *id);

#endif
