/**
 * Datasets of upstreams on their way here, because somebody asked for them. What of their files is there
 * already can be read: all but the last HUB_PULL_HELD bytes of a file, and these once its digest agrees
 * with the upstream's. Safe from any thread.
 */
#ifndef HUB_MIRROR_PULL_H
#define HUB_MIRROR_PULL_H

#include "server/mirror/mirror.h"
#include "storage/io/fetch.h"
#include "storage/model/file_facts.h"

#define HUB_PULL_HELD (64 * KIB)

struct hub_pull_plan;

/** How far it is; `total` 0: not known yet. */
struct hub_pull_progress {
    uint64_t done, total;
};

/**
 * Have a dataset fetched: one job, however many ask.
 *
 * @param may_block  false: HUB_AGAIN where the job has to be written down first
 * @return HUB_AGAIN; HUB_BUSY "pending": it is being fetched. Else why it cannot be fetched, answered for a
 * while without
 *         asking the upstream again: "upstream-unavailable", "upstream-failed", HUB_NO_SPACE "no-space"
 */
HUB_MUST_USE enum hub_status hub_pull_request(struct hub_mirrors *mirrors, const struct hub_summary *summary,
                                              bool may_block, struct hub_pull_progress *progress,
                                              struct hub_error *err);
/**
 * The files of one that is on its way; it is asked for where it is not.
 *
 * @param[out] out   to be put
 * @param[out] wait  HUB_AGAIN, and this is not NULL: the list is there when it is done, or it ends with
 * HUB_BUSY "pending"                   or the reason. To be put
 */
HUB_MUST_USE enum hub_status hub_pull_open(struct hub_mirrors *mirrors, const struct hub_summary *summary,
                                           bool may_block, struct hub_pull_plan **out,
                                           struct hub_file_fetch **wait, struct hub_error *err);
/** Whether it is on its way, or came a moment ago. */
bool hub_pull_comes(struct hub_mirrors *mirrors, const char *id);

const char *hub_pull_revision(const struct hub_pull_plan *plan);
uint32_t hub_pull_count(const struct hub_pull_plan *plan);
/** Sorted by path bytes. */
const struct hub_file_facts *hub_pull_file(const struct hub_pull_plan *plan, uint32_t number);
/** UINT32_MAX: none. */
uint32_t hub_pull_find(const struct hub_pull_plan *plan, const char *path);
/** Its bytes are fetched; what is not there is waited for, and asked for first. */
HUB_MUST_USE enum hub_status hub_pull_read(struct hub_pull_plan *plan, uint32_t number, struct hub_file **out,
                                           struct hub_error *err);
void hub_pull_put(struct hub_pull_plan *plan);
static inline void hub_pull_putp(struct hub_pull_plan **plan)
{
    hub_pull_put(*plan);
}

#endif
