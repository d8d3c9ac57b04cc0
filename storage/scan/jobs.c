/* What the scanner is doing and what waits, for the admin: see scan.h. */
#include "storage/scan/state.h"

void hub_scanner_jobs(struct hub_scanner *s, hub_scan_job_each each, void *user)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->slot_count; i++) {
        for (const struct hub_seen *seen = s->slots[i]; seen; seen = seen->chain) {
            if (seen->state == HUB_SEEN_IDLE)
                continue;
            const bool running = seen->state == HUB_SEEN_RUNNING;
            const struct hub_scan_job job = {.target = seen->id,
                                             .running = running,
                                             .done =
                                                 running && seen->parts ? seen->parts - seen->unfinished : 0,
                                             .of = running ? seen->parts : 0,
                                             .started_ms = running ? seen->started_ms : 0,
                                             .attempts = seen->tries};
            each(user, &job);
        }
    }
    pthread_mutex_unlock(&s->lock);
}
