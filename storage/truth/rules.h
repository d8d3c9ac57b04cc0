/**
 * Mirror rules in hub.db: what is kept a copy of, and how its passes went. Safe from any thread.
 */
#ifndef HUB_TRUTH_RULES_H
#define HUB_TRUTH_RULES_H

#include "storage/text/json.h"
#include "storage/truth/jobs.h"

enum { HUB_MAX_RULES = 1000, HUB_RULE_NAME_CHARS = 64 };

struct hub_rule {
    char name[HUB_RULE_NAME_CHARS + 1];
    bool from_file, paused;
    json_t *spec; /* the rule as JSON, with the path of the token file, not the token */
    /* Unix time; 0: not yet. `synced`: when the last pass began of which nothing failed */
    int64_t made_ms, due_ms, begun_ms, synced_ms;
    uint64_t datasets, transfers, bytes, failures; /* found by the last pass; since the rule was made */
    uint64_t unlisted; /* copies that the last pass no longer listed, though they are still on the remote */
    char error[512];   /* of the last pass, or "" */
    json_t *left_out;  /* what the last pass did not list: {places, files, bytes, names}; NULL: nothing */
    uint32_t waiting, running; /* transfers and pulls */
};
void hub_rule_dispose(struct hub_rule *rule);

/** HUB_EXISTS: one of that name is there, and `from_file` is false or it is of a command. Otherwise its spec
 * is replaced. Due at once when it is new or another. `spec` stays the caller's. */
HUB_MUST_USE enum hub_status hub_rule_put(struct hub_truth *truth, const char *name, bool from_file,
                                          const json_t *spec, struct hub_error *err);
/** HUB_NOT_FOUND "mirror-not-found". */
enum hub_status hub_rule_absent(const char *name, struct hub_error *err);
/** HUB_NOT_FOUND. Its jobs that wait go with it, those that run lose their lease. What was copied stays. */
HUB_MUST_USE enum hub_status hub_rule_remove(struct hub_truth *truth, const char *name,
                                             struct hub_error *err);
HUB_MUST_USE enum hub_status hub_rule_pause(struct hub_truth *truth, const char *name, bool paused,
                                            struct hub_error *err);
/** Its next pass begins now. */
HUB_MUST_USE enum hub_status hub_rule_run(struct hub_truth *truth, const char *name, struct hub_error *err);
/** HUB_NOT_FOUND. Dispose the result. */
HUB_MUST_USE enum hub_status hub_rule_find(struct hub_truth *truth, const char *name, struct hub_rule *out,
                                           struct hub_error *err);
/** The same without `waiting`, `running` and `unlisted`, which have to be counted. */
HUB_MUST_USE enum hub_status hub_rule_find_uncounted(struct hub_truth *truth, const char *name,
                                                     struct hub_rule *out, struct hub_error *err);
typedef enum hub_status (*hub_rule_each)(void *user, const struct hub_rule *rule, struct hub_error *err);
/** In order of their names. */
HUB_MUST_USE enum hub_status hub_rules_each(struct hub_truth *truth, hub_rule_each each, void *user,
                                            struct hub_error *err);

/** Make the jobs, of kind "mirror", of all that are due. */
HUB_MUST_USE enum hub_status hub_rules_due(struct hub_truth *truth, struct hub_error *err);
/** Its next pass begins now, unless the last began less than so long ago or it is paused. */
HUB_MUST_USE enum hub_status hub_rule_run_soon(struct hub_truth *truth, const char *name, uint64_t after_ms,
                                               struct hub_error *err);
/** A pass has listed everything: so many datasets; due again in `every_ms`. */
HUB_MUST_USE enum hub_status hub_rule_listed(struct hub_truth *truth, const char *name, uint64_t datasets,
                                             uint64_t every_ms, struct hub_error *err);
/** What it did not list, as JSON; "": nothing. */
HUB_MUST_USE enum hub_status hub_rule_left_out(struct hub_truth *truth, const char *name, const char *left,
                                               struct hub_error *err);
/** What became of a transfer, or with `why` of a pass that could not list. */
HUB_MUST_USE enum hub_status hub_rule_count(struct hub_truth *truth, const char *name, uint64_t bytes,
                                            const char *why, struct hub_error *err);
/** Rules of which no job is left and none failed since their pass began are synced; what is only pulled when
 * somebody asks for it does not count. All of them: a job that one rule waits for may have become
 * another's, which asked for the same dataset. */
HUB_MUST_USE enum hub_status hub_rules_finish(struct hub_truth *truth, struct hub_error *err);

#endif
