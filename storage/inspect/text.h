/**
 * What texts an inspector may send: UTF-8 without NUL, strict bounded JSON, known facts. The child's sink
 * mends or drops with these what a dataset's writer got wrong; the hub refuses with the same what is still
 * wrong.
 */
#ifndef HUB_INSPECT_TEXT_H
#define HUB_INSPECT_TEXT_H

#include "storage/text/json.h"

/** Well-formed UTF-8 (no surrogates, no overlong forms) without NUL. */
bool hub_text_valid(struct hub_view text);
/** One line: valid and without control characters. */
bool hub_line_valid(struct hub_view text);
/** Valid non-empty segments between '/', none of them "." or "..". */
bool hub_path_valid(struct hub_view text);
/** Lower-case letters, digits and '-'. */
bool hub_name_valid(struct hub_view text);

/** A copy that is valid, with U+FFFD where the text was not, cut to `limit` bytes; for one line, blanks for
 * control characters. */
HUB_MUST_USE enum hub_status hub_text_mend(struct hub_view text, size_t limit, bool line, struct hub_buf *out,
                                           struct hub_error *err);

enum hub_fact_kind { HUB_FACT_UNKNOWN = 0, HUB_FACT_STRING, HUB_FACT_JSON, HUB_FACT_INTEGER, HUB_FACT_PLACE };

/** What record.h says about a key; `index` (may be NULL) numbers the known keys from 0, below 32. */
enum hub_fact_kind hub_fact_find(struct hub_view key, enum hub_json_kind *json, unsigned *index);
bool hub_fact_valid(struct hub_view key, struct hub_view text);

#endif
