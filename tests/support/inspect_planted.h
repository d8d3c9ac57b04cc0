/** The planted drivers by name: shared by the worker that has them and the tests that run them. */
#ifndef HUB_TESTS_INSPECT_PLANTED_H
#define HUB_TESTS_INSPECT_PLANTED_H

/* clang-format off */
#ifdef HUB_SANITIZED /* refused there, so that a report can be written */
#define PLANTED_FORBIDDEN_PLAIN(X)
#define PLANTED_REFUSED(X) X(open_old) X(readlink)
#else
#define PLANTED_FORBIDDEN_PLAIN(X) X(open_old) X(readlink)
#define PLANTED_REFUSED(X)
#endif
#define PLANTED_FORBIDDEN(X) PLANTED_FORBIDDEN_PLAIN(X) \
    X(open) X(openat2) X(unlink) X(chdir) X(socket) X(connect) X(fork) X(clone3) X(exec) X(ptrace) X(kill) \
    X(read_memory) X(mmap_exec) X(exec_stack) X(memfd) X(prctl) X(io_uring) X(bpf) X(fcntl) X(truncate)
#define PLANTED_CRASHES(X) X(segfault) X(abort) X(overflow) X(exit_bad)
#define PLANTED_LIES(X) \
    X(exit) X(close_and_wait) X(garbage) X(huge_frame) X(endless_message) X(open_other_file) X(open_no_file) \
    X(close_not_open) X(fact_in_inspect) X(bad_utf8) X(bad_type) X(same_field_twice) X(same_episode_twice) \
    X(episode_elsewhere) X(huge_number) X(bad_json) X(after_end) X(rows_beyond_file) X(rows_beyond_side) X(layout_noise) \
    X(layout_unfinished)
/* What a library does for the first time when a driver asks: none may look for a file then. */
#define PLANTED_LATE(X) \
    X(digests) X(deflate) X(lzf) X(snappy) X(zstd) X(lz4) X(json) X(hdf5) X(numbers) X(local_time) X(error_text) \
    X(large_blocks)
#define PLANTED_OTHERS(X) \
    X(loop) X(sleep) X(eat_memory) X(side_too_much) X(side_budget) X(honest) X(mended) X(crowded) X(read) X(decline) X(unsupported) \
    X(ordinary)
#define PLANTED_DRIVERS(X) \
    PLANTED_FORBIDDEN(X) PLANTED_CRASHES(X) PLANTED_LIES(X) PLANTED_LATE(X) PLANTED_OTHERS(X) PLANTED_REFUSED(X)
/* clang-format on */

#define PLANTED_NUMBER(driver) PLANTED_##driver,
enum planted { PLANTED_DRIVERS(PLANTED_NUMBER) PLANTED_COUNT };
#define PLANTED_NAME(driver) #driver,

#endif
