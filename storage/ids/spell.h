/**
 * The spelling of paths as text: what a file system allows and a URL, a document or a terminal does not. A
 * byte that is a control character, a backslash or part of invalid UTF-8 is written \xhh. In ids a segment
 * that is a word which would end an id in a URL has a '~' behind it ("files~"), one that is called so itself
 * has that '~' as \x7e, and so has one that begins with it ("\x7ex"). All else stays as it is, so that most
 * paths are spelled as themselves. Reversible; percent-encoding comes on top. Never longer than four times
 * the path.
 */
#ifndef HUB_IDS_SPELL_H
#define HUB_IDS_SPELL_H

#include "storage/base/buf.h"

/** Spell a file's path ('/' separate). Appends. */
HUB_MUST_USE enum hub_status hub_spell_path(struct hub_view path, struct hub_buf *out, struct hub_error *err);
/** Spell a directory's path as a dataset id. Appends. */
HUB_MUST_USE enum hub_status hub_spell_id(struct hub_view path, struct hub_buf *out, struct hub_error *err);
/** The path that was spelled; hexadecimal digits of either case. Appends. HUB_INVALID: a backslash that
 * begins no \xhh, or one that stands for a NUL or a slash. */
HUB_MUST_USE enum hub_status hub_unspell(struct hub_view text, struct hub_buf *out, struct hub_error *err);
/** The same of an id. */
HUB_MUST_USE enum hub_status hub_unspell_id(struct hub_view id, struct hub_buf *out, struct hub_error *err);
/** An id in any of its spellings ("files", "\x66iles", digits of either case) in that of the hub. Appends.
 * HUB_INVALID "bad-id". */
HUB_MUST_USE enum hub_status hub_respell_id(struct hub_view id, struct hub_buf *out, struct hub_error *err);
/** The folder that a copy of this dataset lies in: its id, without the '~' behind a word. Appends. */
HUB_MUST_USE enum hub_status hub_id_folder(struct hub_view id, struct hub_buf *out, struct hub_error *err);

#endif
