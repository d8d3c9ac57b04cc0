/* A tar into a draft: its members become files as they pass. What came whole before something is wrong stays
 * in the draft. */
#include "server/api/drafts/draft.h"
#include "server/api/handlers.h"
#include "storage/io/tar_feed.h"

#include <stdlib.h>

struct incoming_tar {
    struct hub_body_sink sink; /* first */
    struct hub_app *app;
    struct hub_draft_row row;
    struct hub_draft_folder draft;
    struct hub_tar_feed feed;
    struct hub_upload upload; /* of the current member, if it is a file */
    bool is_file;
    bool refused; /* what is wrong is not the archive's form */
    uint64_t files;
};

/* ---- members ---- */

static enum hub_status refuse(const struct hub_tar_member *member, const char *why, struct hub_error *err)
{
    return hub_fail(err, HUB_INVALID, "the member '%.*s' of the archive is refused: %s",
                    (int)HUB_MIN(member->name.size, 200), member->name.data, why);
}

static const char *why_no_file(char type)
{
    switch (type) {
    case '1':
        return "it is a hard link: let tar store files, with --hard-dereference";
    case '2':
        return "it is a symbolic link: let tar store what links lead to, with --dereference";
    case '3':
    case '4':
    case '6':
        return "it is a device or a pipe";
    }
    return "it is not a regular file";
}

/* "./data/a" is data/a, as `tar c .` writes it. */
static struct hub_view path_of(const struct hub_tar_member *member)
{
    struct hub_view path = member->name;
    while (hub_view_starts(path, "./")) {
        path.data += 2;
        path.size -= 2;
        while (path.size && path.data[0] == '/') {
            path.data++;
            path.size--;
        }
    }
    return path;
}

static enum hub_status check_member(const struct hub_tar_member *member, struct hub_view path,
                                    struct hub_error *err)
{
    struct hub_error why = {0};
    if (!member->regular)
        return refuse(member, why_no_file(member->type), err);
    if (path.size && path.data[0] == '/')
        return refuse(member, "its path is absolute", err);
    return hub_draft_path_check(path, &why) ? refuse(member, why.detail, err) : HUB_OK;
}

static enum hub_status begin_file(struct incoming_tar *a, const struct hub_tar_member *member,
                                  struct hub_error *err)
{
    const struct hub_view name = path_of(member);
    HUB_TRY(check_member(member, name, err));
    HUB_CLEANUP(hub_freep) char *path = hub_view_dup(name);
    HUB_TRY(hub_allocated(path, err));
    const struct hub_draft_file file = {.path = path, .size = member->size};
    const struct hub_upload_order order = {
        .path = path, .size = member->size, .spare_bytes = a->app->min_free};
    HUB_TRY(hub_upload_begin(&a->draft, &order, &a->upload, err));
    return hub_draft_file_state(a->app, &a->row, &file, err);
}

static enum hub_status begin_member(void *user, const struct hub_tar_member *member, struct hub_error *err)
{
    struct incoming_tar *a = user;
    a->is_file = member->type != '5';
    const enum hub_status st = a->is_file ? begin_file(a, member, err) : HUB_OK;
    a->refused = st != HUB_OK;
    return st;
}

static enum hub_status add_bytes(void *user, struct hub_view bytes, struct hub_error *err)
{
    struct incoming_tar *a = user;
    const enum hub_status st = a->is_file ? hub_upload_add(&a->upload, bytes, err) : HUB_OK;
    a->refused = st != HUB_OK;
    return st;
}

static enum hub_status end_file(struct incoming_tar *a, struct hub_error *err)
{
    struct hub_draft_file file = {.path = a->upload.path, .size = a->upload.size, .complete = true};
    HUB_TRY(hub_draft_file_whole(a->app, a->row.id, &a->draft, &a->upload, NULL, &file, err));
    hub_upload_dispose(&a->upload);
    a->files++;
    return HUB_OK;
}

static enum hub_status end_member(void *user, struct hub_error *err)
{
    struct incoming_tar *a = user;
    const enum hub_status st = a->is_file ? end_file(a, err) : HUB_OK;
    a->refused = st != HUB_OK;
    return st;
}

/* ---- the body ---- */

/* Of a form that is wrong say where, and what became of the rest. */
static enum hub_status explain(const struct incoming_tar *a, enum hub_status st, const struct hub_error *why,
                               struct hub_error *err)
{
    if (a->refused || (st != HUB_CORRUPT && st != HUB_UNSUPPORTED && st != HUB_TOO_BIG))
        return hub_pass(st, why, err);
    return hub_fail(
        err, HUB_INVALID,
        "the body is not a whole tar: %.200s%s%.150s%s; the %llu file%s before that stay in the draft",
        why->detail, a->upload.path ? ", in '" : "", a->upload.path ? a->upload.path : "",
        a->upload.path ? "'" : "", (unsigned long long)a->files, a->files == 1 ? "" : "s");
}

/* Before the answer: whoever gets it may go on at once. */
static void release(struct incoming_tar *a)
{
    hub_upload_dispose(&a->upload);
    hub_draft_close(&a->draft);
}

static enum hub_status take(struct hub_body_sink *sink, struct hub_view bytes, struct hub_error *err)
{
    struct incoming_tar *a = (struct incoming_tar *)sink;
    struct hub_error why = {0};
    enum hub_status st = hub_tar_feed_add(&a->feed, bytes, &why);
    if (st) {
        st = explain(a, st, &why, err);
        release(a);
    }
    return st;
}

static void free_archive(struct hub_body_sink *sink)
{
    struct incoming_tar *a = (struct incoming_tar *)sink;
    release(a);
    hub_tar_feed_dispose(&a->feed);
    hub_draft_row_dispose(&a->row);
    free(a);
}

enum hub_status hub_draft_archive_open(struct hub_request *request, uint64_t size, struct hub_body_sink **out,
                                       struct hub_error *err)
{
    static const struct hub_tar_taker taker = {begin_member, add_bytes, end_member};
    struct incoming_tar *a;
    HUB_TRY(hub_new(&a, 1, sizeof *a, err));
    *a = (struct incoming_tar){.sink = {take, free_archive},
                               .app = request->app,
                               .draft = HUB_DRAFT_FOLDER_INIT,
                               .upload = HUB_UPLOAD_INIT};
    hub_tar_feed_begin(&a->feed, &taker, a);
    enum hub_status st = hub_draft_of(request, &a->row, err);
    if (!st)
        st = hub_draft_enter(request->app, &a->row, &a->draft, err);
    if (!st && size != HUB_BODY_SIZE_UNKNOWN)
        st = hub_draft_room(&a->draft, size, request->app->min_free, err);
    if (st)
        free_archive(&a->sink);
    else
        *out = &a->sink;
    return st;
}

enum hub_status hub_draft_archive_done(struct hub_request *request, struct hub_response *response,
                                       struct hub_error *err)
{
    struct incoming_tar *a = (struct incoming_tar *)request->sink;
    struct hub_error why = {0};
    enum hub_status st = hub_tar_feed_end(&a->feed, &why);
    if (st)
        st = explain(a, st, &why, err);
    release(a);
    return st ? st : hub_draft_answer(request, a->row.id, 200, response, err);
}
