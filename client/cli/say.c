/* What people read: errors with the remedy, and texts that are safe on a terminal. */
#include "client/cli/cli.h"
#include "storage/base/utf8.h"

#include <errno.h>
#include <stdlib.h>

int cli_error(int code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("minari-cli: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    return code;
}

void cli_note(const struct cli *cli, const char *fmt, ...)
{
    va_list args;
    if (cli->values[OPT_QUIET])
        return;
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
        const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0) ||
                             (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
        if (size == 0 || control) {
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

int cli_flush(int code)
{
    if (fflush(stdout) || ferror(stdout)) {
        if (errno != EPIPE)
            return cli_error(CLI_FAILED, "the output could not be written: %s", strerror(errno));
        return code ? code : CLI_FAILED;
    }
    return code;
}

static int code_of(const struct minari_error *err)
{
    switch (err->status) {
    case MINARI_OK:
        return CLI_OK;
    case MINARI_INVALID:
        return CLI_USAGE;
    case MINARI_NOT_FOUND:
        return CLI_NOT_FOUND;
    case MINARI_UNREACHABLE:
    case MINARI_PROTOCOL:
        return CLI_UNREACHABLE;
    case MINARI_BUSY:
        return strcmp(err->problem, "download-running") == 0 ? CLI_FAILED : CLI_UNREACHABLE;
    case MINARI_DENIED:
        return CLI_NOT_ALLOWED;
    case MINARI_BROKEN:
        return CLI_BROKEN;
    case MINARI_VERIFY:
        return CLI_VERIFY;
    case MINARI_NO_SPACE:
        return CLI_NO_SPACE;
    case MINARI_CANCELLED:
        return CLI_INTERRUPTED;
    case MINARI_EXISTS:
    case MINARI_UNSUPPORTED:
    case MINARI_INCOMPATIBLE:
    case MINARI_CHANGED:
    case MINARI_TOO_BIG:
    case MINARI_NO_MEMORY:
    case MINARI_FAILED:
        break;
    }
    return CLI_FAILED;
}

/* What to do about it; by the problem's name first. */
static const char *remedy_of(const struct minari_error *err)
{
    static const struct {
        const char *problem, *remedy;
    } named[] = {
        {"dataset-not-found", "minari-cli list remote --all shows what is there"},
        {"episode-missing", "minari-cli episodes ID shows the numbers that are there"},
        {"field-not-found", "minari-cli show ID lists the fields"},
        {"token-required", "give --token or set MINARI_HUB_TOKEN"},
        {"forbidden", "ask the hub's administrator for a token that may do this"},
        {"incompatible", "give --force to take it all the same"},
        {"not-a-minari-dataset", "give -o DIR to put it somewhere else than among Minari's datasets"},
        {"not-ready", "minari-cli show ID tells more; --force takes its files as they are"},
        {"not-a-dataset", "move it away yourself if it is not wanted"},
        {"download-running", "wait for it, or stop it"},
        {"digest-mismatch", "download it again: good files are kept where the download was not finished"},
        {"no-record", "compare it with a hub: --remote http://HOST[:PORT]"},
        {"not-acceptable", "try another --format"},
        {"needs-decoding", "ask for single frames: --rows N --format image"},
        {"too-large", "ask for fewer rows with --rows, or --format npy -o FILE"},
        {"no-hub", "check the address: this is not a minari-hub"},
        {"pending", "the hub is still inspecting it: try again soon"},
    };
    for (size_t i = 0; i < HUB_COUNT(named); i++)
        if (strcmp(named[i].problem, err->problem) == 0)
            return named[i].remedy;
    switch (err->status) {
    case MINARI_UNREACHABLE:
        return "check the address and that the hub runs: curl REMOTE/readyz";
    case MINARI_PROTOCOL:
        return "check the address: something other than a hub may answer there";
    case MINARI_BUSY:
        return "try again in a moment";
    case MINARI_NO_SPACE:
        return "make room, then run the same command: it goes on where it was";
    case MINARI_BROKEN:
        return "its files can still be downloaded; minari-cli show ID gives the problems";
    case MINARI_CHANGED:
        return "somebody is writing it on the hub: try again when they are done";
    default:
        return NULL;
    }
}

int cli_report(const struct cli *cli, const struct minari_error *err)
{
    (void)cli;
    const int code = code_of(err);
    const char *remedy = remedy_of(err);
    cli_error(code, "%s", cli_clean(err->detail));
    if (remedy && code != CLI_INTERRUPTED)
        fprintf(stderr, "  %s\n", remedy);
    return code;
}
