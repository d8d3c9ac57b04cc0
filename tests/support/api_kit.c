/* See api_kit.h. The datasets are inspected by the real inspector. */
#include "tests/support/api_kit.h"
#include "server/api/visible.h"
#include "server/http/budget.h"
#include "server/http/server.h"
#include "server/service/routes.h"
#include "storage/base/lru.h"
#include "storage/io/roots.h"
#include "storage/read/read.h"
#include "tests/support/scan_root.h"

#include <criterion/criterion.h>

enum { PATIENCE_MS = 60000 };

static char *root, *state;
static struct hub_roots roots;
static struct hub_inspector *inspector;
static struct hub_app app;
static struct hub_request request;
static const struct hub_parallel *parallel; /* of the next request */
static struct hub_response response;
static struct hub_access_table *rules;
static const char *asker;
static bool made_whole; /* its buffer is all of its body */

static void must(enum hub_status st, const struct hub_error *err)
{
    cr_assert_eq(st, HUB_OK, "%s", err->detail);
}

static void fill_root(const char *directory)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/door-human-v0", directory);
    scan_copy("samples/door-human-v0", path);
    snprintf(path, sizeof path, "%s/cut-v0", directory);
    scan_copy("samples/door-human-v0", path);
    snprintf(path, sizeof path, "%s/cut-v0/data/main_data.hdf5", directory);
    cr_assert_eq(truncate(path, 5000), 0);
    scan_write(directory, "notes.txt", "hello");
}

void api_kit_open(void)
{
    api_kit_open_with(fill_root);
}

void api_kit_open_with(void (*fill)(const char *directory))
{
    struct hub_error err = {0};
    root = scan_directory();
    fill(root);
    state = scan_directory();
    must(hub_roots_add(&roots, root, NULL, &err), &err);
    app = (struct hub_app){.roots = &roots,
                           .bucket = "minari-datasets",
                           .author = "farama-minari",
                           .state = state,
                           .started_ms = 1};
    app.budget = hub_budget_new(64 * MIB);
    hub_budget_share(app.budget, &app.caches);
    must(hub_lru_new(MIB, &app.decoded, &err), &err);
    must(hub_lru_new(MIB, &app.levels, &err), &err);
    hub_lru_enter(app.decoded, &app.caches, "decoded");
    const struct hub_catalog_options catalog = {
        .state = state, .room = &app.caches, .decoded = app.decoded, .levels = app.levels};
    must(hub_catalog_open(&catalog, &app.catalog, &err), &err);
    must(hub_truth_open(&(struct hub_truth_options){.state = state}, &app.truth, &err), &err);
    must(hub_store_open(&(struct hub_store_options){.roots = &roots, .state = state}, &app.store, &err),
         &err);
    must(hub_lru_new(4 * MIB, &app.answers, &err), &err);
    inspector = scan_inspector();
    must(hub_scanner_start(&(struct hub_scanner_options){.catalog = app.catalog,
                                                         .truth = app.truth,
                                                         .store = app.store,
                                                         .inspector = inspector,
                                                         .roots = &roots,
                                                         .state = state,
                                                         .jobs = 2},
                           &app.scanner, &err),
         &err);
    must(hub_http_start(&(struct hub_http_options){.app = &app, .routes = hub_routes, .budget = app.budget},
                        &app.http, &err),
         &err); /* for what /status tells of it */
    cr_assert(hub_scanner_wait(app.scanner, PATIENCE_MS));
    must(hub_visible_new(&app.visible, &err), &err);
    hub_response_init(&response);
}

void api_kit_rules(const char *const *lines, size_t count)
{
    HUB_CLEANUP(hub_access_rules_dispose) struct hub_access_rules all = {0};
    struct hub_error err = {0};
    for (size_t i = 0; i < count; i++)
        must(hub_access_rules_read(&all, hub_view_of(lines[i]), false, &err), &err);
    hub_access_put(rules);
    must(hub_access_new(all.items, all.count, NULL, 0, &rules, &err), &err);
}

void api_kit_ask_as(const char *token)
{
    asker = token;
}

void api_kit_close(void)
{
    hub_response_dispose(&response);
    made_whole = false;
    hub_request_end(&request);
    hub_request_dispose(&request);
    hub_http_stop(app.http, 0);
    hub_visible_free(app.visible);
    hub_access_put(rules);
    rules = NULL;
    asker = NULL;
    hub_scanner_stop(app.scanner);
    hub_inspector_free(inspector);
    hub_lru_free(app.answers);
    hub_store_close(app.store);
    hub_catalog_close(app.catalog);
    hub_truth_close(app.truth);
    hub_lru_free(app.decoded);
    hub_lru_free(app.levels);
    hub_budget_free(app.budget);
    hub_roots_dispose(&roots);
    scan_remove(root);
    scan_remove(state);
}

struct hub_app *api_kit_app(void)
{
    return &app;
}

/* As the server does: first where nothing may block, then on a worker, there perhaps once more as heavy. */
static enum hub_status ask(const char *target, enum hub_method method, struct hub_error *err)
{
    const struct hub_route *route;
    char allow[64];
    *err = (struct hub_error){0};
    hub_response_dispose(&response);
    made_whole = false;
    hub_request_end(&request);
    HUB_TRY(hub_request_init(&request, method ? method : HUB_GET, target, err));
    request.app = &app;
    request.parallel = parallel;
    request.base_url = "http://hub";
    request.access = rules ? hub_access_get(rules) : NULL;
    request.principal.token = asker;
    HUB_TRY(hub_route_find(&request, hub_routes, &route, allow, err));
    HUB_TRY(hub_route_allow(route, &request, err));
    enum hub_status st = HUB_AGAIN;
    for (unsigned calls = 0; st == HUB_AGAIN && calls < 3; calls++) {
        hub_response_dispose(&response);
        made_whole = false;
        request.may_block = calls > 0;
        request.heavy |= request.wait.on == HUB_WAIT_HEAVY;
        request.wait = (struct hub_wait){0};
        st = hub_route_call(route, &request, &response, err);
        cr_assert_neq(request.wait.on, HUB_WAIT_MEMORY, "%s: memory is short", target);
    }
    cr_assert_neq(st, HUB_AGAIN, "%s would block where it may", target);
    return st;
}

/* What is made while it is sent, all of it: it becomes the response's buffer. */
static void make_body(void)
{
    struct hub_body_stream made;
    struct hub_buf all = HUB_BUF_INIT(64 * MIB);
    for (hub_body_stream_init(&made, response.maker, &response.buffer); !made.complete && !made.failed;) {
        cr_assert_eq(hub_buf_add_view(&all, hub_buf_view(&made.chunk), NULL), HUB_OK);
        hub_body_stream_more(&made);
    }
    cr_expect(!made.failed);
    hub_body_stream_dispose(&made);
    hub_buf_dispose(&response.buffer);
    response.buffer = all;
    made_whole = true;
}

static struct hub_view body(void)
{
    if (response.kind == HUB_BODY_STREAM && !made_whole)
        make_body();
    if (response.kind == HUB_BODY_STREAM)
        return hub_buf_view(&response.buffer);
    if (response.kind == HUB_BODY_BUFFER && response.buffer.size)
        return hub_buf_view(&response.buffer);
    return response.kind == HUB_BODY_SHARED ? hub_bytes_view(response.shared) : HUB_VIEW("");
}

static bool has_header(const char *wanted)
{
    for (unsigned i = 0; i < response.header_count; i++) {
        const char *name = response.headers[i].name;
        const size_t size = strlen(name);
        if (strncmp(wanted, name, size) == 0 && strncmp(wanted + size, ": ", 2) == 0 &&
            strcmp(wanted + size + 2, response.headers[i].value) == 0)
            return true;
    }
    return false;
}

static void expect(const struct api_case *c)
{
    struct hub_error err;
    const enum hub_status st = ask(c->target, c->method, &err);
    const unsigned status = st ? hub_problem_status(&err) : response.status;
    const struct hub_view text = st ? hub_view_of(err.detail) : body();
    cr_expect_eq(status, c->status, "%s: %u, not %u: %.300s", c->target, status, c->status,
                 text.data ? text.data : "");
    if (c->problem)
        cr_expect_str_eq(hub_problem_name(err.problem), c->problem, "%s: %s", c->target, err.detail);
    else
        cr_expect_eq(st, HUB_OK, "%s: %s", c->target, err.detail);
    if (c->body)
        cr_expect(memmem(text.data, text.size, c->body, strlen(c->body)), "%s: no %s in %.*s", c->target,
                  c->body, (int)HUB_MIN(text.size, (size_t)1500), text.data);
    if (c->header)
        cr_expect(has_header(c->header), "%s: no %s", c->target, c->header);
}

void api_kit_expect(const struct api_case *cases, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        expect(&cases[i]);
    hub_response_dispose(&response);
    made_whole = false;
    struct hub_http_gauges gauges;
    hub_http_gauges(app.http, &gauges);
    bytes = gauges.budget_used;
    cr_expect_eq(bytes, 0, "%llu bytes of memory are not given back", (unsigned long long)bytes);
}

struct hub_view api_kit_body(const char *target)
{
    struct hub_error err;
    const enum hub_status st = ask(target, HUB_GET, &err);
    cr_expect_eq(st, HUB_OK, "%s: %s", target, err.detail);
    return st ? HUB_VIEW("") : body();
}

void api_kit_expect_given_up(const char *target)
{
    static const atomic_bool abandoned = true;
    const struct hub_parallel nobody_waits = {.cancelled = &abandoned};
    struct hub_error err;
    parallel = &nobody_waits;
    const enum hub_status st = ask(target, HUB_GET, &err);
    parallel = request.parallel = NULL;
    cr_expect_eq(st, HUB_CANCELLED, "%s: %d", target, (int)st);
}
