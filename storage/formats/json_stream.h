/**
 * JSON of any size, read once from a source in bounded memory: a file of the job, or a string inside it that
 * holds JSON itself (Minari's spaces are such). Values go out as strict JSON (storage/text/json.h) into a
 * buffer with a ceiling; what is too long to be shown is still read and checked.
 */
#ifndef HUB_FORMATS_JSON_STREAM_H
#define HUB_FORMATS_JSON_STREAM_H

#include "storage/formats/source.h"
#include "storage/text/json.h"

enum { HUB_JSON_MAX_VALUES = 256, HUB_JSON_MAX_SHOWN_TEXT = 1024 };

struct hub_json_stream;

/** Reads bytes [first, end) of the source, which outlives the stream, and tells of trouble in `err`. */
HUB_MUST_USE enum hub_status hub_json_stream_new(struct hub_byte_source *source, uint64_t first, uint64_t end,
                                                 struct hub_json_stream **out, struct hub_error *err);
void hub_json_stream_free(struct hub_json_stream *stream);
/** For HUB_CLEANUP. */
void hub_json_stream_freep(struct hub_json_stream **stream);

/** The next character that is no blank, not taken; -1 at the end of the JSON, and when reading failed. */
int hub_json_stream_peek(struct hub_json_stream *stream);
/** Take this character, which must be next. */
HUB_MUST_USE enum hub_status hub_json_stream_take(struct hub_json_stream *stream, char c,
                                                  struct hub_error *err);
/** Nothing follows. */
HUB_MUST_USE enum hub_status hub_json_stream_end(struct hub_json_stream *stream, struct hub_error *err);
/** A key and its colon; `key` is its strict JSON, quotes included, until the next call. */
HUB_MUST_USE enum hub_status hub_json_stream_key(struct hub_json_stream *stream, struct hub_view *key,
                                                 struct hub_error *err);

/**
 * Append the next value to `out`, at most `limit` bytes of it: over that HUB_OK, `shown` is false and nothing
 * is appended. HUB_CORRUPT: it is no JSON.
 */
HUB_MUST_USE enum hub_status hub_json_stream_value(struct hub_json_stream *stream, struct hub_buf *out,
                                                   size_t limit, bool *shown, struct hub_error *err);

/**
 * The same of a space, in a few KB whatever its shape. Bounds ("low", "high") that are all equal become that
 * one number; a list of more than HUB_JSON_MAX_VALUES numbers becomes {"min","max","values"} with their
 * count, a text of more than HUB_JSON_MAX_SHOWN_TEXT bytes {"characters"}.
 */
HUB_MUST_USE enum hub_status hub_json_stream_space(struct hub_json_stream *stream, struct hub_buf *out,
                                                   size_t limit, bool *shown, struct hub_error *err);

/** Offset in the source of the next byte. */
uint64_t hub_json_stream_offset(const struct hub_json_stream *stream);
/** Go into the string that comes next: until `leave` the stream reads the text it stands for. */
HUB_MUST_USE enum hub_status hub_json_stream_enter(struct hub_json_stream *stream, struct hub_error *err);
/** Pass over the rest of that string. `stored` and `decoded`: bytes between its quotes, and of its text. */
HUB_MUST_USE enum hub_status hub_json_stream_leave(struct hub_json_stream *stream, uint64_t *stored,
                                                   uint64_t *decoded, struct hub_error *err);

#endif
