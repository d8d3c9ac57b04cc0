/** Shared by the files of the D4RL driver: rows of all episodes, one behind the other, cut where flags say
 * so. */
#ifndef HUB_FORMATS_D4RL_H
#define HUB_FORMATS_D4RL_H

#include "storage/formats/kit/h5_kit.h"

/* Why an episode ends behind a row. DONE: for a reason that the file does not state. */
enum { D4RL_TERMINAL = 1, D4RL_TIMEOUT = 2, D4RL_BREAK = 4, D4RL_DONE = 8 };

struct d4rl_cuts {
    uint64_t rows;
    uint8_t *ends; /* of each row */
    uint64_t at;   /* of the column that is read */
    uint8_t mark;
    bool terminals, timeouts;
    struct hub_h5_cut *cuts;
    uint32_t count, capacity;
    double *returns; /* of each cut */
    uint32_t cut;    /* of the reward that is read */
};

/** Once `rows` are known. HUB_TOO_BIG */
HUB_MUST_USE enum hub_status d4rl_cuts_begin(struct d4rl_cuts *c, struct hub_error *err);
void d4rl_cuts_dispose(struct d4rl_cuts *c);

/** A column of one flag a row: the values are taken one by one. False: there are not as many as rows, or they
 * were not `read`; then none of them counts. */
void d4rl_flags_begin(struct d4rl_cuts *c, uint8_t mark);
void d4rl_take_flag(void *cuts, double value);
bool d4rl_flags_end(struct d4rl_cuts *c, bool read);
HUB_MUST_USE enum hub_status d4rl_report_flags(const struct d4rl_cuts *c, struct hub_sink *sink,
                                               const char *path, struct hub_error *err);
/** That only terminals end episodes, or nothing does. */
HUB_MUST_USE enum hub_status d4rl_report_unknown(const struct d4rl_cuts *c, struct hub_sink *sink,
                                                 struct hub_error *err);

/** Cut the rows where they end; then rewards are taken one by one, before the episodes are reported. */
HUB_MUST_USE enum hub_status d4rl_cut_rows(struct d4rl_cuts *c, struct hub_sink *sink, struct hub_error *err);
void d4rl_take_reward(void *cuts, double value);
/** `rewards`: they could be read. */
HUB_MUST_USE enum hub_status d4rl_report(struct d4rl_cuts *c, bool rewards, struct hub_sink *sink,
                                         struct hub_error *err);

/* ---- npz.c ---- */

/** Has an archive the arrays? Only its directory is looked at. */
bool d4rl_npz_claim(struct hub_files *files, uint32_t number);
/** Is the dataset one? By its name. */
bool d4rl_npz_is(const struct hub_files *files);
HUB_MUST_USE enum hub_status d4rl_npz_plan(struct hub_files *files, struct hub_sink *sink,
                                           struct hub_error *err);
HUB_MUST_USE enum hub_status d4rl_npz_inspect(struct hub_files *files, struct hub_sink *sink,
                                              struct hub_error *err);

#endif
