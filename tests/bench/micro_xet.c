/*
 * What it costs to make objects of xorbs, without a server: one thread, xorbs in the page cache, chunks of
 * 64 KiB as clients cut them. Of each scheme raw megabytes per second of processor time, for decoding alone
 * and with what an object needs: its digests, and the file that it is written to.
 * micro_xet [FOLDER]
 */
#include "storage/io/fs.h"
#include "storage/model/file_hasher.h"
#include "storage/xet/rebuild.h"

#include <fcntl.h>
#include <lz4frame.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 64 * 1024, CHUNKS = 1024, ROUNDS = 5, TERMS = 4 /* the same xorb again */ };

static void must(enum hub_status st)
{
    if (st) {
        fprintf(stderr, "failed: %s\n", hub_status_name(st));
        exit(1);
    }
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint32_t draw(uint32_t below)
{
    static uint32_t state = 7;
    state = state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)state * below >> 32);
}

/* ---- what is sent ---- */

static void paint_noise(uint8_t *out, uint32_t chunk) /* a video */
{
    (void)chunk;
    for (uint32_t i = 0; i < CHUNK; i++)
        out[i] = (uint8_t)draw(256);
}

static void paint_lines(uint8_t *out, uint32_t chunk) /* JSON */
{
    char line[128];
    for (uint32_t at = 0, i = 0; at < CHUNK; i++) {
        const int size = snprintf(line, sizeof line, "{\"episode\": %u, \"frame\": %u, \"reward\": 0.%u}\n",
                                  chunk, i, draw(1000));
        const uint32_t taken = HUB_MIN((uint32_t)size, CHUNK - at);
        memcpy(out + at, line, taken);
        at += taken;
    }
}

static void paint_numbers(uint8_t *out, uint32_t chunk) /* joints, grouped by the place of their bytes */
{
    for (uint32_t i = 0; i < CHUNK / 4; i++) {
        const float value = (float)sin((chunk * (CHUNK / 4) + i) / 977.0);
        uint8_t bytes[4];
        memcpy(bytes, &value, 4);
        for (unsigned j = 0; j < 4; j++)
            out[j * (CHUNK / 4) + i] = bytes[j];
    }
}

struct kind {
    const char *name;
    void (*paint)(uint8_t *out, uint32_t chunk);
    uint8_t scheme;
};

static void send(int folder, const struct kind *kind, const uint8_t *hash)
{
    static uint8_t raw[CHUNK], stored[2 * CHUNK];
    HUB_CLEANUP(hub_xorb_upload_dispose) struct hub_xorb_upload upload;
    uint64_t size;
    must(hub_xorb_upload_begin(folder, hash, &upload, NULL));
    for (uint32_t i = 0; i < CHUNKS; i++) {
        kind->paint(raw, i);
        const size_t n =
            kind->scheme ? LZ4F_compressFrame(stored + 8, sizeof stored - 8, raw, CHUNK, NULL) : CHUNK;
        if (!kind->scheme)
            memcpy(stored + 8, raw, CHUNK);
        const uint8_t header[8] = {
            0,           (uint8_t)n,       (uint8_t)(n >> 8), (uint8_t)(n >> 16), kind->scheme,
            CHUNK & 255, CHUNK >> 8 & 255, CHUNK >> 16};
        memcpy(stored, header, sizeof header);
        must(hub_xorb_upload_add(&upload, (struct hub_view){(char *)stored, n + 8}, NULL));
    }
    must(hub_xorb_upload_end(&upload, &size, NULL));
}

/* ---- what is made of it ---- */

static double make(const struct hub_shard *shard, int folder, bool whole)
{
    HUB_CLEANUP(hub_rebuild_dispose) struct hub_rebuild rebuild;
    HUB_CLEANUP(hub_xorbs_dispose) struct hub_xorbs xorbs;
    HUB_CLEANUP(hub_sums_dispose) struct hub_sums sums = {0};
    HUB_CLEANUP(hub_closep) int fd = openat(folder, "object", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct hub_file_hasher hasher = {0};
    struct hub_view bytes;
    const double from = now_s();
    hub_xorbs_init(&xorbs, folder);
    must(hub_rebuild_init(&rebuild, shard, &xorbs, NULL));
    must(hub_rebuild_begin(&rebuild, 0, NULL));
    must(hub_file_hasher_begin(&hasher, HUB_BY_CRC32C, shard->files[0].size, NULL));
    do {
        must(hub_rebuild_next(&rebuild, &bytes, NULL));
        if (whole) {
            must(hub_fs_write_fd(fd, bytes, NULL));
            must(hub_file_hasher_add(&hasher, bytes, NULL));
        }
    } while (bytes.size);
    must(hub_file_hasher_end(&hasher, &sums, NULL));
    return now_s() - from;
}

static double best(const struct hub_shard *shard, int folder, bool whole)
{
    double least = 1e9;
    for (int i = 0; i < ROUNDS; i++)
        least = HUB_MIN(least, make(shard, folder, whole));
    return (double)shard->files[0].size / 1e6 / least;
}

static void measure(int folder, const struct kind *kind)
{
    struct hub_shard_file file = {.size = (uint64_t)TERMS * CHUNKS * CHUNK, .term_count = TERMS};
    struct hub_shard_term terms[TERMS];
    for (unsigned i = 0; i < TERMS; i++)
        terms[i] = (struct hub_shard_term){.bytes = CHUNKS * CHUNK, .end = CHUNKS};
    send(folder, kind, terms[0].xorb);
    const struct hub_shard shard = {&file, terms, 1, TERMS};
    printf("%-24s %6.0f MB/s decoded %6.0f MB/s to an object\n", kind->name, best(&shard, folder, false),
           best(&shard, folder, true));
}

int main(int argc, char **argv)
{
    static const struct kind kinds[] = {{"stored (video)", paint_noise, 0},
                                        {"LZ4 (JSON)", paint_lines, 1},
                                        {"grouped LZ4 (floats)", paint_numbers, 2}};
    char place[64] = "/tmp/micro-xet-XXXXXX";
    const char *path = argc > 1 ? argv[1] : mkdtemp(place);
    const int folder = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (folder < 0) {
        perror("micro_xet: FOLDER");
        return 1;
    }
    for (unsigned i = 0; i < HUB_COUNT(kinds); i++)
        measure(folder, &kinds[i]);
    close(folder);
    if (argc == 1)
        must(hub_fs_remove(AT_FDCWD, place, NULL));
    return 0;
}
