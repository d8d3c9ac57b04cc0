/* Datasets out of a tar: see import.h. */
#include "storage/transfer/import_sets.h"

#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/ids/revision.h"
#include "storage/ids/spell.h"
#include "storage/io/fs.h"
#include "storage/text/number.h"
#include "storage/transfer/publish.h"
#include "storage/transfer/spaces.h"
#include "storage/transfer/staging.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What it is staged under: no dataset has such an id. */
static const char staged[] = "~import";

#define RECORD_BYTES (1 * GIB)
enum { UNLISTED_NAMES = 4 };

static void notify(const struct hub_import *im, const char *fmt, ...) HUB_PRINTF(2, 3);
static void notify(const struct hub_import *im, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    if (!im->notice)
        return;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    im->notice(line, im->user);
}

static const char space_file[] = "namespace_metadata.json";

/* ---- what each is called, and its files ---- */

static enum hub_status name_set(const struct hub_import *im, struct hub_imported *set, struct hub_error *err)
{
    const bool one = hub_import_names_one(im);
    if (!*set->root && !one)
        return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, "as", im->as,
                              "the tar does not name the dataset: give it a name with --as NAME");
    const size_t size = im->within && !im->as ? strlen(im->within) : 0;
    const bool begins = size && strncmp(set->root, im->within, size) == 0 && set->root[size] == '/';
    if (asprintf(&set->target, "%s%s", im->as ? im->as : "", one ? "" : set->root + (begins ? size + 1 : 0)) <
        0) {
        set->target = NULL;
        return hub_no_memory(err);
    }
    struct hub_error why = {0};
    if (hub_folder_check(hub_view_of(set->target), &why))
        return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_BAD_ID, "'%.200s' is not a valid id here: %s",
                           set->target, why.detail);
    return HUB_OK;
}

static enum hub_status find_files(const struct hub_import *im, struct hub_imported *set,
                                  struct hub_error *err)
{
    const struct hub_unpack *u = &im->unpack;
    HUB_CLEANUP(hub_freep) char *below = NULL;
    const size_t size = strlen(set->root);
    if (asprintf(&below, "%s%s", set->root, size ? "/" : "") < 0)
        return hub_no_memory(err);
    const struct hub_view key = {below, strlen(below)};
    set->first = key.size ? hub_lower_bound(&key, u->files, u->count, sizeof *u->files, hub_view_by_text) : 0;
    for (uint32_t i = set->first; i < u->count && strncmp(u->files[i].path, below, key.size) == 0; i++) {
        set->count++;
        set->bytes += u->files[i].size;
    }
    return HUB_OK;
}

static bool is_there(const struct hub_private *place, const char *target)
{
    HUB_CLEANUP(hub_closep) int parent = -1;
    const char *name;
    return !hub_private_parent(place, target, false, &parent, &name, NULL) &&
           !faccessat(parent, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

static enum hub_status check_target(const struct hub_import *im, const char *target, struct hub_error *err)
{
    if (!is_there(im->place, target))
        return HUB_OK;
    if (!im->replace)
        return hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                           "'%.200s' already exists: --replace replaces it by that of the tar, --as NAME/ "
                           "puts the new one elsewhere",
                           target);
    return hub_publish_replaceable(im->place, target, err);
}

static bool in_set(const struct hub_import *im, const char *path)
{
    for (const char *slash = path; (slash = strchr(slash, '/')); slash++)
        if (hub_import_around(im, path, (size_t)(slash - path)))
            return true;
    return hub_import_around(im, path, 0) != NULL;
}

/* A folder of a root's name and one without it may come to the same place, or into each other. */
static enum hub_status check_apart(const struct hub_import *im, uint32_t set, struct hub_error *err)
{
    const char *target = im->sets[set].target;
    for (uint32_t i = 0; i < set; i++) {
        const char *other = im->sets[i].target;
        const size_t size = HUB_MIN(strlen(target), strlen(other));
        if (strncmp(target, other, size) == 0 && (!target[size] || target[size] == '/') &&
            (!other[size] || other[size] == '/'))
            return hub_fail(err, HUB_INVALID,
                            "two datasets of the tar have the folder '%.200s': nothing is imported",
                            strlen(target) < strlen(other) ? target : other);
    }
    return HUB_OK;
}

static enum hub_status finish_sets(struct hub_import *im, struct hub_error *err)
{
    uint64_t loose = 0;
    if (!im->count)
        return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_NO_DATASET, "as", im->as,
                              "the tar holds no dataset: %u files, none of them in a folder; --as NAME makes "
                              "them one dataset",
                              im->unpack.count);
    if (hub_import_names_one(im) && im->count > 1)
        return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, "as", im->as,
                              "the tar holds %u datasets: --as %.100s/ puts that before their ids", im->count,
                              im->as);
    for (uint32_t i = 0; i < im->unpack.count; i++)
        loose +=
            !hub_path_is_named(im->unpack.files[i].path, space_file) || in_set(im, im->unpack.files[i].path);
    for (uint32_t i = 0; i < im->count; i++) {
        HUB_TRY(name_set(im, &im->sets[i], err));
        HUB_TRY(check_apart(im, i, err));
        HUB_TRY(check_target(im, im->sets[i].target, err));
        HUB_TRY(find_files(im, &im->sets[i], err));
        loose -= im->sets[i].count;
    }
    if (im->unpack.hidden)
        notify(im, "%llu hidden files are left out", (unsigned long long)im->unpack.hidden);
    if (loose)
        notify(im, "%llu files that belong to no dataset are left out", (unsigned long long)loose);
    return HUB_OK;
}

/* ---- their digests ---- */

/* Of a set by its path in it, which a record may have spelled. */
static struct hub_file_facts *find_file(const struct hub_import *im, const struct hub_imported *set,
                                        const char *path)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf raw = HUB_BUF_INIT(64 * KIB);
    const char *between = *set->root ? "/" : "";
    struct hub_file_facts *files = im->unpack.files + set->first, *found;
    if (hub_buf_addf(&raw, NULL, "%s%s%s", set->root, between, path))
        return NULL;
    found = bsearch(&raw.data, files, set->count, sizeof *files, hub_by_text);
    if (found || !strchr(path, '\\'))
        return found;
    raw.size = 0;
    if (hub_buf_addf(&raw, NULL, "%s%s", set->root, between) || hub_unspell(hub_view_of(path), &raw, NULL))
        return NULL;
    return bsearch(&raw.data, files, set->count, sizeof *files, hub_by_text);
}

/* Name the files that the record does not list: they have no digest. */
static void name_unlisted(const struct hub_import *im, struct hub_imported *set)
{
    char names[900] = "";
    for (uint32_t i = set->first; i < set->first + set->count; i++) {
        const struct hub_file_facts *file = &im->unpack.files[i];
        const size_t at = strlen(names);
        if (!file->computed || hub_path_is_named(file->path, HUB_RECORD_FILE))
            continue;
        if (set->unlisted++ < UNLISTED_NAMES)
            snprintf(names + at, sizeof names - at, "%s'%.200s'", at ? ", " : "", file->path);
    }
    if (set->unlisted)
        notify(im, "%u file%s without a digest in the tar: %s%s", set->unlisted, hub_plural(set->unlisted),
               names, set->unlisted > UNLISTED_NAMES ? ", ..." : "");
}

/* A record of a copy may have another digest than the one that was computed while the tar was unpacked. */
static enum hub_status agrees(const struct hub_staging *s, const struct hub_file_facts *is,
                              const struct hub_file_facts *expected, bool *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    HUB_CLEANUP(hub_sums_dispose) struct hub_sums sums = {.has_sha256 = true};
    memcpy(sums.sha256, is->sha256, sizeof sums.sha256);
    *out = is->size == expected->size;
    if (*out && !expected->has_sha256) {
        HUB_TRY(hub_fs_open_beneath(s->tree, is->path, O_RDONLY, HUB_FS_NO_LINKS, &fd, err));
        HUB_TRY(hub_sums_of(fd, expected, NULL, NULL, &sums, err));
    }
    *out = *out && hub_sums_agree(&sums, expected);
    return HUB_OK;
}

static enum hub_status verify(const struct hub_import *im, const struct hub_staging *s,
                              struct hub_imported *set, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf folder = HUB_BUF_INIT(2 * PATH_MAX);
    if (!set->recorded)
        return HUB_OK;
    HUB_TRY(hub_buf_addf(&folder, err, "%s/tree/%s", s->path, set->root));
    if (hub_record_read(folder.data, &set->record, NULL))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_DIGEST_MISMATCH,
                           "'%.200s/" HUB_RECORD_FILE "' is not a record of a dataset", set->root);
    for (size_t i = 0; i < set->record.count; i++) {
        const struct hub_file_facts *says = &set->record.files[i];
        bool good;
        struct hub_file_facts *is = find_file(im, set, says->path);
        if (!is)
            return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_DIGEST_MISMATCH,
                               "'%.200s' of '%.200s' is not in the tar, though its record lists it",
                               says->path, set->root);
        HUB_TRY(agrees(s, is, says, &good, err));
        if (!good)
            return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_DIGEST_MISMATCH,
                               "'%.200s' of '%.200s' does not match its record: its %s differs", says->path,
                               set->root, hub_file_digest_name(says));
        set->verified += is->computed;
        is->computed = false;
    }
    name_unlisted(im, set);
    return HUB_OK;
}

/* A name of its own in the new record: as it is, or where a record cannot say that, spelled. */
static enum hub_status record_file(struct hub_json *json, const struct hub_imported *set,
                                   const struct hub_file_facts *file, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf spelled = HUB_BUF_INIT(64 * KIB);
    const char *path = file->path + strlen(set->root) + (*set->root != '\0');
    char hex[2 * HUB_SHA256_BYTES + 1];
    if (hub_path_check(path, NULL)) {
        HUB_TRY(hub_spell_path(hub_view_of(path), &spelled, err));
        path = spelled.data;
    }
    hub_hex(file->sha256, sizeof file->sha256, hex);
    hub_record_file(json, path, file->size, hex, !file->computed ? "hub" : "computed");
    return HUB_OK;
}

static enum hub_status revision_of(const struct hub_import *im, const struct hub_imported *set,
                                   char out[HUB_REVISION_CHARS + 1], struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_revision_file *facts = NULL;
    const size_t cut = strlen(set->root) + (*set->root != '\0');
    HUB_TRY(hub_new(&facts, set->count + 1, sizeof *facts, err));
    for (uint32_t i = 0; i < set->count; i++) {
        const struct hub_file_facts *f = &im->unpack.files[set->first + i];
        facts[i] =
            (struct hub_revision_file){.path = f->path + cut, .size = f->size, .mtime_ns = f->modified_ns};
    }
    return hub_revision(facts, set->count, out, err);
}

static enum hub_status write_record(const struct hub_import *im, const struct hub_staging *s,
                                    const struct hub_imported *set, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf text = HUB_BUF_INIT(RECORD_BYTES), path = HUB_BUF_INIT(PATH_MAX);
    const struct hub_record *old = &set->record;
    struct hub_json json = hub_json_to(&text, err);
    char revision[HUB_REVISION_CHARS + 1];
    HUB_TRY(revision_of(im, set, revision, err));
    hub_record_begin(&json, old->id && *old->id ? old->id : set->target,
                     old->remote && *old->remote ? old->remote : NULL, revision);
    if (old->partial)
        hub_json_put_bool(&json, "partial", true);
    hub_json_put_array(&json, "files");
    for (uint32_t i = 0; i < set->count; i++)
        if (!hub_path_is_named(im->unpack.files[set->first + i].path, HUB_RECORD_FILE))
            HUB_TRY(record_file(&json, set, &im->unpack.files[set->first + i], err));
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    HUB_TRY(hub_buf_addf(&path, err, "%s%s" HUB_RECORD_FILE, set->root, *set->root ? "/" : ""));
    return hub_fs_write(s->tree, path.data, hub_buf_view(&text), 0644, err);
}

/* ---- publishing ---- */

/* Files and the folders above them, as those of a download. */
static enum hub_status sync_all(const struct hub_import *im, struct hub_staging *s, struct hub_error *err)
{
    const struct hub_remote_files plan = {.items = im->unpack.files, .count = im->unpack.count};
    s->plan = &plan;
    const enum hub_status st = hub_staging_sync(s, NULL, err);
    s->plan = NULL;
    return st;
}

static enum hub_status publish(const struct hub_import *im, const struct hub_staging *s,
                               const struct hub_imported *set, struct hub_error *err)
{
    struct hub_staging own = HUB_STAGING_INIT;
    char tree[64];
    enum hub_status st = hub_staging_open(im->place, set->target, &own, err);
    if (!st)
        st = hub_staging_clear(&own, err);
    if (!st &&
        renameat(*set->root ? s->tree : s->directory, *set->root ? set->root : "tree", own.directory, "tree"))
        st = hub_fail_errno(err, errno, "'%.200s' cannot be moved", set->target);
    snprintf(tree, sizeof tree, "incoming/%s/tree", own.key);
    if (!st)
        st = hub_publish(im->place, set->target, tree, im->replace, false, err);
    hub_staging_close(&own, true);
    return st;
}

/* namespace_metadata.json of the folders above the datasets, where there is none. */
static enum hub_status put_spaces(const struct hub_import *im, const struct hub_staging *s,
                                  struct hub_error *err)
{
    for (uint32_t i = 0; i < im->unpack.count && !hub_import_names_one(im); i++) {
        HUB_CLEANUP(hub_freep) char *space = NULL;
        const char *path = im->unpack.files[i].path;
        if (!hub_path_is_named(path, space_file))
            continue;
        const size_t size = strlen(path) - strlen(space_file);
        for (uint32_t k = 0; size && k < im->count; k++)
            if (strncmp(im->sets[k].root, path, size) == 0) {
                /* as far above the dataset as in the tar */
                const size_t below = strlen(im->sets[k].root) - size, all = strlen(im->sets[k].target);
                if (below >= all)
                    break; /* the root itself */
                if (asprintf(&space, "%.*s", (int)(all - below), im->sets[k].target) < 0)
                    return hub_no_memory(err);
                HUB_TRY(hub_space_put(im->place, space, s->tree, path, err));
                break;
            }
    }
    return HUB_OK;
}

static enum hub_status publish_all(struct hub_import *im, const struct hub_staging *s, struct hub_error *err)
{
    if (im->tick)
        HUB_TRY(im->tick(im->user, err));
    for (; im->published < im->count; im->published++)
        HUB_TRY(publish(im, s, &im->sets[im->published], err));
    return put_spaces(im, s, err);
}

static enum hub_status run(struct hub_import *im, struct hub_staging *s, struct hub_error *err)
{
    HUB_TRY(hub_publish_recover(im->place, err));
    HUB_TRY(hub_staging_clear(s, err)); /* of one that was killed */
    HUB_TRY(hub_private_folder(s->directory, "tree", true, &s->tree, err));
    im->unpack = (struct hub_unpack){.fd = im->fd,
                                     .tree = s->tree,
                                     .where = s->path,
                                     .spare_bytes = im->spare_bytes,
                                     .tick = im->tick,
                                     .user = im->user};
    HUB_TRY(hub_unpack_run(&im->unpack, err));
    HUB_TRY(hub_import_find_sets(im, err));
    HUB_TRY(finish_sets(im, err));
    for (uint32_t i = 0; i < im->count; i++) {
        HUB_TRY(verify(im, s, &im->sets[i], err));
        HUB_TRY(write_record(im, s, &im->sets[i], err));
    }
    HUB_TRY(sync_all(im, s, err));
    return publish_all(im, s, err);
}

enum hub_status hub_import_run(struct hub_import *im, struct hub_error *err)
{
    struct hub_staging s = HUB_STAGING_INIT;
    enum hub_status st = hub_staging_open(im->place, staged, &s, err);
    if (st == HUB_BUSY)
        st = hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_IMPORT_RUNNING,
                         "another import into this root is running");
    const bool ours = !st;
    if (ours)
        st = run(im, &s, err);
    hub_staging_close(&s, ours);
    return st;
}

void hub_import_dispose(struct hub_import *im)
{
    for (uint32_t i = 0; i < im->count; i++)
        hub_imported_dispose(&im->sets[i]);
    free(im->sets);
    im->sets = NULL;
    im->count = 0;
    hub_unpack_dispose(&im->unpack);
}

void hub_import_tidy(const struct hub_private *place)
{
    (void)!hub_staging_discard(place, staged, NULL);
}
