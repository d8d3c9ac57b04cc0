/* Output of answers: see output.h. */
#include "client/cli/output.h"

#include "client/cli/own_hub.h"
#include "client/cli/progress.h"
#include "client/cli/table.h"
#include "client/cli/waiting.h"
#include "storage/text/time.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOW_EVERY_MS = 100 };

struct output_target {
    struct cli *cli;
    FILE *out;
    const char *path; /* NULL: stdout */
    struct minari_rows_info info;
    bool text, failed, misnamed;
    char last; /* that was written */
    /* of a file */
    struct minari_resume resume;
    char part[PATH_MAX]; /* where it is written until it is whole; empty: nowhere yet */
    uint64_t kept, done; /* bytes: from before, and all that are there */
    uint64_t shown_ms;
    struct progress progress;
};

/* A name that promises one kind of picture is not given to another. */
static bool is_misnamed(const char *path, const char *media_type)
{
    static const struct {
        const char *suffix, *type;
    } pictures[] = {{".png", "image/png"}, {".jpg", "image/jpeg"}, {".jpeg", "image/jpeg"}};
    for (size_t i = 0; path && i < HUB_COUNT(pictures); i++)
        if (hub_view_ends(hub_view_of(path), pictures[i].suffix))
            return strcmp(media_type, pictures[i].type) != 0;
    return false;
}

static void show(struct output_target *t)
{
    const char *slash = strrchr(t->path, '/');
    const struct minari_progress p = {.id = slash ? slash + 1 : t->path,
                                      .phase = MINARI_PHASE_TRANSFER,
                                      .bytes_done = t->done,
                                      .bytes_total = t->resume.total,
                                      .bytes_kept = t->kept};
    const uint64_t now = hub_time_mono_ms();
    if (now - t->shown_ms < SHOW_EVERY_MS)
        return;
    t->shown_ms = now;
    progress_show(&t->progress, &p);
}

static void make_room(void *user)
{
    struct output_target *t = user;
    progress_clear(&t->progress);
}

static int on_rows(const void *data, size_t size, void *user)
{
    struct output_target *t = user;
    t->last = size ? ((const char *)data)[size - 1] : t->last;
    if (!t->path && t->text)
        cli_put(t->cli, data, size);
    else
        t->failed = fwrite(data, 1, size, t->out) != size;
    t->done += size;
    if (t->path)
        show(t);
    return t->failed || cli_interrupted(NULL);
}

const char *output_path(const struct cli *cli)
{
    const char *path = cli->values[OPT_OUTPUT];
    return path && strcmp(path, "-") != 0 ? path : NULL;
}

/* Whether it is one of words with a blank between them. */
static bool is_among(const char *word, const char *words)
{
    for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ') {
        const size_t size = strcspn(at, " ");
        if (strlen(word) == size && memcmp(word, at, size) == 0)
            return true;
    }
    return false;
}

#define FORMAT(name, type, writer, table, suffixes) {#name, type, suffixes, HUB_TABLE_##table},
static const struct {
    const char *name, *type, *suffixes;
    enum hub_table_rank table;
} formats[] = {HUB_REPRESENTATIONS(FORMAT)};

const char *output_format(const struct cli *cli, enum hub_table_rank least, const char *otherwise)
{
    const char *path = output_path(cli), *dot = path ? strrchr(path, '.') : NULL;
    char endings[256] = "";
    if (cli->values[OPT_FORMAT])
        return cli->values[OPT_FORMAT];
    for (size_t i = 0, n = 0; path && i < HUB_COUNT(formats); i++) {
        if (formats[i].table < least || !*formats[i].suffixes)
            continue;
        if (dot && is_among(dot, formats[i].suffixes))
            return formats[i].name;
        n += (size_t)snprintf(endings + n, sizeof endings - n, " %s", formats[i].suffixes);
    }
    if (path && !otherwise) {
        cli_error(CLI_USAGE, "'%s' does not name a format: %s writes files that end in%s", cli_clean(path),
                  cli->command->name, endings);
        cli_hint("give it such a name, or --format");
    }
    return otherwise;
}

bool output_is_text(const char *format)
{
    bool text = false;
    for (size_t i = 0; i < HUB_COUNT(formats); i++)
        text |=
            strcmp(formats[i].name, format) == 0 && (hub_view_starts(hub_view_of(formats[i].type), "text/") ||
                                                     hub_view_ends(hub_view_of(formats[i].type), "json"));
    return text;
}

bool output_fits(const struct cli *cli, const char *path, bool text, const char *format)
{
    if (path || !cli->terminal || text)
        return true;
    cli_error(CLI_USAGE, "%s is binary: it is not written to a terminal", cli_clean(format));
    cli_hint("write it to a file with -o FILE, or to a pipe");
    return false;
}

static int misnamed(const struct output_target *target)
{
    const char *type = target->info.media_type;
    const char *suffix = strcmp(type, "image/jpeg") == 0  ? ".jpg"
                         : strcmp(type, "image/png") == 0 ? ".png"
                                                          : NULL;
    cli_error(CLI_USAGE, "'%s' is the name of another format: the rows are %s", cli_clean(target->path),
              cli_clean(type));
    if (suffix)
        cli_hint("give it a name that ends in %s", suffix);
    return CLI_USAGE;
}

/* ---- a file: written beside its place, then renamed, so that one that is there is whole ---- */

static void drop_part(struct output_target *t)
{
    if (t->out)
        (void)fclose(t->out);
    if (*t->part)
        (void)unlink(t->part);
    t->out = NULL;
    *t->part = '\0';
}

/* The part's name says what it is a part of, so that another run can go on with it. */
static bool create_part(struct output_target *t, const char *tag)
{
    char own[24];
    snprintf(own, sizeof own, "%d", (int)getpid());
    if (snprintf(t->part, sizeof t->part, "%s.%s.part", t->path, *tag ? tag : own) >= (int)sizeof t->part)
        errno = ENAMETOOLONG;
    else
        t->out = fopen(t->part, "wxe");
    if (!t->out && errno == EEXIST && *tag) /* somebody else is at it */
        return create_part(t, "");
    if (t->out)
        (void)flock(fileno(t->out),
                    LOCK_EX | LOCK_NB); /* where it cannot be had, nobody else has it either */
    else
        *t->part = '\0';
    return t->out;
}

/* Before the first byte, and where the answer begins again or goes on after a break. */
static int on_begin(struct minari_resume *resume)
{
    struct output_target *t = resume->user;
    t->misnamed = is_misnamed(t->path, t->info.media_type);
    if (t->misnamed)
        return 1;
    if (!resume->offset)
        drop_part(t);
    if (!t->out)
        t->failed = !create_part(t, resume->tag);
    else
        t->failed = fflush(t->out) || ftruncate(fileno(t->out), (off_t)resume->offset) ||
                    fseeko(t->out, (off_t)resume->offset, SEEK_SET);
    t->kept = HUB_MIN(t->kept, resume->offset);
    t->done = resume->offset;
    return t->failed;
}

/* "door.tar.TAG.part" of "door.tar". */
static bool is_part(const char *name, const char *of, char tag[MINARI_TAG_CHARS])
{
    const size_t size = strlen(of);
    if (strncmp(name, of, size) != 0 || name[size] != '.' || !hub_view_ends(hub_view_of(name), ".part") ||
        strlen(name) <= size + strlen("..part"))
        return false;
    return snprintf(tag, MINARI_TAG_CHARS, "%.*s", (int)(strlen(name + size) - strlen("..part")),
                    name + size + 1) < MINARI_TAG_CHARS &&
           strchr(tag, '-');
}

/* A file of this user's own that nobody else is at; a link or somebody else's could lead anywhere. */
static FILE *open_part(const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    FILE *file = NULL;
    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1 &&
        !flock(fd, LOCK_EX | LOCK_NB))
        file = fdopen(fd, "r+");
    if (fd >= 0 && !file)
        (void)close(fd);
    return file;
}

/* What an earlier run left of it. */
static void find_part(struct output_target *t)
{
    const char *slash = strrchr(t->path, '/'), *name = slash ? slash + 1 : t->path;
    const int folder = (int)(name - t->path);
    char where[PATH_MAX];
    struct dirent *entry;
    snprintf(where, sizeof where, "%.*s", folder ? folder : 1, folder ? t->path : ".");
    DIR *dir = opendir(where);
    while (dir && !t->out && (entry = readdir(dir))) {
        if (!is_part(entry->d_name, name, t->resume.tag) ||
            snprintf(t->part, sizeof t->part, "%.*s%s", folder, t->path, entry->d_name) >=
                (int)sizeof t->part)
            continue;
        t->out = open_part(t->part);
    }
    if (dir)
        (void)closedir(dir);
    if (!t->out || fseeko(t->out, 0, SEEK_END)) {
        *t->part = *t->resume.tag = '\0';
        return;
    }
    t->kept = t->done = t->resume.offset = (uint64_t)ftello(t->out);
}

/* Whether another run may go on with what is there. */
static bool is_of_use(const struct output_target *t, int code)
{
    return (code == CLI_INTERRUPTED || code == CLI_UNREACHABLE || code == CLI_NO_SPACE) && t->out &&
           *t->resume.tag && t->done;
}

static void keep_part(struct output_target *t)
{
    char size[TABLE_NUMBER];
    const bool whole = !fclose(t->out);
    t->out = NULL;
    hub_number_size(t->done, size);
    if (whole)
        cli_hint("%s are downloaded: run the same command again to continue", size);
}

static int cannot_write(const struct output_target *t)
{
    return cli_error(errno == ENOSPC                     ? CLI_NO_SPACE
                     : errno == EACCES || errno == EPERM ? CLI_NOT_ALLOWED
                                                         : CLI_FAILED,
                     "'%s' cannot be written: %s", cli_clean(t->path), strerror(errno));
}

static int stdout_failed(void)
{
    return errno == EPIPE ? CLI_FAILED
                          : cli_error(errno == ENOSPC ? CLI_NO_SPACE : CLI_FAILED, "writing failed: %s",
                                      strerror(errno));
}

static int run(struct cli *cli, struct output_target *target, output_fetch *fetch, void *user)
{
    struct minari_error err;
    enum minari_status st;
    do {
        minari_client_resume(cli->client, target->path ? &target->resume : NULL);
        st = fetch(cli, on_rows, target, &target->info, user, &err);
    } while (st && waiting_goes_on(cli, &err, own_hub_measures()));
    waiting_clear();
    if (target->misnamed)
        return misnamed(target);
    if (target->failed)
        return target->path ? cannot_write(target) : stdout_failed();
    if (st)
        return cli_report(cli, &err);
    if (target->info.nonfinite)
        cli_note(cli, "%llu values are not finite and are written as null; --format npy keeps them",
                 (unsigned long long)target->info.nonfinite);
    return CLI_OK;
}

static int publish(struct output_target *t)
{
    const bool whole = !fclose(t->out);
    t->out = NULL;
    if (whole && !rename(t->part, t->path))
        return CLI_OK;
    const int code = cannot_write(t);
    drop_part(t);
    return code;
}

static int into_file(struct cli *cli, struct output_target *t, output_fetch *fetch, void *user)
{
    t->resume = (struct minari_resume){.size = sizeof t->resume, .begin = on_begin, .user = t};
    t->progress.terminal = cli->err_terminal;
    t->progress.quiet = !cli->err_terminal || cli->values[OPT_QUIET] || cli->values[OPT_NO_PROGRESS];
    t->shown_ms = hub_time_mono_ms();
    cli->make_room = make_room;
    cli->room = t;
    find_part(t);
    int code = run(cli, t, fetch, user);
    minari_client_resume(cli->client, NULL);
    progress_clear(&t->progress);
    cli->make_room = NULL;
    if (!code)
        return publish(t);
    if (is_of_use(t, code))
        keep_part(t);
    else
        drop_part(t);
    return code;
}

int output_save(struct cli *cli, const char *path, bool text, output_fetch *fetch, void *user)
{
    struct output_target target = {.cli = cli, .path = path, .text = text};
    if (path)
        return into_file(cli, &target, fetch, user);
    target.out = stdout;
    const int code = run(cli, &target, fetch, user);
    if (!code && text && target.last != '\n')
        putchar('\n');
    return code;
}
