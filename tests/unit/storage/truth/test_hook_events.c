/* Events that wait in hub.db: in their order, over a restart, removed by whoever knows their tries. */
#include "storage/truth/hook_events.h"

#include "tests/support/catalog_draft.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static char state[64];
static struct hub_truth *truth;
static const struct hub_hook_event refused = {
    .event = "refused", .dataset = "lab/a", .who = "token:ann", .files = 3};

static void open_truth(void)
{
    const struct hub_truth_options options = {.state = state};
    DRAFT_OK(hub_truth_open(&options, &truth, err));
}

static void begin(void)
{
    snprintf(state, sizeof state, "/tmp/hub-events-XXXXXX");
    cr_assert(mkdtemp(state));
    open_truth();
}

static void end(void)
{
    char command[100];
    hub_truth_close(truth);
    snprintf(command, sizeof command, "rm -rf %s", state);
    cr_assert_eq(system(command), 0);
}
TestSuite(hook_events, .init = begin, .fini = end);

static uint64_t count(void)
{
    uint64_t out = 0;
    DRAFT_OK(hub_hook_events_count(truth, &out, err));
    return out;
}

Test(hook_events, one_that_failed_is_there_after_a_restart)
{
    HUB_CLEANUP(hub_hook_event_dispose) struct hub_hook_event first = {0};
    HUB_CLEANUP(hub_hook_event_dispose) struct hub_hook_event again = {0};
    DRAFT_OK(hub_hook_event_add(truth, &refused, err));
    DRAFT_OK(hub_hook_event_next(truth, 0, &first, err));
    cr_expect(first.tries == 0 && first.files == 3 && first.at_ms > 0 && !*first.commit);
    cr_expect_str_eq(first.dataset, "lab/a");
    DRAFT_OK(hub_hook_event_failed(truth, &first, err));
    DRAFT_OK(hub_hook_event_done(truth, &first, err));
    cr_expect_eq(count(), 1, "it was tried since, and is somebody else's");
    hub_truth_close(truth);
    open_truth();
    DRAFT_OK(hub_hook_event_next(truth, 0, &again, err));
    cr_expect(again.number == first.number && again.tries == 1);
    cr_expect_eq(hub_hook_event_next(truth, again.number, &first, NULL), HUB_NOT_FOUND);
    DRAFT_OK(hub_hook_event_done(truth, &again, err));
    cr_expect_eq(count(), 0);
}

Test(hook_events, so_many_wait_and_no_more)
{
    struct hub_error why = {0};
    for (int i = 0; i < HUB_HOOK_EVENTS_MOST; i++)
        DRAFT_OK(hub_hook_event_add(truth, &refused, err));
    cr_expect_eq(hub_hook_event_add(truth, &refused, &why), HUB_TOO_BIG);
    cr_expect_eq(count(), HUB_HOOK_EVENTS_MOST);
}
