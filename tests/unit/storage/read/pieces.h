/** Pieces of every kind, written so that they hold rows that are known, and the rows compared with them. */
#ifndef TEST_READ_PIECES_H
#define TEST_READ_PIECES_H

#include "rig.h"

/** A variant's rows as they should come out, made first; pieces are then written so that they hold them. */
struct want {
    struct hub_variant variant;
    uint64_t rows;
    size_t row_bytes, items;
    uint8_t *data;
};

struct want make_want(void);
void put_rows(struct rig *rig, struct want *w, uint64_t rows, unsigned file);
void put_strided(struct rig *rig, struct want *w, uint64_t rows, unsigned file);
void put_chunked(struct rig *rig, struct want *w, uint64_t rows, unsigned file);
void put_extents(struct rig *rig, struct want *w, uint64_t rows, unsigned file);
void put_pages(struct rig *rig, struct want *w, uint64_t rows, unsigned file);
void put_in_layout(struct rig *rig, struct want *w, uint64_t rows);
void compare(struct rig *rig, const struct want *w, struct hub_slice slice, unsigned round);
void build_chunks(struct rig *rig, struct want *w, struct hub_variant variant, uint64_t rows,
                  const uint32_t *chunk, struct hub_pipeline pipeline);

#endif
