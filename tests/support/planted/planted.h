/** Planted drivers, each misbehaving in one way: a file a kind of attack. Their names are in
 * inspect_planted.h; the driver `x` is the function do_x. */
#ifndef HUB_TESTS_PLANTED_H
#define HUB_TESTS_PLANTED_H

#include "storage/worker/child_state.h"
#include "tests/support/inspect_planted.h"

#define INSPECT(name)                                                                                        \
    enum hub_status name(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,        \
                         struct hub_error *err)
#define UNUSED (void)files, (void)part, (void)sink, (void)err

/** A driver of one statement. */
#define ATTACK(name, statement)                                                                              \
    INSPECT(name)                                                                                            \
    {                                                                                                        \
        UNUSED;                                                                                              \
        statement;                                                                                           \
        return HUB_OK;                                                                                       \
    }

#define PLANTED_DECLARE(driver) INSPECT(do_##driver);
PLANTED_DRIVERS(PLANTED_DECLARE)

/** The child behind the files: its socket, its frames, its table. Only who attacks it looks behind them. */
static inline struct hub_child *child_of(struct hub_files *files)
{
    return (struct hub_child *)files;
}

/** A field with one array of 8-byte rows at `offset` of `file`; the sink's own proof is passed by when
 * `lying`. */
enum hub_status planted_rows(struct hub_files *files, struct hub_sink *sink, uint32_t file, uint64_t offset,
                             uint64_t rows, bool lying, struct hub_error *err);

#endif
