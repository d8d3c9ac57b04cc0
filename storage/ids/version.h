/**
 * Versions and specifier sets as Minari's minari_version has them, and which Minari releases can load a
 * dataset. Of PEP 440: up to 8 release numbers, pre-releases as "a1", "b1" and "rc1", and all comparisons but
 * "===".
 */
#ifndef HUB_IDS_VERSION_H
#define HUB_IDS_VERSION_H

#include "storage/base/buf.h"

enum { HUB_VERSION_NUMBERS = 8, HUB_SPEC_MAX = 16 };

struct hub_version {
    uint32_t release[HUB_VERSION_NUMBERS];
    uint32_t release_count;
    char pre_kind; /* of a pre-release: 'a', 'b', 'r'; else 0 */
    uint32_t pre;
};

/** HUB_INVALID for what is not such a version. */
HUB_MUST_USE enum hub_status hub_version_parse(struct hub_view text, struct hub_version *out,
                                               struct hub_error *err);
/** Like strcmp, in PEP 440 order. */
int hub_version_compare(const struct hub_version *a, const struct hub_version *b);

enum hub_spec_op {
    HUB_SPEC_COMPATIBLE, /* ~= */
    HUB_SPEC_EQUAL,
    HUB_SPEC_NOT_EQUAL,
    HUB_SPEC_LESS,
    HUB_SPEC_LESS_EQUAL,
    HUB_SPEC_GREATER,
    HUB_SPEC_GREATER_EQUAL,
};

struct hub_spec {
    enum hub_spec_op op;
    bool wildcard; /* ==X.* and !=X.* */
    struct hub_version version;
};

/** All of the specs hold; none at all: every version but prereleases. */
struct hub_spec_set {
    uint32_t count;
    struct hub_spec specs[HUB_SPEC_MAX];
};

/** Comma-separated; spaces and empty items are skipped. HUB_INVALID for anything else, a bare version
 * included. */
HUB_MUST_USE enum hub_status hub_spec_parse(struct hub_view text, struct hub_spec_set *out,
                                            struct hub_error *err);
/** Prereleases only count when a spec names one, as pip and Minari do it. */
bool hub_spec_contains(const struct hub_spec_set *set, const struct hub_version *version);

/**
 * Can a release of Minari, known or not ("0.4.3", "0.6.1"), load a dataset?
 *
 * @param minari_version     as stored: a specifier (releases up to 0.4.3 wrote one), a bare version (0.5.0
 * on), or empty (0.3: then only 0.3 loads it, if there is no metadata.json)
 * @param has_metadata_json  without it no 0.5 release loads the set
 * @return false for text that is neither, and for a release that is not a version
 */
bool hub_minari_loadable(struct hub_view minari_version, bool has_metadata_json, struct hub_view release);

/** Which releases of a format's own library load a dataset. */
struct hub_load_rule {
    const char *name, *library;
    const char *version_key;     /* what documents call the version that a dataset states */
    const char *const *releases; /* those the hub knows, oldest first, NULL-terminated */
    const char *newer;           /* what stands for those behind the last of them */
    bool (*loads)(struct hub_view stated_version, struct hub_view era, struct hub_view release);
};
/** NULL for "" and any name that is none. */
const struct hub_load_rule *hub_load_rule_find(const char *name);
/** The rule of a library ("Minari"), which the row of a format names (hub_format_library); NULL: it has none,
 * or `library` is NULL. */
const struct hub_load_rule *hub_load_rule_of(const char *library);
/** One after another what documents say loads a dataset: the known releases that do, and `newer` where a
 * later release wrote it. NULL at the end. `*at` is 0 at first. */
const char *hub_load_rule_next(const struct hub_load_rule *rule, struct hub_view stated_version,
                               struct hub_view era, size_t *at);

#endif
