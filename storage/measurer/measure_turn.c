/* When measuring may go on: see measure_turn.h. */
#include "storage/measurer/measure_turn.h"

#include "storage/text/time.h"

enum { MEMORY_MS = 3000, REQUESTS_MS = 500, WAIT_MS = 2, AWAKE_MS = 100 };
/* Decoded bytes a second, while nobody asks for anything and while somebody does. */
#define FULL_RATE (1 * GIB)
#define SHARED_RATE (32 * MIB)

static void look_at_requests(struct hub_measure_turn *turn, bool *waits)
{
    uint64_t served = 0;
    *waits = turn->options.requests && turn->options.requests(turn->options.user, &served);
    if (served != turn->served)
        turn->shared_until_ms = hub_time_mono_ms() + AWAKE_MS;
    turn->served = served;
}

static void sleep_ms(int64_t ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&time, NULL);
}

static bool has_memory(struct hub_measure_turn *turn, uint64_t bytes)
{
    if (bytes <= turn->held || !turn->options.take)
        return true;
    if (!turn->options.take(turn->options.memory, bytes - turn->held))
        return false;
    turn->held = bytes;
    return true;
}

void hub_measure_turn_give_memory(struct hub_measure_turn *turn)
{
    if (turn->held)
        turn->options.give(turn->options.memory, turn->held);
    turn->held = 0;
}

/* Sleep off what was read too fast. */
static void keep_pace(struct hub_measure_turn *turn, uint64_t bytes)
{
    const int64_t now_ms = hub_time_mono_ms();
    const double rate = now_ms < turn->shared_until_ms ? (double)SHARED_RATE : (double)FULL_RATE;
    turn->ahead_s -= (double)(now_ms - turn->paced_ms) / 1000;
    turn->ahead_s = HUB_MAX(turn->ahead_s, 0.0) + (double)bytes / rate;
    turn->paced_ms = now_ms;
    if (turn->ahead_s > 0.001)
        sleep_ms(HUB_MIN((int64_t)(turn->ahead_s * 1000), (int64_t)500));
}

enum hub_status hub_measure_turn_take(struct hub_measure_turn *turn, uint64_t bytes, uint64_t memory,
                                      struct hub_error *err)
{
    bool waits;
    look_at_requests(turn, &waits);
    for (int64_t waited_ms = 0; (waits || !has_memory(turn, memory)) && !turn->stop; waited_ms += WAIT_MS) {
        if (waited_ms >= (waits ? REQUESTS_MS : MEMORY_MS)) /* what is held may be what they wait for */
            return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_OVERLOADED,
                               "there is not enough free memory to measure");
        sleep_ms(WAIT_MS);
        look_at_requests(turn, &waits);
    }
    keep_pace(turn, bytes);
    return turn->stop ? hub_fail(err, HUB_CANCELLED, "stopped") : HUB_OK;
}
