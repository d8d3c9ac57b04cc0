/* Namespaces of this machine and of a hub: see minari/namespace.h, namespaces.h. */
#include "client/lib/namespaces.h"

#include "storage/ids/id.h"
#include "storage/text/uri.h"
#include "storage/transfer/spaces.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 64 * 1024 * 1024, NOTE_BYTES = 1200 };

/* BASE/api/v1/namespaces[/NAME] */
static enum hub_status set_url(const struct hub_remote *remote, const char *name, struct hub_buf *out,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf datasets = HUB_BUF_INIT(16 * KIB);
    HUB_TRY(hub_api_url(remote, NULL, NULL, &datasets, err)); /* a hub? */
    out->size = 0;
    HUB_TRY(hub_buf_addf(out, err, "%s/api/v1/namespaces%s", remote->base, name ? "/" : ""));
    return name ? hub_uri_encode_path(hub_view_of(name), out, err) : HUB_OK;
}

/* ---- listing ---- */

struct listing {
    const char *root;
    minari_namespace_fn fn;
    void *user;
};

static enum hub_status hand_out(const struct listing *l, const char *name, const json_t *metadata,
                                const char *problem, struct hub_error *err)
{
    char *text = metadata ? json_dumps(metadata, JSON_ENSURE_ASCII) : NULL;
    const struct minari_namespace space = {.name = name,
                                           .metadata = text,
                                           .description = hub_member_text(metadata, "description"),
                                           .problem = problem};
    const int stopped = l->fn(&space, l->user);
    free(text);
    return stopped ? hub_fail(err, HUB_CANCELLED, "stopped") : HUB_OK;
}

static enum hub_status hand_out_local(void *user, const char *name, struct hub_error *err)
{
    const struct listing *l = user;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * MIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *metadata = NULL;
    struct hub_error why = {0};
    enum hub_status st = hub_space_read(l->root, name, &text, &why);
    if (!st)
        st = hub_json_parse(hub_buf_view(&text), text.limit, &metadata, &why);
    return hand_out(l, name, metadata, st ? why.detail : NULL, err);
}

/* What has no file is a folder of datasets and nothing more. */
static enum hub_status hand_out_page(const struct listing *l, const json_t *page, struct hub_error *err)
{
    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(page, "items"), i, item)
    {
        const char *name = hub_member_text(item, "namespace"), *problem = hub_member_text(item, "problem");
        const json_t *metadata = json_object_get(item, "metadata");
        if (!name)
            return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                               "a namespace without a name: is it a hub?");
        if (metadata || problem)
            HUB_TRY(hand_out(l, name, metadata, problem, err));
    }
    return HUB_OK;
}

static enum hub_status each_of_hub(struct minari_client *client, const struct listing *l,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(set_url(&client->remote, NULL, &url, err));
    HUB_TRY(hub_buf_add_text(&url, "?limit=1000", err));
    for (;;) {
        HUB_CLEANUP(hub_json_decrefp) json_t *page = NULL;
        HUB_TRY(hub_remote_document(&client->remote, url.data, PAGE_BYTES, NULL, &page, err));
        HUB_TRY(hand_out_page(l, page, err));
        const char *next = hub_member_text(page, "next"), *query = next ? strchr(next, '?') : NULL;
        if (!query || !json_array_size(json_object_get(page, "items")))
            return HUB_OK;
        HUB_TRY(set_url(&client->remote, NULL, &url, err));
        HUB_TRY(hub_buf_add_text(&url, query, err));
    }
}

enum minari_status minari_namespace_each(struct minari_client *client, const char *root,
                                         minari_namespace_fn fn, void *user, struct minari_error *err)
{
    struct hub_error error = {0};
    struct listing l = {root, fn, user};
    enum hub_status st;
    if (!fn || (!client && !root))
        st = hub_client_missing(&error);
    else if (client)
        st = each_of_hub(client, &l, &error);
    else
        st = hub_spaces_each(root, hand_out_local, &l, &error);
    return hub_client_report(st, &error, err);
}

/* ---- on a hub ---- */

static enum hub_status head_of_answer(struct hub_fetch *fetch, const struct hub_answer *answer,
                                      struct hub_error *err)
{
    (void)answer, (void)err;
    fetch->done = 0;
    return HUB_OK;
}

static enum hub_status drop_body(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    (void)fetch, (void)bytes, (void)err;
    return HUB_OK;
}

enum hub_status hub_namespace_send(struct minari_client *client, const char *name, const char *metadata,
                                   enum hub_sends_over over, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_closep) int fd = memfd_create("namespace", MFD_CLOEXEC);
    const size_t size = strlen(metadata);
    struct hub_error why = {0};
    HUB_TRY(set_url(&client->remote, name, &url, err));
    if (fd < 0)
        return hub_fail_errno(err, errno, "no memory file can be made");
    HUB_TRY(hub_fs_write_fd(fd, hub_view_of(metadata), err));
    struct hub_sends sends = {
        .fd = fd, .count = size, .size = size, .type = "application/json", .over = over};
    struct hub_fetch fetch = {.url = url.data,
                              .sends = &sends,
                              .limit = HUB_SPACE_BYTES + 1,
                              .head = head_of_answer,
                              .body = drop_body};
    const enum hub_status st = hub_transport_get(client->remote.transport, &fetch, &why);
    if (!st || why.problem != HUB_PROBLEM_PRECONDITION_FAILED)
        return hub_pass(st, &why, err);
    return over == HUB_SENDS_OVER_NOTHING
               ? hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS, "%s", why.detail)
               : hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_NAMESPACE_NOT_FOUND, "%s", why.detail);
}

static enum hub_status delete_on_hub(struct minari_client *client, const char *name, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(set_url(&client->remote, name, &url, err));
    struct hub_fetch fetch = {.url = url.data, .removes = true};
    return hub_transport_get(client->remote.transport, &fetch, err);
}

/* ---- on this machine ---- */

static enum hub_status fill_parents(const struct hub_private *place, const char *name, struct hub_error *err)
{
    char part[HUB_MAX_ID + 1];
    bool made;
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
        HUB_TRY(hub_space_fill(place, part, &made, err));
    }
    return HUB_OK;
}

static enum hub_status write_here(const char *root, const char *name, const char *metadata,
                                  enum hub_space_mode mode, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    bool made = false;
    HUB_TRY(hub_fs_make_dirs(AT_FDCWD, root, 0777, err));
    HUB_TRY(hub_private_open(root, true, &place, err));
    HUB_TRY(hub_space_write(&place, name, mode, hub_view_of(metadata), &made, err));
    return made ? fill_parents(&place, name, err) : HUB_OK;
}

static enum hub_status refuse(const char *name, const struct hub_names *left, struct hub_error *err)
{
    char names[300] = "";
    size_t at = 0;
    for (size_t i = 0; i < left->count && at + 64 < sizeof names; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%.50s", i ? ", " : "", left->items[i].text);
    return hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                       "the namespace '%.150s' is not empty: delete what is in it first (there are: %s)",
                       name, names);
}

static enum hub_status delete_here(const char *root, const char *name, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_names_dispose) struct hub_names left = {0};
    HUB_TRY(hub_private_open(root, true, &place, err));
    const enum hub_status st = hub_space_remove(&place, name, &left, err);
    return st == HUB_EXISTS ? refuse(name, &left, err) : st;
}

/* ---- either ---- */

static enum hub_status check(const struct minari_client *client, const char *root, const char *name,
                             struct hub_error *err)
{
    if (!name || (!client && !root))
        return hub_client_missing(err);
    return hub_namespace_check(hub_view_of(name), err);
}

enum minari_status minari_namespace_create(struct minari_client *client, const char *root, const char *name,
                                           const char *metadata, struct minari_error *err)
{
    struct hub_error error = {0};
    const char *text = metadata ? metadata : "{}";
    enum hub_status st = check(client, root, name, &error);
    if (!st)
        st = client ? hub_namespace_send(client, name, text, HUB_SENDS_OVER_NOTHING, &error)
                    : write_here(root, name, text, HUB_SPACE_NEW, &error);
    return hub_client_report(st, &error, err);
}

enum minari_status minari_namespace_update(struct minari_client *client, const char *root, const char *name,
                                           const char *metadata, struct minari_error *err)
{
    struct hub_error error = {0};
    const char *text = metadata ? metadata : "{}";
    enum hub_status st = check(client, root, name, &error);
    if (!st)
        st = client ? hub_namespace_send(client, name, text, HUB_SENDS_OVER_SOMETHING, &error)
                    : write_here(root, name, text, HUB_SPACE_OVER, &error);
    return hub_client_report(st, &error, err);
}

enum minari_status minari_namespace_delete(struct minari_client *client, const char *root, const char *name,
                                           struct minari_error *err)
{
    struct hub_error error = {0};
    enum hub_status st = check(client, root, name, &error);
    if (!st)
        st = client ? delete_on_hub(client, name, &error) : delete_here(root, name, &error);
    return hub_client_report(st, &error, err);
}

/* ---- along with a push ---- */

static void send_one(struct minari_client *client, const char *name, const char *text,
                     hub_namespace_note note, void *user)
{
    char line[NOTE_BYTES];
    struct hub_error err = {0};
    const enum hub_status st = hub_namespace_send(client, name, text, HUB_SENDS_OVER_NOTHING, &err);
    if (st == HUB_EXISTS)
        return;
    if (st)
        snprintf(line, sizeof line, "the description of namespace '%.200s' is not pushed: %.500s", name,
                 err.detail);
    else
        snprintf(line, sizeof line, "the description of namespace '%.200s' is pushed", name);
    note(user, line);
}

/* From the outermost level in, as a namespace comes after those that it lies in. */
static void carry_level(struct minari_client *client, const char *root, const char *name,
                        hub_namespace_note note, void *user)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * MIB);
    if (!hub_namespace_check(hub_view_of(name), NULL) && !hub_space_read(root, name, &text, NULL))
        send_one(client, name, text.data, note, user);
}

/* The folder that holds the first `size` bytes of an id as its folders; false where the path of the dataset's
 * own folder does not end so. */
static bool find_root(const char *path, const char *id, size_t size, char root[PATH_MAX])
{
    HUB_CLEANUP(hub_freep) char *whole = realpath(path, NULL);
    char *end = whole ? strrchr(whole, '/') : NULL;
    if (!end || (size_t)(end - whole) < size + 2)
        return false;
    *end = '\0';
    char *below = end - size;
    if (below[-1] != '/' || memcmp(below, id, size) != 0)
        return false;
    below[-1] = '\0';
    return (size_t)snprintf(root, PATH_MAX, "%s", whole) < PATH_MAX;
}

void hub_namespaces_carry(struct minari_client *client, const char *path, const char *id,
                          hub_namespace_note note, void *user)
{
    char root[PATH_MAX], name[HUB_MAX_ID + 1];
    const char *last = strrchr(id, '/');
    if (!last || strlen(id) > HUB_MAX_ID || !find_root(path, id, (size_t)(last - id), root))
        return;
    for (const char *slash = strchr(id, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(name, sizeof name, "%.*s", (int)(slash - id), id);
        carry_level(client, root, name, note, user);
    }
}
