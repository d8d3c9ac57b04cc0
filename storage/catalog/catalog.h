/**
 * The catalogue: what every dataset holds. index-N.db is derived (another format number N: built beside the
 * old one). One connection writes; readers are read-only, one per thread.
 *
 * Three levels, from hot to cold:
 * - snapshot: the summaries of all datasets, in memory, immutable, counted; replaced as a whole when
 *   something is
 * published;
 * - dataset: files, parts, fields, the episode directory of one dataset; opened from the index, kept in an
 * LRU;
 * - layout: the checked layout of one field of one part; read from the index on first use, kept in the same
 * LRU.
 *
 * No SQL runs where all three are warm. Listing datasets works on the snapshot alone.
 *
 * summary.h and dataset.h read, write.h writes.
 *
 * Thread-safety: everything may be called from any thread; writers wait for each other.
 */
#ifndef HUB_CATALOG_CATALOG_H
#define HUB_CATALOG_CATALOG_H

#include "storage/catalog/dataset.h"
#include "storage/catalog/summary.h"
#include "storage/io/roots.h"

struct hub_lru;
struct hub_lru_room;
struct hub_state_dir;

struct hub_catalog_options {
    const char *state; /* directory of index-N.db and side/; it is there */
    /** How that is held, until the catalogue is closed: after an unclean end the index is checked, and a
     * check that does not end is made by the next start. NULL: after a clean end. */
    struct hub_state_dir *dir;
    const struct hub_roots *roots; /* borrowed: what lies under one is stored by its key; NULL: by number */
    size_t cache_bytes;            /* opened datasets and layouts; default 64 MiB */
    struct hub_lru_room *room;     /* borrowed: where their cache is one of several; NULL: alone */
    /* borrowed: caches of what is read by its layouts (hub_layout); NULL: that is not kept */
    struct hub_lru *decoded, *levels;
    /** Memory for layouts that are in use at the same time and find no room in that. False: there is none
     * now. From any thread; until the catalogue is closed. NULL: as much as it takes. */
    bool (*take)(void *memory, uint64_t bytes);
    void (*give)(void *memory, uint64_t bytes);
    void *memory;
};

HUB_MUST_USE enum hub_status hub_catalog_open(const struct hub_catalog_options *options,
                                              struct hub_catalog **out, struct hub_error *err);
void hub_catalog_close(struct hub_catalog *catalog);
/** One line for the operator about what opening had to do (a damaged index is built again), or "". */
const char *hub_catalog_notice(const struct hub_catalog *catalog);
/** Version of SQLite at run time. */
const char *hub_catalog_library(void);

#endif
