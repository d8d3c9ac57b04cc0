/**
 * Dataset ids. Minari had two grammars: E4 (releases up to 0.4.3), "environment-name-vN", and E5 (0.5.0 on),
 * "namespace/name-vN". The hub itself is laxer: an id is a relative path of safe segments, so that other
 * formats fit in.
 *
 * Letters: ASCII letters, digits and '_', and of the rest every code point from U+00AA on that is no space,
 * punctuation (U+2000 to U+206F, U+3000 to U+303F), private or byte-order character. Python's \w leaves out a
 * few more symbols, which do not occur in names. Version digits are ASCII; leading zeros are dropped.
 */
#ifndef HUB_BASE_ID_H
#define HUB_BASE_ID_H

#include "storage/base/buf.h"

#define HUB_MAX_ID 1024 /* bytes of an id */
#define HUB_MAX_VERSION                                                                                      \
    999999999U /* Minari knows no bound; this one keeps versions in 32 bits everywhere                       \
                */

enum hub_id_era { HUB_ID_E4 = 4, HUB_ID_E5 = 5 };

enum hub_id_verdict {
    HUB_ID_OK = 0,
    HUB_ID_MALFORMED,       /* not of the grammar: Minari raises its own error */
    HUB_ID_MISSING_VERSION, /* of the grammar, without "-vN": Minari raises TypeError */
    HUB_ID_VERSION_TOO_BIG, /* over HUB_MAX_VERSION: our own limit */
};

/** The parts of an id. Views borrow the text; absent parts are empty. */
struct hub_id {
    struct hub_view ns;          /* E5 only: "D4RL/door" */
    struct hub_view environment; /* E4 only: "door" */
    struct hub_view name;        /* "human" */
    bool has_version;
    uint32_t version;
};

/** Parse by one era's grammar. `out` is filled for HUB_ID_OK and, without version, for
 * HUB_ID_MISSING_VERSION. */
enum hub_id_verdict hub_id_parse(struct hub_view text, enum hub_id_era era, struct hub_id *out);

/** Turn a verdict into a status: HUB_OK, or HUB_INVALID "bad-id" with a line that says what is wrong. */
HUB_MUST_USE enum hub_status hub_id_explain(enum hub_id_verdict verdict, struct hub_view text,
                                            struct hub_error *err);

/** The inverse of parse; the version is left out when there is none. Appends. */
HUB_MUST_USE enum hub_status hub_id_format(const struct hub_id *id, enum hub_id_era era, struct hub_buf *out,
                                           struct hub_error *err);

/** A whole E5 namespace ("D4RL/door"). */
bool hub_id_namespace_valid(struct hub_view text);

/** One path segment the hub accepts: 1 to 255 bytes of UTF-8, no control character, no '/', no leading dot.
 */
bool hub_id_segment_safe(struct hub_view segment);

/** The hub's own rule: safe segments joined by '/', at most HUB_MAX_ID bytes, none of them reserved.
 * HUB_INVALID "bad-id". */
HUB_MUST_USE enum hub_status hub_id_check(struct hub_view id, struct hub_error *err);

/** A segment that ends a dataset id in a URL: "episodes", "files", "sample", "batch", "archive.tar", or
 * leading '~'. */
bool hub_id_segment_reserved(struct hub_view segment);

/** Split "door-human-v1" into alias "door-human" and version. Without a version suffix: false, and `alias` is
 * the id. */
bool hub_id_split_alias(struct hub_view id, struct hub_view *alias, uint32_t *version);

/** Order of listings: namespace, then name, then integer version (none first), then bytes. Like strcmp. */
int hub_id_compare(struct hub_view a, struct hub_view b);

#endif
