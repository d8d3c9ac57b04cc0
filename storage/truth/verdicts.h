/** Verdicts on drafts, in hub.db: what each was found to be when it was last to be published. Safe from any
 * thread. */
#ifndef HUB_TRUTH_VERDICTS_H
#define HUB_TRUTH_VERDICTS_H

#include "storage/truth/truth.h"

/** Texts are borrowed: of one that is read, until it is disposed of. */
struct hub_kept_verdict {
    const char *verdict;  /* "ready", "broken", "files" */
    const char *reason;   /* one line, of one that is not ready */
    const char *problems; /* a JSON array of {"code", "path", "detail"} */
    int64_t at_ms;        /* Unix time; written by hub_verdict_find alone */
    char *texts;          /* the owner of those that are read */
};
void hub_kept_verdict_dispose(struct hub_kept_verdict *verdict);

/** Keep the verdict of a draft, in place of an earlier one. */
HUB_MUST_USE enum hub_status hub_verdict_keep(struct hub_truth *truth, const char *draft,
                                              const struct hub_kept_verdict *verdict, struct hub_error *err);
/** HUB_NOT_FOUND: it was never looked at. */
HUB_MUST_USE enum hub_status hub_verdict_find(struct hub_truth *truth, const char *draft,
                                              struct hub_kept_verdict *out, struct hub_error *err);

#endif
