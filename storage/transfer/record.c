/* .minari-hub.json: see record.h. */
#include "storage/transfer/record.h"

#include "storage/base/order.h"
#include "storage/io/fs.h"
#include "storage/text/time.h"
#include "storage/transfer/staging.h"

#include <fcntl.h>
#include <stdlib.h>

enum { RECORD_BYTES = 1024 * 1024 * 1024 };

/* What vouches for the digest, if not the remote itself: its other digest, or nothing. */
static const struct digest_source {
    const char *name;
    size_t size;
} said[] = {[HUB_NO_DIGEST] = {"computed", 0},
            [HUB_GIT_SHA1] = {"git-sha1", HUB_SHA1_BYTES},
            [HUB_BY_CRC32C] = {"crc32c", 4},
            [HUB_BY_MD5] = {"md5", HUB_MD5_BYTES}};

void hub_record_begin(struct hub_json *json, const char *id, const char *remote, const char *revision)
{
    hub_json_object(json);
    hub_json_put_int(json, "record", 1);
    hub_json_put_text(json, "id", id);
    if (remote)
        hub_json_put_text(json, "remote", remote);
    hub_json_put_text(json, "revision", revision);
}

/* @param sha256  NULL: not known */
static void put_members(struct hub_json *json, const char *path, uint64_t size, const char *sha256,
                        const char *origin)
{
    hub_json_put_text(json, "path", path);
    hub_json_put_uint(json, "size", size);
    if (sha256)
        hub_json_put_text(json, "sha256", sha256);
    hub_json_put_text(json, "origin", origin);
}

void hub_record_file(struct hub_json *json, const char *path, uint64_t size, const char *sha256,
                     const char *origin)
{
    hub_json_object(json);
    put_members(json, path, size, sha256, origin);
    hub_json_end_object(json);
}

/* Also what tells whether it is the same there and here, to whoever finds it. */
static void put_file(struct hub_json *json, const struct hub_file_facts *file)
{
    char hex[2 * HUB_SHA256_BYTES + 1], modified[HUB_TIME_CHARS];
    hub_json_object(json);
    hub_hex(file->sha256, HUB_SHA256_BYTES, hex);
    put_members(json, file->path, file->size, file->has_sha256 ? hex : NULL,
                file->has_sha256 && !file->computed ? "hub" : said[file->other].name);
    hub_time_rfc3339_ns(file->modified_ns, modified);
    hub_json_put_text(json, "modified", modified);
    hub_hex(file->sum, said[file->other].size, hex);
    if (file->other)
        hub_json_put_text(json, said[file->other].name, hex);
    hub_json_end_object(json);
}

enum hub_status hub_record_write(const struct hub_remote_files *plan, const char *remote, struct hub_buf *out,
                                 struct hub_error *err)
{
    char now[HUB_TIME_CHARS];
    struct hub_json json = hub_json_to(out, err);
    hub_time_rfc3339(hub_time_now_s(), now);
    hub_record_begin(&json, plan->id, remote, plan->revision);
    hub_json_put_text(&json, "downloaded", now);
    if (plan->partial)
        hub_json_put_bool(&json, "partial", true);
    hub_json_put_array(&json, "files");
    for (size_t i = 0; i < plan->count; i++)
        put_file(&json, &plan->items[i]);
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

static void read_said(const json_t *item, struct hub_file_facts *out)
{
    const char *modified = hub_member_text(item, "modified");
    if (!modified || !hub_time_parse_rfc3339(hub_view_of(modified), &out->modified_ns))
        out->modified_ns = 0;
    for (size_t i = HUB_NO_DIGEST + 1; i < HUB_COUNT(said); i++) {
        const char *hex = hub_member_text(item, said[i].name);
        if (hex && hub_unhex(hub_view_of(hex), out->sum, said[i].size))
            out->other = (uint8_t)i;
    }
}

static enum hub_status read_files(const json_t *array, struct hub_record *r, struct hub_error *err)
{
    const size_t n = json_array_size(array);
    HUB_TRY(hub_new(&r->files, n + 1, sizeof *r->files, err));
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(array, i);
        struct hub_file_facts *f = &r->files[i];
        const char *path = hub_member_text(item, "path"), *sha256 = hub_member_text(item, "sha256");
        const char *origin = hub_member_text(item, "origin");
        HUB_TRY(hub_path_check(path, err));
        f->has_sha256 = sha256 && hub_unhex(hub_view_of(sha256), f->sha256, HUB_SHA256_BYTES);
        f->size = hub_member_uint(item, "size");
        read_said(item, f);
        if (!f->has_sha256 && (sha256 || !f->other))
            return hub_fail(err, HUB_CORRUPT, "'%s' has no digest in the record", path);
        f->computed = !origin || strcmp(origin, "computed") == 0;
        f->path = strdup(path);
        HUB_TRY(hub_allocated(f->path, err));
        r->count++;
    }
    qsort(r->files, r->count, sizeof *r->files, hub_by_text);
    return HUB_OK;
}

static enum hub_status read_record(const char *path, struct hub_record *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(RECORD_BYTES);
    HUB_CLEANUP(hub_json_decrefp) json_t *doc = NULL;
    HUB_TRY(hub_fs_read(AT_FDCWD, path, &text, err));
    if (hub_json_parse(hub_buf_view(&text), RECORD_BYTES, &doc, NULL) || hub_member_uint(doc, "record") != 1)
        return hub_fail(err, HUB_CORRUPT, "'%s' is not a record of a download: remove it, or download again",
                        path);
    const char *id = hub_member_text(doc, "id"), *remote = hub_member_text(doc, "remote");
    const char *revision = hub_member_text(doc, "revision"), *commit = hub_member_text(doc, "commit");
    const char *downloaded = hub_member_text(doc, "downloaded");
    if (downloaded && hub_time_parse_rfc3339(hub_view_of(downloaded), &out->downloaded_s))
        out->downloaded_s /= 1000000000;
    out->id = strdup(id ? id : "");
    out->remote = strdup(remote ? remote : "");
    out->revision = strdup(revision ? revision : "");
    out->commit = strdup(commit ? commit : "");
    out->partial = json_is_true(json_object_get(doc, "partial"));
    HUB_TRY(hub_allocated(out->id && out->remote && out->revision && out->commit, err));
    return read_files(json_object_get(doc, "files"), out, err);
}

enum hub_status hub_record_read(const char *directory, struct hub_record *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(PATH_MAX);
    *out = (struct hub_record){0};
    HUB_TRY(hub_buf_addf(&path, err, "%s/" HUB_RECORD_FILE, directory));
    const enum hub_status st = read_record(path.data, out, err);
    if (st)
        hub_record_dispose(out);
    return st;
}

void hub_record_dispose(struct hub_record *record)
{
    for (size_t i = 0; record->files && i < record->count; i++)
        hub_file_facts_dispose(&record->files[i]);
    free(record->files);
    free(record->id);
    free(record->remote);
    free(record->revision);
    free(record->commit);
    *record = (struct hub_record){0};
}
