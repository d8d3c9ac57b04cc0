/* Tokens of hubs: see tokens.h. The file is {"http://hub:8080": "mh_..."}, of texts without escapes. */
#include "client/cli/tokens.h"

#include "client/lib/internal.h"
#include "storage/io/fs.h"
#include "storage/text/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

enum { FILE_BYTES = 256 * 1024, FOR_USER = 0600, FOLDER_FOR_USER = 0700 };

/* ---- secrets ---- */

void tokens_free(char *token)
{
    if (token)
        explicit_bzero(token, strlen(token));
    free(token);
}

static void wipe(struct hub_buf *buf)
{
    if (buf->data)
        explicit_bzero(buf->data, buf->capacity);
    hub_buf_dispose(buf);
}

bool tokens_open_to_others(unsigned mode)
{
    return mode & (S_IRWXG | S_IRWXO);
}

enum hub_status tokens_take(struct hub_view text, char **out, struct hub_error *err)
{
    static const char blanks[] = " \t\r\n";
    while (text.size && memchr(blanks, text.data[text.size - 1], sizeof blanks))
        text.size--;
    for (; text.size && memchr(blanks, *text.data, sizeof blanks); text.size--)
        text.data++;
    if (!text.size)
        return hub_fail(err, HUB_INVALID, "there is no token in it");
    char *token = hub_view_dup(text);
    HUB_TRY(hub_allocated(token, err));
    if (strlen(token) == text.size && hub_client_takes_token(token)) {
        *out = token;
        return HUB_OK;
    }
    tokens_free(token);
    return hub_fail(err, HUB_INVALID, "it is not a token: check that it was copied whole, and nothing else");
}

enum hub_status tokens_read(int fd, char **out, struct hub_error *err)
{
    HUB_CLEANUP(wipe) struct hub_buf text = HUB_BUF_INIT(TOKENS_CHARS);
    HUB_TRY(hub_buf_reserve(&text, TOKENS_CHARS, err)); /* at once: what moves leaves a copy behind */
    HUB_TRY(hub_fs_read_fd(fd, &text, err));
    return tokens_take(hub_buf_view(&text), out, err);
}

/* ---- names ---- */

bool tokens_url(const char *address, char out[TOKENS_URL])
{
    struct minari_remote remote;
    if (minari_remote_parse(address, &remote, NULL) || remote.kind != MINARI_REMOTE_HUB)
        return false;
    char *host = strstr(remote.text, "://") + 3, *end;
    host[strcspn(host, "/")] = '\0';
    const unsigned long implied = host - remote.text == sizeof "https://" - 1 ? 443 : 80;
    char *colon = strrchr(host, ':');
    unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;
    if (colon && (!colon[1] || *end)) /* within the brackets of an IPv6 address */
        colon = NULL;
    if (colon)
        *colon = '\0';
    for (char *c = remote.text; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    snprintf(out, TOKENS_URL, "%s", remote.text);
    if (colon && port != implied)
        snprintf(out + strlen(out), TOKENS_URL - strlen(out), ":%lu", port);
    return true;
}

bool tokens_path(char out[PATH_MAX])
{
    const char *set = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int n = -1;
    if (set && *set == '/') /* a relative one is to be ignored, says its specification */
        n = snprintf(out, PATH_MAX, "%s/minari/tokens.json", set);
    else if (home && *home)
        n = snprintf(out, PATH_MAX, "%s/.config/minari/tokens.json", home);
    return n > 0 && n < PATH_MAX;
}

/* ---- the file ---- */

static enum hub_status damaged(const char *path, struct hub_error *err)
{
    return hub_fail(err, HUB_CORRUPT, "'%s' is damaged: remove it and log in again", path);
}

static bool is_plain(struct hub_view text)
{
    return text.size && !memchr(text.data, '\\', text.size);
}

static bool is_whole(struct hub_view text)
{
    struct hub_view key, value;
    bool good = hub_json_valid(text, HUB_JSON_OBJECT);
    while (good && hub_json_take(&text, &key, &value))
        good = is_plain(key) && is_plain(value) && value.data[0] == '"';
    return good;
}

/* Nothing where there is no file. */
static enum hub_status read_file(const char *path, struct hub_buf *text, struct hub_error *err)
{
    struct stat st;
    HUB_CLEANUP(hub_closep) const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return HUB_OK;
    if (fd < 0 || fstat(fd, &st))
        return hub_fail_errno(err, errno, "'%s' cannot be opened", path);
    if (tokens_open_to_others(st.st_mode))
        return hub_fail(err, HUB_DENIED,
                        "others may read '%s', so the tokens in it are not used: chmod 600 '%s'", path, path);
    HUB_TRY(hub_buf_reserve(text, FILE_BYTES, err));
    HUB_TRY(hub_fs_read_fd(fd, text, err));
    return is_whole(hub_buf_view(text)) ? HUB_OK : damaged(path, err);
}

static struct hub_view find(struct hub_view text, const char *url)
{
    struct hub_view key, value;
    while (hub_json_take(&text, &key, &value))
        if (hub_view_is(key, url))
            return (struct hub_view){value.data + 1, value.size - 2};
    return (struct hub_view){NULL, 0};
}

enum hub_status tokens_get(const char *path, const char *url, char **out, struct hub_error *err)
{
    HUB_CLEANUP(wipe) struct hub_buf text = HUB_BUF_INIT(FILE_BYTES);
    HUB_TRY(read_file(path, &text, err));
    const struct hub_view found = find(hub_buf_view(&text), url);
    *out = NULL;
    return found.size && tokens_take(found, out, NULL) ? damaged(path, err) : HUB_OK;
}

/* All but that of `url`, and then that, if there is one. */
static enum hub_status write_text(struct hub_view old, const char *url, const char *token,
                                  struct hub_buf *out, struct hub_error *err)
{
    struct hub_view key, value;
    HUB_TRY(hub_buf_reserve(out, FILE_BYTES, err));
    struct hub_json json = hub_json_to(out, err);
    hub_json_object(&json);
    while (hub_json_take(&old, &key, &value)) {
        if (hub_view_is(key, url))
            continue;
        hub_json_key(&json, key);
        hub_json_raw(&json, value);
    }
    hub_json_put_text(&json, url, token);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_buf_add_text(out, "\n", err);
}

/* Its folder, made and for the user alone; locked until it is closed, so that no change is lost. */
static enum hub_status lock_folder(const char *path, int *fd, struct hub_error *err)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    HUB_TRY(hub_fs_make_dirs(AT_FDCWD, folder, FOLDER_FOR_USER, err));
    *fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0 || fchmod(*fd, FOLDER_FOR_USER))
        return hub_fail_errno(err, errno, "'%s' cannot be used", folder);
    (void)flock(*fd, LOCK_EX); /* some file systems have no locks */
    return HUB_OK;
}

enum hub_status tokens_put(const char *path, const char *url, const char *token, bool *had,
                           struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int folder = -1;
    HUB_CLEANUP(wipe) struct hub_buf old = HUB_BUF_INIT(FILE_BYTES);
    HUB_CLEANUP(wipe) struct hub_buf out = HUB_BUF_INIT(FILE_BYTES);
    *had = false;
    if (!token && access(path, F_OK)) /* nothing is kept: no folder needs to be made */
        return HUB_OK;
    HUB_TRY(lock_folder(path, &folder, err));
    HUB_TRY(read_file(path, &old, err));
    *had = find(hub_buf_view(&old), url).size > 0;
    HUB_TRY(write_text(hub_buf_view(&old), url, token, &out, err));
    return hub_fs_write(AT_FDCWD, path, hub_buf_view(&out), FOR_USER, err);
}
