/* From settings as written to directories that are there and an address to listen on: see config.h. */
#include "server/config/config.h"
#include "storage/io/fs.h"
#include "storage/text/number.h"
#include "storage/text/options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* DIR of [NAME=]DIR[:ro]; a name has letters, digits, '-' and '_' only, so that a '=' inside a path is left
 * alone. */
static enum hub_status split_root(const char *text, char **name, char dir[PATH_MAX], bool *read_only,
                                  struct hub_error *err)
{
    size_t name_size = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
    *name = NULL;
    if (name_size > 0 && text[name_size] == '=') {
        *name = strndup(text, name_size);
        if (!*name)
            return hub_no_memory(err);
        text += name_size + 1;
    }
    struct hub_view rest = hub_view_of(text);
    *read_only = hub_view_ends(rest, ":ro");
    if (*read_only)
        rest.size -= 3;
    if (rest.size == 0 || rest.size >= PATH_MAX)
        return hub_fail(err, HUB_INVALID, "root \"%.80s\" does not name a directory", text);
    memcpy(dir, rest.data, rest.size);
    dir[rest.size] = '\0';
    return HUB_OK;
}

static enum hub_status absolute(const char *what, const char *dir, char out[PATH_MAX], struct hub_error *err)
{
    struct stat st;
    if (!realpath(dir, out))
        return errno == ENOENT
                   ? hub_fail(err, HUB_NOT_FOUND,
                              "%s %s does not exist: mount its disk, or make the directory (mkdir)", what,
                              dir)
                   : hub_fail_errno(err, errno, "%s %s", what, dir);
    if (stat(out, &st) || !S_ISDIR(st.st_mode))
        return hub_fail(err, HUB_INVALID, "%s %s is not a directory", what, dir);
    if (access(out, R_OK | X_OK))
        return hub_fail_errno(err, errno, "%s %s cannot be read", what, dir);
    return HUB_OK;
}

static enum hub_status add_root(struct hub_config *config, const char *text, struct hub_error *err)
{
    char dir[PATH_MAX], whole[PATH_MAX];
    HUB_CLEANUP(hub_freep) char *name = NULL;
    struct hub_roots *roots = &config->roots;
    bool read_only = false;
    HUB_TRY(split_root(text, &name, dir, &read_only, err));
    HUB_TRY(absolute("the root", dir, whole, err));
    for (uint32_t i = 0; i < roots->count; i++)
        if (hub_path_below(whole, roots->roots[i].path) || hub_path_below(roots->roots[i].path, whole))
            return hub_fail(err, HUB_INVALID,
                            "the roots %s and %s overlap: datasets in both would be listed twice",
                            roots->roots[i].path, whole);
    HUB_TRY(hub_roots_add(roots, whole, name, err));
    roots->roots[roots->count - 1].read_only = read_only;
    return HUB_OK;
}

static enum hub_status home_path(const char *variable, const char *below, const char *below_home,
                                 char out[PATH_MAX], struct hub_error *err)
{
    const char *base = variable ? getenv(variable) : NULL, *home = getenv("HOME");
    int n = base && base[0]   ? snprintf(out, PATH_MAX, "%s%s", base, below)
            : home && home[0] ? snprintf(out, PATH_MAX, "%s/%s", home, below_home)
                              : -1;
    if (n < 0 || n >= PATH_MAX)
        return hub_fail(err, HUB_INVALID, "HOME is not set: give --root DIR and --state DIR");
    return HUB_OK;
}

/* From here on the settings say what is in force: absolute directories, wherever the program was started. */
static enum hub_status keep_root(struct hub_config *config, uint32_t i, struct hub_error *err)
{
    const struct hub_root *root = &config->roots.roots[i];
    char *text;
    if (asprintf(&text, "%s%s%s%s", root->name ? root->name : "", root->name ? "=" : "", root->path,
                 root->read_only ? ":ro" : "") < 0)
        return hub_no_memory(err);
    free(config->root_texts.items[i]);
    config->root_texts.items[i] = text;
    return HUB_OK;
}

static enum hub_status keep_roots(struct hub_config *config, struct hub_error *err)
{
    const struct hub_usage_option *option = hub_option_named(hub_config_options, HUB_VIEW("root"));
    if (!config->root_texts.count)
        config->root_texts.items[0] = NULL;
    config->root_texts.count = config->roots.count;
    for (uint32_t i = 0; i < config->roots.count; i++)
        HUB_TRY(keep_root(config, i, err));
    unsigned char *from = &config->sources[option - hub_config_options.rows];
    *from = *from ? *from : 1; /* the default is printed too: it depends on who asks */
    return HUB_OK;
}

static enum hub_status find_roots(struct hub_config *config, struct hub_error *err)
{
    char path[PATH_MAX];
    for (uint32_t i = 0; i < config->root_texts.count; i++)
        HUB_TRY(add_root(config, config->root_texts.items[i], err));
    if (config->roots.count > 0)
        return HUB_OK;
    HUB_TRY(home_path("MINARI_DATASETS_PATH", "", ".minari/datasets", path, err));
    if (access(path, F_OK) != 0)
        return hub_fail(err, HUB_NOT_FOUND,
                        "the directory %s does not exist: name the directory of the datasets with --root DIR",
                        path);
    return add_root(config, path, err);
}

static const char *service_directory(void)
{
    const char *directory = getenv("STATE_DIRECTORY"); /* systemd; also set by the container image */
    return directory && directory[0] ? directory : NULL;
}

bool hub_config_names_state(const struct hub_config *config)
{
    return config->state || service_directory();
}

static enum hub_status state_path(const struct hub_config *config, char out[PATH_MAX], struct hub_error *err)
{
    const char *service = service_directory();
    if (config->state)
        snprintf(out, PATH_MAX, "%s", config->state);
    else if (service)
        snprintf(out, PATH_MAX, "%.*s", (int)strcspn(service, ":"), service);
    else
        return home_path("XDG_STATE_HOME", "/minari-hub", ".local/state/minari-hub", out, err);
    return HUB_OK;
}

enum hub_status hub_config_state(const struct hub_config *config, char **out, struct hub_error *err)
{
    char path[PATH_MAX];
    HUB_TRY(state_path(config, path, err));
    return hub_dup(out, path, err);
}

static enum hub_status find_state(struct hub_config *config, struct hub_error *err)
{
    char path[PATH_MAX], whole[PATH_MAX];
    HUB_TRY(state_path(config, path, err));
    HUB_TRY(hub_fs_make_dirs(AT_FDCWD, path, 0700, err));
    HUB_TRY(absolute("the state directory", path, whole, err));
    if (access(whole, W_OK))
        return hub_fail_errno(
            err, errno, "the state directory %s cannot be written: give another with --state DIR", whole);
    for (uint32_t i = 0; i < config->roots.count; i++)
        if (hub_path_below(whole, config->roots.roots[i].path))
            return hub_fail(err, HUB_INVALID,
                            "the state directory %s is inside the root %s: give another with --state DIR",
                            whole, config->roots.roots[i].path);
    free(config->state);
    config->state = NULL;
    return hub_dup(&config->state, whole, err);
}

/* "127.0.0.1:8080", "[::1]:8080", ":8080" (all addresses), "8080" (this machine), or "off": no address. */
static enum hub_status split_listen(struct hub_config *config, struct hub_error *err)
{
    const char *text = config->listen, *colon = strrchr(text, ':'), *port = colon ? colon + 1 : text;
    struct hub_view address = {text, colon ? (size_t)(colon - text) : 0};
    char *end = NULL;
    if (strcmp(text, "off") == 0)
        return HUB_OK;
    unsigned long n = strtoul(port, &end, 10);
    if (*port < '0' || *port > '9' || *end || n > 65535)
        return hub_fail(err, HUB_INVALID, "listen \"%.80s\" is not ADDR:PORT", text);
    if (address.size > 1 && address.data[0] == '[' && address.data[address.size - 1] == ']')
        address = (struct hub_view){address.data + 1, address.size - 2};
    else if (memchr(address.data, ':', address.size))
        return hub_fail(err, HUB_INVALID,
                        "listen \"%.80s\": an IPv6 address needs brackets, as in [::1]:8080", text);
    if (address.size == 0)
        address = colon ? HUB_VIEW("0.0.0.0") : HUB_VIEW("127.0.0.1");
    config->address = hub_view_dup(address);
    config->port = (uint16_t)n;
    return hub_allocated(config->address, err);
}

static enum hub_status find_inspector(struct hub_config *config, struct hub_error *err)
{
    char path[PATH_MAX];
    if (!config->inspector) {
        ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        path[n > 0 ? n : 0] = '\0';
        char *slash = strrchr(path, '/');
        size_t used = slash ? (size_t)(slash + 1 - path) : 0;
        snprintf(path + used, sizeof path - used, "minari-inspect");
        HUB_TRY(hub_dup(&config->inspector, path, err));
    }
    if (access(config->inspector, X_OK))
        return hub_fail_errno(err, errno, "the inspector %s (give another with --inspector PATH)",
                              config->inspector);
    return HUB_OK;
}

static enum hub_status check_targets(struct hub_config *config, struct hub_error *err)
{
    char whole[PATH_MAX];
    for (uint32_t i = 0; i < config->allow_targets.count; i++) {
        HUB_TRY(absolute("allow-target", config->allow_targets.items[i], whole, err));
        HUB_TRY(hub_roots_allow(&config->roots, whole, err));
    }
    return HUB_OK;
}

/* "https://host[:port][/path]", without a slash at the end. */
static enum hub_status check_hf_upstream(const struct hub_config *config, struct hub_error *err)
{
    char *url = config->hf_upstream;
    if (!url)
        return HUB_OK;
    const struct hub_view text = hub_view_of(url);
    const size_t scheme = hub_view_starts(text, "https://") ? 8 : hub_view_starts(text, "http://") ? 7 : 0;
    if (!scheme || !url[scheme] || url[scheme] == '/' || url[scheme + strcspn(url + scheme, "@?#\\ \t\"<>")])
        return hub_fail(
            err, HUB_INVALID,
            "hf-upstream \"%.200s\" is not an address like https://huggingface.co (a token comes from "
            "the clients)",
            url);
    for (size_t n = strlen(url); n && url[n - 1] == '/'; n--)
        url[n - 1] = '\0';
    return HUB_OK;
}

static enum hub_status check_hook(const struct hub_config *config, struct hub_error *err)
{
    const char *url = config->on_publish_url;
    if (!url)
        return HUB_OK;
    const struct hub_view text = hub_view_of(url);
    const size_t scheme = hub_view_starts(text, "https://") ? 8 : hub_view_starts(text, "http://") ? 7 : 0;
    return scheme && url[scheme] && !strchr("/?#", url[scheme]) && !url[strcspn(url, " \t\"<>\\")]
               ? HUB_OK
               : hub_fail(err, HUB_INVALID,
                          "on-publish-url \"%.200s\" is not an address like https://chat.example/hook", url);
}

/* "10/1m" or "off". */
static enum hub_status split_tries(struct hub_config *config, struct hub_error *err)
{
    static const struct hub_usage_option within = {
        0, "failed-tries", "TIME", NULL, NULL, HUB_OPTION_DURATION, 0, NULL, 1000, 86400000};
    const char *text = config->failed_tries, *slash = strchr(text, '/');
    if (strcmp(text, "off") == 0)
        return HUB_OK;
    if (!slash ||
        !hub_number_read((struct hub_view){text, (size_t)(slash - text)}, 1000000, &config->tries) ||
        !config->tries || hub_option_set(&within, slash + 1, &config->tries_ms, NULL))
        return hub_fail(err, HUB_INVALID,
                        "failed-tries \"%.80s\" is not N/TIME such as 10/1m, of a second to a day, or off",
                        text);
    return HUB_OK;
}

static enum hub_status check_auth_headers(const struct hub_config *config, struct hub_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    const struct {
        const char *option, *name;
    } headers[] = {{"auth-header", config->auth_header}, {"auth-groups-header", config->auth_groups_header}};
    for (size_t i = 0; i < HUB_COUNT(headers); i++)
        if (headers[i].name && (!headers[i].name[0] || headers[i].name[strspn(headers[i].name, letters)]))
            return hub_fail(err, HUB_INVALID,
                            "%s \"%.80s\" is not the name of a header such as X-Forwarded-User",
                            headers[i].option, headers[i].name);
    return config->auth_groups_header && !config->auth_header
               ? hub_fail(err, HUB_INVALID, "auth-groups-header needs auth-header, which names the user")
               : HUB_OK;
}

/* "lab/=2T", "lab=2T" or "=2T". */
static enum hub_status split_quota(const char *text, char **prefix, uint64_t *bytes, struct hub_error *err)
{
    static const struct hub_usage_option size = {
        0, "quota", "BYTES", NULL, NULL, HUB_OPTION_SIZE, 0, NULL, 0, 1024 * 1024 * GIB};
    const char *equals = strrchr(text, '=');
    if (!equals || hub_option_set(&size, equals + 1, bytes, NULL))
        return hub_fail(err, HUB_INVALID, "quota \"%.80s\" is not PREFIX=SIZE such as lab/=2T", text);
    struct hub_view name = {text, (size_t)(equals - text)};
    name.size -= name.size && name.data[name.size - 1] == '/';
    if (name.size && (!hub_path_plain(name) || strcspn(text, "\"\\\n") < name.size))
        return hub_fail(err, HUB_INVALID, "quota \"%.80s\": '%.*s' is not the beginning of ids", text,
                        (int)name.size, name.data);
    const bool made = asprintf(prefix, "%.*s%s", (int)name.size, name.data, name.size ? "/" : "") >= 0;
    if (!made)
        *prefix = NULL;
    return hub_allocated(made, err);
}

static enum hub_status split_quotas(struct hub_config *config, struct hub_error *err)
{
    for (uint32_t i = 0; i < config->quota_texts.count; i++) {
        HUB_TRY(split_quota(config->quota_texts.items[i], &config->quota_prefixes[i], &config->quota_bytes[i],
                            err));
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(config->quota_prefixes[i], config->quota_prefixes[k]) == 0)
                return hub_fail(err, HUB_INVALID, "quota: '%.80s' is given twice", config->quota_prefixes[i]);
    }
    return HUB_OK;
}

/* "lab/", "lab/arm" or "/". */
static enum hub_status check_prefixes(const struct hub_config *config, struct hub_error *err)
{
    for (uint32_t i = 0; i < config->refuse_broken.count; i++) {
        struct hub_view name = hub_view_of(config->refuse_broken.items[i]);
        name.size -= name.size && name.data[name.size - 1] == '/';
        if (name.size && !hub_path_plain(name))
            return hub_fail(err, HUB_INVALID,
                            "refuse-broken \"%.80s\" is not the beginning of ids such as lab/",
                            config->refuse_broken.items[i]);
    }
    return HUB_OK;
}

enum hub_status hub_config_finish(struct hub_config *config, struct hub_error *err)
{
    HUB_TRY(split_listen(config, err));
    HUB_TRY(find_roots(config, err));
    HUB_TRY(keep_roots(config, err));
    HUB_TRY(find_state(config, err));
    HUB_TRY(check_targets(config, err));
    HUB_TRY(check_hf_upstream(config, err));
    HUB_TRY(split_tries(config, err));
    HUB_TRY(split_quotas(config, err));
    HUB_TRY(check_prefixes(config, err));
    HUB_TRY(check_hook(config, err));
    HUB_TRY(check_auth_headers(config, err));
    return find_inspector(config, err);
}
