/* Datasets on disk against a record or a hub, and their removal. */
#include "client/lib/internal.h"
#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/ids/spell.h"
#include "storage/io/fs.h"
#include "storage/model/file_hasher.h"
#include "storage/transfer/publish.h"
#include "storage/transfer/record.h"
#include "storage/transfer/staging.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_DEPTH = 32, MAX_NAMES = 4 * 1000 * 1000 };

struct verifier {
    int directory;
    const struct hub_file_facts *files; /* what they should be; sorted by path bytes */
    size_t count;
    minari_file_state_fn fn;
    void *user;
    struct minari_verify_result *result;
};

static enum hub_status report(const struct verifier *v, const char *path, enum minari_file_state state,
                              struct hub_error *err)
{
    struct minari_verify_result *r = v->result;
    uint64_t *const counts[] = {
        [MINARI_FILE_VERIFIED] = &r->verified,   [MINARI_FILE_UNCHANGED] = &r->unchanged,
        [MINARI_FILE_SIZE_ONLY] = &r->size_only, [MINARI_FILE_MISSING] = &r->missing,
        [MINARI_FILE_CHANGED] = &r->changed,     [MINARI_FILE_EXTRA] = &r->extra,
    };
    ++*counts[state];
    return v->fn && v->fn(path, state, v->user) ? hub_fail(err, HUB_CANCELLED, "stopped") : HUB_OK;
}

static enum hub_status check_one(const struct verifier *v, const struct hub_file_facts *file,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    HUB_CLEANUP(hub_sums_dispose) struct hub_sums sums = {0};
    struct stat st;
    /* a pipe: no file */
    const enum hub_status opened =
        hub_fs_open_beneath(v->directory, file->path, O_RDONLY | O_NONBLOCK, 0, &fd, err);
    if (opened == HUB_NOT_FOUND)
        return report(v, file->path, MINARI_FILE_MISSING, err);
    if (opened)
        return opened;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != file->size)
        return report(v, file->path, MINARI_FILE_CHANGED, err);
    if (!hub_file_proven(file))
        return report(v, file->path, MINARI_FILE_SIZE_ONLY, err);
    HUB_TRY(hub_sums_of(fd, file, NULL, NULL, &sums, err));
    if (!hub_sums_agree(&sums, file))
        return report(v, file->path, MINARI_FILE_CHANGED, err);
    return report(v, file->path, file->computed ? MINARI_FILE_UNCHANGED : MINARI_FILE_VERIFIED, err);
}

/* ---- files that should not be there ---- */

static enum hub_status find_extra(const struct verifier *v, const char *folder, unsigned depth,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(PATH_MAX);
    HUB_TRY(hub_fs_list(v->directory, *folder ? folder : ".", MAX_NAMES, &names, err));
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.items[i].text;
        if (hub_name_hidden(hub_view_of(name)))
            continue;
        path.size = 0;
        HUB_TRY(hub_buf_addf(&path, err, "%s%s%s", folder, *folder ? "/" : "", name));
        if (names.items[i].type == DT_DIR && depth < MAX_DEPTH)
            HUB_TRY(find_extra(v, path.data, depth + 1, err));
        else if (!bsearch(&path.data, v->files, v->count, sizeof *v->files, hub_by_text))
            HUB_TRY(report(v, path.data, MINARI_FILE_EXTRA, err));
    }
    return HUB_OK;
}

static enum hub_status compare_all(struct verifier *v, const char *directory, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return hub_fail_errno(err, errno, "'%s' cannot be opened", directory);
    v->directory = fd;
    v->result->files = v->count;
    for (size_t i = 0; i < v->count; i++)
        HUB_TRY(check_one(v, &v->files[i], err));
    HUB_TRY(find_extra(v, "", 0, err));
    const struct minari_verify_result *r = v->result;
    if (r->missing || r->changed)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_DIGEST_MISMATCH,
                           "'%s': %llu files missing, %llu changed", directory,
                           (unsigned long long)r->missing, (unsigned long long)r->changed);
    return HUB_OK;
}

static enum hub_status against_record(struct verifier *v, const char *directory, struct hub_error *err)
{
    HUB_CLEANUP(hub_record_dispose) struct hub_record record = {0};
    enum hub_status st = hub_record_read(directory, &record, err);
    if (st == HUB_NOT_FOUND)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_NO_RECORD,
                           "'%s' was not downloaded by minari-hub's client: it has no record "
                           "to compare with",
                           directory);
    if (st)
        return st;
    snprintf(v->result->revision, sizeof v->result->revision, "%.40s", record.revision);
    v->files = record.files;
    v->count = record.count;
    return compare_all(v, directory, err);
}

static bool has_file(const struct hub_record *record, const char *path)
{
    return record->count && bsearch(&path, record->files, record->count, sizeof *record->files, hub_by_text);
}

static enum hub_status against_hub(struct verifier *v, struct minari_client *client, const char *id,
                                   const char *directory, struct hub_error *err)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files plan = {0};
    HUB_TRY(hub_remote_list_files(&client->remote, id, NULL, &plan, err));
    HUB_CLEANUP(hub_record_dispose) struct hub_record record = {0};
    HUB_CLEANUP(hub_freep) struct hub_file_facts *files = NULL; /* borrowed */
    HUB_TRY(hub_new(&files, plan.count + 1, sizeof *files, err));
    (void)!hub_record_read(directory, &record, NULL); /* empty where there is none */
    for (size_t i = 0; i < plan.count; i++)
        if (!record.partial || has_file(&record, plan.items[i].path))
            files[v->count++] = plan.items[i];
    snprintf(v->result->revision, sizeof v->result->revision, "%.40s", plan.revision);
    v->result->against_hub = true;
    v->files = files;
    return compare_all(v, directory, err);
}

enum minari_status minari_dataset_verify(struct minari_client *client, const char *id, const char *directory,
                                         minari_file_state_fn fn, void *user,
                                         struct minari_verify_result *result, struct minari_error *err)
{
    struct hub_error error = {0};
    struct minari_verify_result own;
    struct verifier v = {.fn = fn, .user = user, .result = result ? result : &own};
    *v.result = (struct minari_verify_result){0};
    if (!directory)
        return hub_client_report(hub_fail(&error, HUB_INVALID, "a directory is needed"), &error, err);
    const enum hub_status st =
        client && id ? against_hub(&v, client, id, directory, &error) : against_record(&v, directory, &error);
    return hub_client_report(st, &error, err);
}

/* ---- removal, and what is unfinished ---- */

static enum hub_status delete (const char *root, const char *id, struct hub_error *err) {
    HUB_CLEANUP(hub_private_close) struct hub_private place;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf folder = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_private_open(root, true, &place, err));
    HUB_TRY(hub_id_folder(hub_view_of(id), &folder, err));
    HUB_TRY(hub_folder_check(hub_buf_view(&folder), err));
    const enum hub_status partial = hub_staging_discard(&place, folder.data, err);
    if (partial && partial != HUB_NOT_FOUND) return partial;
    const enum hub_status st = hub_withdraw(&place, folder.data, NULL, err);
    return st == HUB_NOT_FOUND && !partial ? HUB_OK : st;
}

enum minari_status minari_dataset_delete(const char *root, const char *id, struct minari_error *err)
{
    struct hub_error error = {0};
    const enum hub_status st =
        root && id ? delete (root, id, &error) : hub_fail(&error, HUB_INVALID, "a root and an id are needed");
    return hub_client_report(st, &error, err);
}

struct partial_walk {
    minari_partial_fn fn;
    void *user;
};

static int hand_over(const struct hub_staged *d, void *user)
{
    const struct partial_walk *p = user;
    const struct minari_partial out = {.id = d->id,
                                       .bytes_total = d->bytes,
                                       .percent =
                                           d->segments ? (unsigned)(d->segments_done * 100 / d->segments) : 0,
                                       .running = d->running};
    return p->fn(&out, p->user);
}

static enum hub_status each_partial(const char *root, struct partial_walk *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place;
    const enum hub_status st = hub_private_open(root, false, &place, err);
    if (st)
        return st == HUB_NOT_FOUND || st == HUB_DENIED ? HUB_OK : st; /* nothing of ours is there */
    return hub_staging_each(&place, hand_over, p, err);
}

enum minari_status minari_partial_each(const char *root, minari_partial_fn fn, void *user,
                                       struct minari_error *err)
{
    struct hub_error error = {0};
    struct partial_walk p = {fn, user};
    const enum hub_status st = root && fn ? each_partial(root, &p, &error)
                                          : hub_fail(&error, HUB_INVALID, "a root and a function are needed");
    return hub_client_report(st, &error, err);
}
