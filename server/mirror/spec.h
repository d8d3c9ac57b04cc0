/**
 * What a mirror rule asks for: a JSON object, checked once when it is made and read where it is used.
 *
 *   remote   "gcp://bucket/prefix", "hf://org", "http://hub:8080"
 *   prefix   of the ids there; left out: all
 *   only     "minari", "tree": enum hub_remote_only; left out: everything
 *   as       "lab/": before the ids here; "set": the one dataset is called so; left out: as there
 *   root     what the root is called (hub_root_key)
 *   every    seconds between two passes
 *   delete   what is no more there goes here as well
 *   limit    bytes a second; left out: as fast as it comes
 *   token-file, include[], exclude[], internal (redirects into the lab are followed)
 */
#ifndef HUB_MIRROR_SPEC_H
#define HUB_MIRROR_SPEC_H

#include "storage/io/roots.h"
#include "storage/remote/remote.h"
#include "storage/text/json.h"
#include "storage/truth/rules.h"

/** Check what was asked for, fill in the root, and `every` where it is left out. HUB_INVALID names the
 * member as the error's parameter. */
HUB_MUST_USE enum hub_status hub_mirror_check(json_t *spec, const struct hub_roots *roots,
                                              struct hub_error *err);
/** The part of this about the remote: before anything is asked of it. */
HUB_MUST_USE enum hub_status hub_mirror_check_remote(const char *remote, struct hub_error *err);
/** A name for a rule that was given none: of its `as`, else of its remote. */
void hub_mirror_name(const json_t *spec, char *out, size_t size);
/** HUB_INVALID "bad-parameter": letters, digits, '.', '-' and '_' make a rule's name. */
HUB_MUST_USE enum hub_status hub_mirror_name_check(const char *name, struct hub_error *err);

/** What of its remote a rule takes. */
enum hub_remote_only hub_mirror_only(const json_t *spec);

enum { HUB_MIRROR_NOTE = 2000 };
/** Another rule that may put datasets where this one does, in a sentence; "": there is none. */
HUB_MUST_USE enum hub_status hub_mirror_overlap(struct hub_truth *truth, const char *name, const json_t *spec,
                                                char note[HUB_MIRROR_NOTE], struct hub_error *err);
/** The root a rule copies to, by number; HUB_NOT_FOUND: it is none any more. */
HUB_MUST_USE enum hub_status hub_mirror_root(const json_t *spec, const struct hub_roots *roots, uint32_t *out,
                                             struct hub_error *err);
/** What a remote lists: `count` items of `size` bytes, each of which begins with its id (a char *), sorted
 * by it. */
struct hub_mirror_listing {
    const void *items;
    uint32_t count;
    size_t size;
};
/** Whether an id is that of a folder that also holds datasets of the listing: as loose files they are not
 * copied, of which a copy would hold the datasets as well. */
bool hub_mirror_is_around(const struct hub_mirror_listing *listing, const char *id);
/** HUB_INVALID: the rule gives one name to what are `count` datasets. */
HUB_MUST_USE enum hub_status hub_mirror_check_count(const json_t *spec, uint64_t count,
                                                    struct hub_error *err);
/** Where below the root a dataset goes. HUB_INVALID: it cannot go there. free() the result. */
HUB_MUST_USE enum hub_status hub_mirror_path(const json_t *spec, const char *remote_id, char **out,
                                             struct hub_error *err);

/** "run" (now, also where it was paused), "run-again" (what was in its root is gone), "pause", "resume",
 * "remove"; HUB_DENIED: it is removed from the configuration file that it is in. */
HUB_MUST_USE enum hub_status hub_mirror_act(struct hub_truth *truth, const struct hub_roots *roots,
                                            const char *name, const char *action, struct hub_error *err);

#endif
