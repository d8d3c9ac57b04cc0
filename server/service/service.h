/** The long-lived parts of a hub, opened in order for a server, or without its sockets for a command. */
#ifndef HUB_SERVICE_SERVICE_H
#define HUB_SERVICE_SERVICE_H

#include "server/api/app.h"
#include "server/config/config.h"
#include "server/service/limits.h"
#include "server/service/stores.h"
#include "storage/deposits/deposit.h"
#include "storage/truth/quotas.h"

#include <signal.h>

/** Zero it first. */
struct hub_service {
    struct hub_app app;
    struct hub_stores stores;
    struct hub_deposits deposits;
    struct hub_inspector *inspector;
    struct hub_route *routes; /* NULL: hub_routes */
    struct hub_limits limits;
    struct hub_announcer *announcer;
    struct hub_tidier *tidier; /* NULL: the hub takes no changes */
    struct hub_quota quota_items[HUB_MAX_ROOTS];
    struct hub_quotas quotas;
};

/** Those that end or reload the hub: they are waited for in one place; threads started later inherit the
 * mask. */
sigset_t hub_block_signals(void);
/** Open files and memory of this process, and what that allows. */
struct hub_limits hub_prepare_process(const struct hub_config *config);

/** The state directory, the store of files and the inspector. */
HUB_MUST_USE enum hub_status hub_service_open_storage(struct hub_service *service,
                                                      const struct hub_config *config, struct hub_error *err);
/** @param once  it looks through the directories once, and watches nothing */
HUB_MUST_USE enum hub_status hub_service_start_scanner(struct hub_service *service,
                                                       const struct hub_config *config, bool once,
                                                       struct hub_error *err);
/** All that a server has. */
HUB_MUST_USE enum hub_status hub_service_open(struct hub_service *service, const struct hub_config *config,
                                              struct hub_error *err);
/** Close what is open, also after a failure half way. The process ends here with `code` where a thread hangs
 * on a disk: it reads the configuration when the disk answers. */
void hub_service_close(struct hub_service *service, const struct hub_config *config, int code);

/** Until all is looked at. HUB_CANCELLED: a signal came; HUB_NO_SPACE: see hub_no_space. */
HUB_MUST_USE enum hub_status hub_service_wait(struct hub_app *app, const sigset_t *signals,
                                              struct hub_error *err);
/** HUB_NO_SPACE: what a scan says when the state's disk is full. */
HUB_MUST_USE enum hub_status hub_no_space(const char *state, uint64_t free_bytes, struct hub_error *err);

/** With all of a hub but its sockets, when it has looked through its directories: for what is done where
 * none runs. */
HUB_MUST_USE enum hub_status hub_without_sockets(const struct hub_config *config,
                                                 enum hub_status (*fn)(struct hub_app *app, void *user,
                                                                       struct hub_error *err),
                                                 void *user, struct hub_error *err);

#endif
