/** Packed blobs: LEB128 numbers and texts behind their length. Read with a hub_cursor, which
 * fails as a whole. */
#ifndef HUB_BASE_PACK_H
#define HUB_BASE_PACK_H

#include "storage/base/cursor.h"

HUB_MUST_USE enum hub_status hub_pack_uint(struct hub_buf *buf, uint64_t value, struct hub_error *err);
/** Signed: small magnitudes are short. */
HUB_MUST_USE enum hub_status hub_pack_int(struct hub_buf *buf, int64_t value, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_pack_text(struct hub_buf *buf, const char *text, struct hub_error *err);
/** A text that may be NULL. */
HUB_MUST_USE enum hub_status hub_pack_option(struct hub_buf *buf, const char *text, struct hub_error *err);

uint64_t hub_unpack_uint(struct hub_cursor *c);
uint32_t hub_unpack_u32(struct hub_cursor *c);
int64_t hub_unpack_int(struct hub_cursor *c);
struct hub_view hub_unpack_view(struct hub_cursor *c);
/** A terminated copy put at *arena, which moves on; the arena must be as large as the blob. */
const char *hub_unpack_text(struct hub_cursor *c, char **arena);
const char *hub_unpack_option(struct hub_cursor *c, char **arena);
/** A count of entries that take at least one byte each: more than what is left fails, so that it may be
 * allocated for. */
uint32_t hub_unpack_count(struct hub_cursor *c);

#endif
