/** What `minari-hub check` and `adopt` share: a job that the running hub is asked for, or that is done here
 * where none runs, followed to its end. */
#ifndef HUB_COMMANDS_FOLLOWED_JOB_H
#define HUB_COMMANDS_FOLLOWED_JOB_H

#include "server/config/config.h"
#include "server/service/stores.h"
#include "storage/text/json.h"
#include "storage/truth/jobs.h"

struct hub_mirrors;

struct hub_followed_job {
    const char *name, *noun, *verb; /* "adopt", "adoption", "reading" */
    const char *stopped;            /* what to know after it was stopped */
    /** Ask hub.db for it. */
    enum hub_status (*order)(struct hub_truth *truth, struct hub_catalog *catalog, const json_t *spec,
                             int64_t *id, struct hub_error *err);
    /** NULL, or adds to the result before it is printed. */
    void (*amend)(struct hub_followed_job *job, json_t *result);
    void (*print)(const json_t *result);
    int (*code)(const json_t *result); /* the exit code of one that did not fail */
    json_t *spec;
    bool json;

    struct hub_config *config;
    char *state;
    struct hub_stores stores; /* empty: the running hub's */
    struct hub_mirrors *worker;
    char job[HUB_JOB_ID + 1]; /* the running hub's */
    int64_t row;              /* of hub.db's */
};

/** Add an id to the spec, which the words of a command are; as `word` of its struct hub_command, whose user
 * begins with the job. */
HUB_MUST_USE enum hub_status hub_followed_job_word(void *user, const char *id, struct hub_error *err);
/** As `run` of it. */
int hub_followed_job_run(void *user, struct hub_config *config);

/** Of its result. "" and 0 where it has none. */
const char *hub_followed_text(const json_t *in, const char *key);
uint64_t hub_followed_number(const json_t *in, const char *key);
/** A line of text that came from files. */
void hub_followed_line(const char *fmt, ...) HUB_PRINTF(1, 2);

#endif
