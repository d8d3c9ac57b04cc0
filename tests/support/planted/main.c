/*
 * A worker whose drivers misbehave, one way each: for the tests of the sandbox and of the proofs. With
 * PLANTED_BLIND it runs where seccomp cannot be installed.
 */
#include "tests/support/planted/planted.h"

#include "storage/worker/worker.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

static int claim_set(struct hub_files *listing)
{
    return hub_files_find(listing, "dataset.txt") != HUB_NONE ? 80 : 0;
}

/* Each .one file is a dataset; all .many files are one together. */
static int claim_by_ending(struct hub_files *listing, struct hub_claim *claim, const char *ending,
                           bool single)
{
    for (uint32_t i = 0; i < listing->count && (!single || claim->file_count == 0); i++) {
        if (listing->entries[i].directory || !hub_view_ends(listing->entries[i].path, ending))
            continue;
        claim->files[claim->file_count++] = i;
        snprintf(claim->name, sizeof claim->name, "%.*s", (int)listing->entries[i].path.size,
                 listing->entries[i].path.data);
    }
    return claim->file_count ? 50 + !single : 0;
}

static int claim_one(struct hub_files *listing, struct hub_claim *claim)
{
    return claim_by_ending(listing, claim, ".one", true);
}

static int claim_many(struct hub_files *listing, struct hub_claim *claim)
{
    return claim_by_ending(listing, claim, ".many", false);
}

static int claim_low(struct hub_files *listing)
{
    return claim_set(listing) ? 20 : 0;
}

__attribute__((no_sanitize("undefined", "address"))) static int claim_crash(struct hub_files *listing)
{
    if (hub_files_find(listing, "crash.txt") != HUB_NONE)
        *(volatile int *)(uintptr_t)listing->count = 1;
    return 0;
}

static enum hub_status plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_TRY(hub_sink_fact(sink, "id", HUB_VIEW("set\xff"), err));
    HUB_TRY(hub_sink_fact(sink, "id", HUB_VIEW("again"), err));
    HUB_TRY(hub_sink_fact(sink, "metadata", HUB_VIEW("{\"x\":[1,2.5]}"), err));
    HUB_TRY(hub_sink_fact(sink, "authors", HUB_VIEW("{}"), err));
    HUB_TRY(hub_sink_fact(sink, "claimed_steps", HUB_VIEW("12"), err));
    static char space[3 * 1024 * 1024];
    memset(space, ' ', sizeof space);
    space[0] = '[', space[sizeof space - 1] = ']';
    HUB_TRY(hub_sink_fact(sink, "observation_space", (struct hub_view){space, sizeof space}, err));
    for (uint32_t i = 0; i < files->count; i++)
        HUB_TRY(hub_sink_part(
            sink,
            &(struct hub_part){
                .name = files->entries[i].path, .files = &i, .file_count = 1, .hint = HUB_VIEW("h")},
            err));
    return HUB_OK;
}

static enum hub_status plan_same_part(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    (void)files;
    for (int i = 0; i < 2; i++)
        HUB_TRY(hub_sink_part(sink, &(struct hub_part){.name = HUB_VIEW("p")}, err));
    return HUB_OK;
}

/* ---- a dataset whose parts are files named after what goes wrong with them ---- */

static int claim_troubled(struct hub_files *listing)
{
    for (uint32_t i = 0; i < listing->count; i++)
        if (hub_view_ends(listing->entries[i].path, ".part"))
            return 90;
    return 0;
}

static enum hub_status plan_troubled(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    for (uint32_t i = 0; i < files->count; i++) {
        const struct hub_part part = {.name = files->entries[i].path, .files = &i, .file_count = 1};
        HUB_TRY(hub_sink_part(sink, &part, err));
    }
    return HUB_OK;
}

static void nap(int64_t ms)
{
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}

static enum hub_status inspect_troubled(struct hub_files *files, const struct hub_part *part,
                                        struct hub_sink *sink, struct hub_error *err)
{
    const char *name = part->name.data;
    uint32_t episode;
    if (strncmp(name, "sleep", 5) == 0)
        return do_sleep(files, part, sink, err);
    if (strncmp(name, "loop", 4) == 0)
        return do_loop(files, part, sink, err);
    if (strncmp(name, "unread", 6) == 0)
        return hub_fail(err, HUB_IO, "reading %s: Input/output error", name);
    if (strncmp(name, "nap", 3) == 0)
        nap(100);
    return hub_sink_episode(sink,
                            &(struct hub_episode){.number = -1,
                                                  .file = part->files[0],
                                                  .steps = 1,
                                                  .success = -1,
                                                  .terminated = -1,
                                                  .truncated = -1},
                            &episode, err);
}

static const struct hub_format_mark troubled_marks[] = {{.name = "*.part"}, {0}};

#define PLANTED_FORMAT(driver) {.name = #driver, .inspect = do_##driver},
static const struct hub_format planted[] = {PLANTED_DRIVERS(PLANTED_FORMAT)};
static const struct hub_format claimer = {
    .name = "claimer", .claim_directory = claim_set, .plan = plan, .inspect = do_honest};
static const struct hub_format low = {
    .name = "low", .claim_directory = claim_low, .claim_files = claim_one, .plan = plan_same_part};
static const struct hub_format many = {
    .name = "many", .claim_directory = claim_crash, .claim_files = claim_many};

static const struct hub_format troubled = {.name = "troubled",
                                           .marks = troubled_marks,
                                           .claim_directory = claim_troubled,
                                           .plan = plan_troubled,
                                           .inspect = inspect_troubled};

static const struct hub_format *const formats[] = {
    &troubled,
    &low,
    &claimer,
    &many,
#define PLANTED_ROW(driver) &planted[PLANTED_##driver],
    PLANTED_DRIVERS(PLANTED_ROW) NULL,
};

#ifdef PLANTED_BLIND
static int forget_seccomp(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(prctl), 1,
                              SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP));
    rc = rc ? rc : seccomp_load(filter);
    seccomp_release(filter);
    return rc;
}
#else
static int forget_seccomp(void)
{
    return 0;
}
#endif

int main(void)
{
    return forget_seccomp() ? 1 : hub_worker_main(formats);
}
