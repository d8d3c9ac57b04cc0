/* Drafts of a hub: see drafts.h, and minari/upload.h. */
#include "client/lib/drafts.h"

#include "storage/io/fs.h"
#include "storage/text/uri.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    ANSWER_BYTES = 4 * 1024 * 1024,
    FILES_BYTES = 256 * 1024 * 1024,
    COMMIT_MS = 3600 * 1000, /* a large dataset is inspected meanwhile, and nothing is said */
    BUSY_MS = 500,
    MOST_WAITS = 2 * 3600,
};

enum hub_status hub_draft_url(const struct hub_remote *remote, const char *draft, const char *rest,
                              struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf datasets = HUB_BUF_INIT(16 * KIB);
    HUB_TRY(hub_api_url(remote, NULL, NULL, &datasets, err));
    out->size = 0;
    HUB_TRY(hub_buf_addf(out, err, "%s/api/v1/drafts", remote->base));
    if (!draft)
        return HUB_OK;
    HUB_TRY(hub_buf_add_text(out, "/", err));
    HUB_TRY(hub_uri_encode_segment(hub_view_of(draft), out, err));
    return rest ? hub_buf_addf(out, err, "/%s", rest) : HUB_OK;
}

enum hub_status hub_draft_file_rest(const char *path, struct hub_buf *out, struct hub_error *err)
{
    out->size = 0;
    HUB_TRY(hub_buf_add_text(out, "files/", err));
    return hub_uri_encode_path(hub_view_of(path), out, err);
}

/* ---- requests ---- */

static enum hub_status empty(struct hub_fetch *fetch, const struct hub_answer *answer, struct hub_error *err)
{
    (void)answer, (void)err;
    ((struct hub_buf *)fetch->user)->size = 0; /* an earlier attempt's */
    fetch->done = 0;
    return HUB_OK;
}

static enum hub_status add(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    return hub_buf_add_view(fetch->user, bytes, err);
}

static enum hub_status read_object(const struct hub_buf *text, const char *url, json_t **out,
                                   struct hub_error *err)
{
    if (!hub_json_parse(hub_buf_view(text), text->limit, out, NULL) && json_is_object(*out))
        return HUB_OK;
    return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                       "the answer of %.200s is not a JSON object: check that it is a hub", url);
}

static enum hub_status post(struct minari_client *client, struct hub_fetch *fetch,
                            const struct hub_drive *drive, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(ANSWER_BYTES);
    fetch->post = true;
    fetch->form_type = "application/json";
    fetch->limit = text.limit;
    fetch->head = empty;
    fetch->body = add;
    fetch->user = &text;
    hub_transport_submit(client->remote.transport, fetch);
    HUB_TRY(hub_transport_drive(client->remote.transport, drive, err));
    return read_object(&text, fetch->url, out, err);
}

enum hub_status hub_draft_delete(struct minari_client *client, const char *url, struct hub_error *err)
{
    struct hub_fetch fetch = {.url = url, .removes = true};
    return hub_transport_get(client->remote.transport, &fetch, err);
}

/* ---- finding and opening ---- */

static enum hub_status list(struct minari_client *client, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_draft_url(&client->remote, NULL, NULL, &url, err));
    return hub_remote_document(&client->remote, url.data, ANSWER_BYTES, NULL, out, err);
}

void hub_open_draft_dispose(struct hub_open_draft *draft)
{
    free(draft->name);
    free(draft->base);
    *draft = (struct hub_open_draft){0};
}

static enum hub_status read_draft(const json_t *item, struct hub_open_draft *out, struct hub_error *err)
{
    const char *name = hub_member_text(item, "draft"), *base = hub_member_text(item, "base");
    if (!name)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "the hub has a draft without a name");
    hub_open_draft_dispose(out);
    out->files = hub_member_uint(item, "files");
    HUB_TRY(hub_dup(&out->name, name, err));
    return base ? hub_dup(&out->base, base, err) : HUB_OK;
}

static bool is_of_base(const json_t *item, const char *base)
{
    const char *has = hub_member_text(item, "base");
    return base && has ? hub_view_starts(hub_view_of(has), base) : !base && !has;
}

void hub_push_key(const char *folder, char out[HUB_PUSH_KEY + 1])
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf names = HUB_BUF_INIT(64 * KIB);
    char *real = realpath(folder, NULL);
    char host[256] = "";
    uint8_t sha256[HUB_SHA256_BYTES] = {0};
    if (hub_fs_read(AT_FDCWD, "/etc/machine-id", &names, NULL) || !names.size) {
        (void)gethostname(host, sizeof host - 1);
        names.size = 0;
    }
    (void)!hub_buf_addf(&names, NULL, "%s\n%s", host, real ? real : folder);
    (void)!hub_digest_of(HUB_SHA256, hub_buf_view(&names), sha256, NULL);
    hub_hex(sha256, HUB_PUSH_KEY / 2, out);
    free(real);
}

static bool is_open(const json_t *item, const char *id, const char *key)
{
    const char *of = hub_member_text(item, "id"), *state = hub_member_text(item, "state"),
               *has = hub_member_text(item, "key");
    return of && state && has && strcmp(of, id) == 0 && strcmp(state, "open") == 0 && strcmp(has, key) == 0;
}

enum hub_status hub_draft_find_open(struct minari_client *client, const char *id, const char *base,
                                    const char *key, struct hub_open_draft *out, struct hub_open_draft *stale,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *all = NULL;
    const json_t *item;
    size_t i;
    HUB_TRY(list(client, &all, err));
    json_array_foreach(json_object_get(all, "items"), i, item)
    {
        if (!is_open(item, id, key))
            continue;
        if (is_of_base(item, base))
            return read_draft(item, out, err);
        HUB_TRY(read_draft(item, stale, err));
    }
    return HUB_OK;
}

/* A member of an order, unless it is NULL. */
static void put_member(struct hub_json *json, const char *name, const char *text)
{
    if (text)
        hub_json_put_text(json, name, text);
}

enum hub_status hub_draft_make(struct minari_client *client, const struct hub_draft_wish *wish,
                               struct hub_open_draft *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB), order = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    HUB_TRY(hub_draft_url(&client->remote, NULL, NULL, &url, err));
    struct hub_json json = hub_json_to(&order, err);
    hub_json_object(&json);
    put_member(&json, "id", wish->id);
    put_member(&json, "base", wish->base);
    put_member(&json, "from", wish->from);
    if (wish->bytes)
        hub_json_put_uint(&json, "bytes", wish->bytes);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    struct hub_fetch fetch = {
        .url = url.data, .form = order.data, .key = wish->key, .restartable = wish->key != NULL};
    HUB_TRY(post(client, &fetch, &(struct hub_drive){0}, &document, err));
    return read_draft(document, out, err);
}

enum hub_status hub_draft_give_up(struct minari_client *client, const char *draft, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_draft_url(&client->remote, draft, NULL, &url, err));
    return hub_draft_delete(client, url.data, err);
}

enum hub_status hub_draft_list_files(struct minari_client *client, const char *draft, json_t **out,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_draft_url(&client->remote, draft, "files", &url, err));
    return hub_remote_document(&client->remote, url.data, FILES_BYTES, NULL, out, err);
}

/* ---- publishing ---- */

/* Once. Of a refusal the document is read, too. */
static enum hub_status commit(struct minari_client *client, const char *url, const char *order,
                              const struct hub_drive *drive, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf problem = HUB_BUF_INIT(ANSWER_BYTES);
    struct hub_fetch fetch = {
        .url = url, .form = order, .restartable = true, .stall_timeout_ms = COMMIT_MS, .problem = &problem};
    const enum hub_status st = post(client, &fetch, drive, out, err);
    if (st && problem.size && !*out)
        (void)!read_object(&problem, url, out, NULL);
    return st;
}

enum hub_status hub_draft_commit_it(struct minari_client *client, const char *draft, const char *allow,
                                    const char *message, const struct hub_drive *drive, json_t **out,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB), order = HUB_BUF_INIT(64 * KIB);
    struct hub_error why = {0};
    enum hub_status st = HUB_OK;
    HUB_TRY(hub_draft_url(&client->remote, draft, "commit", &url, err));
    HUB_TRY(hub_api_parameter(&url, "allow", allow, err));
    struct hub_json json = hub_json_to(&order, err);
    hub_json_object(&json);
    put_member(&json, "message", message);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    for (unsigned i = 0; i < MOST_WAITS; i++) {
        json_decref(*out);
        *out = NULL;
        st = commit(client, url.data, order.data, drive, out, &why);
        if (!st || why.problem != HUB_PROBLEM_DRAFT_BUSY)
            break;
        nanosleep(&(struct timespec){.tv_nsec = BUSY_MS * 1000000L}, NULL);
        HUB_TRY(drive->tick(drive->user, err));
    }
    return st ? hub_pass(st, &why, err) : HUB_OK;
}

/* ---- for programs ---- */

static enum hub_status hand_out(const json_t *item, minari_draft_fn fn, void *user, struct hub_error *err)
{
    const struct minari_draft draft = {.draft = hub_member_text(item, "draft"),
                                       .id = hub_member_text(item, "id"),
                                       .state = hub_member_text(item, "state"),
                                       .changed = hub_member_text(item, "changed"),
                                       .ends = hub_member_text(item, "ends"),
                                       .files = hub_member_uint(item, "files"),
                                       .complete = hub_member_uint(item, "complete"),
                                       .bytes = hub_member_uint(item, "bytes")};
    if (!draft.draft || !draft.id || !draft.state)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "a draft without a name, an id or a state: is it a hub?");
    return fn(&draft, user) ? hub_fail(err, HUB_CANCELLED, "stopped") : HUB_OK;
}

static enum hub_status each(struct minari_client *client, minari_draft_fn fn, void *user,
                            struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *all = NULL;
    const json_t *item;
    size_t i;
    HUB_TRY(list(client, &all, err));
    json_array_foreach(json_object_get(all, "items"), i, item) HUB_TRY(hand_out(item, fn, user, err));
    return HUB_OK;
}

enum minari_status minari_draft_each(struct minari_client *client, minari_draft_fn fn, void *user,
                                     struct minari_error *err)
{
    struct hub_error error = {0};
    const enum hub_status st = client && fn
                                   ? each(client, fn, user, &error)
                                   : hub_fail(&error, HUB_INVALID, "a client and a function are needed");
    return hub_client_report(st, &error, err);
}

enum minari_status minari_draft_drop(struct minari_client *client, const char *draft,
                                     struct minari_error *err)
{
    struct hub_error error = {0};
    const enum hub_status st =
        client && draft && *draft
            ? hub_draft_give_up(client, draft, &error)
            : hub_fail(&error, HUB_INVALID, "a client and the name of a draft are needed");
    return hub_client_report(st, &error, err);
}
