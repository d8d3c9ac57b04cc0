/* Requests that wait for measured values: hub_measurer_await of measure.h. They are woken when more of their
 * dataset is measured, and find out themselves whether that is enough. */
#include "storage/measurer/measure_state.h"

static uint64_t hash_of(const char *id)
{
    return hub_hash(HUB_HASH_START, id, strlen(id));
}

/* Take those out that wait for this dataset (any: for all), or for whom nobody waits; the lock is held. */
static unsigned take_out(struct hub_measurer *m, uint64_t id, bool any, struct hub_file_fetch **out)
{
    unsigned kept = 0, taken = 0;
    for (unsigned i = 0; i < m->wait_count; i++) {
        if (any || m->waits[i].id == id || hub_fetch_left(m->waits[i].fetch))
            out[taken++] = m->waits[i].fetch;
        else
            m->waits[kept++] = m->waits[i];
    }
    m->wait_count = kept;
    return taken;
}

/* Not under the lock: who waited may ask the measurer at once. */
static void end_all(struct hub_file_fetch *const *fetches, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        hub_fetch_done(fetches[i], HUB_OK);
}

void hub_measure_wake(struct hub_measurer *m, const char *id)
{
    struct hub_file_fetch *fetches[HUB_MEASURE_WAITS];
    pthread_mutex_lock(&m->thread.lock);
    m->stopped |= !id;
    const unsigned count = take_out(m, id ? hash_of(id) : 0, !id, fetches);
    pthread_mutex_unlock(&m->thread.lock);
    end_all(fetches, count);
}

struct hub_file_fetch *hub_measurer_await(struct hub_measurer *m, const char *id, uint64_t generation)
{
    struct hub_file_fetch *fetch, *left[HUB_MEASURE_WAITS];
    unsigned left_count = 0;
    if (!m || hub_fetch_new(&fetch, NULL))
        return NULL;
    pthread_mutex_lock(&m->thread.lock);
    if (m->wait_count == HUB_MEASURE_WAITS)
        left_count = take_out(m, 0, false, left);
    const bool room = !m->stopped && m->wait_count < HUB_MEASURE_WAITS;
    /* measures written in the meantime have ended their waits */
    const bool now = hub_measures_generation(m->turn.options.catalog) != generation;
    if (room && !now)
        m->waits[m->wait_count++] = (struct hub_measure_wait){hash_of(id), fetch};
    pthread_mutex_unlock(&m->thread.lock);
    end_all(left, left_count);
    if (!room || now)
        hub_fetch_done(fetch, HUB_OK);
    if (room)
        return fetch;
    hub_fetch_put(fetch);
    return NULL;
}
