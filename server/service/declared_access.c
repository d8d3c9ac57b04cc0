/* Access out of the configuration: see declared_access.h. */
#include "server/service/declared_access.h"

#include "storage/io/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static enum hub_status read_lines(const json_t *lines, struct hub_access_rules *out, struct hub_error *err)
{
    size_t i;
    const json_t *line;
    json_array_foreach(lines, i, line)
    {
        struct hub_error why = {0};
        const enum hub_status st =
            hub_access_rules_read(out, hub_view_of(json_string_value(line)), true, &why);
        if (st)
            return hub_fail(err, st, "[access] set = %.80s: %.400s", json_string_value(line), why.detail);
    }
    return HUB_OK;
}

/* A new token, for the owner of the file alone; never over a file that is there. */
static enum hub_status make_file(const char *path, struct hub_error *err)
{
    char text[HUB_TOKEN_TEXT + 2] = "";
    HUB_TRY(hub_token_make(text, err));
    text[HUB_TOKEN_TEXT] = '\n';
    HUB_CLEANUP(hub_closep) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    enum hub_status st = fd < 0 ? hub_fail_errno(err, errno, "making the token file %s", path)
                                : hub_fs_write_fd(fd, (struct hub_view){text, HUB_TOKEN_TEXT + 1}, err);
    if (!st && fsync(fd))
        st = hub_fail_errno(err, errno, "writing the token file %s", path);
    explicit_bzero(text, sizeof text);
    return st;
}

static enum hub_status read_file(const char *path, struct hub_token *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * KIB);
    const enum hub_status st = hub_fs_read(AT_FDCWD, path, &text, err);
    if (st)
        return st;
    struct hub_view token = hub_buf_view(&text);
    while (token.size && strchr(" \t\r\n", token.data[token.size - 1]))
        token.size--;
    return hub_token_well_formed(token)
               ? hub_token_digest(token, out, err)
               : hub_fail(err, HUB_INVALID,
                          "%s holds no access token of a hub: remove it, and a hub that starts makes one",
                          path);
}

static enum hub_status add_file(const char *path, const char *name, bool make,
                                struct hub_declared_access *out, struct hub_error *err)
{
    struct hub_token token = {.from_file = true};
    if (access(path, F_OK) != 0) {
        if (!make)
            return HUB_OK;
        HUB_TRY(make_file(path, err));
    }
    snprintf(token.name, sizeof token.name, "%s", name);
    HUB_TRY(read_file(path, &token, err));
    out->tokens[out->token_count++] = token;
    return HUB_OK;
}

enum hub_status hub_access_declare(const struct hub_config *config, bool make,
                                   struct hub_declared_access *out, struct hub_error *err)
{
    *out = (struct hub_declared_access){0};
    if (config->read_token_file) {
        HUB_TRY(hub_access_rules_read(&out->rules, HUB_VIEW("* none"), true, err));
        HUB_TRY(
            hub_access_rules_read(&out->rules, HUB_VIEW("token:" HUB_READ_TOKEN_NAME " read"), true, err));
        HUB_TRY(add_file(config->read_token_file, HUB_READ_TOKEN_NAME, make, out, err));
    }
    if (config->write_token_file) {
        HUB_TRY(
            hub_access_rules_read(&out->rules, HUB_VIEW("token:" HUB_WRITE_TOKEN_NAME " write"), true, err));
        HUB_TRY(add_file(config->write_token_file, HUB_WRITE_TOKEN_NAME, make, out, err));
    }
    /* what the lines say of the same WHO and PREFIX comes last, and wins */
    return read_lines(config->access, &out->rules, err);
}

enum hub_status hub_access_reload(const struct hub_config *config, struct hub_live_access *live,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_declared_access_dispose) struct hub_declared_access declared = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *lines = NULL;
    struct hub_config now = *config; /* all but the lines is borrowed */
    HUB_TRY(hub_config_read_access(config, &lines, err));
    now.access = lines;
    HUB_TRY(hub_access_declare(&now, true, &declared, err));
    return hub_live_access_redeclare(live, &declared, err);
}
