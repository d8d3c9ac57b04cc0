/* Drivers that may do what they do. */
#include "tests/support/planted/planted.h"

#include "storage/text/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

INSPECT(do_honest)
{
    uint64_t at;
    HUB_TRY(hub_files_side_add(files, "12345678", 8, &at, err));
    HUB_TRY(hub_sink_problem(sink, "a-problem", HUB_VIEW("x"), err, "hint %.*s", (int)part->hint.size,
                             part->hint.data));
    HUB_TRY(hub_sink_problem(sink, "another", HUB_VIEW("\xff"), err, "two\nlines"));
    return planted_rows(files, sink, 0, 16, 3, false, err);
}

/* What the dataset's writer got wrong hides nothing else. */
INSPECT(do_mended)
{
    (void)part;
    uint32_t number;
    static const struct hub_field odd = {.path = {"a//b", 4}, .type = HUB_FIELD_NUMBER},
                                  blosc = {.path = {"c", 1}, .type = HUB_FIELD_NUMBER};
    HUB_TRY(hub_sink_field(sink, &odd, &number, err));
    HUB_TRY(hub_sink_field(sink, &blosc, &number, err));
    HUB_TRY(hub_sink_refuse(sink, number, 0, "filter 32001", err));
    for (int i = 0; i < 300; i++)
        HUB_TRY(hub_sink_problem(sink, "many", HUB_VIEW(""), err, "number %d", i));
    const struct hub_episode episode = {.number = INT64_MAX,
                                        .steps = UINT64_MAX,
                                        .name = HUB_VIEW("n\xfe"),
                                        .attributes = HUB_VIEW("{\"a\":1"),
                                        .statistics = HUB_VIEW("{\"a\": NaN}")};
    HUB_TRY(hub_sink_episode(sink, &episode, &number, err));
    return planted_rows(files, sink, 0, 0, 1000000, false, err); /* beyond the file: this field alone */
}

/* More fields than are told apart. */
INSPECT(do_crowded)
{
    (void)files;
    (void)part;
    for (int i = 0; i < 70000; i++) {
        char path[16];
        uint32_t number;
        const int n = snprintf(path, sizeof path, "f%05d", i);
        const struct hub_field field = {.path = {path, (size_t)n}, .type = HUB_FIELD_NUMBER};
        HUB_TRY(hub_sink_field(sink, &field, &number, err));
    }
    return HUB_OK;
}

INSPECT(do_read)
{
    (void)sink;
    char text[64];
    size_t got;
    for (int i = 0; i < 200; i++)
        for (uint32_t k = 0; k < part->file_count; k++)
            HUB_TRY(hub_files_read(files, part->files[k], 0, text, sizeof text, &got, err));
    return hub_sink_problem(sink, "read", hub_view_of(""), err, "%.*s", (int)HUB_MIN(got, 5), text);
}

INSPECT(do_decline)
{
    UNUSED;
    return hub_fail(err, HUB_NOT_ACCEPTABLE, "not mine");
}

INSPECT(do_unsupported)
{
    UNUSED;
    return hub_fail_as(err, HUB_UNSUPPORTED, HUB_PROBLEM_NO_VERSION, "version 3");
}

/* qsort, stdio to a buffer, random numbers, a clock: what drivers may do */
static int compare(const void *a, const void *b)
{
    return memcmp(a, b, 8);
}

INSPECT(do_ordinary)
{
    UNUSED;
    static char block[200000 * 8];
    qsort(block, 200000, 8, compare);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    fprintf(stderr, "%ld", (long)now.tv_sec);
    printf("%ld\n", (long)now.tv_sec);
    fflush(stdout);
    json_t *document;
    HUB_TRY(hub_json_parse(HUB_VIEW("{\"a\":[1.5,\"x\"]}"), 100, &document, err));
    json_decref(document);
    void *big = calloc(1, 64 * MIB);
    free(big);
    return big ? HUB_OK : HUB_NO_MEMORY;
}
