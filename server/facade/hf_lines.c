/* See hf_lines.h. */
#include "server/facade/hf_lines.h"

#include <string.h>

void hub_hf_line_dispose(struct hub_hf_line *line)
{
    json_decref(line->document);
    *line = (struct hub_hf_line){0};
}

static const char *text_of(const json_t *value, const char *key)
{
    return json_string_value(json_object_get(value, key));
}

static enum hub_status read_header(json_t *value, struct hub_hf_line *out, struct hub_error *err)
{
    out->title = text_of(value, "summary");
    out->message = text_of(value, "description");
    out->parent = text_of(value, "parentCommit");
    out->title = out->title ? out->title : "";
    out->message = out->message ? out->message : "";
    if (strlen(out->title) > HUB_HF_TITLE || strlen(out->message) > HUB_HF_MESSAGE)
        return hub_fail(err, HUB_TOO_BIG, "a summary has at most %d bytes, and a description %d",
                        HUB_HF_TITLE, HUB_HF_MESSAGE);
    return HUB_OK;
}

static enum hub_status read_file(json_t *value, struct hub_hf_line *out, struct hub_error *err)
{
    const json_t *content = json_object_get(value, "content");
    const char *encoding = text_of(value, "encoding");
    if (!json_is_string(content) || !encoding || strcmp(encoding, "base64") != 0)
        return hub_fail(err, HUB_INVALID, "the content of '%.300s' is not base64", out->path);
    out->content = (struct hub_view){json_string_value(content), json_string_length(content)};
    return HUB_OK;
}

static enum hub_status read_lfs(json_t *value, struct hub_hf_line *out, struct hub_error *err)
{
    const char *algo = text_of(value, "algo"), *oid = text_of(value, "oid");
    if ((algo && strcmp(algo, "sha256") != 0) || !oid ||
        !hub_unhex(hub_view_of(oid), out->sha256, sizeof out->sha256))
        return hub_fail(err, HUB_INVALID, "'%.300s' names no object by its SHA-256", out->path);
    return HUB_OK;
}

static enum hub_status read_deleted(json_t *value, struct hub_hf_line *out, struct hub_error *err)
{
    (void)value;
    (void)out;
    (void)err;
    return HUB_OK;
}

/* "videos/" and "./" and "/" all are folders as clients write them. */
static enum hub_status read_folder(json_t *value, struct hub_hf_line *out, struct hub_error *err)
{
    const json_t *text = json_object_get(value, "path");
    size_t size = json_string_length(text);
    (void)err;
    while (size && out->path[size - 1] == '/')
        size--;
    json_t *folder = json_stringn(out->path, size);
    if (!folder || json_object_set_new(value, "path", folder))
        return hub_fail(err, HUB_NO_MEMORY, "no memory for a line of a commit");
    out->path = json_string_value(folder);
    if (strcmp(out->path, ".") == 0)
        out->path += 1;
    return HUB_OK;
}

/* One row a kind of line. */
static const struct {
    const char *key;
    enum hub_hf_line_kind kind;
    enum hub_status (*read)(json_t *value, struct hub_hf_line *out, struct hub_error *err);
} kinds[] = {{"header", HUB_HF_HEADER, read_header},
             {"file", HUB_HF_FILE, read_file},
             {"lfsFile", HUB_HF_LFS_FILE, read_lfs},
             {"deletedFile", HUB_HF_DELETED_FILE, read_deleted},
             {"deletedFolder", HUB_HF_DELETED_FOLDER, read_folder}};

static bool is_blank(struct hub_view text)
{
    for (size_t i = 0; i < text.size; i++)
        if (!strchr(" \t\r", text.data[i]))
            return false;
    return true;
}

enum hub_status hub_hf_line_read(struct hub_view text, struct hub_hf_line *out, struct hub_error *err)
{
    *out = (struct hub_hf_line){.kind = HUB_HF_NOTHING};
    if (is_blank(text))
        return HUB_OK;
    struct hub_error why = {0};
    const enum hub_status st = hub_json_parse(text, HUB_HF_LINE, &out->document, &why);
    if (st)
        return hub_fail(err, st == HUB_TOO_BIG ? st : HUB_INVALID, "a line of the commit is not JSON: %s",
                        why.detail);
    const char *key = text_of(out->document, "key");
    json_t *value = json_object_get(out->document, "value");
    out->path = text_of(value, "path");
    for (size_t i = 0; key && json_is_object(value) && i < HUB_COUNT(kinds); i++) {
        if (strcmp(key, kinds[i].key) != 0)
            continue;
        out->kind = kinds[i].kind;
        return out->path || out->kind == HUB_HF_HEADER
                   ? kinds[i].read(value, out, err)
                   : hub_fail(err, HUB_INVALID, "a line \"%s\" of the commit has no path", key);
    }
    return hub_fail(err, HUB_INVALID,
                    "a line of the commit is not one of header, file, lfsFile, deletedFile, deletedFolder");
}
