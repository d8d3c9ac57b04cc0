/** Progress of what comes, on stderr: a bar on a terminal, a line now and then elsewhere. */
#ifndef HUB_CLI_PROGRESS_H
#define HUB_CLI_PROGRESS_H

#include <minari/local.h>

struct progress {
    bool terminal, quiet;
    bool shown; /* a bar stands on the line */
    uint64_t began_ms, said_ms;
    uint64_t began_bytes;         /* when this dataset began */
    uint64_t mark_ms, mark_bytes; /* for the rate of the last seconds */
    double rate;                  /* bytes a second */
    enum minari_phase phase;
    char id[256];
};

/** The bar for a width in columns. Unit-tested: no clock, no terminal. */
void progress_bar(const struct minari_progress *p, double rate, unsigned columns, char *out, size_t room);

/** "0:07", "12:34", "1:02:03"; "-:--" when it is unknown. */
void progress_time(double seconds, char out[32]);

void progress_show(struct progress *state, const struct minari_progress *p);
/** Take the bar away, before something else is printed. */
void progress_clear(struct progress *state);

#endif
