/* Remotes: the table, and what the kinds share. */
#include "storage/remote/remote.h"

#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/io/fs.h"

#include <stdlib.h>
#include <strings.h>

const struct hub_remote_row hub_remotes[] = {
    {"http://", &hub_remote_hub, 0},
    {"https://", &hub_remote_hub, 0},
    {"gcp://", &hub_remote_gcs, 1},
    {"hf://", &hub_remote_hf, 2},
    {NULL, NULL, 0},
};

const struct hub_remote_row *hub_remote_find(struct hub_view address, struct hub_view *rest)
{
    for (const struct hub_remote_row *row = hub_remotes; row->scheme; row++) {
        const size_t head = strlen(row->scheme);
        if (address.size <= head || strncasecmp(address.data, row->scheme, head) != 0)
            continue;
        *rest = (struct hub_view){address.data + head, address.size - head};
        return row;
    }
    return NULL;
}

enum hub_status hub_remote_open(const char *address, const struct hub_remote_options *options,
                                struct hub_remote *out, struct hub_error *err)
{
    struct hub_transport_options transport = options->transport;
    struct hub_view rest;
    const struct hub_remote_row *row = hub_remote_find(hub_view_of(address), &rest);
    if (!row || !row->kind)
        return hub_fail(err, HUB_UNSUPPORTED, "this version cannot talk to '%.200s'", address);
    *out = (struct hub_remote){.kind = row->kind, .base = strdup(address)};
    HUB_TRY(hub_allocated(out->base, err));
    if (row->kind->begin)
        HUB_TRY(row->kind->begin(out, options, &transport, err));
    return hub_transport_new(&transport, &out->transport, err);
}

void hub_remote_close(struct hub_remote *remote)
{
    if (remote->kind && remote->kind->end)
        remote->kind->end(remote);
    hub_transport_free(remote->transport);
    free(remote->base);
    *remote = (struct hub_remote){0};
}

/* ---- documents ---- */

static enum hub_status into_buffer_head(struct hub_fetch *fetch, const struct hub_answer *answer,
                                        struct hub_error *err)
{
    struct hub_buf *out = fetch->user;
    out->size = 0; /* an earlier attempt's */
    fetch->done = 0;
    if (!answer->has_length || answer->length > out->limit)
        return HUB_OK; /* counted as it comes */
    return hub_buf_reserve(out, (size_t)answer->length, err);
}

static enum hub_status into_buffer(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    return hub_buf_add(fetch->user, bytes.data, bytes.size, err);
}

/* GET a body of at most `out->limit` bytes. */
static enum hub_status read_body(struct hub_remote *remote, const char *url, const char *accept,
                                 struct hub_buf *out, struct hub_answer *answer, struct hub_error *err)
{
    struct hub_fetch fetch = {.url = url,
                              .accept = accept,
                              .restartable = true,
                              .limit = out->limit,
                              .head = into_buffer_head,
                              .body = into_buffer,
                              .user = out};
    const enum hub_status st = hub_transport_get(remote->transport, &fetch, err);
    if (answer)
        *answer = fetch.answer;
    return st;
}

enum hub_status hub_remote_json(struct hub_remote *remote, const char *url, struct hub_buf *text,
                                struct hub_answer *answer, json_t **out, struct hub_error *err)
{
    HUB_TRY(read_body(remote, url, "application/json", text, answer, err));
    if (hub_json_parse(hub_buf_view(text), text->limit, out, NULL))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "the answer of %.200s is not JSON", url);
    return HUB_OK;
}

enum hub_status hub_remote_object(struct hub_remote *remote, const char *url, struct hub_buf *text,
                                  struct hub_error *err)
{
    HUB_TRY(read_body(remote, url, "application/json", text, NULL, err));
    return hub_json_valid(hub_buf_view(text), HUB_JSON_OBJECT)
               ? HUB_OK
               : hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                             "the answer of %.200s is not a JSON object: check that it is a %s", url,
                             remote->kind->noun);
}

enum hub_status hub_remote_document(struct hub_remote *remote, const char *url, size_t max_bytes,
                                    struct hub_buf *text, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf own = HUB_BUF_INIT(max_bytes);
    struct hub_buf *body = text ? text : &own;
    HUB_TRY(read_body(remote, url, "application/json", body, NULL, err));
    if (hub_json_parse(hub_buf_view(body), max_bytes, out, NULL) || !json_is_object(*out))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "the answer of %.200s is not a JSON object: check that it is a %s", url,
                           remote->kind->noun);
    return HUB_OK;
}

/* ---- many of them ---- */

enum { AT_ONCE = 16 };

struct many {
    struct hub_remote *remote;
    const char *(*url)(size_t, void *);
    hub_remote_body_fn fn;
    void *user;
    size_t count, next;
    struct one {
        struct hub_fetch fetch;
        struct hub_buf body;
        struct many *all;
        size_t index;
        bool used;
    } ones[AT_ONCE];
};

static void send_more(struct many *all);

static enum hub_status one_head(struct hub_fetch *fetch, const struct hub_answer *answer,
                                struct hub_error *err)
{
    (void)answer, (void)err;
    ((struct one *)fetch->user)->body.size = 0; /* an earlier attempt's */
    fetch->done = 0;
    return HUB_OK;
}

static enum hub_status one_body(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    return hub_buf_add(&((struct one *)fetch->user)->body, bytes.data, bytes.size, err);
}

static enum hub_status one_finished(struct hub_fetch *fetch, enum hub_status st, struct hub_error *err)
{
    struct one *one = fetch->user;
    struct many *all = one->all;
    HUB_TRY(all->fn(one->index, st, hub_buf_view(&one->body), all->user, err));
    one->used = false;
    send_more(all);
    return HUB_OK;
}

static void send_more(struct many *all)
{
    for (size_t i = 0; i < AT_ONCE && all->next < all->count; i++) {
        struct one *one = &all->ones[i];
        if (one->used)
            continue;
        one->used = true;
        one->all = all;
        one->index = all->next++;
        one->body.size = 0;
        one->fetch = (struct hub_fetch){.url = all->url(one->index, all->user),
                                        .restartable = true,
                                        .limit = one->body.limit,
                                        .head = one_head,
                                        .body = one_body,
                                        .finished = one_finished,
                                        .user = one};
        hub_transport_submit(all->remote->transport, &one->fetch);
    }
}

enum hub_status hub_remote_each(struct hub_remote *remote, const char *(*url)(size_t, void *), size_t count,
                                size_t max_bytes, hub_remote_body_fn fn, void *user, struct hub_error *err)
{
    struct many *all;
    HUB_TRY(hub_new(&all, 1, sizeof *all, err));
    *all = (struct many){.remote = remote, .url = url, .fn = fn, .user = user, .count = count};
    for (size_t i = 0; i < AT_ONCE; i++)
        all->ones[i].body.limit = max_bytes;
    send_more(all);
    const enum hub_status st = hub_transport_drive(remote->transport, &(struct hub_drive){0}, err);
    for (size_t i = 0; i < AT_ONCE; i++)
        hub_buf_dispose(&all->ones[i].body);
    free(all);
    return st;
}

const char *hub_member_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

struct hub_view hub_member_view(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return (struct hub_view){json_string_value(value), json_string_length(value)};
}

uint64_t hub_member_uint(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    const json_int_t n = json_is_integer(value) ? json_integer_value(value) : 0;
    return n > 0 ? (uint64_t)n : 0;
}

bool hub_remote_has_prefix(const char *id, const char *prefix)
{
    const size_t size = prefix ? strlen(prefix) : 0;
    return strncmp(id, prefix ? prefix : "", size) == 0 ||
           (strlen(id) + 1 == size && prefix[size - 1] == '/' && strncmp(id, prefix, size - 1) == 0);
}

/* ---- what is not listed ---- */

void hub_remote_left_dispose(struct hub_remote_left *left)
{
    for (size_t i = 0; i < HUB_LEFT_OUT; i++)
        free(left->names[i]);
    *left = (struct hub_remote_left){0};
}

enum hub_status hub_remote_left_add(struct hub_remote_left *left, struct hub_view name, uint64_t files,
                                    uint64_t bytes, struct hub_error *err)
{
    if (!left)
        return HUB_OK;
    left->files += files;
    left->bytes += bytes;
    if (left->places++ >= HUB_LEFT_OUT)
        return HUB_OK;
    char **place = &left->names[left->places - 1];
    *place = hub_view_dup(name);
    return hub_allocated(*place, err);
}

/* ---- files ---- */

/* Whether a file of such a path can be made safely. */
static bool is_safe(const char *path)
{
    const char *at = path;
    bool good = path && strlen(path) < 4096;
    while (good) {
        const char *slash = strchrnul(at, '/');
        good = hub_id_segment_safe((struct hub_view){at, (size_t)(slash - at)});
        if (!*slash)
            break;
        at = slash + 1;
    }
    return good;
}

enum hub_status hub_path_check(const char *path, struct hub_error *err)
{
    return is_safe(path) ? HUB_OK
                         : hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                                       "the hub lists a file that cannot be created safely: '%.200s'",
                                       path ? path : "");
}

static enum hub_status leave_out(struct hub_remote_files *files, struct hub_view name, struct hub_error *err)
{
    if (files->left_out_count++ >= HUB_LEFT_OUT)
        return HUB_OK;
    char **place = &files->left_out[files->left_out_count - 1];
    *place = hub_view_dup(name);
    return hub_allocated(*place, err);
}

/* Add a file of a path that is proven, which becomes ours. */
static enum hub_status add(struct hub_remote_files *files, char *path, uint64_t size, struct hub_error *err)
{
    enum hub_status st = hub_allocated(path, err);
    if (!st && files->count == HUB_MAX_FILES)
        st = hub_fail(err, HUB_TOO_BIG, "a dataset of more than %d files", HUB_MAX_FILES);
    if (!st)
        st = hub_grow(&files->items, files->count, &files->capacity, sizeof *files->items, err);
    if (!st && __builtin_add_overflow(files->bytes, size, &files->bytes))
        st = hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "the sizes of the files overflow");
    if (st)
        free(path);
    else
        files->items[files->count++] = (struct hub_file_facts){.path = path, .size = size};
    return st;
}

/* The empty object that a console makes for a folder, and what git keeps for itself. */
static bool stands_for_nothing(struct hub_view path, uint64_t size)
{
    return (!size && hub_view_ends(path, "/")) || hub_view_is(path, ".gitattributes");
}

void hub_remote_files_name_left_out(const struct hub_remote_files *files, char *out, size_t room)
{
    size_t at = 0;
    *out = '\0';
    for (uint32_t i = 0; i < HUB_MIN(files->left_out_count, (uint32_t)HUB_LEFT_OUT) && at < room; i++)
        at += (size_t)snprintf(out + at, room - at, "%s'%.100s'", i ? ", " : "", files->left_out[i]);
    if (files->left_out_count && at < room)
        snprintf(out + at, room - at, "%s (%u)", files->left_out_count > HUB_LEFT_OUT ? ", ..." : "",
                 files->left_out_count);
}

enum hub_status hub_remote_files_try(struct hub_remote_files *files, struct hub_view path, uint64_t size,
                                     struct hub_file_facts **out, struct hub_error *err)
{
    char *copy = hub_view_dup(path);
    *out = NULL;
    HUB_TRY(hub_allocated(copy, err));
    if (strlen(copy) != path.size || !is_safe(copy)) {
        free(copy);
        return stands_for_nothing(path, size) ? HUB_OK : leave_out(files, path, err);
    }
    HUB_TRY(add(files, copy, size, err));
    *out = &files->items[files->count - 1];
    return HUB_OK;
}

/* Whether a sorted list has files below the path of an item: they follow it, behind names that go on with a
 * byte smaller than '/'. */
static bool is_folder(const struct hub_remote_files *files, uint32_t i)
{
    HUB_CLEANUP(hub_freep) char *below = NULL;
    const size_t size = strlen(files->items[i].path);
    if (i + 1 == files->count || strncmp(files->items[i + 1].path, files->items[i].path, size) != 0 ||
        asprintf(&below, "%s/", files->items[i].path) < 0)
        return false;
    const struct hub_view key = {below, size + 1};
    const uint32_t at =
        hub_lower_bound(&key, files->items, files->count, sizeof *files->items, hub_view_by_text);
    return at < files->count && strncmp(files->items[at].path, below, size + 1) == 0;
}

enum hub_status hub_remote_files_sort(struct hub_remote_files *files, struct hub_error *err)
{
    uint32_t kept = 0;
    if (files->count)
        qsort(files->items, files->count, sizeof *files->items, hub_by_text);
    HUB_CLEANUP(hub_freep) bool *folder = calloc(files->count + 1, sizeof *folder);
    HUB_TRY(hub_allocated(folder, err));
    for (uint32_t i = 0; i < files->count; i++)
        folder[i] = is_folder(files, i);
    for (uint32_t i = 0; i < files->count; i++) {
        struct hub_file_facts file = files->items[i];
        if (kept && strcmp(files->items[kept - 1].path, file.path) == 0)
            return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "'%s' is listed twice", file.path);
        files->items[i] = (struct hub_file_facts){0};
        if (!folder[i]) {
            files->items[kept++] = file;
            continue;
        }
        const enum hub_status st = leave_out(files, hub_view_of(file.path), err);
        files->bytes -= file.size;
        hub_file_facts_dispose(&file);
        HUB_TRY(st);
    }
    files->count = kept;
    return HUB_OK;
}

enum hub_status hub_remote_files_below(struct hub_remote_files *from, const char *folder,
                                       struct hub_remote_files *out, struct hub_error *err)
{
    const size_t cut = *folder ? strlen(folder) + 1 : 0;
    for (uint32_t i = 0; i < from->count; i++) {
        struct hub_file_facts *file = &from->items[i];
        if (cut && (strncmp(file->path, folder, cut - 1) != 0 || file->path[cut - 1] != '/'))
            continue;
        HUB_TRY(add(out, strdup(file->path + cut), file->size, err));
        struct hub_file_facts *copy = &out->items[out->count - 1];
        const char *path = copy->path;
        *copy = *file;
        copy->path = path;
        file->custom = NULL;
    }
    for (uint32_t i = 0; i < HUB_MIN(from->left_out_count, (uint32_t)HUB_LEFT_OUT); i++)
        HUB_TRY(leave_out(out, hub_view_of(from->left_out[i]), err));
    out->left_out_count = from->left_out_count;
    return HUB_OK;
}

enum hub_status hub_remote_revision(const struct hub_file_facts *items, size_t count, size_t cut,
                                    char out[HUB_REVISION_CHARS + 1], struct hub_error *err)
{
    HUB_CLEANUP(hub_digest_dispose) struct hub_digest digest = {0};
    uint8_t sum[HUB_DIGEST_MAX];
    HUB_TRY(hub_digest_begin(&digest, HUB_SHA256, err));
    for (size_t i = 0; i < count; i++) {
        const struct hub_file_facts *f = &items[i];
        const uint64_t numbers[] = {f->size, f->generation, f->other, f->has_sha256};
        HUB_TRY(hub_digest_add(&digest, (struct hub_view){f->path + cut, strlen(f->path + cut) + 1}, err));
        HUB_TRY(hub_digest_add(&digest, (struct hub_view){(const char *)numbers, sizeof numbers}, err));
        HUB_TRY(hub_digest_add(&digest, (struct hub_view){(const char *)f->sha256, sizeof f->sha256}, err));
        HUB_TRY(hub_digest_add(&digest, (struct hub_view){(const char *)f->sum, sizeof f->sum}, err));
    }
    HUB_TRY(hub_digest_end(&digest, sum, err));
    hub_hex(sum, HUB_REVISION_CHARS / 2, out);
    return HUB_OK;
}

enum hub_status hub_remote_files_add(struct hub_remote_files *files, const char *path, uint64_t size,
                                     const char *sha256, struct hub_error *err)
{
    HUB_TRY(hub_path_check(path, err));
    HUB_TRY(add(files, strdup(path), size, err));
    struct hub_file_facts *file = &files->items[files->count - 1];
    file->has_sha256 = sha256 && hub_unhex(hub_view_of(sha256), file->sha256, HUB_SHA256_BYTES);
    return HUB_OK;
}

enum hub_status hub_remote_files_finish(struct hub_remote_files *files, struct hub_error *err)
{
    if (files->count)
        qsort(files->items, files->count, sizeof *files->items, hub_by_text);
    for (size_t i = 1; i < files->count; i++)
        if (strcmp(files->items[i - 1].path, files->items[i].path) == 0)
            return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "the hub lists '%s' twice",
                               files->items[i].path);
    return HUB_OK;
}

void hub_remote_files_dispose(struct hub_remote_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        hub_file_facts_dispose(&files->items[i]);
    for (size_t i = 0; i < HUB_LEFT_OUT; i++)
        free(files->left_out[i]);
    free(files->items);
    free(files->id);
    free(files->revision);
    free(files->pin);
    *files = (struct hub_remote_files){0};
}

/* A remote that has no ids and revisions of its own: what is there names it. */
static enum hub_status identify(struct hub_remote_files *files, const char *id, const char *revision,
                                struct hub_error *err)
{
    char now[HUB_REVISION_CHARS + 1];
    HUB_TRY(hub_remote_revision(files->items, files->count, 0, now, err));
    if (revision && strcmp(now, revision) != 0)
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_REVISION_GONE, "'%.200s' is now at revision %s", id,
                           now);
    HUB_TRY(hub_dup(&files->id, id, err));
    return hub_dup(&files->revision, now, err);
}

enum hub_status hub_remote_list_files(struct hub_remote *remote, const char *id, const char *revision,
                                      struct hub_remote_files *out, struct hub_error *err)
{
    *out = (struct hub_remote_files){0};
    enum hub_status st = remote->kind->files(remote, id, revision, out, err);
    if (!st && !out->id)
        st = identify(out, id, revision, err);
    if (st)
        hub_remote_files_dispose(out);
    return st;
}
