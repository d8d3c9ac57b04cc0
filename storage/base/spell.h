/**
 * The spelling of paths as text: what a file system allows and a URL, a document or a terminal does not. A
 * byte that is a control character, a backslash or part of invalid UTF-8 is written \xhh; in ids the first
 * byte of a segment that would end an id in a URL ("files", "~x") too. All else stays as it is, so that most
 * paths are spelled as themselves. Reversible; percent-encoding comes on top. Never longer than four times
 * the path.
 */
#ifndef HUB_BASE_SPELL_H
#define HUB_BASE_SPELL_H

#include "storage/base/buf.h"

/** Spell a file's path ('/' separate). Appends. */
HUB_MUST_USE enum hub_status hub_spell_path(struct hub_view path, struct hub_buf *out, struct hub_error *err);
/** Spell a directory's path as a dataset id. Appends. */
HUB_MUST_USE enum hub_status hub_spell_id(struct hub_view path, struct hub_buf *out, struct hub_error *err);
/** The path that was spelled; hexadecimal digits of either case. Appends. HUB_INVALID: a backslash that
 * begins no \xhh, or one that stands for a NUL or a slash. */
HUB_MUST_USE enum hub_status hub_unspell(struct hub_view text, struct hub_buf *out, struct hub_error *err);

#endif
