/* Rows read with a context of their own: without a server, a scanner or a budget. */
#include "storage/rows/named.h"
#include "storage/rows/row_reader.h"
#include "tests/support/api_kit.h"
#include "tests/support/catalog_draft.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/stat.h>

TestSuite(rows, .init = api_kit_open, .fini = api_kit_close, .timeout = 60);

#define DOOR "door-human-v0"

/* What the rows reported. */
static unsigned changes;
static uint64_t kept_bytes;

static enum hub_status changed(void *user, const struct hub_summary *summary, enum hub_rows_change change,
                               struct hub_error *err)
{
    cr_expect_null(user);
    cr_expect_eq(change, HUB_ROWS_FILE_CHANGED);
    changes++;
    return hub_fail(err, HUB_CHANGED, "'%s' has changed", summary->id);
}

static void resized(void *user, uint64_t from, uint64_t to)
{
    (void)user;
    cr_expect_eq(from, kept_bytes);
    kept_bytes = to;
}

static struct hub_rows_context context_of(bool may_block)
{
    return (struct hub_rows_context){.catalog = api_kit_app()->catalog,
                                     .store = api_kit_app()->store,
                                     .may_block = may_block,
                                     .changed = changed,
                                     .resized = resized};
}

static void open_state(struct hub_state *state)
{
    const struct hub_snapshot *snapshot = snapshot_now(api_kit_app()->catalog);
    DRAFT_OK(hub_state_open(api_kit_app()->catalog, hub_snapshot_find(snapshot, HUB_VIEW(DOOR)), state, err));
}

/* Rows [0, 3) of the rewards of the first episode, priced. */
static enum hub_status select_rewards(const struct hub_rows_context *context, const struct hub_state *state,
                                      struct hub_selection *out, struct hub_error *err)
{
    const struct hub_row_range range = {.has_stop = true, .stop = 3};
    struct hub_named_fields fields = {.count = 0};
    HUB_TRY(
        hub_named_add(context, state, &(struct hub_field_name){.text = HUB_VIEW("rewards")}, &fields, err));
    const struct hub_row_query query = {state->dataset, &state->dataset->episodes[0], fields.fields,
                                        fields.count, &range};
    HUB_TRY(hub_select(context, &query, out, err));
    return hub_selection_price(context, out, err);
}

Test(rows, are_read_without_a_request)
{
    const struct hub_rows_context context = context_of(true), event_thread = context_of(false);
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    HUB_CLEANUP(hub_selection_dispose) struct hub_selection s = {0};
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = {0};
    open_state(&state);
    DRAFT_OK(select_rewards(&context, &state, &s, err));
    cr_expect_eq(hub_selection_open(&event_thread, &s, NULL), HUB_AGAIN, "the file is not open yet");
    DRAFT_OK(hub_selection_open(&context, &s, err));
    DRAFT_OK(hub_selection_fetch(&s, err));
    DRAFT_OK(hub_selection_read(&context, &s, &s.fields[0], NULL, &rows, err));
    DRAFT_OK(hub_selection_unchanged(&context, &s, err));
    cr_expect(rows.rows == 3 && rows.variant.item_size == 8);
    cr_expect_eq(changes, 0);
}

/* Another time of change, as a writer would leave it. */
static void touch_file(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/" DOOR "/data/main_data.hdf5", api_kit_app()->roots->roots[0].path);
    cr_assert_eq(utimensat(AT_FDCWD, path, (struct timespec[2]){{1, 0}, {1, 0}}, 0), 0);
}

static void expect_changed(bool while_open)
{
    const struct hub_rows_context context = context_of(true);
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    HUB_CLEANUP(hub_selection_dispose) struct hub_selection s = {0};
    open_state(&state);
    DRAFT_OK(select_rewards(&context, &state, &s, err));
    if (while_open)
        DRAFT_OK(hub_selection_open(&context, &s, err));
    touch_file();
    cr_expect_eq(while_open ? hub_selection_unchanged(&context, &s, NULL)
                            : hub_selection_open(&context, &s, NULL),
                 HUB_CHANGED);
    cr_expect_eq(changes, 1);
}

Test(rows, report_a_file_that_changed_before_it_was_opened)
{
    expect_changed(false);
}

Test(rows, report_a_file_that_changed_while_it_was_read)
{
    expect_changed(true);
}

Test(rows, name_what_there_is)
{
    const struct hub_rows_context context = context_of(true), event_thread = context_of(false);
    const struct hub_field_name group = {.text = HUB_VIEW("@done")}, none = {.text = HUB_VIEW("nothing")};
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    struct hub_named_fields fields = {.count = 0};
    struct hub_error err = {0};
    open_state(&state);
    cr_expect_eq(hub_named_add(&context, &state, &group, &fields, &err), HUB_OK);
    cr_expect(fields.count == 2 && !fields.exact[0]);
    cr_expect_eq(hub_named_add(&event_thread, &state, &none, &fields, &err), HUB_AGAIN);
    cr_expect_eq(hub_named_add(&context, &state, &none, &fields, &err), HUB_NOT_FOUND);
    cr_expect_eq(err.problem, HUB_PROBLEM_FIELD_NOT_FOUND);
    cr_expect(strstr(err.detail, "rewards"), "%s", err.detail);
}

Test(rows, count_what_a_reader_keeps)
{
    struct hub_row_reader r = {.context = context_of(true),
                               .column_count = 1,
                               .terminated = HUB_NONE,
                               .truncated = HUB_NONE,
                               .done = HUB_NONE};
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    HUB_CLEANUP(hub_selection_dispose) struct hub_selection s = {0};
    uint64_t got = 0, all = 0;
    open_state(&state);
    DRAFT_OK(select_rewards(&r.context, &state, &s, err));
    r.dataset = state.dataset; /* its reference */
    state.dataset = NULL;
    r.columns[0].field = s.fields[0].field;
    r.as[0].name = "rewards";
    DRAFT_OK(hub_row_reader_begin_at(&r, &s, err));
    for (; all < hub_row_reader_count(&r); all += got)
        DRAFT_OK(hub_row_reader_rows(&r, 0, 1, all, 1, &got, err));
    cr_expect_eq(all, 3);
    hub_row_reader_dispose(&r);
    cr_expect_eq(kept_bytes, 0);
}
