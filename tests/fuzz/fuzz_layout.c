/*
 * A layout that the check lets pass must be harmless to read. Input: blob size (4), the blob, then the bytes
 * of the file that all its file numbers name.
 */
#include "storage/read/read.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILES = 3, FILE_LIMIT = 1 << 16 };

static struct hub_store *store;
static int fd = -1;

/* One file, emptied and filled again for each input; gone from its folder at once. */
static struct hub_file *open_file(void)
{
    static struct hub_file *file;
    if (file)
        return file;
    char folder[] = "/tmp/hub-fuzz-XXXXXX", path[64];
    if (!mkdtemp(folder))
        abort();
    static struct hub_roots roots;
    const struct hub_store_options options = {.roots = &roots};
    snprintf(path, sizeof path, "%s/data", folder);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || hub_roots_add(&roots, folder, NULL, NULL) || hub_store_open(&options, &store, NULL) ||
        hub_file_get(store, &(struct hub_file_ref){.path = "data"}, &file, NULL))
        abort();
    unlink(path);
    rmdir(folder);
    return file;
}

static void read_rows(struct hub_plan *plan, struct hub_slice slice, struct hub_file *file)
{
    struct hub_rows rows;
    plan->slice = slice;
    if (hub_plan_price(plan, NULL) || plan->bytes_out > 4 * MIB || plan->scratch_peak > 64 * MIB ||
        plan->cost_us > 20000)
        return;
    for (uint32_t i = 0; i < plan->files->count; i++)
        plan->files->items[i].file = file;
    if (hub_read(plan, 0, NULL, NULL, &rows, NULL))
        return;
    static volatile unsigned zeros; /* a decision on every byte: valgrind tells of those that nobody wrote */
    const uint64_t size = rows.offsets ? rows.offsets[rows.rows] : plan->bytes_out;
    for (uint64_t i = 0; i < size; i++)
        if (!rows.data[i])
            zeros++;
    hub_rows_dispose(&rows);
}

static void read_all(const struct hub_layout *layout, struct hub_file *file)
{
    for (uint32_t i = 0; i < layout->counts[HUB_T_ARRAYS] && i < 8; i++) {
        struct hub_plan_files files = {0};
        struct hub_plan plan = {.layout = layout, .array = &layout->arrays[i], .files = &files};
        plan.variant = &layout->variants[plan.array->variant];
        const uint64_t rows = plan.array->rows, some = HUB_MIN(rows, 3000);
        read_rows(&plan, (struct hub_slice){0, rows, 1}, file);
        read_rows(&plan, (struct hub_slice){0, some, 1}, file);
        if (rows) {
            read_rows(&plan, (struct hub_slice){rows - 1, some, -1}, file);
            read_rows(&plan, (struct hub_slice){rows / 2, (rows - rows / 2 + 2) / 3, 3}, file);
            read_rows(&plan, (struct hub_slice){rows - 1, 1, INT64_MAX}, file);
            read_rows(&plan, (struct hub_slice){rows, 1, 1}, file);
        }
        free(files.items);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t blob_size;
    struct hub_file *file = open_file();
    if (size < sizeof blob_size)
        return 0;
    memcpy(&blob_size, data, sizeof blob_size);
    data += sizeof blob_size;
    size -= sizeof blob_size;
    if (blob_size > size)
        blob_size = (uint32_t)size;
    const size_t content = HUB_MIN(size - blob_size, FILE_LIMIT);
    const uint64_t sizes[FILES] = {content, content, content / 2};
    uint8_t *blob = malloc(HUB_MAX(blob_size, 1)); /* aligned, and its end is watched */
    struct hub_layout layout;
    if (blob && ftruncate(fd, 0) == 0 && pwrite(fd, data + blob_size, content, 0) == (ssize_t)content) {
        memcpy(blob, data, blob_size);
        if (!hub_layout_open(blob, blob_size, &layout, NULL) &&
            !hub_layout_check(&layout, sizes, FILES, content, 100, NULL))
            read_all(&layout, file);
    }
    free(blob);
    return 0;
}
