/** What the tests of storage/read share: a folder with a store over it, a layout being built, and a plan run
 * over it. */
#ifndef TEST_READ_RIG_H
#define TEST_READ_RIG_H

#include "storage/read/read.h"

#include <criterion/criterion.h>

enum { RIG_FILES = 2 }; /* "0", "1", and the side file "side" */

struct rig {
    char folder[64];
    struct hub_store *store;
    struct hub_lru *decoded;
    struct hub_buf content[RIG_FILES + 1]; /* what the files will hold; the last is the side file */
    struct hub_layout_builder *builder;
    void *blob;
    struct hub_layout layout;
    struct hub_file *files[RIG_FILES + 1];
    struct hub_plan_files opened; /* for a plan */
};

void rig_open(struct rig *rig);
void rig_close(struct rig *rig);

/** Append to a file and say at which offset. Every call leaves a gap of `gap` bytes before it. */
uint64_t rig_put(struct rig *rig, unsigned file, const void *data, size_t size, size_t gap);
uint32_t rig_file_number(unsigned file); /* as a layout says it */

/** Write the files, finish and check the layout, open the files. */
void rig_finish(struct rig *rig);

/** Those that were noted in `opened` are open, and are no more. */
void rig_give_files(struct rig *rig);
void rig_take_files(struct rig *rig);

/** Plan rows start, start + step, ... of an array and read them. */
enum hub_status rig_read(struct rig *rig, uint32_t array, struct hub_slice slice, unsigned flags,
                         bool threads, void *into, struct hub_rows *out, struct hub_error *err);

uint32_t rig_draw(uint32_t below); /* pseudo-random, the same in each run */
#endif
