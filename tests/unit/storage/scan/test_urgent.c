/* Which dataset is inspected next while requests wait for some: the queue alone, no thread. */
#include "storage/scan/state.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { SETS = 100 };

static struct hub_scanner s;

static const char *id_of(unsigned number)
{
    static char id[2][16];
    static unsigned turn;
    char *out = id[turn++ % 2];
    snprintf(out, sizeof id[0], "set-%03u", number);
    return out;
}

static void set_up(void)
{
    static const char *const formats[] = {"generic"};
    s = (struct hub_scanner){.wake_fd = -1, .sweep_at_ms = INT64_MAX, .due_ms = INT64_MAX};
    hub_thread_init(&s.workers);
    pthread_mutex_init(&s.urgent_lock, NULL);
    for (unsigned i = 0; i < SETS; i++) {
        const struct hub_found_dataset found = {
            .id = id_of(i), .path = id_of(i), .formats = formats, .format_count = HUB_COUNT(formats)};
        struct hub_tracked_dataset *known = hub_tracked_get(&s, &found);
        cr_assert(known);
        hub_tracked_push(&s, known, HUB_QUEUE_NORMAL);
    }
}

static void tear_down(void)
{
    hub_tracked_free_all(&s);
    hub_looks_cover(&s, NULL);
    hub_thread_dispose(&s.workers);
    pthread_mutex_destroy(&s.urgent_lock);
}

TestSuite(urgent, .init = set_up, .fini = tear_down);

/* As a worker does. */
static void expect_next(unsigned number)
{
    pthread_mutex_lock(&s.workers.lock);
    hub_urgent_take(&s);
    struct hub_tracked_dataset *known = hub_tracked_next(&s);
    cr_assert(known);
    cr_expect_str_eq(known->id, id_of(number));
    hub_tracked_unqueue(&s, known);
    pthread_mutex_unlock(&s.workers.lock);
}

Test(urgent, who_asks_for_one_is_before_who_asks_for_all)
{
    for (unsigned i = 0; i < SETS; i++)
        hub_scanner_prioritize(&s, id_of(i));
    hub_scanner_prioritize(&s, id_of(77));
    expect_next(77);
    expect_next(0);
    for (unsigned round = 0; round < 2; round++) /* three by now */
        for (unsigned i = 0; i < SETS; i++)
            hub_scanner_prioritize(&s, id_of(i));
    for (unsigned i = 0; i < 10; i++)
        hub_scanner_prioritize(&s, id_of(50));
    expect_next(50);
    expect_next(1);
}

/* The lock is held for as long as something is published: all that is asked for meanwhile counts
 * afterwards. */
Test(urgent, no_request_is_lost_while_the_lock_is_held)
{
    pthread_mutex_lock(&s.workers.lock);
    for (unsigned i = SETS; i-- > SETS / 2;)
        hub_scanner_prioritize(&s, id_of(i));
    hub_scanner_prioritize(&s, id_of(60));
    pthread_mutex_unlock(&s.workers.lock);
    expect_next(60);
    for (unsigned i = SETS; i-- > SETS / 2;)
        if (i != 60)
            expect_next(i);
    expect_next(0);
}

Test(urgent, one_that_waits_for_its_files_is_urgent_when_they_settled)
{
    struct hub_tracked_dataset *known = hub_tracked_find(&s, id_of(9));
    hub_tracked_unqueue(&s, known);
    hub_tracked_wait(&s, known, 1000);
    hub_scanner_prioritize(&s, id_of(9));
    cr_expect_eq(known->state, HUB_TRACKED_WAITING);
    hub_tracked_push(&s, known, hub_urgent_queue(known));
    expect_next(9);
    expect_next(0);
}

/* One that had its turn and is not through keeps nobody waiting, however often it is asked for. */
Test(urgent, one_that_had_its_turn_stays_behind)
{
    struct hub_tracked_dataset *known = hub_tracked_find(&s, id_of(0));
    hub_tracked_unqueue(&s, known);
    known->slow = true;
    hub_tracked_push(&s, known, HUB_QUEUE_SLOW);
    hub_scanner_prioritize(&s, id_of(0));
    expect_next(1);
}

/* Else every other dataset that somebody waits for would be begun before the first of them ends. */
Test(urgent, parts_of_what_is_begun_come_before_what_is_no_more_urgent)
{
    struct hub_work works[2] = {{.next = &works[1]}, {.next = NULL}};
    for (unsigned i = 0; i < HUB_COUNT(works); i++) {
        works[i].tracked = hub_tracked_find(&s, id_of(i));
        hub_tracked_unqueue(&s, works[i].tracked);
        works[i].tracked->state = HUB_TRACKED_RUNNING;
    }
    cr_expect_null(hub_urgent_work(&s, hub_tracked_next(&s)), "none is begun");
    s.works = works;
    cr_expect_eq(hub_urgent_work(&s, hub_tracked_next(&s)), &works[0]);
    hub_scanner_prioritize(&s, id_of(5));
    cr_expect_null(hub_urgent_work(&s, hub_tracked_next(&s)), "another one is more urgent");
    hub_scanner_prioritize(&s, id_of(1));
    cr_expect_eq(hub_urgent_work(&s, hub_tracked_next(&s)), &works[1],
                 "it is waited for as well, and was begun");
    cr_expect_eq(hub_urgent_work(&s, NULL), &works[1]);
    hub_scanner_prioritize(&s, id_of(5));
    cr_expect_null(hub_urgent_work(&s, hub_tracked_next(&s)), "another one is waited for by more");
    s.works = NULL;
    works[0].tracked->state = works[1].tracked->state = HUB_TRACKED_IDLE;
}
