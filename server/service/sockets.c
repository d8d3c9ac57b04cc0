/* Where a hub listens: see sockets.h. */
#include "server/service/sockets.h"

#include "server/http/server.h"
#include "server/service/routes.h"
#include "storage/truth/live_access.h"

static struct hub_words words_of(const struct hub_list *list)
{
    return (struct hub_words){(const char *const *)list->items, list->count};
}

static struct hub_access_table *take_access(struct hub_app *app)
{
    return hub_live_access_get(app->access);
}

static enum hub_status start(struct hub_app *app, const struct hub_route *routes,
                             struct hub_http_options *options, struct hub_http **out, struct hub_error *err)
{
    options->app = app;
    options->routes = routes;
    options->protocols = hub_protocols;
    options->budget = app->budget;
    options->access = take_access;
    return hub_http_start(options, out, err);
}

enum hub_status hub_sockets_open_public(struct hub_app *app, const struct hub_config *config,
                                        const struct hub_limits *limits, const struct hub_route *routes,
                                        struct hub_error *err)
{
    struct hub_http_options options = {.address = config->address,
                                       .control = config->address ? NULL : config->state,
                                       .port = config->port,
                                       .event_threads = (unsigned)config->event_threads,
                                       .workers = (unsigned)config->workers,
                                       .queue = (unsigned)config->queue,
                                       .connections = limits->connections,
                                       .connections_per_client = (unsigned)config->connections_per_client,
                                       .trust = {.cors = words_of(&config->cors),
                                                 .hosts = words_of(&config->hosts),
                                                 .proxies = words_of(&config->trusted_proxies),
                                                 .public_url = config->public_url,
                                                 .user_header = config->auth_header,
                                                 .groups_header = config->auth_groups_header,
                                                 .insecure_writes = config->insecure_writes,
                                                 .read_only = config->read_only},
                                       .tries = {(uint32_t)config->tries, (uint32_t)config->tries_ms},
                                       .log = config->access_log ? app->log : NULL};
    return start(app, routes, &options, &app->http, err);
}

enum hub_status hub_sockets_open_control(struct hub_app *app, const struct hub_config *config,
                                         const struct hub_limits *limits, const struct hub_route *routes,
                                         struct hub_error *err)
{
    struct hub_http_options options = {.control = config->state,
                                       .event_threads = 1,
                                       .workers = 1,
                                       .queue = 64,
                                       .connections = limits->control,
                                       .trust = {.read_only = config->read_only}};
    return start(app, routes, &options, &app->control, err);
}
