/**
 * HTTP between libmicrohttpd and the handlers. mhd_glue.c fills a hub_request, router.c finds its row in a
 * route table, the handler fills a hub_response, the glue queues it. Handlers know neither libmicrohttpd nor
 * SQL.
 *
 * A handler runs first on an event thread with `may_block` false and must not block: where it would (cold
 * pages, cold catalogue, more than about 50 us of work, memory to wait for) it returns HUB_AGAIN and is
 * called again, from its start, on a worker thread with `may_block` true. There it may return HUB_AGAIN as
 * well, when `wait` says for what: long work goes into a queue of its own, memory comes back from other
 * answers, bytes are fetched. State worth keeping between the calls goes into `state`. Everything a handler
 * borrows (params, headers) lives until the response is finished.
 */
#ifndef HUB_HTTP_HTTP_H
#define HUB_HTTP_HTTP_H

#include "server/http/body_sink.h"
#include "server/http/body_stream.h"
#include "server/http/tries.h"
#include "storage/access/access.h"
#include "storage/base/parallel.h"
#include "storage/io/fetch.h"

#include <strings.h>

struct hub_app;       /* the server's long-lived parts: server/api/app.h */
struct hub_budget;    /* below */
struct hub_log;       /* log.h */
struct hub_parameter; /* parameter.h */
struct hub_problem_shape;

enum hub_method { HUB_GET = 1, HUB_HEAD, HUB_POST, HUB_PUT, HUB_DELETE, HUB_OPTIONS, HUB_PATCH };

struct hub_param {
    struct hub_view name, value; /* decoded, NUL-terminated behind */
};

/** Names of header fields are the same in any case. */
static inline bool hub_param_named(const struct hub_param *header, const char *name)
{
    return header->name.size == strlen(name) && strncasecmp(header->name.data, name, header->name.size) == 0;
}

/** Without blanks and tabs around it. */
static inline struct hub_view hub_trimmed(struct hub_view text)
{
    for (; text.size && (text.data[0] == ' ' || text.data[0] == '\t'); text.size--)
        text.data++;
    while (text.size && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t'))
        text.size--;
    return text;
}

/** What a handler waits for that returns HUB_AGAIN: hub_await_heavy, hub_budget_take, hub_await_bytes. */
enum hub_wait_on {
    HUB_WAIT_WORKER, /* a thread that may block */
    HUB_WAIT_HEAVY,  /* one for long work: `request->heavy` is true then */
    HUB_WAIT_MEMORY, /* `memory`, which is in `request->granted` then */
    HUB_WAIT_BYTES,  /* `fetch`; the memory that was reserved is in `request->granted` then */
};
struct hub_wait {
    enum hub_wait_on on;
    uint64_t memory;
    struct hub_file_fetch *fetch; /* the handler has a share of it, in `request->state` */
    uint32_t patience_ms;         /* how long bytes are waited for; 0: as long as disks are */
    int64_t recall_ms;            /* at this time the handler is called again, bytes or none; 0: never */
};

/** What carries the principal of a request. */
enum hub_carrier {
    HUB_BY_NOTHING, /* anonymous, or the admin of this machine */
    HUB_BY_BEARER,
    HUB_BY_BASIC,
    HUB_BY_LINK,   /* reads alone, and one path alone */
    HUB_BY_COOKIE, /* of a session: reads alone, but for labels */
    HUB_BY_PROXY,  /* a user whom it names: the same */
};

#define HUB_MAX_GROUPS 64
#define HUB_MAX_SEGMENTS 64
#define HUB_MAX_QUERY 64
#define HUB_MAX_HEADERS 100

struct hub_request {
    struct hub_app *app;
    enum hub_method method; /* HEAD is routed as GET; the glue drops the body */
    const char *target;     /* raw path as sent, without the query */
    const char *query_text; /* raw, without the '?'; empty when there is none */
    bool trailing_slash;    /* the path ends with one, which belongs to no segment */
    /* decoded, non-empty, checked UTF-8 without control characters */
    struct hub_view segments[HUB_MAX_SEGMENTS];
    unsigned segment_count;
    struct hub_param query[HUB_MAX_QUERY];
    unsigned query_count;
    const struct hub_parameter *const *parameters; /* that its route takes; NULL: not routed yet */
    const struct hub_route *route, *routes;        /* its route and the table of all; NULL: not routed */
    struct hub_param captures[8];                  /* of the route: {id}, {n}, {path} joined by '/' */
    unsigned capture_count;
    const struct hub_param *headers; /* as sent, in order; a name may come twice */
    unsigned header_count;
    struct hub_view body; /* complete before the handler runs; empty unless the route has a body_limit */
    struct hub_body_sink
        *sink; /* what took the body, of a route that opens one; freed when the request ends */
    /* "http://host:8080", for absolute links: as asked, as a trusted proxy says, or as set */
    const char *base_url;                  /* read by hub_base_url where an answer holds it */
    bool *names_server;                    /* an answer does; NULL: nobody asks */
    const struct hub_problem_shape *shape; /* of its protocol; NULL: RFC 9457 */
    char id[33];                           /* X-Request-Id: the client's if sane, else random */
    bool may_block;
    bool local;                      /* came over the control socket: the admin of this machine asks */
    struct hub_access_table *access; /* what decides; the request's. NULL: everybody may read everything */
    struct hub_principal principal;  /* its asker */
    enum hub_carrier carrier;        /* of the principal */
    const struct hub_token *token;   /* its token or session, of `access`; NULL: it has none */
    struct hub_tries *tries;         /* failed ones are counted there; NULL: nowhere */
    bool is_exposed; /* it came from another machine without TLS: it must not change anything */
    bool read_only;  /* nobody changes anything: hub_trust_options */
    const char *groups[HUB_MAX_GROUPS]; /* of the principal, in `group_text` */
    char group_text[2048];
    bool for_everybody;          /* the answer is the same whoever asks: caches may share it */
    bool heavy;                  /* it runs on a thread for long work */
    uint32_t ceiling_ms;         /* of the route */
    uint32_t client;             /* a number made of its address */
    uint64_t granted;            /* memory that was waited for, to be taken now */
    struct hub_wait wait;        /* written with HUB_AGAIN; zeroed before the handler is called */
    int64_t begun_ms;            /* when its header was complete (hub_time_mono_ms) */
    bool partial;                /* as partial=1: a page asks, and what is known will do */
    struct hub_file_fetch *held; /* a share of `wait.fetch` for handlers without a state: hub_await_held */
    void *state;                 /* the handler's; freed with free_state when the request ends */
    void (*free_state)(void *state);
    void *reading; /* what is held until the answer is sent; then end_reading is called with it */
    void (*end_reading)(void *reading);
    /* spread decoding over the pool (workers only; NULL on event threads) */
    const struct hub_parallel *parallel;
    char *text; /* where decoded names and values lie: hub_request_init, hub_request_dispose */
    size_t text_used, text_size;
};

/**
 * Split and decode a raw target ("/api/v1/datasets/a%20b?limit=3"). The rest of the request is emptied,
 * except `text`, which is used again (so a new request is zeroed first). For the glue and for tests that call
 * handlers directly. HUB_INVALID "bad-request".
 */
HUB_MUST_USE enum hub_status hub_request_init(struct hub_request *request, enum hub_method method,
                                              const char *target, struct hub_error *err);
/** HUB_AGAIN: to be called again on a thread for long work. */
enum hub_status hub_await_heavy(struct hub_request *request);
/** HUB_AGAIN: to be called again when this was fetched, of which the handler keeps a share in its state. */
enum hub_status hub_await_bytes(struct hub_request *request, struct hub_file_fetch *fetch);
/** The same, and at `recall_ms` at the latest; the share is the request's, which gives it back at its end. */
enum hub_status hub_await_held(struct hub_request *request, struct hub_file_fetch *fetch, int64_t recall_ms);
/** The request is answered: its state is freed, its text kept for the next one unless it is long. */
void hub_request_end(struct hub_request *request);
void hub_request_dispose(struct hub_request *request);

/** What absolute links of an answer begin with. Unless the admin said what this server is called, it is the
 * word of whoever asks: such an answer is for no one else, and no cache that others share keeps it. */
static inline const char *hub_base_url(const struct hub_request *request)
{
    if (request->names_server)
        *request->names_server = true;
    return request->base_url;
}

/** A capture, or an empty view. */
struct hub_view hub_request_capture(const struct hub_request *request, const char *name);
/** A request header, NULL when absent. Borrowed. */
const char *hub_request_header(const struct hub_request *request, const char *name);

/* ---- parameters: parameter.h ---- */

/** 400 "bad-parameter" for what the request's route does not take (the error names the nearest that it does),
 * what is repeated, and what is not of its type or out of its bounds. Older names become the present ones. */
HUB_MUST_USE enum hub_status hub_request_check(struct hub_request *request, struct hub_error *err);

/** First value of a query parameter; data NULL when it is absent. */
struct hub_view hub_request_query(const struct hub_request *request, const char *name);
/** The same of one that a route need not take: absent where it does not. */
struct hub_view hub_request_if_taken(const struct hub_request *request, const char *name);
/** The first of the `count` names that is given, whether or not the route takes the others; NULL: none is. */
const char *hub_request_any(const struct hub_request *request, const char *const *names, size_t count);
/** Is a whole number given? Else `*value` becomes the row's preset, or stays as it is. */
bool hub_request_int(const struct hub_request *request, const char *name, int64_t *value);
/** Which of the row's words it is; -1 when it is absent. */
int hub_request_choice(const struct hub_request *request, const char *name);
/** false when it is absent. */
bool hub_request_flag(const struct hub_request *request, const char *name);
/** Of a list: a bit for each of the row's words. */
unsigned hub_request_list(const struct hub_request *request, const char *name);

/** HUB_INVALID "bad-parameter" about the value of a query parameter. */
enum hub_status hub_request_wrong(const struct hub_request *request, const char *name, struct hub_error *err,
                                  const char *fmt, ...) HUB_PRINTF(4, 5);

/** Bytes shared by many answers (a cached document): counted. */
struct hub_bytes;
struct hub_bytes *hub_bytes_new(struct hub_buf *take); /* takes the buffer's bytes; NULL: no memory */
struct hub_bytes *hub_bytes_ref(struct hub_bytes *bytes);
void hub_bytes_unref(struct hub_bytes *bytes);
/** From now on they count against the budget (once), until the last reference goes. */
void hub_bytes_charge(struct hub_bytes *bytes, struct hub_budget *budget);
struct hub_view hub_bytes_view(const struct hub_bytes *bytes);

/** A buffer that grows only by what the budget has. */
struct hub_meter {
    struct hub_buf_meter base; /* first */
    struct hub_budget *budget;
    struct hub_request *request;
    struct hub_response *response;
    size_t counted; /* of the buffer's capacity */
};

enum hub_body_kind {
    HUB_BODY_NONE,
    HUB_BODY_BUFFER,
    HUB_BODY_SHARED,
    HUB_BODY_FILE,
    HUB_BODY_STREAM,
    HUB_BODY_UNSENT
};

#define HUB_LENGTH_UNKNOWN UINT64_MAX

/** What a body of several files is made of: the first member of who knows them. One thread at a time
 * calls. */
struct hub_stream;
struct hub_parts {
    /** Turn to the part that the byte `at` of all of them lies in: set head, file, offset, length, begin and
     * looked of the stream. HUB_AGAIN: it must be allowed to block. Anything else but HUB_OK ends the
     * answer short. */
    enum hub_status (*turn)(struct hub_parts *parts, struct hub_stream *stream, uint64_t at, bool may_block);
    /** The next bytes of a file that is looked at; on workers. */
    enum hub_status (*look)(struct hub_parts *parts, struct hub_view bytes);
    void (*free)(struct hub_parts *parts);
};

struct hub_response {
    unsigned status; /* 200 at first */
    struct {
        const char *name; /* a literal */
        char *value;
    } headers[32];
    unsigned header_count;
    enum hub_body_kind kind;
    /* owned. BUFFER: the body; FILE: what is sent before the bytes of the file; MADE: its first block, if
     * it is there */
    struct hub_buf buffer;
    bool is_json;             /* BUFFER: holds JSON text made here, not the bytes of a file or a coding */
    bool is_kept;             /* BUFFER: by its reader, for good: it is compressed as small as can be */
    struct hub_bytes *shared; /* SHARED: a reference, handed over */
    struct hub_file *file;    /* FILE: a reference, handed over; streamed, cut short if it changes */
    /* FILE; UNSENT, MADE: of the body that GET sends, or HUB_LENGTH_UNKNOWN */
    uint64_t offset, length;
    struct hub_parts *parts; /* FILE: instead of one: handed over */
    uint64_t escaped; /* FILE: not 0: the bytes are that many of a JSON string, whose text has `length` */
    struct hub_body_producer *maker; /* MADE: handed over */
    char *problem_extra; /* malloc'd JSON members for the problem document should the handler fail, or NULL */
    struct hub_budget *budget; /* that `reserved` was taken from */
    uint32_t client;           /* in whose name */
    uint64_t reserved;         /* bytes taken from the budget, returned when the response is finished */
    struct hub_meter meter;    /* of `buffer`, where the handler reserves nothing itself */
    size_t text_used;          /* short header values lie in text, long ones on the heap */
    char text[1024];
};

void hub_response_init(struct hub_response *response);
/** Give everything back; the response is as after init. */
void hub_response_dispose(struct hub_response *response);

/** Copies the value; HUB_TOO_BIG over 32 headers; a value with control characters is a bug. A second call
 * with the same name adds one. */
HUB_MUST_USE enum hub_status hub_response_header(struct hub_response *response, struct hub_error *err,
                                                 const char *name, const char *fmt, ...) HUB_PRINTF(4, 5);
/** Content-Disposition (RFC 6266) with the name in UTF-8, and in ASCII before it for clients that know only
 * that (curl up to 7.88). */
HUB_MUST_USE enum hub_status hub_response_file_name(struct hub_response *response, const char *disposition,
                                                    struct hub_view name, struct hub_error *err);
/** No cache that several share may keep it, whatever its Cache-Control says so far. */
HUB_MUST_USE enum hub_status hub_response_private(struct hub_response *response, struct hub_error *err);
/** Set Content-Type and make the body a buffer to write into (ceiling `limit`). It is metered, unless the
 * handler has reserved memory before. */
struct hub_buf *hub_response_buffer(struct hub_response *response, unsigned status, const char *content_type,
                                    size_t limit);

/** A body that is made as it is sent; `maker` is handed over, and freed on failure too. A HEAD has its
 * headers. Its length is not known, unless response->length is set behind. */
HUB_MUST_USE enum hub_status hub_response_made(struct hub_response *response, unsigned status,
                                               const char *content_type, struct hub_body_producer *maker,
                                               struct hub_error *err);

/** Make the first block of such a body now, so that what is wrong with it is the answer, and not the end of
 * one that has begun. Blocking. */
HUB_MUST_USE enum hub_status hub_response_begin(struct hub_response *response, struct hub_error *err);

/** The answer to a HEAD whose body is too dear to be made for its length alone. */
HUB_MUST_USE enum hub_status hub_response_unsent(struct hub_response *response, unsigned status,
                                                 const char *content_type, uint64_t length,
                                                 struct hub_error *err);

/** JSON text ends with a line feed, so that a shell's prompt does not stick to it. Every answer is ended so;
 * a handler that codes or digests its body calls it before. What has no room for it is still the answer. */
void hub_response_end_line(struct hub_response *response);

/* ---- routes ---- */

typedef enum hub_status hub_handler(struct hub_request *request, struct hub_response *response,
                                    struct hub_error *err);

/** What somebody must be allowed to do. Every row states it: there is no default. */
enum hub_right {
    HUB_RIGHT_UNSTATED, /* a server does not start with such a row */
    HUB_FOR_ANYBODY,    /* nothing of a dataset is in it */
    HUB_FOR_READERS,    /* readers of what it names or lists: others find nothing there */
    HUB_FOR_WATCHERS,   /* figures of the whole hub */
    HUB_FOR_WRITERS,    /* writers of what it names, as the handler finds */
    HUB_FOR_MONITORS,   /* figures for everybody; names in them for who hub_request_may_watch */
    HUB_FOR_ADMINS,     /* for all others there is no such row */
};

/**
 * One row of the API. Pattern segments: literal, {id} (one or more segments, up to a reserved word or one
 * that begins with ~), {n} (one segment), {path} (all the rest, one or more); a capture at the start takes
 * no word that begins another row. One that ends with a slash is for paths that do; elsewhere these are
 * sent to the same without it. One that ends with "?a?b" is for requests that have one of these parameters.
 */
struct hub_route {
    const char *method; /* "GET" serves HEAD too */
    const char *pattern;
    hub_handler *handler;
    const char *label; /* for logs and metrics: "dataset", "field" */
    enum hub_right right;
    const struct hub_parameter *const *parameters; /* that it takes; NULL: it reads none and ignores all */
    const char *example; /* a request that answers 2xx; "404 /..." one that is refused so */
    uint32_t ceiling_ms; /* what one answer may take of a processor, planned before it is made; 0: its work
                             is small, or streamed */
    size_t body_limit;   /* request body; 0: none, unless it is opened */
    hub_body_opener *open_body; /* its body is taken as it comes: body_sink.h; NULL: it lies in memory */
    bool for_probes;            /* for monitoring: under any host name, and while all others get 503 */
};

/** How a protocol that is not ours says what is wrong. */
struct hub_problem_shape {
    const char *content_type;
    /** Write the body; `problem` is what `err` is answered as; `extra` its further members (hub_response), or
     * NULL. */
    enum hub_status (*write)(struct hub_buf *out, const struct hub_request *request,
                             const struct hub_error *err, const struct hub_problem_row *problem,
                             const char *extra);
    /** Add headers; NULL: none. */
    enum hub_status (*headers)(struct hub_response *response, const struct hub_request *request,
                               const struct hub_error *err, const struct hub_problem_row *problem);
    bool has_form; /* people sign in by a form: nothing asks their browser for a name and a password */
};

/** All that is below an address, routes or none, speaks a protocol. */
struct hub_protocol {
    const char
        *below; /* "/storage/"; "/": all whose first segment begins no row, where there is more than that */
    const struct hub_problem_shape *shape; /* NULL: ours, JSON */
    /** The shape where Accept names text/html, and for "/" also of paths of one segment; NULL: the same. */
    const struct hub_problem_shape *for_people;
    /** NULL, or called before the body of a request comes. HUB_OK: the body is wanted; else this is the
     * answer, whatever the body would be. */
    enum hub_status (*refuse)(const struct hub_request *request, struct hub_error *err);
    /** NULL, or what is wrong in its words where no route has the method; `allow`: what they have. HUB_OK: it
     * has none. */
    enum hub_status (*not_allowed)(const struct hub_request *request, const char *allow,
                                   struct hub_error *err);
};

/** Whether an admin of the hub asks: of this machine, or with a token that has `admin` everywhere. */
bool hub_request_is_admin(const struct hub_request *request);
/** Whether whoever asks may write any dataset. */
bool hub_request_may_write_some(const struct hub_request *request);
/** Whether the request may see figures and troubles of the whole hub: an admin's may, and all where no rule
 * hides anything. */
bool hub_request_may_watch(const struct hub_request *request);
/** Whether the right of the route is given, as far as it is not a matter of one dataset. HUB_DENIED "sign-in"
 * or "forbidden". */
HUB_MUST_USE enum hub_status hub_route_allow(const struct hub_route *route, const struct hub_request *request,
                                             struct hub_error *err);
/** Whether the answer depends on who asks. */
static inline bool hub_request_is_personal(const struct hub_request *request)
{
    return request->access && hub_access_hides(request->access) && request->route &&
           request->route->right != HUB_FOR_ANYBODY && !request->for_everybody;
}
/** Check the parameters (hub_request_check), then call the handler. */
HUB_MUST_USE enum hub_status hub_route_call(const struct hub_route *route, struct hub_request *request,
                                            struct hub_response *response, struct hub_error *err);
/** Match segments: HUB_OK and the captures; HUB_NOT_FOUND "route-not-found"; HUB_INVALID "method-not-allowed"
 * with `allow` filled. */
HUB_MUST_USE enum hub_status hub_route_find(struct hub_request *request, const struct hub_route *routes,
                                            const struct hub_route **out, char allow[64],
                                            struct hub_error *err);
/** That there is nothing at this address: HUB_NOT_FOUND "route-not-found". */
HUB_MUST_USE enum hub_status hub_route_none(const struct hub_request *request, struct hub_error *err);
/** Is it the first segment of a row, as it stands there? */
bool hub_route_begins(const struct hub_route *routes, struct hub_view segment);

/* ---- ranges and conditionals (RFC 9110) ---- */

/** Strong ETag (with quotes) over any number of texts; `out` of 40 bytes. Not a digest: two 64-bit hashes. */
void hub_fingerprint(char out[40], const struct hub_view *parts, unsigned count);

struct hub_validators {
    const char *etag;   /* strong, with quotes; NULL: none */
    int64_t modified_s; /* Last-Modified; -1: none */
};
enum hub_condition { HUB_SERVE, HUB_NOT_MODIFIED, HUB_PRECONDITION_FAILED };
/** If-Match, If-Unmodified-Since, If-None-Match, If-Modified-Since in the order of 13.2.2. */
enum hub_condition hub_conditions(const struct hub_request *request, const struct hub_validators *validators);
/**
 * Range and If-Range against a body of `size` bytes. Single ranges are honoured; several, other units and
 * malformed headers are answered whole (200). HUB_OUT_OF_RANGE: 416.
 */
HUB_MUST_USE enum hub_status hub_range(const struct hub_request *request,
                                       const struct hub_validators *validators, uint64_t size,
                                       uint64_t *first, uint64_t *count, bool *partial,
                                       struct hub_error *err);
/** What of a body is asked for. */
struct hub_byte_range {
    uint64_t first, count;
    bool partial;
    bool answered; /* with 416: the response is complete */
};
/** Range and If-Range: sets status and Content-Range. `out` is zeroed. */
HUB_MUST_USE enum hub_status hub_bytes_range(struct hub_request *request,
                                             const struct hub_validators *validators, uint64_t size,
                                             struct hub_response *response, struct hub_byte_range *out,
                                             struct hub_error *err);

/* ---- content coding ---- */

/** The client takes gzip at least as gladly as plain bytes. */
bool hub_accepts_gzip(const struct hub_request *request);
/** Does Accept name text/html, as a browser's does? */
bool hub_accepts_html(const struct hub_request *request);
enum hub_gzip_effort {
    HUB_GZIP_QUICK = 4, /* about 150 MB/s, and nearly as small as the usual 6 */
    HUB_GZIP_SMALL = 12 /* some 10 MB/s: of what its reader keeps */
};
/** `plain` as gzip, at the end of `out`. */
HUB_MUST_USE enum hub_status hub_gzip(struct hub_view plain, enum hub_gzip_effort effort, struct hub_buf *out,
                                      struct hub_error *err);

/* ---- problems ---- */

/** The HTTP status of an error: problem.c alone decides. */
unsigned hub_problem_status(const struct hub_error *err);
/** Make `response` the application/problem+json answer of `err`, with Retry-After where due. `extra` is JSON
 * members to add
 *  (`"versions":[...]`), or NULL. */
void hub_problem_write(struct hub_response *response, const struct hub_request *request,
                       const struct hub_error *err, const char *extra);

/** Cut absolute paths out of a text, in place. */
void hub_problem_hide_paths(char *text);

/* ---- memory budget ---- */

struct hub_budget *hub_budget_new(uint64_t bytes);
void hub_budget_free(struct hub_budget *budget);
/** HUB_AGAIN when it is not there now: the request then waits without a thread, and its handler is called
 * again with the memory granted; after some seconds it is 503 "overloaded". More than the whole budget:
 * HUB_TOO_BIG. The response carries the reservation until it is finished. */
HUB_MUST_USE enum hub_status hub_budget_take(struct hub_budget *budget, struct hub_request *request,
                                             struct hub_response *response, uint64_t bytes,
                                             struct hub_error *err);
/** Give back what was reserved beyond `retained`, while the answer is made. */
void hub_response_release(struct hub_response *response, uint64_t retained);
void hub_budget_give(struct hub_budget *budget, uint32_t client, uint64_t bytes);

/** From now on `buf` takes what it grows by from the budget before it has it, but for the first few KB:
 * appending to it may say what hub_budget_take does. The meter has to live as long as the buffer grows.
 * Without a budget nothing is counted. */
void hub_meter_buf(struct hub_meter *meter, struct hub_budget *budget, struct hub_request *request,
                   struct hub_response *response, struct hub_buf *buf);

#endif
