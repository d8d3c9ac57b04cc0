/* Readers, counted by the hash of the dataset's id: see readers.h. */
#include "server/mirror/readers.h"

#include "server/mirror/work.h"
#include "storage/catalog/catalog.h"

#include <stdlib.h>

struct hub_reader {
    struct hub_mirrors *mirrors;
    struct hub_reader *others; /* of the same request */
    char id[];
};

static size_t slot_of(const char *id)
{
    return hub_hash(HUB_HASH_START, id, strlen(id)) % HUB_READER_SLOTS;
}

bool hub_reader_is_of(const struct hub_reader *reader, const char *id)
{
    while (reader && strcmp(reader->id, id) != 0)
        reader = reader->others;
    return reader;
}

struct hub_reader *hub_reader_begin(struct hub_mirrors *m, const char *id, struct hub_reader *others)
{
    const size_t size = strlen(id) + 1;
    struct hub_reader *reader =
        m && m->pulls && !hub_reader_is_of(others, id) ? malloc(sizeof *reader + size) : NULL;
    if (!reader)
        return others;
    reader->mirrors = m;
    reader->others = others;
    memcpy(reader->id, id, size);
    atomic_fetch_add(&m->readers[slot_of(id)], 1);
    return reader;
}

static void end_one(const struct hub_reader *reader, const struct hub_snapshot *snapshot)
{
    const struct hub_summary *summary = hub_snapshot_find(snapshot, hub_view_of(reader->id));
    if (summary)
        hub_summary_touch(summary);
    atomic_fetch_sub(&reader->mirrors->readers[slot_of(reader->id)], 1);
}

void hub_reader_end(void *ended)
{
    struct hub_reader *reader = ended;
    if (!reader)
        return;
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(reader->mirrors->options.catalog);
    for (struct hub_reader *others; reader; reader = others) {
        others = reader->others;
        end_one(reader, snapshot);
        free(reader);
    }
    hub_snapshot_put(snapshot);
}

bool hub_readers_any(const struct hub_mirrors *m, const char *id)
{
    return atomic_load(&m->readers[slot_of(id)]) > 0;
}
