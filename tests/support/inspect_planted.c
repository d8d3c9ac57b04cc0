/*
 * A worker whose drivers misbehave, one way each: for the tests of the sandbox and of the proofs. With
 * PLANTED_BLIND it runs where seccomp cannot be installed.
 */
#include "tests/support/inspect_planted.h"
#include "storage/base/digest.h"
#include "storage/base/json.h"
#include "storage/base/number.h"
#include "storage/codec/codec.h"
#include "storage/formats/hdf5/h5_vfd.h"
#include "storage/inspect/inspect.h"
#include "storage/worker/child_state.h"
#include "storage/worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define INSPECT(name)                                                                                        \
    static enum hub_status name(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink, \
                                struct hub_error *err)
#define UNUSED (void)files, (void)part, (void)sink, (void)err

/* ---- what the sandbox must stop ---- */

#define FORBIDDEN(name, statement)                                                                           \
    INSPECT(name)                                                                                            \
    {                                                                                                        \
        UNUSED;                                                                                              \
        statement;                                                                                           \
        return HUB_OK;                                                                                       \
    }

FORBIDDEN(do_open, (void)!open("/etc/passwd", O_RDONLY))
FORBIDDEN(do_open_old, (void)!syscall(SYS_open, "/etc/passwd", O_RDONLY))
FORBIDDEN(do_openat2, (void)!syscall(437, AT_FDCWD, "/etc/passwd", (uint64_t[3]){0}, 24))
FORBIDDEN(do_readlink, (void)!readlink("/proc/self/exe", (char[64]){0}, 64))
FORBIDDEN(do_unlink, unlink("/tmp/nothing-of-that-name"))
FORBIDDEN(do_chdir, (void)!chdir("/"))
FORBIDDEN(do_socket, socket(AF_INET, SOCK_STREAM, 0))
FORBIDDEN(do_connect,
          connect(((struct hub_child *)files)->sock, (struct sockaddr *)&(struct sockaddr_in){AF_INET}, 16))
FORBIDDEN(do_fork, if (fork() == 0) pause())
FORBIDDEN(do_clone3, syscall(435, (uint64_t[11]){0}, 88))
FORBIDDEN(do_exec, execl("/bin/true", "true", NULL))
FORBIDDEN(do_ptrace, ptrace(PTRACE_ATTACH, getppid(), 0, 0))
FORBIDDEN(do_kill, kill(-1, SIGCONT))
FORBIDDEN(do_read_memory, process_vm_readv(1, &(struct iovec){0}, 1, &(struct iovec){0}, 1, 0))
FORBIDDEN(do_mmap_exec,
          mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
FORBIDDEN(do_memfd, memfd_create("x", 0))
FORBIDDEN(do_prctl, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
FORBIDDEN(do_io_uring, syscall(425, 8, (char[120]){0}))
FORBIDDEN(do_bpf, syscall(SYS_bpf, 0, NULL, 0))
FORBIDDEN(do_fcntl, fcntl(((struct hub_child *)files)->sock, F_SETOWN, 1))
FORBIDDEN(do_truncate, (void)!ftruncate(((struct hub_child *)files)->sock, 0))
FORBIDDEN(do_exec_stack,
          mprotect((void *)((uintptr_t)&files & ~(uintptr_t)4095), 4096, PROT_READ | PROT_EXEC))

/* ---- what the limits must stop ---- */

INSPECT(do_loop)
{
    UNUSED;
    for (volatile unsigned i = 0;; i++)
        continue;
}

/* As with a disk that does not answer: nothing is done, and there is no end. */
INSPECT(do_sleep)
{
    (void)part, (void)sink, (void)err;
    char byte;
    while (recvmsg(((struct hub_child *)files)->sock,
                   &(struct msghdr){.msg_iov = &(struct iovec){&byte, 1}, .msg_iovlen = 1}, 0) >= 0)
        continue;
    return HUB_OK;
}

INSPECT(do_eat_memory)
{
    (void)files, (void)part, (void)sink;
    for (size_t total = 0;; total += 16 * MIB) {
        char *p = malloc(16 * MIB);
        if (!p)
            return hub_fail(err, HUB_NO_MEMORY, "no more after %zu MiB", total / MIB);
        memset(p, 1, 16 * MIB);
    }
}

INSPECT(do_side_too_much)
{
    (void)part, (void)sink;
    static char block[64 * 1024];
    int fd;
    HUB_TRY(files->side(files, &fd, err));
    for (off_t at = 0;; at += (off_t)sizeof block)
        if (pwrite(fd, block, sizeof block, at) < 0)
            return errno == EFBIG ? hub_fail(err, HUB_TOO_BIG, "side-file budget")
                                  : hub_fail_errno(err, errno, "side");
}

INSPECT(do_side_budget)
{
    (void)part, (void)sink;
    static char block[64 * 1024];
    for (uint64_t at;;)
        HUB_TRY(hub_files_side_add(files, block, sizeof block, &at, err));
}

/* ---- crashes ---- */

__attribute__((no_sanitize("undefined", "address")))
FORBIDDEN(do_segfault, *(volatile int *)(uintptr_t)part->file_count = 1) FORBIDDEN(do_abort, abort())
    FORBIDDEN(do_overflow, volatile char *p = malloc(files->side_budget & 7);
              for (size_t i = 0; i < 1 << 20; i++) p[i] = 1) FORBIDDEN(do_exit, _exit(0))
        FORBIDDEN(do_exit_bad, _exit(3)) INSPECT(do_close_and_wait)
{
    UNUSED;
    close(((struct hub_child *)files)->sock);
    for (volatile unsigned i = 0;; i++)
        continue;
}

/* ---- lies: frames no sink would send ---- */

static struct hub_frame_writer *raw(struct hub_files *files)
{
    return &((struct hub_child *)files)->writer;
}

static enum hub_status send_raw(struct hub_files *files, struct hub_error *err)
{
    HUB_TRY(hub_frame_end(raw(files), err));
    return hub_child_flush((struct hub_child *)files, err);
}

INSPECT(do_garbage)
{
    (void)part, (void)sink;
    char noise[4096];
    memset(noise, 0xA5, sizeof noise);
    HUB_TRY(hub_buf_add(&raw(files)->out, noise, sizeof noise, err));
    return hub_child_flush((struct hub_child *)files, err);
}

INSPECT(do_huge_frame)
{
    (void)part, (void)sink;
    HUB_TRY(hub_buf_add(&raw(files)->out, "\xff\xff\xff\x7f\x2a", 5, err));
    return hub_child_flush((struct hub_child *)files, err);
}

INSPECT(do_endless_message)
{
    (void)part, (void)sink;
    static char zeros[1024 * 1024 - 5];
    for (int i = 0; i < 10; i++) {
        HUB_TRY(hub_buf_add(&raw(files)->out, "\xfb\xff\x0f\x80\x28", 5,
                            err)); /* "more follows", 1 MiB at a time */
        HUB_TRY(hub_buf_add(&raw(files)->out, zeros, sizeof zeros, err));
    }
    return hub_child_flush((struct hub_child *)files, err);
}

INSPECT(do_open_other_file)
{
    (void)part, (void)sink;
    hub_frame_begin(raw(files), HUB_FRAME_OPEN);
    hub_frame_u32(raw(files), 1); /* of the dataset, not of the part */
    return send_raw(files, err);
}

INSPECT(do_open_no_file)
{
    (void)part, (void)sink;
    hub_frame_begin(raw(files), HUB_FRAME_OPEN);
    hub_frame_u32(raw(files), 77);
    return send_raw(files, err);
}

INSPECT(do_close_not_open)
{
    (void)part, (void)sink;
    hub_frame_begin(raw(files), HUB_FRAME_CLOSE);
    hub_frame_u32(raw(files), 0);
    return send_raw(files, err);
}

INSPECT(do_fact_in_inspect)
{
    (void)part;
    (void)files;
    return hub_sink_fact(sink, "id", HUB_VIEW("x"), err);
}

INSPECT(do_bad_utf8)
{
    (void)part, (void)sink;
    hub_frame_begin(raw(files), HUB_FRAME_FIELD);
    hub_frame_text(raw(files), HUB_VIEW("a\xff"));
    for (int i = 0; i < 3; i++)
        hub_frame_u8(raw(files), 1);
    return send_raw(files, err);
}

INSPECT(do_bad_type)
{
    (void)part, (void)files;
    const struct hub_field field = {.path = HUB_VIEW("a"), .type = (enum hub_field_type)99};
    uint32_t number;
    return hub_sink_field(sink, &field, &number, err);
}

INSPECT(do_same_field_twice)
{
    (void)part, (void)sink;
    for (int i = 0; i < 2; i++) {
        hub_frame_begin(raw(files), HUB_FRAME_FIELD);
        hub_frame_text(raw(files), HUB_VIEW("a"));
        for (int k = 0; k < 3; k++)
            hub_frame_u8(raw(files), 1);
        HUB_TRY(send_raw(files, err));
    }
    return HUB_OK;
}

static enum hub_status report_episode(struct hub_sink *sink, int64_t number, uint32_t file,
                                      struct hub_error *err)
{
    const struct hub_episode episode = {
        .number = number, .file = file, .steps = 3, .success = -1, .terminated = -1, .truncated = -1};
    uint32_t index;
    return hub_sink_episode(sink, &episode, &index, err);
}

INSPECT(do_same_episode_twice)
{
    (void)part, (void)files;
    HUB_TRY(report_episode(sink, 4, 0, err));
    return report_episode(sink, 4, 0, err);
}

INSPECT(do_episode_elsewhere)
{
    (void)part, (void)files;
    return report_episode(sink, 4, 1000, err);
}

static enum hub_status raw_episode(struct hub_files *files, int64_t number, const char *attributes,
                                   struct hub_error *err)
{
    struct hub_frame_writer *w = raw(files);
    hub_frame_begin(w, HUB_FRAME_EPISODE);
    hub_frame_u64(w, (uint64_t)number);
    hub_frame_u32(w, 0);
    hub_frame_u64(w, 1);
    hub_frame_u8(w, 0);
    hub_frame_f64(w, 0);
    for (int i = 0; i < 3; i++)
        hub_frame_u8(w, 0);
    for (int i = 0; i < 4; i++)
        hub_frame_text(w, HUB_VIEW(""));
    hub_frame_text(w, hub_view_of(attributes));
    hub_frame_text(w, HUB_VIEW(""));
    return send_raw(files, err);
}

INSPECT(do_huge_number)
{
    (void)part, (void)sink;
    return raw_episode(files, INT64_MAX, "", err);
}

INSPECT(do_bad_json)
{
    (void)part, (void)sink;
    return raw_episode(files, 0, "{\"a\":NaN}", err);
}

INSPECT(do_after_end)
{
    (void)part, (void)sink;
    HUB_TRY(hub_child_end((struct hub_child *)files, &(struct hub_error){0}));
    hub_frame_begin(raw(files), HUB_FRAME_END);
    return send_raw(files, err);
}

/* A field with one array of 8-byte rows at `offset` of `file`; the sink's own proof is passed by when
 * `lying`. */
static enum hub_status report_rows(struct hub_files *files, struct hub_sink *sink, uint32_t file,
                                   uint64_t offset, uint64_t rows, bool lying, struct hub_error *err)
{
    const struct hub_field field = {
        .path = HUB_VIEW("rows"), .type = HUB_FIELD_NUMBER, .role = HUB_ROLE_ACTION, .axis = HUB_AXIS_STEP};
    const struct hub_variant variant = {.kind = HUB_KIND_FLOAT, .item_size = 8};
    const struct hub_piece piece = {.kind = HUB_PIECE_STRIDED,
                                    .file = file,
                                    .offset = offset,
                                    .rows = rows,
                                    .row_stride = 8,
                                    .geometry = HUB_NONE};
    struct hub_layout_builder *b;
    uint32_t number, index;
    HUB_TRY(report_episode(sink, 0, 0, err));
    HUB_TRY(hub_sink_field(sink, &field, &number, err));
    HUB_TRY(hub_sink_layout(sink, number, &b, err));
    HUB_TRY(hub_layout_variant(b, &variant, &index, err));
    HUB_TRY(hub_layout_array(b, index, &index, err));
    HUB_TRY(hub_layout_piece(b, &piece, err));
    HUB_TRY(hub_layout_add_window(
        b, &(struct hub_window){.episode = 0, .array = index, .first = 0, .count = rows}, err));
    if (lying && file == HUB_SIDE_FILE)
        files->side_size = UINT64_MAX / 2;
    else if (lying)
        ((struct hub_child *)files)->entries[file].size = UINT64_MAX / 2;
    return HUB_OK;
}

INSPECT(do_rows_beyond_file)
{
    (void)part;
    return report_rows(files, sink, 0, 4096, 100000, true, err);
}

INSPECT(do_rows_beyond_side)
{
    (void)part;
    uint64_t at;
    HUB_TRY(hub_files_side_add(files, "12345678", 8, &at, err));
    return report_rows(files, sink, HUB_SIDE_FILE, 0, 2, true, err);
}

INSPECT(do_layout_noise)
{
    (void)part, (void)sink;
    struct hub_frame_writer *w = raw(files);
    hub_frame_begin(w, HUB_FRAME_FIELD);
    hub_frame_text(w, HUB_VIEW("a"));
    for (int i = 0; i < 3; i++)
        hub_frame_u8(w, 1);
    HUB_TRY(send_raw(files, err));
    hub_frame_begin(w, HUB_FRAME_LAYOUT);
    hub_frame_u32(w, 0);
    hub_frame_u64(w, 4096);
    HUB_TRY(send_raw(files, err));
    hub_frame_begin(w, HUB_FRAME_LAYOUT_DATA);
    hub_frame_bytes(w, (char[4096]){1, 2, 3}, 4096);
    return send_raw(files, err);
}

INSPECT(do_layout_unfinished)
{
    (void)part;
    HUB_TRY(report_rows(files, sink, 0, 0, 1, false, err));
    hub_frame_begin(raw(files), HUB_FRAME_LAYOUT);
    hub_frame_u32(raw(files), 0);
    hub_frame_u64(raw(files), 1 << 20);
    return send_raw(files, err);
}

/* ---- honest ones ---- */

INSPECT(do_honest)
{
    uint64_t at;
    HUB_TRY(hub_files_side_add(files, "12345678", 8, &at, err));
    HUB_TRY(hub_sink_problem(sink, "a-problem", HUB_VIEW("x"), err, "hint %.*s", (int)part->hint.size,
                             part->hint.data));
    HUB_TRY(hub_sink_problem(sink, "another", HUB_VIEW("\xff"), err, "two\nlines"));
    return report_rows(files, sink, 0, 16, 3, false, err);
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
    return report_rows(files, sink, 0, 0, 1000000, false, err); /* beyond the file: this field alone */
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
    return hub_fail_as(err, HUB_UNSUPPORTED, "lerobot-v3", "version 3");
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

/* ---- libraries at their first use ---- */

INSPECT(do_digests)
{
    (void)files, (void)part, (void)sink;
    uint8_t out[HUB_DIGEST_MAX];
    HUB_TRY(hub_digest_of(HUB_SHA256, HUB_VIEW("abc"), out, err));
    if (out[0] != 0xBA || out[31] != 0xAD)
        return hub_fail(err, HUB_CORRUPT, "another SHA-256");
    HUB_TRY(hub_digest_of(HUB_SHA1, HUB_VIEW("abc"), out, err));
    return hub_digest_of(HUB_MD5, HUB_VIEW("abc"), out, err);
}

/* "hub" as each codec stores it; noise as well, which must be refused and no more. */
static enum hub_status decode(enum hub_status (*codec)(const void *, size_t, void *, size_t,
                                                       struct hub_error *),
                              struct hub_view stored, struct hub_error *err)
{
    char out[3] = "", noise[300];
    memset(noise, 0xA7, sizeof noise);
    HUB_TRY(codec(stored.data, stored.size, out, sizeof out, err));
    if (memcmp(out, "hub", 3) != 0 || codec(noise, sizeof noise, out, sizeof out, NULL) == HUB_OK)
        return hub_fail(err, HUB_CORRUPT, "decoded to something else");
    return HUB_OK;
}

#define DECODES(name, codec, ...)                                                                            \
    INSPECT(name)                                                                                            \
    {                                                                                                        \
        (void)files, (void)part, (void)sink;                                                                 \
        static const uint8_t stored[] = {__VA_ARGS__};                                                       \
        return decode(codec, (struct hub_view){(const char *)stored, sizeof stored}, err);                   \
    }

DECODES(do_deflate, hub_inflate, 0x78, 0x9C, 0xCB, 0x28, 0x4D, 0x02, 0x00, 0x02, 0x87, 0x01, 0x40)
DECODES(do_lzf, hub_unlzf, 0x02, 'h', 'u', 'b')
DECODES(do_snappy, hub_unsnappy, 0x03, 0x08, 'h', 'u', 'b')
DECODES(do_zstd, hub_unzstd, 0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x03, 0x19, 0x00, 0x00, 'h', 'u', 'b')
DECODES(do_lz4, hub_unlz4, 0x30, 'h', 'u', 'b')

INSPECT(do_json)
{
    (void)files, (void)part, (void)sink;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf strict = HUB_BUF_INIT(1000);
    json_t *document;
    HUB_TRY(
        hub_json_parse(HUB_VIEW("{\"a\":{\"b\":[1e308,\"\\u00e9\",null]},\"c\":-0.1}"), 100, &document, err));
    char *text = json_dumps(document, JSON_SORT_KEYS);
    json_decref(document);
    free(text);
    HUB_TRY(hub_json_strict(HUB_VIEW("{\"a\": [NaN, Infinity]}"), &strict, err));
    return text ? HUB_OK : hub_fail(err, HUB_NO_MEMORY, "no text");
}

/* The library's own start, and a file that it must refuse. */
INSPECT(do_hdf5)
{
    (void)sink;
    int fd;
    HUB_TRY(files->open(files, part->files[0], &fd, err));
    int trouble = 0;
    return h5_vfd_open(fd, files->entries[part->files[0]].size, &trouble) < 0 && !trouble
               ? HUB_OK
               : hub_fail(err, HUB_CORRUPT, "opened");
}

INSPECT(do_numbers)
{
    (void)files, (void)part, (void)sink;
    char text[400];
    snprintf(text, sizeof text, "%.17g %Lf %'d %a", 0.1, 1e300L, 1234567, 0.3);
    return strtod(text, NULL) == 0.1 && strtold("1e-4000", NULL) > 0 ? HUB_OK
                                                                     : hub_fail(err, HUB_CORRUPT, "%s", text);
}

/* libhdf5 turns the times of old files into local time. */
INSPECT(do_local_time)
{
    (void)files, (void)part, (void)sink;
    struct tm parts = {.tm_year = 100, .tm_mday = 1};
    const time_t then = mktime(&parts);
    char text[64];
    tzset();
    return localtime_r(&then, &parts) && gmtime(&then) && strftime(text, sizeof text, "%c %Z", &parts) &&
                   then == 946684800
               ? HUB_OK
               : hub_fail(err, HUB_CORRUPT, "not UTC: %lld", (long long)then);
}

INSPECT(do_error_text)
{
    (void)files, (void)part, (void)sink;
    struct hub_error why;
    for (int number = 0; number < 150; number++)
        (void)hub_fail_errno(&why, number, "%s", strerror(number));
    return strsignal(SIGSEGV) ? HUB_OK : hub_fail(err, HUB_NO_MEMORY, "no text");
}

/* Beyond what malloc takes from its own heap, and back again; many small ones after a refusal. */
INSPECT(do_large_blocks)
{
    (void)files, (void)part, (void)sink;
    for (size_t size = 2; size < 256 * MIB; size *= 2) {
        char *block = malloc(size), *grown = block ? realloc(block, size + size / 2) : NULL;
        if (!grown)
            return hub_fail(err, HUB_NO_MEMORY, "%zu bytes", size);
        grown[size] = 1;
        free(grown);
    }
#ifndef HUB_SANITIZED /* which ends the process there */
    if (malloc((size_t)1 << 46))
        return hub_fail(err, HUB_CORRUPT, "64 TiB");
#endif
    return calloc(1000, 100) ? HUB_OK : hub_fail(err, HUB_NO_MEMORY, "small ones");
}

/* ---- the registry ---- */

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

static const char *const troubled_names[] = {"*.part", NULL};

#define PLANTED_FORMAT(driver) {.name = #driver, .inspect = do_##driver},
static const struct hub_format planted[] = {PLANTED_DRIVERS(PLANTED_FORMAT)};
static const struct hub_format claimer = {
    .name = "claimer", .claim_directory = claim_set, .plan = plan, .inspect = do_honest};
static const struct hub_format low = {
    .name = "low", .claim_directory = claim_low, .claim_files = claim_one, .plan = plan_same_part};
static const struct hub_format many = {
    .name = "many", .claim_directory = claim_crash, .claim_files = claim_many};

static const struct hub_format troubled = {.name = "troubled",
                                           .names = troubled_names,
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
