/* What people read: errors with the remedy, and texts that are safe on a terminal. */
#include "client/cli/cli.h"
#include "storage/text/json.h"
#include "storage/text/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

enum { LONG_ADVICE_S = 60 };

static bool as_json;

void cli_errors_as_json(void)
{
    as_json = true;
}

static void put_error(int code, const char *status, const char *problem, const char *detail,
                      const char *remedy)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    if (!as_json) {
        fprintf(stderr, "minari-cli: %s\n", cli_clean(detail));
        if (remedy)
            fprintf(stderr, "  %s\n", remedy);
        return;
    }
    struct hub_json json = hub_json_to(&text, NULL);
    hub_json_object(&json);
    hub_json_put_object(&json, "error");
    hub_json_put_int(&json, "exit", code);
    if (status)
        hub_json_put_text(&json, "status", status);
    if (problem && *problem)
        hub_json_put_text(&json, "problem", problem);
    hub_json_put_text(&json, "detail", cli_clean(detail));
    if (remedy)
        hub_json_put_text(&json, "remedy", remedy);
    hub_json_end_object(&json);
    hub_json_end_object(&json);
    if (!hub_json_status(&json))
        fprintf(stderr, "%s\n", text.data);
}

int cli_error(int code, const char *fmt, ...)
{
    char detail[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(detail, sizeof detail, fmt, args);
    va_end(args);
    put_error(code, NULL, NULL, detail, NULL);
    return code;
}

void cli_hint(const char *fmt, ...)
{
    va_list args;
    if (as_json)
        return;
    va_start(args, fmt);
    fputs("  ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

/* Control characters of one byte, and those of two in UTF-8 (C2 80 to C2 9F): C2 waits for what follows
 * it. */
void cli_put(const struct cli *cli, const char *text, size_t size)
{
    static unsigned char before;
    if (!cli->terminal) {
        fwrite(text, 1, size, stdout);
        return;
    }
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool high = c >= 0x80 && c < 0xA0;
        if (before == 0xC2 && !high)
            putchar(before);
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F || (high && (before == 0xC2 || before < 0x80)))
            putchar('?');
        else if (c != 0xC2)
            putchar(c);
        before = c;
    }
}

struct hub_json cli_json_item(struct hub_buf *list)
{
    struct hub_json json = hub_json_to(list, NULL);
    if (list->size)
        json.status = hub_buf_add_text(list, ",\n", NULL);
    hub_json_object(&json);
    return json;
}

void cli_note(const struct cli *cli, const char *fmt, ...)
{
    va_list args;
    if (cli->values[OPT_QUIET])
        return;
    if (cli->make_room)
        cli->make_room(cli->room);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

const char *cli_clean(const char *text)
{
    enum { BUFFERS = 8, ROOM = 4096 };
    static char buffers[BUFFERS][ROOM];
    static unsigned next;
    char *out = buffers[next++ % BUFFERS];
    size_t n = 0;
    struct hub_view left = hub_view_of(text ? text : "");
    while (left.size && n + 5 < ROOM) {
        uint32_t code = 0;
        const size_t size = hub_utf8_decode(left, &code);
        if (size == 0 || hub_utf8_hides(code)) {
            out[n++] = code == '\t' || code == '\n' ? ' ' : '?';
        } else {
            memcpy(out + n, left.data, size);
            n += size;
        }
        left.data += size ? size : 1;
        left.size -= size ? size : 1;
    }
    out[n] = '\0';
    return out;
}

bool cli_confirm(const char *fmt, ...)
{
    char answer[64];
    va_list args;
    while (true) {
        va_start(args, fmt);
        vfprintf(stderr, fmt, args);
        va_end(args);
        fputs(" [y/N]: ", stderr);
        fflush(stderr);
        if (!fgets(answer, sizeof answer, stdin)) {
            fprintf(stderr, "Aborted%s.\n",
                    cli_interrupted(NULL) ? "" : ": there was no answer; --yes skips the question");
            return false;
        }
        answer[strcspn(answer, "\n")] = '\0';
        if (!strcasecmp(answer, "y") || !strcasecmp(answer, "yes"))
            return true;
        if (!*answer || !strcasecmp(answer, "n") || !strcasecmp(answer, "no"))
            break;
        fprintf(stderr, "Error: invalid input\n");
    }
    fprintf(stderr, "Aborted.\n");
    return false;
}

int cli_flush(int code)
{
    if (fflush(stdout) || ferror(stdout)) {
        if (errno != EPIPE)
            return cli_error(CLI_FAILED, "the output could not be written: %s", strerror(errno));
        return code ? code : CLI_FAILED;
    }
    return code;
}

bool cli_is_problem(const struct minari_error *err, enum hub_problem_code problem)
{
    return hub_problem_find(err->problem) == problem;
}

bool cli_is_being_measured(const struct minari_error *err)
{
    return err->status == MINARI_BUSY && err->of && cli_is_problem(err, HUB_PROBLEM_PENDING);
}

/* What is not named is CLI_FAILED. */
static int code_of(const struct minari_error *err)
{
    static const int codes[] = {
        [MINARI_INVALID] = CLI_USAGE,           [MINARI_NOT_FOUND] = CLI_NOT_FOUND,
        [MINARI_UNREACHABLE] = CLI_UNREACHABLE, [MINARI_PROTOCOL] = CLI_UNREACHABLE,
        [MINARI_BUSY] = CLI_UNREACHABLE,        [MINARI_DENIED] = CLI_NOT_ALLOWED,
        [MINARI_BROKEN] = CLI_BROKEN,           [MINARI_VERIFY] = CLI_VERIFY,
        [MINARI_NO_SPACE] = CLI_NO_SPACE,       [MINARI_CANCELLED] = CLI_INTERRUPTED,
    };
    if (!err->status)
        return CLI_OK;
    if (cli_is_being_measured(err) || cli_is_problem(err, HUB_PROBLEM_DOWNLOAD_RUNNING) ||
        (size_t)err->status >= HUB_COUNT(codes))
        return CLI_FAILED;
    return codes[err->status] ? codes[err->status] : CLI_FAILED;
}

/* What to do about it, by the problem first; problems.h says what stands for %i and its like. */
static const char *remedy_of(const struct cli *cli, const struct minari_error *err)
{
    const char *named = hub_problem_rows[hub_problem_find(err->problem)].remedy;
    if (cli_is_being_measured(err))
        return "try again when it is measured: 'minari-cli stats %i' shows the progress";
    if (named)
        return named;
    switch (err->status) {
    case MINARI_UNREACHABLE:
        if (strcmp(cli->remote.origin, "this machine") == 0)
            return "the minari-hub that was reading it has ended: run the same command again";
        if (cli->remote.kind != MINARI_REMOTE_HUB)
            return "the remote is %r (%o): check the network, and --endpoint, STORAGE_EMULATOR_HOST or "
                   "HF_ENDPOINT "
                   "where they are set";
        return "check the address and that the hub runs: curl %r/readyz";
    case MINARI_PROTOCOL:
        return "check the address: something else may answer there";
    case MINARI_BUSY:
        return err->retry_after_s >= LONG_ADVICE_S ? "the remote is busy: try again in %m minutes"
                                                   : "try again in a moment";
    case MINARI_NO_SPACE:
        return "make room, then run the same command";
    case MINARI_VERIFY:
        return cli->command && cli->command->run == cli_verify
                   ? "download it again: minari-cli download %i --force"
                   : "run the same command again: it downloads only the bad files again";
    case MINARI_BROKEN:
        return "its files can still be downloaded; minari-cli show %i gives the problems";
    case MINARI_CHANGED:
        return "its files are being written: try again when that has ended";
    default:
        return NULL;
    }
}

static const char *name_to_list(const struct cli *cli)
{
    return strcmp(cli->remote.origin, "this machine") == 0 ? "local"
           : cli_remote_is_set(cli)                        ? "remote"
                                                           : cli->remote.text;
}

static void fill_in(const struct cli *cli, const struct minari_error *err, const char *text, char *out,
                    size_t room)
{
    char minutes[16];
    size_t n = 0;
    snprintf(minutes, sizeof minutes, "%u", (err->retry_after_s + 59) / 60);
    for (; *text && n + 1 < room; text++) {
        const char *value = strncmp(text, "%i", 2) == 0   ? cli->subject ? cli_clean(cli->subject) : "ID"
                            : strncmp(text, "%c", 2) == 0 ? cli->command->name
                            : strncmp(text, "%o", 2) == 0 ? cli->remote.origin
                            : strncmp(text, "%m", 2) == 0 ? minutes
                            : strncmp(text, "%w", 2) == 0 ? name_to_list(cli)
                            : strncmp(text, "%r", 2) == 0 ? *cli->remote.text ? cli->remote.text : "REMOTE"
                                                          : NULL;
        if (value) {
            n += (size_t)snprintf(out + n, room - n, "%s", value);
            n = HUB_MIN(n, room - 1);
            text++;
        } else {
            out[n++] = *text;
        }
    }
    out[n] = '\0';
}

int cli_report(const struct cli *cli, const struct minari_error *err)
{
    char text[2048], measured[128];
    const int code = code_of(err);
    const bool waits = cli_is_being_measured(err);
    snprintf(measured, sizeof measured, "not measured yet: %llu of %llu parts of the dataset are measured",
             (unsigned long long)err->done, (unsigned long long)err->of);
    if (cli->make_room)
        cli->make_room(cli->room);
    const char *remedy = code == CLI_INTERRUPTED ? NULL : remedy_of(cli, err);
    if (remedy)
        fill_in(cli, err, remedy, text, sizeof text);
    put_error(code, minari_status_name(err->status), err->problem, waits ? measured : err->detail,
              remedy ? text : NULL);
    if (cli->client && cli->subject && cli_is_problem(err, HUB_PROBLEM_DATASET_NOT_FOUND))
        cli_offer_new_name(cli, cli->subject);
    return code;
}

int cli_fail(const struct cli *cli, enum minari_status status, enum hub_problem_code problem, const char *fmt,
             ...)
{
    struct minari_error err = {.status = status};
    va_list args;
    va_start(args, fmt);
    vsnprintf(err.detail, sizeof err.detail, fmt, args);
    va_end(args);
    snprintf(err.problem, sizeof err.problem, "%s", hub_problem_name(problem));
    return cli_report(cli, &err);
}
