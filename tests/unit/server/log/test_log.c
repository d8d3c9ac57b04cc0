#include "server/log/log.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int reader, fd;
static struct hub_log *hub_log;
static char text[64 * 1024];

static void open_pipe(void)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    reader = ends[0];
    fd = ends[1];
    cr_assert_eq(hub_log_start(fd, HUB_LOG_JSON, &hub_log, NULL), HUB_OK);
}

static void close_pipe(void)
{
    close(reader);
    close(fd);
}

static void fill_pipe(void)
{
    char byte = '.';
    cr_assert_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    while (write(fd, &byte, 1) == 1)
        ;
    cr_assert_eq(fcntl(fd, F_SETFL, 0), 0);
}

static void log_requests(unsigned count)
{
    const struct hub_log_line line = {.id = "0123456789abcdef",
                                      .client = "127.0.0.1",
                                      .method = "GET",
                                      .route = "hello",
                                      .target = "/hello",
                                      .query = "",
                                      .agent = "",
                                      .status = 200};
    for (unsigned i = 0; i < count; i++)
        hub_log_request(hub_log, &line);
}

/* Adds what is in the pipe to `text`, without waiting for more. */
static void read_more(void)
{
    size_t size = strlen(text);
    ssize_t n;
    cr_assert_eq(fcntl(reader, F_SETFL, O_NONBLOCK), 0);
    while ((n = read(reader, text + size, sizeof text - 1 - size)) > 0)
        size += (size_t)n;
}

static unsigned count_of(const char *what)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

TestSuite(log, .init = open_pipe, .fini = close_pipe, .timeout = 20);

Test(log, every_line_is_written_by_the_end)
{
    log_requests(100);
    hub_log_stop(hub_log);
    read_more();
    cr_assert_eq(count_of("\"route\":\"hello\""), 100);
    cr_assert_eq(count_of("\n"), 100);
}

Test(log, no_token_is_kept)
{
    const struct hub_log_line line = {
        .id = "0",
        .client = "127.0.0.1",
        .method = "GET",
        .route = "hello",
        .target = "/mh_abc/mh_abcdefghijabcdefghijabcdefghijabcdefghijabcdefgh/x",
        .query = "token=mh_aaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbcccccc&a=1",
        .agent = "",
        .status = 200};
    hub_log_request(hub_log, &line);
    hub_log_stop(hub_log);
    read_more();
    cr_assert_eq(count_of("\"target\":\"/mh_abc/mh_abcdefghij**************************************/x\""), 1,
                 "%s", text);
    cr_assert_eq(count_of("\"query\":\"token=mh_aaaaaaaaaa**************************************&a=1\""), 1,
                 "%s", text);
}

Test(log, a_reader_that_stopped_reading_does_not_hold_up_the_end)
{
    fill_pipe();
    log_requests(100);
    hub_log_stop(hub_log);
}

Test(log, what_did_not_fit_is_counted_when_reading_goes_on)
{
    fill_pipe();
    log_requests(50000); /* more than is kept */
    FILE *lines = fdopen(dup(reader), "r");
    char *line = NULL;
    size_t room = 0;
    unsigned long written = 0, reported = 0;
    while (written + reported < 50000) { /* each is looked at once: a sanitized search takes its time */
        cr_assert(getline(&line, &room, lines) > 0);
        const char *event = strstr(line, "\"event\":\"log-lines-dropped\",\"count\":");
        reported += event ? strtoul(strstr(event, "count") + strlen("count\":"), NULL, 10) : 0;
        written += strstr(line, "\"route\":\"hello\"") != NULL;
    }
    cr_expect_gt(reported, 0);
    hub_log_stop(hub_log);
    fclose(lines);
    free(line);
}
