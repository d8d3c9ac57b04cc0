/** The long-lived parts of the server, made in serve.c and borrowed by every handler. */
#ifndef HUB_API_APP_H
#define HUB_API_APP_H

#include "server/http/http.h"
#include "storage/base/lru.h"
#include "storage/catalog/catalog.h"
#include "storage/io/fs.h"
#include "storage/measurer/measure.h"
#include "storage/rows/context.h"
#include "storage/truth/truth.h"

#include <stdatomic.h>

struct hub_deposits;
struct hub_hooks;
struct hub_live_access;
struct hub_mirrors;
struct hub_pushes;
struct hub_relay;
struct hub_visible;

/** How long what was published here is kept when it is no longer there. */
struct hub_keeping {
    uint64_t revisions; /* earlier ones of each dataset */
    uint64_t trash_ms;  /* a dataset that was deleted */
};

struct hub_app {
    struct hub_catalog *catalog;
    struct hub_truth *truth;
    struct hub_visible *visible; /* snapshots by what may be read */
    struct hub_store *store;
    struct hub_scanner *scanner;
    struct hub_digest_queue *hasher; /* NULL: hashing is off */
    struct hub_measurer *measurer;   /* NULL: measuring is off */
    const char *measure;             /* as the option says it */
    struct hub_live_access *access;  /* the rules and tokens in force */
    struct hub_mirrors *mirrors;
    struct hub_budget *budget;
    struct hub_lru_room caches;       /* the room that `budget` leaves to all caches */
    struct hub_lru *answers;          /* response_cache.h */
    struct hub_lru *decoded, *levels; /* of layouts: hub_catalog_options */
    struct hub_http *http, *control;  /* over TCP; over the socket in the state directory */
    const struct hub_roots *roots;
    const char *state;
    const char *address;       /* that it listens on; NULL: only the control socket answers */
    const char *author;        /* of the repos that folders at the top are */
    const char *hf_upstream;   /* where clients of Hugging Face find what is not here; NULL: nowhere */
    struct hub_relay *relay;   /* to it */
    const char *bucket;        /* what the bucket of all that is here is called */
    char user[HUB_USER_BYTES]; /* as whom the hub runs: looked up once, a directory service may not answer */
    struct hub_log *log;
    atomic_int_fast64_t page_reported_ms; /* when a browser last reported of a page (hub_time_mono_ms) */
    struct hub_inspector *inspector;      /* that of the scanner */
    struct hub_hooks *hooks;              /* for events of pushes; NULL: none */
    struct hub_deposits *deposits;        /* objects that came before a commit names them */
    struct hub_pushes *pushes;            /* commits of repos that are being published */
    uint64_t min_free;                    /* bytes that stay free on the disk of a root */
    bool read_only;                       /* the hub takes no changes */
    struct hub_keeping keeping;
    uint64_t upload_part;       /* larger objects come in parts */
    char *const *refuse_broken; /* prefixes of repos whose broken commits get no tag */
    uint32_t refuse_broken_count;
    atomic_uint_fast64_t spaces_changed; /* how many times the hub wrote what a namespace says of itself */
    atomic_uint_fast64_t xorb_bytes;     /* that came since all that wait were counted: api/xet/place.c */
    atomic_uint shards;                  /* that are being taken: api/xet/shards.c */
    atomic_uint parked;                  /* requests for rows that keep their plan while they wait: field.c */
    int64_t started_ms;
};

/** What reading rows needs, where no request is at hand. */
struct hub_rows_context hub_rows_of(struct hub_app *app, bool may_block, const struct hub_parallel *parallel);
/** The same for a request, as it may block and spread its work now. */
struct hub_rows_context hub_request_rows(const struct hub_request *request);

#endif
