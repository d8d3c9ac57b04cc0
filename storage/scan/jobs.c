/* What the scanner is doing and what waits, for the admin: see scan.h. */
#include "storage/scan/state.h"

void hub_scanner_jobs(struct hub_scanner *s, hub_scan_job_each each, void *user)
{
    pthread_mutex_lock(&s->workers.lock);
    for (size_t i = 0; i < s->slot_count; i++) {
        for (const struct hub_tracked_dataset *known = s->slots[i]; known; known = known->chain) {
            if (known->state == HUB_TRACKED_IDLE)
                continue;
            const bool running = known->state == HUB_TRACKED_RUNNING;
            const struct hub_scan_job job = {
                .target = known->id,
                .running = running,
                .done = running && known->parts ? known->parts - known->unfinished : 0,
                .of = running ? known->parts : 0,
                .started_ms = running ? known->started_ms : 0,
                .attempts = known->tries};
            each(user, &job);
        }
    }
    pthread_mutex_unlock(&s->workers.lock);
}
