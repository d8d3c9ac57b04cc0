/* What the scanner is doing and what waits, for the admin: see scan.h. */
#include "storage/scan/state.h"

void hub_scanner_jobs(struct hub_scanner *s, hub_scan_job_each each, void *user)
{
    pthread_mutex_lock(&s->workers.lock);
    for (size_t i = 0; i < s->slot_count; i++) {
        for (const struct hub_tracked_dataset *tracked = s->slots[i]; tracked; tracked = tracked->chain) {
            if (tracked->state == HUB_TRACKED_IDLE)
                continue;
            const bool running = tracked->state == HUB_TRACKED_RUNNING;
            const struct hub_scan_job job = {
                .target = tracked->id,
                .running = running,
                .done = running && tracked->parts ? tracked->parts - tracked->unfinished : 0,
                .of = running ? tracked->parts : 0,
                .started_ms = running ? tracked->started_ms : 0,
                .attempts = tracked->tries};
            each(user, &job);
        }
    }
    pthread_mutex_unlock(&s->workers.lock);
}
