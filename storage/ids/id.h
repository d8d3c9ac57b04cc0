/**
 * Dataset ids. Minari had two grammars: "environment-name-vN" (releases up to 0.4.3), and "namespace/name-vN"
 * (0.5.0 on). The hub itself is laxer: an id is a relative path of safe segments, so that other formats fit
 * in. Version digits are ASCII; leading zeros are dropped.
 */
#ifndef HUB_IDS_ID_H
#define HUB_IDS_ID_H

#include "storage/base/buf.h"

/* bytes of an id */
#define HUB_MAX_ID 1024
/* Minari knows no bound; this one keeps versions in 32 bits everywhere. */
#define HUB_MAX_VERSION 999999999U

/** Is this name no part of a dataset? Those with a leading dot are not, but for those that hold the metadata
 * of a Zarr store: .zgroup, .zarray, .zattrs, .zmetadata. */
bool hub_name_hidden(struct hub_view name);
/** Has a path a segment that is? */
bool hub_path_hidden(struct hub_view path);

/** One path segment the hub accepts: 1 to 255 bytes of UTF-8, no control character, no '/', not hidden. */
bool hub_id_segment_safe(struct hub_view segment);

/** The hub's own rule: safe segments joined by '/', at most HUB_MAX_ID bytes, none of them reserved.
 * HUB_INVALID "bad-id". */
HUB_MUST_USE enum hub_status hub_id_check(struct hub_view id, struct hub_error *err);

/** The folder of a dataset below a root: the same, but for the reserved words, which a folder may be called.
 * HUB_INVALID "bad-id". */
HUB_MUST_USE enum hub_status hub_folder_check(struct hub_view path, struct hub_error *err);

/** The name of a namespace, as Python Minari takes it ([-_\w][-_\w/]*[-_\w]+): segments of letters, digits,
 * "-" and "_", two characters at least, that may stand before an id. HUB_INVALID "bad-id". */
HUB_MUST_USE enum hub_status hub_namespace_check(struct hub_view name, struct hub_error *err);

/** A segment that ends a dataset id in a URL: one of the words "episodes", "files", "rows", "sample", "batch"
 * and "archive.tar", or one with a leading '~'. */
bool hub_id_segment_reserved(struct hub_view segment);
bool hub_id_segment_word(struct hub_view segment);

/** Split "door-human-v1" into alias "door-human" and version. Without a version suffix: false, and `alias` is
 * the id. */
bool hub_id_split_alias(struct hub_view id, struct hub_view *alias, uint32_t *version);

/** Order of listings: namespace, then name, then integer version (none first), then bytes. Like strcmp. */
int hub_id_compare(struct hub_view a, struct hub_view b);

#endif
