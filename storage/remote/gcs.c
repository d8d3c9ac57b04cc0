/* A bucket of Google Cloud Storage, or of what speaks its JSON API, as a remote: gcp://BUCKET[/PREFIX].
 * Objects are pinned by their generation. Spec: https://cloud.google.com/storage/docs/json_api/v1 */
#include "storage/remote/found.h"
#include "storage/remote/token.h"

#include "storage/ids/id.h"
#include "storage/io/fs.h"
#include "storage/text/base64.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/text/uri.h"

#include <stdio.h>
#include <stdlib.h>

enum { PAGE_BYTES = 64 * 1024 * 1024, MAX_PAGES = 100 * 1000, MAX_EMPTY_PAGES = 10 * 1000 };

static const char google[] = "https://storage.googleapis.com";
static const char fields[] = "nextPageToken,items(name,size,generation,md5Hash,crc32c,updated,metadata)";

struct gcs {
    char *endpoint; /* without a trailing slash */
    char *bucket;   /* encoded */
    char *prefix;   /* "" or with a trailing slash */
    bool has_token;
    bool keeps_account;                 /* the environment names credentials, which an emulator is not sent */
    struct hub_google_account *account; /* or NULL */
};

/* ---- opening ---- */

/* BUCKET[/PREFIX] */
static bool is_address(struct hub_view rest)
{
    const char *slash = memchr(rest.data, '/', rest.size);
    const size_t bucket = slash ? (size_t)(slash - rest.data) : rest.size;
    for (size_t i = 0; i < bucket; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-_.", rest.data[i]))
            return false;
    return bucket >= 1 && bucket <= 222 &&
           (!slash || hub_path_plain((struct hub_view){slash + 1, rest.size - bucket - 1}));
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static enum hub_status set_location(struct gcs *g, struct hub_view rest, const char *endpoint,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(4 * KIB), prefix = HUB_BUF_INIT(4 * KIB);
    const char *slash = memchr(rest.data, '/', rest.size);
    const size_t bucket = slash ? (size_t)(slash - rest.data) : rest.size;
    size_t size = strlen(endpoint);
    while (size && endpoint[size - 1] == '/')
        size--;
    HUB_TRY(hub_buf_addf(&url, err, "%s%.*s", strstr(endpoint, "://") ? "" : "http://", (int)size, endpoint));
    HUB_TRY(hub_buf_addf(&prefix, err, "%.*s%s", slash ? (int)(rest.size - bucket - 1) : 0,
                         slash ? slash + 1 : "", slash ? "/" : ""));
    g->endpoint = hub_buf_take(&url, NULL);
    g->prefix = hub_buf_take(&prefix, NULL);
    g->bucket = strndup(rest.data, bucket);
    return hub_allocated(g->endpoint && g->prefix && g->bucket, err);
}

static enum hub_status begin(struct hub_remote *remote, const struct hub_remote_options *options,
                             struct hub_transport_options *transport, struct hub_error *err)
{
    struct hub_view rest;
    struct gcs *g;
    const char *emulator = environment("STORAGE_EMULATOR_HOST"), *credentials = options->credentials;
    const char *endpoint = options->endpoint ? options->endpoint : emulator ? emulator : google;
    /* as Google's own clients do it: what is in the environment for the real service is not sent to an
     * emulator */
    if (!credentials && (options->endpoint || !emulator))
        credentials = environment("GOOGLE_APPLICATION_CREDENTIALS");
    (void)hub_remote_find(hub_view_of(remote->base), &rest);
    HUB_TRY(hub_new(&g, 1, sizeof *g, err));
    remote->own = g;
    HUB_TRY(set_location(g, rest, endpoint, err));
    g->has_token = transport->token || credentials;
    g->keeps_account = !g->has_token && environment("GOOGLE_APPLICATION_CREDENTIALS");
    return transport->token || !credentials
               ? HUB_OK
               : hub_google_account_open(credentials, transport, &g->account, err);
}

static void end(struct hub_remote *remote)
{
    struct gcs *g = remote->own;
    if (!g)
        return;
    hub_google_account_free(g->account);
    free(g->endpoint);
    free(g->bucket);
    free(g->prefix);
    free(g);
}

static enum hub_status refresh(const struct hub_remote *remote, struct hub_error *err)
{
    const struct gcs *g = remote->own;
    const char *token;
    if (!g->account)
        return HUB_OK;
    HUB_TRY(hub_google_account_token(g->account, &token, err));
    return token ? hub_transport_set_token(remote->transport, token, err) : HUB_OK;
}

/* ---- listing ---- */

static bool decode(const char *text, uint8_t *out, size_t size)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf bytes = HUB_BUF_INIT(64);
    if (!text || hub_base64_decode(hub_view_of(text), &bytes, NULL) || bytes.size != size)
        return false;
    memcpy(out, bytes.data, size);
    return true;
}

static bool number_of(const json_t *item, const char *key, uint64_t *out)
{
    const char *text = hub_member_text(item, key);
    if (text)
        return hub_number_read(hub_view_of(text), INT64_MAX, out);
    *out = hub_member_uint(item, key);
    return json_is_integer(json_object_get(item, key));
}

static enum hub_status take_object(const json_t *item, const char *prefix, size_t cut,
                                   struct hub_remote_files *out, struct hub_error *err)
{
    const struct hub_view name = hub_member_view(item, "name");
    const char *updated = hub_member_text(item, "updated");
    const json_t *custom = json_object_get(item, "metadata");
    struct hub_file_facts *file;
    uint64_t size = 0;
    if (!name.data || strncmp(name.data, prefix, strlen(prefix)) != 0)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "an object without a name, or outside the prefix");
    if (!number_of(item, "size", &size) && json_object_get(item, "size"))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "the size of '%.200s' is not a number",
                           name.data);
    HUB_TRY(hub_remote_files_try(out, (struct hub_view){name.data + cut, name.size - cut}, size, &file, err));
    if (!file)
        return HUB_OK;
    (void)number_of(item, "generation", &file->generation);
    if (updated)
        (void)hub_time_parse_rfc3339(hub_view_of(updated), &file->modified_ns);
    file->other = decode(hub_member_text(item, "crc32c"), file->sum, 4)                ? HUB_BY_CRC32C
                  : decode(hub_member_text(item, "md5Hash"), file->sum, HUB_MD5_BYTES) ? HUB_BY_MD5
                                                                                       : HUB_NO_DIGEST;
    if (json_is_object(custom) && hub_member_text(custom, "total_episodes"))
        file->custom = json_incref((json_t *)custom);
    return HUB_OK;
}

static enum hub_status page_url(const struct gcs *g, const char *prefix, const char *token,
                                struct hub_buf *url, struct hub_error *err)
{
    url->size = 0;
    HUB_TRY(hub_buf_addf(url, err, "%s/storage/v1/b/%s/o?projection=noAcl&maxResults=1000&fields=%s&prefix=",
                         g->endpoint, g->bucket, fields));
    HUB_TRY(hub_uri_encode_segment(hub_view_of(prefix), url, err));
    if (!token)
        return HUB_OK;
    HUB_TRY(hub_buf_add_text(url, "&pageToken=", err));
    return hub_uri_encode_segment(hub_view_of(token), url, err);
}

/* What an answer to a listing means for a person. */
static enum hub_status explain(const struct hub_remote *remote, enum hub_status st,
                               const struct hub_error *why, struct hub_error *err)
{
    const struct gcs *g = remote->own;
    if (st == HUB_DENIED)
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_REMOTE_CLOSED,
                           "the bucket '%s' is closed to %s: %.200s%s", g->bucket,
                           g->has_token ? "these credentials" : "everybody without credentials", why->detail,
                           g->keeps_account ? "; GOOGLE_APPLICATION_CREDENTIALS is not sent to the host of "
                                              "STORAGE_EMULATOR_HOST: give its address with --endpoint"
                                            : "");
    if (st == HUB_NOT_FOUND)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_REMOTE_MISSING, "there is no bucket '%s'",
                           g->bucket);
    if (err)
        *err = *why;
    return st;
}

/* Everything that begins so, each name without its first `cut` bytes. */
static enum hub_status list_pages(struct hub_remote *remote, const char *prefix, size_t cut,
                                  struct hub_remote_files *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB), text = HUB_BUF_INIT(PAGE_BYTES);
    HUB_CLEANUP(hub_json_decrefp) json_t *page = NULL;
    unsigned empty = 0;
    for (unsigned pages = 1;; pages++) {
        struct hub_error why = {0};
        const json_t *items, *item;
        size_t i;
        HUB_TRY(refresh(remote, err));
        HUB_TRY(page_url(remote->own, prefix, hub_member_text(page, "nextPageToken"), &url, err));
        json_decref(page);
        page = NULL;
        const enum hub_status st = hub_remote_document(remote, url.data, PAGE_BYTES, &text, &page, &why);
        if (st)
            return explain(remote, st, &why, err);
        items = json_object_get(page, "items");
        json_array_foreach(items, i, item) HUB_TRY(take_object(item, prefix, cut, out, err));
        empty = i ? 0 : empty + 1;
        if (!hub_member_text(page, "nextPageToken"))
            return HUB_OK;
        if (pages == MAX_PAGES || empty == MAX_EMPTY_PAGES)
            return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LONG,
                               "the bucket's list does not end after %u pages", pages);
        text.size = 0;
    }
}

/* The objects of the remote whose names begin with `head`, below the remote's prefix. */
static enum hub_status tree_of(struct hub_remote *remote, const char *head, struct hub_remote_files *out,
                               struct hub_error *err)
{
    const struct gcs *g = remote->own;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf prefix = HUB_BUF_INIT(8 * KIB);
    HUB_TRY(hub_buf_addf(&prefix, err, "%s%s", g->prefix, head));
    HUB_TRY(list_pages(remote, prefix.data, strlen(g->prefix), out, err));
    return hub_remote_files_sort(out, err);
}

/* ---- datasets ---- */

static enum hub_status object_url(const struct gcs *g, const char *id, const char *path, uint64_t generation,
                                  struct hub_buf *url, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(16 * KIB);
    HUB_TRY(hub_buf_addf(&name, err, "%s%s%s%s", g->prefix, id, *id ? "/" : "", path));
    HUB_TRY(hub_buf_addf(url, err, "%s/download/storage/v1/b/%s/o/", g->endpoint, g->bucket));
    HUB_TRY(hub_uri_encode_segment(hub_buf_view(&name), url, err));
    HUB_TRY(hub_buf_add_text(url, "?alt=media", err));
    return generation ? hub_buf_addf(url, err, "&generation=%llu", (unsigned long long)generation) : HUB_OK;
}

/* Where the remote has none of Minari's datasets it is one tree, of the last name in its address. */
static const char *tree_name(const struct hub_remote *remote)
{
    return strrchr(remote->base, '/') + 1;
}

/* The datasets of Minari's in a tree. */
static enum hub_status scan(const struct hub_remote *remote, const struct hub_remote_files *tree,
                            struct hub_found_list *out, struct hub_error *err)
{
    HUB_TRY(hub_found_scan(out, tree, "", err));
    for (uint32_t i = 0; i < out->count; i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
        if (out->items[i].old)
            continue;
        HUB_TRY(object_url(remote->own, out->items[i].id, "data/metadata.json", 0, &url, err));
        out->items[i].url = hub_buf_take(&url, NULL);
    }
    return HUB_OK;
}

/* Those whose names begin with `head`; where there are none of Minari's, the folder `plain`. */
static enum hub_status find(struct hub_remote *remote, const char *head, const char *plain,
                            struct hub_found_list *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files tree = {0};
    struct hub_found *found;
    HUB_TRY(tree_of(remote, head, &tree, err));
    HUB_TRY(scan(remote, &tree, out, err));
    if (out->count)
        return HUB_OK;
    HUB_TRY(hub_found_add(out, plain, &tree, plain, &found, err));
    found->plain = true;
    found->format = hub_found_format(&tree, plain);
    if (!found->files)
        hub_found_dispose(out);
    return HUB_OK;
}

/* All of it as one tree, whatever is in it. */
static enum hub_status take_whole(const struct hub_remote *remote, const struct hub_remote_files *tree,
                                  struct hub_found_list *out, struct hub_error *err)
{
    struct hub_found *found;
    HUB_TRY(hub_found_add(out, tree_name(remote), tree, "", &found, err));
    found->plain = true;
    if (!found->files)
        hub_found_dispose(out);
    return HUB_OK;
}

static enum hub_status find_whole(struct hub_remote *remote, struct hub_found_list *out,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files tree = {0};
    HUB_TRY(tree_of(remote, "", &tree, err));
    return take_whole(remote, &tree, out, err);
}

/* The folder that a prefix is in is where its names are cut into datasets. */
static enum hub_status find_all(struct hub_remote *remote, const struct hub_remote_query *q,
                                struct hub_found_list *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files tree = {0};
    const struct gcs *g = remote->own;
    const char *prefix = q->prefix ? q->prefix : "", *slash = strrchr(prefix, '/');
    HUB_CLEANUP(hub_freep) char *base = strndup(prefix, slash ? (size_t)(slash - prefix) : 0);
    HUB_TRY(hub_allocated(base, err));
    HUB_TRY(tree_of(remote, prefix, &tree, err));
    if (!tree.count && !*prefix)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_REMOTE_EMPTY, "there is nothing in '%.300s'",
                           remote->base);
    if (q->only == HUB_REMOTE_TREE)
        return *prefix ? find_whole(remote, out, err) : take_whole(remote, &tree, out, err);
    HUB_TRY(scan(remote, &tree, out, err));
    const struct hub_division division = {.tree = &tree,
                                          .base = base,
                                          .name = tree_name(remote),
                                          .head = "",
                                          .cuts = *prefix ? prefix[strlen(prefix) - 1] != '/' : !*g->prefix,
                                          .counts = q->only == HUB_REMOTE_MINARI,
                                          .left = q->left};
    HUB_TRY(hub_found_divide(&division, out, err));
    return out->count || *prefix
               ? HUB_OK
               : hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_REMOTE_EMPTY,
                             "'%.300s' has no Minari datasets, but %u other files", remote->base, tree.count);
}

static enum hub_status list(struct hub_remote *remote, const struct hub_remote_query *q,
                            hub_remote_item_fn fn, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list found = {0};
    HUB_TRY(find_all(remote, q, &found, err));
    return hub_found_each(remote, &found, q, fn, user, err);
}

static enum hub_status describe(struct hub_remote *remote, const char *id, const char *release,
                                struct hub_buf *text, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list found = {0};
    HUB_CLEANUP(hub_freep) char *head = NULL;
    struct hub_view name;
    uint32_t version;
    HUB_TRY(hub_id_check(hub_view_of(id), err));
    (void)hub_id_split_alias(hub_view_of(id), &name, &version);
    head = hub_view_dup(name);
    HUB_TRY(hub_allocated(head, err));
    HUB_TRY(find(remote, head, id, &found, err));
    if (!found.count && strcmp(id, tree_name(remote)) == 0)
        HUB_TRY(find_whole(remote, &found, err));
    return hub_found_describe(remote, &found, id, release, text, out, err);
}

static enum hub_status list_files(struct hub_remote *remote, const char *id, struct hub_remote_files *out,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files tree = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(4 * KIB);
    const char *folder = id;
    HUB_TRY(hub_buf_addf(&head, err, "%s/", id));
    HUB_TRY(tree_of(remote, head.data, &tree, err));
    if (!tree.count && strcmp(id, tree_name(remote)) == 0) {
        folder = "";
        HUB_TRY(tree_of(remote, "", &tree, err));
    }
    if (!tree.count)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "there is no dataset '%.200s'",
                           id);
    HUB_TRY(hub_remote_files_below(&tree, folder, out, err));
    return hub_dup(&out->pin, folder, err);
}

static enum hub_status files(struct hub_remote *remote, const char *id, const char *revision,
                             struct hub_remote_files *out, struct hub_error *err)
{
    (void)revision;
    HUB_TRY(hub_id_check(hub_view_of(id), err));
    return list_files(remote, id, out, err);
}

static enum hub_status open_file(const struct hub_remote *remote, const struct hub_remote_files *files_of,
                                 const struct hub_file_facts *file, struct hub_buf *url,
                                 struct hub_fetch *fetch, struct hub_error *err)
{
    fetch->as_stored = true;
    HUB_TRY(refresh(remote, err));
    return object_url(remote->own, files_of->pin, file->path, file->generation, url, err);
}

static enum hub_status space(const struct hub_remote *remote, const char *name, struct hub_buf *url,
                             struct hub_error *err)
{
    HUB_TRY(refresh(remote, err));
    return object_url(remote->own, name, "namespace_metadata.json", 0, url, err);
}

const struct hub_remote_kind hub_remote_gcs = {
    .noun = "bucket",
    .is_address = is_address,
    .begin = begin,
    .end = end,
    .list = list,
    .describe = describe,
    .files = files,
    .open = open_file,
    .space = space,
};
