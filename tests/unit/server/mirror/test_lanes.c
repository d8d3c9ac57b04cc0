/* server/mirror/mirror.c: which job gets a thread while remotes hold their answers. */
#include "kit.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

TestSuite(lanes, .init = kit_begin, .fini = kit_end, .timeout = 30);

/* A port on which connections are taken by the kernel, and answered by nobody. */
static int listen_on(unsigned *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    cr_assert_eq(listen(fd, 16), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

static void put_rule(const char *name, unsigned port)
{
    char spec[100];
    snprintf(spec, sizeof spec, "{'remote':'http://127.0.0.1:%u'}", port);
    kit_put_rule(name, spec);
}

/* Whether a remote hears of somebody within so long. */
static bool is_called(int listener, int within_ms)
{
    return poll(&(struct pollfd){.fd = listener, .events = POLLIN}, 1, within_ms) == 1;
}

Test(lanes, a_list_that_does_not_come_gives_way_to_others)
{
    struct hub_mirrors_options options = kit.mirrors.options;
    struct hub_mirrors *mirrors = NULL;
    struct hub_error err = {0};
    unsigned ports[3];
    int listeners[3];
    options.silence_ms = 100;
    for (unsigned i = 0; i < HUB_COUNT(ports); i++)
        listeners[i] = listen_on(&ports[i]);
    put_rule("a", ports[0]);
    put_rule("b", ports[1]);
    cr_assert_eq(hub_mirrors_start(&options, &mirrors, &err), HUB_OK, "%s", err.detail);
    cr_expect(is_called(listeners[0], 10000));
    cr_expect(is_called(listeners[1], 10000)); /* both threads that list are taken */
    put_rule("c", ports[2]);
    hub_mirrors_wake(mirrors);
    cr_expect(is_called(listeners[2], 20000));
    hub_mirrors_stop(mirrors);
    for (unsigned i = 0; i < HUB_COUNT(ports); i++)
        close(listeners[i]);
    cr_expect_gt(kit_told_count, 0);
    cr_expect_not_null(strstr(kit_told[0], "stalled: nothing came from http://127.0.0.1:"), "%s",
                       kit_told[0]);
}

/* "0 ... 5" of a rule; "3" lies in "2". */
static void ask_for_six(const char *rule, const char *within)
{
    for (unsigned i = 0; i < 6; i++) {
        char target[16], payload[100];
        uint32_t added = 0;
        snprintf(target, sizeof target, "%s%u", rule, i);
        snprintf(payload, sizeof payload, "{\"id\":\"%s\",\"path\":\"%s\"%s}", target, target,
                 i == 3 ? within : "");
        const struct hub_job_draft draft = {
            .kind = "transfer", .target = target, .rule = rule, .payload = payload};
        cr_assert_eq(hub_jobs_add(kit.truth, &draft, 1, &added, NULL), HUB_OK);
    }
}

static enum hub_status add_target(void *user, struct hub_job_row *job, struct hub_error *err)
{
    (void)err;
    strcat(strcat(user, job->target), " ");
    return HUB_OK;
}

/* The targets of the transfers that run, once they are these. */
static bool are_running(const char *wanted)
{
    char targets[200];
    for (int i = 0; i < 1000; i++, usleep(10000)) {
        *targets = '\0';
        cr_assert_eq(hub_jobs_each(kit.truth, "transfer", HUB_JOB_RUNNING, add_target, targets, NULL),
                     HUB_OK);
        if (strcmp(targets, wanted) == 0)
            return true;
    }
    cr_expect_str_eq(targets, wanted);
    return false;
}

Test(lanes, a_rule_copies_four_datasets_at_a_time)
{
    struct hub_mirrors *mirrors = NULL;
    struct hub_error err = {0};
    unsigned ports[2];
    const int listeners[] = {listen_on(&ports[0]), listen_on(&ports[1])};
    put_rule("a", ports[0]);
    put_rule("b", ports[1]);
    ask_for_six("a", "");
    cr_assert_eq(hub_mirrors_start(&kit.mirrors.options, &mirrors, &err), HUB_OK, "%s", err.detail);
    cr_expect(are_running("a0 a1 a2 a3 "));
    ask_for_six("b", "");
    hub_mirrors_wake(mirrors);
    cr_expect(are_running("a0 a1 a2 a3 b0 ")); /* one thread is left to others */
    hub_mirrors_stop(mirrors);
    close(listeners[0]);
    close(listeners[1]);
}

Test(lanes, what_lies_in_another_dataset_waits_for_it)
{
    struct hub_mirrors *mirrors = NULL;
    struct hub_error err = {0};
    unsigned port;
    const int listener = listen_on(&port);
    put_rule("a", port);
    ask_for_six("a", ",\"within\":\"a2\"");
    cr_assert_eq(hub_mirrors_start(&kit.mirrors.options, &mirrors, &err), HUB_OK, "%s", err.detail);
    cr_expect(are_running("a0 a1 a2 a4 "));
    hub_mirrors_stop(mirrors);
    close(listener);
}

static enum hub_status take_error(void *user, struct hub_job_row *job, struct hub_error *err)
{
    (void)err;
    snprintf(user, 100, "%s: %s", job->target, job->error);
    return HUB_OK;
}

Test(lanes, what_another_program_no_longer_works_at_was_interrupted)
{
    const struct hub_job_draft draft = {.kind = "import", .target = "a.tar"};
    struct hub_mirrors *mirrors = NULL;
    struct hub_error err = {0};
    struct hub_lease lease;
    char error[100] = "";
    cr_assert_eq(hub_job_begin(kit.truth, &draft, 0, &lease, NULL), HUB_OK);
    cr_assert_eq(hub_mirrors_start(&kit.mirrors.options, &mirrors, &err), HUB_OK, "%s", err.detail);
    for (int i = 0; i < 1000 && !*error; i++, usleep(10000))
        cr_assert_eq(hub_jobs_each(kit.truth, "import", HUB_JOB_FAILED, take_error, error, NULL), HUB_OK);
    cr_expect_str_eq(error, "a.tar: it was interrupted");
    hub_mirrors_stop(mirrors);
    cr_expect_eq(kit_told_count, 0, "the program itself reports it");
}

Test(lanes, each_kind_of_job_is_one_row)
{
    char words[300] = "", outside[100] = "";
    for (const struct hub_job_kind_row *kind = hub_job_kinds; kind->name; kind++) {
        cr_assert_eq(kind, hub_job_kind_find(kind->name), "%s", kind->name);
        cr_expect_not_null(kind->unit, "%s", kind->name);
        cr_expect(!kind->work || kind->lane, "%s", kind->name);
        sprintf(words + strlen(words), "%s ", kind->name);
        if (kind->lane && !kind->work)
            sprintf(outside + strlen(outside), "%s ", kind->name);
    }
    cr_expect_str_eq(words, HUB_JOB_KINDS(HUB_JOB_KIND_WORD));
    cr_expect_str_eq(outside, HUB_JOB_KINDS_OUTSIDE(HUB_JOB_KIND_WORD));
}
