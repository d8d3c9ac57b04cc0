/* Progress: see progress.h. */
#include "client/cli/progress.h"

#include "client/cli/cli.h"
#include "client/cli/table.h"
#include "storage/text/time.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { LINE_EVERY_MS = 5000, RATE_MS = 1000 };

void progress_time(double seconds, char out[32])
{
    if (!(seconds >= 0 && seconds < 360000)) {
        snprintf(out, 32, "-:--");
        return;
    }
    const unsigned s = (unsigned)seconds;
    if (s < 3600)
        snprintf(out, 32, "%u:%02u", s / 60, s % 60);
    else
        snprintf(out, 32, "%u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
}

static const char *const words[] = {
    [MINARI_PHASE_TRANSFER] = "", [MINARI_PHASE_CHECK] = "checking ", [MINARI_PHASE_PUBLISH] = "finishing "};

static unsigned percent(const struct minari_progress *p)
{
    if (!p->bytes_total)
        return 100;
    return (unsigned)((double)HUB_MIN(p->bytes_done, p->bytes_total) * 100 / (double)p->bytes_total);
}

void progress_bar(const struct minari_progress *p, double rate, unsigned columns, char *out, size_t room)
{
    char done[TABLE_NUMBER], total[TABLE_NUMBER], speed[TABLE_NUMBER], left[32], tail[160], bar[64];
    const uint64_t missing = p->bytes_total - HUB_MIN(p->bytes_done, p->bytes_total);
    hub_number_size(p->bytes_done, done);
    hub_number_size(p->bytes_total, total);
    hub_number_size(rate > 0 ? (uint64_t)rate : 0, speed);
    progress_time(rate > 0 ? (double)missing / rate : -1, left);
    if (p->bytes_total || !p->bytes_done)
        snprintf(tail, sizeof tail, "%3u%% %s/%s %s/s %s", percent(p), done, total, speed, left);
    else /* nobody said how long it is */
        snprintf(tail, sizeof tail, "%s %s/s", done, speed);
    const unsigned taken = (unsigned)(strlen(tail) + 3 + strlen(words[p->phase]));
    unsigned cells = p->bytes_total && columns > taken + 30 ? HUB_MIN(columns - taken - 24, 40U) : 0;
    const unsigned full = cells * percent(p) / 100;
    for (unsigned i = 0; i < cells; i++)
        bar[i] = i < full ? '#' : '.';
    bar[cells] = '\0';
    const int name = columns > taken + cells + 8 ? (int)(columns - taken - cells - 4) : 0;
    snprintf(out, room, "%s%.*s%s%s%s%s %s", words[p->phase], name, p->id, name ? " " : "", cells ? "[" : "",
             bar, cells ? "]" : "", tail);
}

static void measure(struct progress *s, const struct minari_progress *p, uint64_t now)
{
    /* what is there from before did not come just now */
    const uint64_t kept = p->phase == MINARI_PHASE_TRANSFER ? HUB_MIN(p->bytes_kept, p->bytes_done) : 0;
    const uint64_t came = p->bytes_done - kept;
    if (strcmp(s->id, p->id) != 0 || s->phase != p->phase || came < s->mark_bytes) {
        snprintf(s->id, sizeof s->id, "%.255s", p->id);
        s->phase = p->phase;
        s->began_ms = s->mark_ms = now;
        s->began_bytes = s->mark_bytes = came;
        s->rate = 0;
        return;
    }
    if (now - s->mark_ms < RATE_MS && s->rate > 0)
        return;
    if (now == s->mark_ms)
        return;
    const double latest = (double)(came - s->mark_bytes) * 1000 / (double)(now - s->mark_ms);
    s->rate = s->rate > 0 ? 0.7 * s->rate + 0.3 * latest : latest;
    s->mark_ms = now;
    s->mark_bytes = came;
}

void progress_show(struct progress *s, const struct minari_progress *p)
{
    char text[512];
    const uint64_t now = hub_time_mono_ms();
    struct minari_progress clean = *p;
    if (s->quiet)
        return;
    measure(s, p, now);
    clean.id = cli_clean(p->id);
    if (s->terminal) {
        struct winsize size = {0};
        const bool known = !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col > 20;
        progress_bar(&clean, s->rate, known ? size.ws_col - 1U : 79, text, sizeof text);
        fprintf(stderr, "\r\033[K%s", text);
        fflush(stderr);
        s->shown = true;
    } else if (now - HUB_MAX(s->said_ms, s->began_ms) >= LINE_EVERY_MS) {
        char done[TABLE_NUMBER], total[TABLE_NUMBER], speed[TABLE_NUMBER];
        hub_number_size(p->bytes_done, done);
        hub_number_size(p->bytes_total, total);
        hub_number_size((uint64_t)s->rate, speed);
        fprintf(stderr, "%s: %s%u%%, %s of %s, %s/s\n", clean.id, words[p->phase], percent(p), done, total,
                speed);
        s->said_ms = now;
    }
}

void progress_clear(struct progress *s)
{
    if (s->shown)
        fputs("\r\033[K", stderr);
    s->shown = false;
}
