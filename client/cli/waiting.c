/* Waiting for a hub: see waiting.h. */
#include "client/cli/waiting.h"

#include <inttypes.h>
#include <time.h>

static bool noted; /* a line on the terminal says how far it is */

void waiting_note(const struct cli *cli, const char *what, uint64_t done, uint64_t of, const char *unit)
{
    if (!cli->err_terminal || cli->values[OPT_QUIET] || cli->values[OPT_NO_PROGRESS])
        return;
    fprintf(stderr, "\r\033[K%s", what);
    if (of)
        fprintf(stderr, ": %" PRIu64 " of %" PRIu64 " %s", done, of, unit);
    fflush(stderr);
    noted = true;
}

void waiting_clear(void)
{
    if (noted)
        fputs("\r\033[K", stderr);
    noted = false;
}

bool waiting_goes_on(const struct cli *cli, const struct minari_error *err, bool own)
{
    enum { NAP_MS = 200 }; /* the hub has waited, too */
    if (!cli_is_being_measured(err) || cli_interrupted(NULL) || !(cli->err_terminal || own))
        return false;
    waiting_note(cli, "waiting for it to be measured", err->done, err->of, "parts");
    (void)nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000L}, NULL);
    return true;
}
