#include "server/http/stream.h"
#include "storage/read/read.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];
static struct hub_store *store;
static struct hub_file *file;
static char content[300000];

static void open_file(void)
{
    char path[128];
    strcpy(folder, "/tmp/hub-stream-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/f", folder);
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (char)(i * 7 + i / 1000);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    cr_assert_eq(write(fd, content, sizeof content), (ssize_t)sizeof content);
    close(fd);
    static struct hub_roots roots;
    const struct hub_store_options options = {.roots = &roots, .state = folder, .max_open = 4};
    hub_roots_dispose(&roots);
    cr_assert_eq(hub_roots_add(&roots, folder, NULL, NULL), HUB_OK);
    const struct hub_file_ref ref = {.root = 0, .path = "f"};
    cr_assert_eq(hub_store_open(&options, &store, NULL), HUB_OK);
    cr_assert_eq(hub_file_get(store, &ref, &file, NULL), HUB_OK);
}

static void close_file(void)
{
    char command[128];
    hub_file_put(file);
    hub_store_close(store);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(stream, .init = open_file, .fini = close_file);

Test(stream, block_by_block_warm_or_cold)
{
    struct hub_stream stream;
    char block[70000];
    uint64_t at = 0;
    hub_stream_init(&stream, file, 5, 250000, 65536);
    for (int i = 0; at < stream.length; i++) {
        if (i % 2) /* what a worker does when the page is cold */
            hub_stream_fetch(&stream, at);
        ssize_t n = hub_stream_read(&stream, at, block, sizeof block);
        cr_assert(n > 0 && n <= 65536);
        cr_assert_arr_eq(block, content + 5 + at, (size_t)n);
        at += (uint64_t)n;
    }
    cr_assert_eq(at, 250000);
    cr_assert_eq(hub_stream_read(&stream, at, block, sizeof block), -1, "past the end");
    hub_stream_dispose(&stream);
}

Test(stream, a_cold_block_may_be_taken_in_pieces)
{
    struct hub_stream stream;
    char piece[1000];
    hub_stream_init(&stream, file, 0, 4096, 4096);
    hub_stream_fetch(&stream, 0);
    for (uint64_t at = 0; at < 4096;) {
        ssize_t n = hub_stream_read(&stream, at, piece, sizeof piece);
        cr_assert(n > 0);
        cr_assert_arr_eq(piece, content + at, (size_t)n);
        at += (uint64_t)n;
    }
    cr_assert_null(stream.cold);
    hub_stream_dispose(&stream);
}

static void change(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/f", folder);
    cr_assert_eq(truncate(path, 100000), 0);
}

Test(stream, a_change_ends_it)
{
    struct hub_stream stream;
    char block[1000];
    hub_stream_init(&stream, file, 0, sizeof content, 1000);
    cr_assert_eq(hub_stream_read(&stream, 0, block, sizeof block), 1000);
    change();
    cr_assert_eq(hub_stream_read(&stream, 1000, block, sizeof block), -1);
    cr_assert_eq(hub_stream_read(&stream, 0, block, sizeof block), -1, "and it stays ended");
    hub_stream_dispose(&stream);
}

Test(stream, a_change_under_a_worker_ends_it)
{
    struct hub_stream stream;
    char block[1000];
    hub_stream_init(&stream, file, 0, sizeof content, 1000);
    change();
    hub_stream_fetch(&stream, 0);
    cr_assert_eq(hub_stream_read(&stream, 0, block, sizeof block), -1);
    hub_stream_dispose(&stream);
}

/* A JSON string in the file goes out as the text it stands for, in stretches of any size. */
Test(stream, text_of_a_json_string)
{
    static const char escaped[] = "{\\\"type\\\": \\\"Box\\\", \\u00e9\\ud83d\\ude00\\n\\ud800x}";
    static const char text[] = "{\"type\": \"Box\", \xC3\xA9\xF0\x9F\x98\x80\n\xEF\xBF\xBDx}";
    enum { TIMES = 3000 };
    const size_t stored = TIMES * (sizeof escaped - 1), length = TIMES * (sizeof text - 1);
    char path[128], block[70000];
    snprintf(path, sizeof path, "%s/text", folder);
    FILE *f = fopen(path, "w");
    fputs("[\"", f);
    for (int i = 0; i < TIMES; i++)
        fputs(escaped, f);
    fputs("\"]", f);
    fclose(f);
    struct hub_file *texts;
    cr_assert_eq(hub_file_get(store, &(struct hub_file_ref){.path = "text"}, &texts, NULL), HUB_OK);
    for (size_t room = 1; room < sizeof block; room = room * 5 + 2) {
        struct hub_stream stream;
        hub_stream_init(&stream, texts, 2, length, 65536);
        stream.escaped = stored;
        for (uint64_t at = 0, i = 0; at < length; i++) {
            if (i % 3 == 2 && !stream.cold)
                hub_stream_fetch(&stream, at);
            const ssize_t n = hub_stream_read(&stream, at, block, room);
            cr_assert(n > 0 && (size_t)n <= room, "%zd at %llu", n, (unsigned long long)at);
            for (ssize_t k = 0; k < n; k++)
                cr_assert_eq(block[k], text[(at + (uint64_t)k) % (sizeof text - 1)]);
            at += (uint64_t)n;
        }
        hub_stream_dispose(&stream);
    }
    struct hub_stream stream; /* a text that is not as long as it should be never ends cleanly */
    hub_stream_init(&stream, texts, 2, length + 1, 65536);
    stream.escaped = stored;
    ssize_t n = 0;
    for (uint64_t at = 0; (n = hub_stream_read(&stream, at, block, sizeof block)) > 0; at += (uint64_t)n)
        ;
    cr_expect_eq(n, -1);
    hub_stream_dispose(&stream);
    hub_file_put(texts);
}

/* Parts of a head "0123456789" and 100 bytes of the file each, where 10 times their number begins. */
struct tens {
    struct hub_parts base;
    bool blocks, looks;
    unsigned turns;
    size_t looked;
};

static enum hub_status turn_tens(struct hub_parts *parts, struct hub_stream *stream, uint64_t at,
                                 bool may_block)
{
    struct tens *t = (struct tens *)parts;
    if (t->blocks && !may_block) {
        stream->begin = at / 110 * 110; /* half done */
        return HUB_AGAIN;
    }
    if (at >= 50 * 110)
        return HUB_OUT_OF_RANGE;
    t->turns++;
    stream->begin = at / 110 * 110;
    stream->head = hub_view_of("0123456789");
    stream->file = file;
    stream->offset = at / 110 * 10;
    stream->length = 100;
    stream->looked = t->looks;
    return HUB_OK;
}

static enum hub_status look_at_tens(struct hub_parts *parts, struct hub_view bytes)
{
    ((struct tens *)parts)->looked += bytes.size;
    return HUB_OK;
}

static void expect_tens(const char *got, uint64_t at, size_t size)
{
    for (size_t i = 0; i < size; i++, at++) {
        const uint64_t in = at % 110;
        cr_assert_eq(got[i], in < 10 ? (char)('0' + in) : content[at / 110 * 10 + in - 10]);
    }
}

Test(stream, parts_follow_one_another_from_any_byte)
{
    for (int way = 0; way < 4; way++)
        for (uint64_t first = 0; first < 230; first += way ? 37 : 1) {
            struct tens tens = {
                .base = {.turn = turn_tens, .look = look_at_tens}, .blocks = way & 1, .looks = way & 2};
            struct hub_stream stream;
            char block[300];
            uint64_t at = 0;
            hub_stream_init_parts(&stream, &tens.base, first, 70);
            while (at < 500) {
                const ssize_t n = hub_stream_read(&stream, at, block, HUB_MIN(sizeof block, 500 - at));
                cr_assert(n >= 0 && (n || way));
                if (n == 0)
                    hub_stream_fetch(&stream, at);
                expect_tens(block, first + at, (size_t)n);
                at += (uint64_t)n;
            }
            const unsigned parts =
                (unsigned)((first + 499) / 110 - first / 110 + 1); /* a worker reads ahead */
            cr_assert(tens.turns == parts || (way && tens.turns == parts + 1));
            cr_assert(tens.looked == 0 || way & 2);
            hub_stream_dispose(&stream);
        }
}

Test(stream, past_the_last_part_it_ends)
{
    struct tens tens = {.base = {.turn = turn_tens, .look = look_at_tens}};
    struct hub_stream stream;
    char block[300];
    hub_stream_init_parts(&stream, &tens.base, 49 * 110, 4096);
    cr_assert_eq(hub_stream_read(&stream, 0, block, sizeof block), 110);
    cr_assert_eq(hub_stream_read(&stream, 110, block, sizeof block), -1);
    hub_stream_dispose(&stream);
}
