/* The option table and its three readers: see config.h. */
#include "server/config/config.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_FILE "/etc/minari-hub.conf"

enum setting_kind { TEXT, LIST, HEAD, WORDS, NUMBER, SIZE, DURATION, SWITCH, CHOICE };
enum setting_source { FROM_DEFAULT, FROM_FILE, FROM_ENVIRONMENT, FROM_FLAGS };

struct option {
    const char *name;
    enum setting_kind kind;
    size_t offset;     /* in struct hub_config */
    const char *value; /* default, as one would write it; NULL: worked out at start */
    uint64_t least, most;
    const char *argument; /* CHOICE: the words, separated by '|'; the value is the number of the word */
    const char *help;
};

#define AT(member) offsetof(struct hub_config, member)

static const struct option options[] = {
    {"root", LIST, AT(root_texts), NULL, 0, 0, "[NAME=]DIR[:ro]",
     "A directory of datasets; may be given several times. With NAME= their ids begin with NAME/, with :ro "
     "the hub never writes there. "
     "Default: $MINARI_DATASETS_PATH, else ~/.minari/datasets."},
    {"upstream", LIST, AT(upstreams), "", 0, 0, "[NAME/=]REMOTE",
     "Show the datasets of http(s)://HUB, gcp://BUCKET[/PREFIX] or hf://ORG[/REPO] as well, and fetch one "
     "when a client reads it; may be given several times. With NAME/= their ids begin with NAME/."},
    {"as", HEAD, AT(upstreams), NULL, 0, 0, "NAME/",
     "Put NAME/ before the ids of the upstream before it, as NAME/=REMOTE does."},
    {"cache-max", SIZE, AT(cache_max), "0", 0, 1024 * 1024 * GIB, "BYTES",
     "Largest size of all datasets fetched from upstreams (K, M, G, T; 0: no limit): the least recently read "
     "are removed. Mirrors and datasets that others put there are never removed."},
    {"min-free", SIZE, AT(min_free), "64M", 0, 1024 * 1024 * GIB, "BYTES",
     "Space that stays free on the disk of each root: larger datasets are not fetched, and fetched ones are "
     "removed as with cache-max."},
    {"state", TEXT, AT(state), NULL, 0, 0, "DIR",
     "Directory of the catalogue. Default: the service's state directory, else ~/.local/state/minari-hub."},
    {"sync", SWITCH, AT(sync), "on", 0, 0, "on|off",
     "Sync each change of the catalogue to the disk; off: faster, but a crash of the machine may damage it."},
    {"listen", TEXT, AT(listen), "127.0.0.1:8080", 0, 0, "ADDR:PORT|off",
     "Address and port; 0.0.0.0:8080 answers other machines, port 0 takes any free port; off: only "
     "STATE/control.sock answers."},
    {"memory", SIZE, AT(memory), "128M", 8 * MIB, 1024 * GIB, "BYTES",
     "Memory for the buffers of answers (K, M, G). Requests wait for it, or are answered with 503."},
    {"workers", NUMBER, AT(workers), "0", 0, 256, "N", "Threads for disk and decoding; 0: one per core."},
    {"event-threads", NUMBER, AT(event_threads), "0", 0, 64, "N",
     "Threads that serve connections; 0: one per core."},
    {"queue", NUMBER, AT(queue), "1024", 1, 100000, "N",
     "Requests that may wait for a worker; more are answered with 503."},
    {"connections", NUMBER, AT(connections), "4096", 16, 100000, "N",
     "Connections that may be open at once."},
    {"connections-per-client", NUMBER, AT(connections_per_client), "0", 0, 100000, "N",
     "Connections that one address may have open at once; 0: any number. A proxy in front is one address."},
    {"cors", WORDS, AT(cors), "*", 0, 0, "'*'|off|ORIGIN,...",
     "Web pages that may read the answers: of any origin (*), none (off), or of these, like "
     "https://lab.example."},
    {"host", WORDS, AT(hosts), "", 0, 0, "NAME,...",
     "Names of this server that requests may use; others are refused. Default: any."},
    {"trusted-proxies", WORDS, AT(trusted_proxies), "127.0.0.0/8,::1", 0, 0, "ADDRESS,...|off",
     "Addresses or networks of proxies whose X-Forwarded-For, -Host and -Proto are believed. The proxies "
     "must set them, nginx by proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; else clients can "
     "forge them."},
    {"public-url", TEXT, AT(public_url), NULL, 0, 0, "URL",
     "The beginning of links in answers. Default: the address that the client used; without --host shared "
     "caches then do not store answers with links."},
    {"hf-author", TEXT, AT(hf_author), "farama-minari", 0, 0, "NAME",
     "Owner of the repos that clients of Hugging Face see of folders at the top; deeper folders are "
     "ORG/NAME."},
    {"hf-upstream", TEXT, AT(hf_upstream), NULL, 0, 0, "URL",
     "Server for repos of Hugging Face that this hub does not have, like https://huggingface.co: the hub "
     "asks it with the client's token, and clients fetch files there. Default: none."},
    {"bucket", TEXT, AT(bucket), "minari-datasets", 0, 0, "NAME",
     "Name of the bucket with all datasets, for clients of Google Cloud Storage."},
    {"settle", DURATION, AT(settle_ms), "2s", 0, 3600000, "TIME",
     "Time without a change after which a file is inspected (ms, s, m, h; plain: seconds)."},
    {"sweep", DURATION, AT(sweep_ms), "5m", 0, 30 * 86400000ULL, "TIME",
     "Time between scans of all directories; 0: only at the start and on SIGHUP."},
    {"hash", CHOICE, AT(hash), "on-demand", 0, 0, "on-demand|idle|off",
     "Which files are hashed: those that are downloaded (on-demand), also all others in idle time (idle), or "
     "none (off)."},
    {"measure", CHOICE, AT(measure), "idle", 0, 0, "idle|on-demand|off",
     "Which datasets are measured by reading their rows: all while no request waits (idle), those whose "
     "statistics are requested and all rewards (on-demand), or none (off)."},
    {"allow-target", LIST, AT(allow_targets), "", 0, 0, "DIR",
     "A directory outside the roots that symbolic links may lead to; may be given several times."},
    {"inspect-time", DURATION, AT(inspect_ms), "60s", 1000, 86400000, "TIME",
     "Processor time for the inspection of one part of a dataset; its wall-clock limit is four times as "
     "long."},
    {"inspect-memory", SIZE, AT(inspect_memory), "2G", 256 * MIB, 1024 * GIB, "BYTES",
     "Memory for the inspection of one part; all inspections together take at most half of the machine's."},
    {"inspector", TEXT, AT(inspector), NULL, 0, 0, "PATH",
     "The program minari-inspect. Default: the one beside minari-hub."},
    {"unsafe-inspect", SWITCH, AT(unsafe_inspect), "off", 0, 0, "on|off",
     "Inspect even where the sandbox cannot be set up. Only for files you trust."},
    {"access-log", SWITCH, AT(access_log), "on", 0, 0, "on|off",
     "Log one line per request on standard error; events of the hub and its datasets are always logged "
     "there."},
    {"log-format", CHOICE, AT(log_format), "text", 0, 0, "text|json",
     "Format of the log: for people or for programs."},
    {"grace", DURATION, AT(grace_ms), "10s", 0, 600000, "TIME",
     "Time that running answers have to finish at shutdown."},
    {"config", TEXT, AT(file), NULL, 0, 0, "FILE",
     "Read settings from FILE. Default: " DEFAULT_FILE ", if it exists."},
};

_Static_assert(HUB_COUNT(options) <= sizeof((struct hub_config *)0)->sources, "one source an option");

static const struct option *find(const char *name, size_t size)
{
    for (size_t i = 0; i < HUB_COUNT(options); i++)
        if (strlen(options[i].name) == size && memcmp(options[i].name, name, size) == 0)
            return &options[i];
    return NULL;
}

/* ---- values ---- */

static void *place(const struct hub_config *config, const struct option *option)
{
    return (void *)((const char *)config + option->offset);
}

static enum hub_status wrong(struct hub_error *err, const struct option *option, const char *value,
                             const char *what)
{
    return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_NONE, option->name, value, "%s \"%.80s\": %s",
                          option->name, value, what);
}

struct unit {
    const char *name;
    uint64_t factor;
};

/* A whole number and, where there is one, the unit behind it. */
static bool with_unit(const char *text, const struct unit *units, uint64_t *out)
{
    char *end = NULL;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10);
    for (const struct unit *unit = units; unit->name; unit++)
        if (strcasecmp(end, unit->name) == 0)
            return errno == 0 && !__builtin_mul_overflow(n, unit->factor, out);
    return false;
}

/* In the largest unit that leaves it whole. */
static void in_units(uint64_t value, const struct unit *units, char out[32])
{
    const struct unit *best = &units[0];
    for (const struct unit *unit = units; unit->name; unit++)
        if (value > 0 && value % unit->factor == 0)
            best = unit;
    snprintf(out, 32, "%llu%s", (unsigned long long)(value / best->factor), best->name);
}

/* How values of an option are shown. */
static const struct unit *shown_units(const struct option *option)
{
    static const struct unit plain[] = {{"", 1}, {NULL, 0}};
    static const struct unit sizes[] = {{"", 1},    {"K", KIB},        {"M", MIB},
                                        {"G", GIB}, {"T", 1024 * GIB}, {NULL, 0}};
    static const struct unit times[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {NULL, 0}};
    return option->kind == SIZE ? sizes : option->kind == DURATION ? times : plain;
}

static enum hub_status set_number(const struct option *option, const char *value, uint64_t *to,
                                  struct hub_error *err)
{
    static const struct unit plain[] = {{"", 1}, {NULL, 0}};
    static const struct unit sizes[] = {
        {"", 1},      {"K", KIB},   {"M", MIB},        {"G", GIB},          {"KiB", KIB},
        {"MiB", MIB}, {"GiB", GIB}, {"T", 1024 * GIB}, {"TiB", 1024 * GIB}, {NULL, 0}};
    static const struct unit times[] = {{"", 1000},   {"ms", 1},      {"s", 1000},
                                        {"m", 60000}, {"h", 3600000}, {NULL, 0}};
    const struct unit *units = option->kind == SIZE ? sizes : option->kind == DURATION ? times : plain;
    uint64_t n = 0;
    char why[120], least[32], most[32];
    if (!with_unit(value, units, &n))
        return wrong(err, option, value,
                     option->kind == SIZE       ? "not a size like 128M or 2G"
                     : option->kind == DURATION ? "not a time like 500ms, 2s or 5m"
                                                : "not a whole number");
    if (n < option->least || n > option->most) {
        in_units(option->least, shown_units(option), least);
        in_units(option->most, shown_units(option), most);
        snprintf(why, sizeof why, "must be between %s and %s", least, most);
        return wrong(err, option, value, why);
    }
    *to = n;
    return HUB_OK;
}

static bool read_switch(const char *value, bool *to)
{
    static const char *const yes[] = {"on", "true", "yes", "1"}, *const no[] = {"off", "false", "no", "0"};
    for (size_t i = 0; i < HUB_COUNT(yes); i++) {
        if (strcasecmp(value, yes[i]) == 0 || strcasecmp(value, no[i]) == 0) {
            *to = strcasecmp(value, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

static enum hub_status set_switch(const struct option *option, const char *value, bool *to,
                                  struct hub_error *err)
{
    return read_switch(value, to) ? HUB_OK : wrong(err, option, value, "must be on or off");
}

/* The n-th of the words of "one|two|three", or an empty view. */
static struct hub_view choice(const struct option *option, unsigned n)
{
    const char *at = option->argument;
    for (; n > 0 && *at; n--) {
        at += strcspn(at, "|");
        at += *at == '|';
    }
    return (struct hub_view){at, strcspn(at, "|")};
}

static enum hub_status set_choice(const struct option *option, const char *value, unsigned *to,
                                  struct hub_error *err)
{
    char why[120];
    for (unsigned n = 0; choice(option, n).size; n++) {
        if (hub_view_is(choice(option, n), value)) {
            *to = n;
            return HUB_OK;
        }
    }
    snprintf(why, sizeof why, "must be one of %s", option->argument);
    return wrong(err, option, value, why);
}

static enum hub_status append(struct hub_list *list, const char *value, struct hub_error *err)
{
    if (list->count == HUB_MAX_ROOTS)
        return hub_fail(err, HUB_TOO_BIG, "a list has more than %d values", HUB_MAX_ROOTS);
    HUB_TRY(hub_dup(&list->items[list->count], value, err));
    list->count++;
    return HUB_OK;
}

/* Before the last value of a list. */
static enum hub_status put_before(struct hub_list *list, const struct option *option, const char *value,
                                  struct hub_error *err)
{
    if (value[strlen(value) - 1] != '/')
        return wrong(err, option, value, "must end with '/'");
    if (!list->count)
        return wrong(err, option, value, "there is no upstream before it");
    char **last = &list->items[list->count - 1], *whole = NULL;
    if (asprintf(&whole, "%s=%s", value, *last) < 0)
        return hub_no_memory(err);
    free(*last);
    *last = whole;
    return HUB_OK;
}

/* Words separated by commas. */
static enum hub_status append_words(struct hub_list *list, const char *value, struct hub_error *err)
{
    char *copy = strdup(value), *rest = copy;
    enum hub_status st = copy ? HUB_OK : hub_no_memory(err);
    for (char *item = strsep(&rest, ", "); item && !st; item = strsep(&rest, ", "))
        if (item[0])
            st = append(list, item, err);
    free(copy);
    return st;
}

static void clear(struct hub_list *list)
{
    while (list->count > 0)
        free(list->items[--list->count]);
}

static enum hub_status set_text(char **to, const char *value, struct hub_error *err)
{
    char *copy = strdup(value);
    HUB_TRY(hub_allocated(copy, err));
    free(*to);
    *to = copy;
    return HUB_OK;
}

static enum hub_status set(struct hub_config *config, const struct option *option, const char *value,
                           enum setting_source source, struct hub_error *err)
{
    void *to = place(config, option);
    unsigned char *from = &config->sources[option - options];
    bool first = *from != source;
    if (value[0] == '\0' && source != FROM_DEFAULT)
        return wrong(err, option, value, "has no value");
    *from = (unsigned char)source;
    switch (option->kind) {
    case TEXT:
        return set_text(to, value, err);
    case LIST:
        if (first) /* a stronger source replaces the list, it does not add to it */
            clear(to);
        return value[0] ? append(to, value, err) : HUB_OK;
    case HEAD:
        return put_before(to, option, value, err);
    case WORDS:
        if (first)
            clear(to);
        return append_words(to, value, err);
    case NUMBER:
    case SIZE:
    case DURATION:
        return set_number(option, value, to, err);
    case SWITCH:
        return set_switch(option, value, to, err);
    case CHOICE:
        return set_choice(option, value, to, err);
    }
    return HUB_OK;
}

enum hub_status hub_config_init(struct hub_config *config, struct hub_error *err)
{
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < HUB_COUNT(options); i++)
        if (options[i].value)
            HUB_TRY(set(config, &options[i], options[i].value, FROM_DEFAULT, err));
    return HUB_OK;
}

void hub_config_dispose(struct hub_config *config)
{
    for (size_t i = 0; i < HUB_COUNT(options); i++) {
        if (options[i].kind == LIST || options[i].kind == WORDS)
            clear(place(config, &options[i]));
        else if (options[i].kind == TEXT)
            free(*(char **)place(config, &options[i]));
    }
    hub_roots_dispose(&config->roots);
    free(config->address);
    free(config->forget);
    json_decref(config->mirrors);
    json_decref(config->upstream_rules);
    memset(config, 0, sizeof *config);
}

/* ---- the three readers ---- */

struct file_reader {
    struct hub_config *config;
    struct hub_error *err;
    bool failed;
};

/* Without a comment at its end: " # ...", as inih does with " ; ...". */
static struct hub_view without_comment(const char *value)
{
    struct hub_view out = hub_view_of(value);
    const char *at = strstr(value, " #");
    if (at)
        out.size = (size_t)(at - value);
    while (out.size && isspace((unsigned char)out.data[out.size - 1]))
        out.size--;
    return out;
}

static json_t *member(json_t *object, const char *key, json_t *fresh)
{
    json_t *old = json_object_get(object, key);
    if (!old)
        return json_object_set_new(object, key, fresh) ? NULL : fresh;
    json_decref(fresh);
    return old;
}

/* "[mirror NAME]", "[upstream NAME]": what its options mean is looked at when the hub starts. */
static enum hub_status keep_rule(json_t **rules, const char *rule, const char *name, const char *value,
                                 struct hub_error *err)
{
    if (!*rules)
        *rules = json_object();
    json_t *options_of = *rules ? member(*rules, rule, json_object()) : NULL;
    json_t *values = options_of ? member(options_of, name, json_array()) : NULL;
    return hub_allocated(values && json_array_append_new(values, json_string(value)) == 0, err);
}

static int on_line(void *user, const char *section, const char *name, const char *text)
{
    struct file_reader *reader = user;
    HUB_CLEANUP(hub_freep) char *value = hub_view_dup(without_comment(text ? text : ""));
    if (reader->failed)
        return 1; /* the first error is the one to tell; inih reads on */
    const bool mirror = strncmp(section, "mirror ", 7) == 0, pull = strncmp(section, "upstream ", 9) == 0;
    json_t **rules = pull ? &reader->config->upstream_rules : &reader->config->mirrors;
    const struct option *option = find(name, strlen(name));
    if ((mirror || pull) && value && !keep_rule(rules, strchr(section, ' ') + 1, name, value, reader->err))
        return 1;
    if (mirror || pull)
        (void)hub_no_memory(reader->err);
    else if (!option || strcmp(name, "config") == 0)
        hub_fail(reader->err, HUB_INVALID, "unknown setting \"%.60s\"; `minari-hub config` lists all of them",
                 name);
    else if (!value)
        hub_fail(reader->err, HUB_NO_MEMORY, "no memory for the settings");
    else if (!set(reader->config, option, value, FROM_FILE, reader->err))
        return 1;
    reader->failed = true;
    return 0;
}

static enum hub_status read_file(struct hub_config *config, const char *path, bool required,
                                 struct hub_error *err)
{
    struct hub_error why = {0};
    struct file_reader reader = {config, &why, false};
    if (!required && access(path, F_OK) != 0)
        return HUB_OK;
    int line = ini_parse(path, on_line, &reader);
    if (line == -1)
        return hub_fail_errno(err, errno ? errno : ENOENT, "cannot read %s", path);
    if (line < 0)
        return hub_no_memory(err);
    if (line > 0)
        return hub_fail(err, HUB_INVALID, "%s line %d: %s", path, line,
                        reader.failed ? why.detail : "not of the form `key = value`");
    return HUB_OK;
}

enum { VARIABLE = 48 };

static const char *from_environment(const struct option *option, char name[VARIABLE])
{
    size_t used = (size_t)snprintf(name, VARIABLE, "MINARI_HUB_");
    for (const char *c = option->name; *c; c++)
        name[used++] = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    name[used] = '\0';
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

/* Lists are separated by commas. */
static enum hub_status set_from_text(struct hub_config *config, const struct option *option,
                                     const char *value, struct hub_error *err)
{
    if (option->kind != LIST)
        return set(config, option, value, FROM_ENVIRONMENT, err);
    char *copy = strdup(value), *rest = copy;
    enum hub_status st = copy ? HUB_OK : hub_no_memory(err);
    for (char *item = strsep(&rest, ","); item && !st; item = strsep(&rest, ","))
        st = set(config, option, item, FROM_ENVIRONMENT, err);
    free(copy);
    return st;
}

static enum hub_status read_environment(struct hub_config *config, struct hub_error *err)
{
    char name[VARIABLE];
    for (size_t i = 0; i < HUB_COUNT(options); i++) {
        const char *value = from_environment(&options[i], name);
        struct hub_error why = {0};
        if (value && set_from_text(config, &options[i], value, &why))
            return hub_fail(err, HUB_INVALID, "in the environment, %s: %s", name, why.detail);
    }
    return HUB_OK;
}

/* One flag: --name value, --name=value, and for switches --name alone (on) and --no-name too. `*used`
 * arguments were taken. */
static enum hub_status read_flag(struct hub_config *config, char *const *argv, int *used, const char *only,
                                 struct hub_error *err)
{
    const char *flag = argv[0];
    *used = 1;
    if (strncmp(flag, "--", 2) != 0 || flag[2] == '\0')
        return hub_fail(err, HUB_INVALID, "\"%.80s\" is not an option: options begin with --, see --help",
                        flag);
    size_t size = strcspn(flag + 2, "=");
    const struct option *option = find(flag + 2, size);
    const struct option *off = strncmp(flag, "--no-", 5) == 0 ? find(flag + 5, strlen(flag + 5)) : NULL;
    const char *value = flag[2 + size] ? flag + 3 + size : NULL;
    if (!option && off && off->kind == SWITCH) {
        option = off;
        value = "off";
    }
    if (!option)
        return hub_fail(err, HUB_INVALID, "unknown option %.80s; see --help", flag);
    bool ignored;
    if (!value && option->kind == SWITCH && !(argv[1] && read_switch(argv[1], &ignored)))
        value = "on";
    if (!value) {
        value = argv[1];
        *used = 2;
    }
    if (!value)
        return hub_fail(err, HUB_INVALID, "--%s needs a value: %s", option->name, option->argument);
    if ((only != NULL) != (strcmp(option->name, "config") == 0))
        return HUB_OK; /* the file is found first, all other flags are read last */
    return set(config, option, value, FROM_FLAGS, err);
}

static enum hub_status read_flags(struct hub_config *config, char *const *argv, const char *only,
                                  struct hub_error *err)
{
    int used = 0;
    for (; *argv; argv += used)
        HUB_TRY(read_flag(config, argv, &used, only, err));
    return HUB_OK;
}

enum hub_status hub_config_read(struct hub_config *config, char *const *argv, struct hub_error *err)
{
    const char *file = getenv("MINARI_HUB_CONFIG");
    if (file && file[0])
        HUB_TRY(set_text(&config->file, file, err));
    HUB_TRY(read_flags(config, argv, "config", err));
    HUB_TRY(read_file(config, config->file ? config->file : DEFAULT_FILE, config->file != NULL, err));
    HUB_TRY(read_environment(config, err));
    return read_flags(config, argv, NULL, err);
}

/* ---- showing them ---- */

/* Words of `text` in lines of at most `width`, each behind `prefix`. */
static void wrap(FILE *out, const char *text, const char *prefix, size_t width)
{
    size_t column = 0;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > 0 && column + 1 + word > width) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s%.*s", column == 0 ? prefix : " ", (int)word, text);
        column += word + 1;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

void hub_config_help(FILE *out)
{
    for (size_t i = 0; i < HUB_COUNT(options); i++) {
        const struct option *option = &options[i];
        fprintf(out, "  --%s%s%s", option->name, option->argument[0] ? " " : "", option->argument);
        if (option->value && option->value[0])
            fprintf(out, "  (%s)", option->value);
        fputc('\n', out);
        wrap(out, option->help, "      ", 74);
    }
}

size_t hub_config_usage(struct hub_usage_option *out, size_t max)
{
    for (size_t i = 0; i < HUB_COUNT(options) && i < max; i++)
        out[i] = (struct hub_usage_option){
            .name = options[i].name,
            .value = options[i].argument[0] ? options[i].argument : NULL,
            .words = options[i].kind == CHOICE || options[i].kind == SWITCH ? options[i].argument : NULL,
            .help = options[i].help};
    return HUB_COUNT(options);
}

static void print_value(FILE *out, const struct option *option, const void *at)
{
    char number[32];
    switch (option->kind) {
    case TEXT:
        fprintf(out, "%s\n", *(char *const *)at);
        break;
    case NUMBER:
    case SIZE:
    case DURATION:
        in_units(*(const uint64_t *)at, shown_units(option), number);
        fprintf(out, "%s\n", number);
        break;
    case SWITCH:
        fprintf(out, "%s\n", *(const bool *)at ? "on" : "off");
        break;
    case CHOICE: {
        const struct hub_view word = choice(option, *(const unsigned *)at);
        fprintf(out, "%.*s\n", (int)word.size, word.data);
        break;
    }
    case LIST:
    case HEAD:
    case WORDS:
        break;
    }
}

static void print_rules(json_t *rules, const char *word, FILE *out)
{
    const char *rule, *name;
    json_t *options_of, *values, *value;
    size_t i;
    json_object_foreach(rules, rule, options_of)
    {
        fprintf(out, "\n[%s %s]\n", word, rule);
        json_object_foreach(options_of, name, values)
        {
            json_array_foreach(values, i, value) fprintf(out, "%s = %s\n", name, json_string_value(value));
        }
    }
}

void hub_config_print(const struct hub_config *config, FILE *out)
{
    fprintf(out, "# Settings of minari-hub: key = value. What is commented out is the default.\n");
    for (size_t i = 0; i < HUB_COUNT(options); i++) {
        const struct option *option = &options[i];
        const void *at = place(config, option);
        if (strcmp(option->name, "config") == 0 || option->kind == HEAD)
            continue;
        fputc('\n', out);
        wrap(out, option->help, "# ", 96);
        if (config->sources[i] == FROM_DEFAULT) {
            fprintf(out, "# %s = %s\n", option->name, option->value ? option->value : "");
        } else if (option->kind == LIST || option->kind == WORDS) {
            const struct hub_list *list = at;
            for (uint32_t n = 0; n < list->count; n++)
                fprintf(out, "%s = %s\n", option->name, list->items[n]);
        } else {
            fprintf(out, "%s = ", option->name);
            print_value(out, option, at);
        }
    }
    print_rules(config->mirrors, "mirror", out);
    print_rules(config->upstream_rules, "upstream", out);
}
