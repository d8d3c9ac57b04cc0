/* What an HDF5 file says of itself: its end, the checksums of its metadata, the flags of an open writer. */
#include "tests/fuzz/h5_memory.h"
#include "tests/support/slurp.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fcntl.h>

enum { VERSION = 8, FLAGS = 11, SUM = 44 };

struct sum_case {
    char text[64];
    uint32_t sum;
};

ParameterizedTestParameters(h5_file, checksums)
{
    static struct sum_case cases[] = {
        {"", 0xDEADBEEF}, /* as its author gives them */
        {"Four score and seven years ago", 0x17770551},
        {"twelve bytes", 0x597B94CE},
    };
    return cr_make_param_array(struct sum_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct sum_case *c, h5_file, checksums)
{
    const uint32_t sum = h5_checksum(c->text, strlen(c->text));
    cr_expect_eq(sum, c->sum, "%s: %08x", c->text, sum);
}

struct image {
    uint8_t *bytes;
    size_t size;
};

static void image_dispose(struct image *image)
{
    free(image->bytes);
}

static struct image load(const char *set)
{
    char path[100];
    struct image image;
    snprintf(path, sizeof path, "hdf5/%s/data/main_data.hdf5", set);
    image.bytes = slurp(path, &image.size);
    return image;
}

static enum hub_status try_open(const struct image *image, bool *left_open, struct hub_error *err)
{
    struct memory *m = memory_of(image->bytes, image->size);
    HUB_CLEANUP(hub_h5_closep) struct hub_h5 *file = NULL;
    HUB_CLEANUP(hub_h5_object_dispose) struct hub_h5_object root = {0};
    HUB_TRY(hub_h5_open(&m->files, 0, &file, err));
    *left_open = hub_h5_left_open(file);
    return hub_h5_object_load(file, hub_h5_root(file), &root, err);
}

/* As libhdf5 judges them, and only in superblocks of version 3. */
Test(h5_file, flags_of_an_open_writer)
{
    HUB_CLEANUP(image_dispose) struct image image = load("groups-dense-v0");
    for (uint8_t version = 2; version <= 3; version++)
        for (uint8_t flags = 0; flags < 8; flags++) {
            bool left_open = false;
            struct hub_error err = {0};
            image.bytes[VERSION] = version;
            image.bytes[FLAGS] = flags;
            const uint32_t sum = h5_checksum(image.bytes, SUM);
            memcpy(image.bytes + SUM, &sum, sizeof sum);
            cr_assert_eq(try_open(&image, &left_open, &err), HUB_OK, "%s", err.detail);
            cr_expect_eq(left_open, version == 3 && (flags & 5), "version %u, flags %u", version, flags);
        }
}

/* The superblock and the root's header behind it. */
Test(h5_file, wrong_checksums_are_reported)
{
    HUB_CLEANUP(image_dispose) struct image image = load("groups-dense-v0");
    for (size_t at = VERSION + 1; at < SUM + 4 + 40; at++) {
        bool left_open;
        struct hub_error err = {0};
        image.bytes[at] ^= 0x10;
        cr_expect_neq(try_open(&image, &left_open, &err), HUB_OK, "byte %zu", at);
        if (at >= SUM + 4 + 8)
            cr_expect_not_null(strstr(err.detail, "checksum of the object header at address 48 is wrong"),
                               "byte %zu: %s", at, err.detail);
        image.bytes[at] ^= 0x10;
    }
}

Test(h5_file, cut_short)
{
    static const char *const sets[] = {"layout-old-v0", "groups-dense-v0", "userblock-1024-v0"};
    for (size_t i = 0; i < HUB_COUNT(sets); i++) {
        HUB_CLEANUP(image_dispose) struct image image = load(sets[i]);
        char expected[100];
        bool left_open;
        struct hub_error err = {0};
        cr_expect_eq(try_open(&image, &left_open, &err), HUB_OK, "%s", err.detail);
        image.size--;
        snprintf(expected, sizeof expected, "cut short: %zu of %zu bytes are there", image.size,
                 image.size + 1);
        cr_expect_eq(try_open(&image, &left_open, &err), HUB_CORRUPT);
        cr_expect_not_null(strstr(err.detail, expected), "%s: %s", sets[i], err.detail);
    }
}

/* 16 and 32 bytes are legal, and nobody writes them; others are not. */
Test(h5_file, widths)
{
    HUB_CLEANUP(image_dispose) struct image image = load("layout-old-v0");
    for (size_t at = 13; at <= 14; at++)
        for (unsigned width = 0; width <= 64; width++) {
            bool left_open;
            struct hub_error err = {0};
            image.bytes[at] = (uint8_t)width;
            const enum hub_status st = try_open(&image, &left_open, &err);
            image.bytes[at] = 8;
            if (width == 16 || width == 32)
                cr_expect_eq(st, HUB_UNSUPPORTED, "%u: %s", width, err.detail);
            else if (width != 8 && width != 4 && width != 2)
                cr_expect_eq(st, HUB_CORRUPT, "%u: %s", width, err.detail);
        }
}

static void describe(struct hub_h5 *file, const char *path, struct hub_h5_object *object,
                     struct hub_h5_dataset *out)
{
    uint64_t address = 0;
    cr_assert_eq(hub_h5_resolve(file, hub_h5_root(file), hub_view_of(path), &address, NULL), HUB_OK);
    cr_assert_eq(hub_h5_object_load(file, address, object, NULL), HUB_OK);
    cr_assert_eq(hub_h5_dataset(file, object, out, NULL), HUB_OK);
}

/* What libhdf5 makes of bytes it does not get is no verdict about the data. */
Test(h5_file, trouble_of_the_machine_under_the_library)
{
    HUB_CLEANUP(image_dispose) struct image image = load("filters-standard-v0");
    for (unsigned shorter = 0; shorter < 2; shorter++) {
        struct memory *m = memory_of(image.bytes, image.size);
        HUB_CLEANUP(hub_h5_closep) struct hub_h5 *file = NULL;
        HUB_CLEANUP(hub_h5_object_dispose) struct hub_h5_object object = {0};
        struct hub_h5_dataset d;
        struct hub_piece piece;
        struct hub_error err = {0};
        m->files.side_budget = MIB;
        cr_assert_eq(hub_h5_open(&m->files, 0, &file, NULL), HUB_OK);
        describe(file, "/episode_0/infos/szip", &object, &d);
        const int fd = dup(m->fd), closed = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (shorter)
            cr_assert_eq(ftruncate(fd, 600), 0);
        else
            cr_assert_geq(dup2(closed, m->fd), 0);
        cr_expect_eq(h5_library_rows(file, &d, &piece, &err), shorter ? HUB_CHANGED : HUB_IO, "%s",
                     err.detail);
        cr_assert_geq(dup2(fd, m->fd), 0);
        close(fd);
        close(closed);
    }
}

/* As h5py hands it out: nothing of what stands behind a NUL. */
Test(h5_file, text_of_varying_length_ends_at_a_nul)
{
    HUB_CLEANUP(image_dispose) struct image image = load("filters-standard-v0");
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    HUB_CLEANUP(hub_h5_closep) struct hub_h5 *file = NULL;
    HUB_CLEANUP(hub_h5_object_dispose) struct hub_h5_object object = {0};
    HUB_CLEANUP(hub_freep) void *blob = NULL;
    struct hub_h5_dataset d;
    struct hub_layout_builder *b;
    struct hub_layout layout;
    uint32_t array;
    size_t size;
    char *seventh = memmem(image.bytes, image.size, "frame 7", 7);
    cr_assert_not_null(seventh);
    seventh[3] = '\0';
    cr_assert_eq(hub_h5_open(&memory_of(image.bytes, image.size)->files, 0, &file, NULL), HUB_OK);
    describe(file, "/episode_0/infos/text_gzip", &object, &d);
    cr_assert_eq(hub_h5_read_text(file, &d, 7, &text, NULL), HUB_OK);
    cr_expect(hub_view_is(hub_buf_view(&text), "fra"));
    cr_assert_eq(hub_layout_builder_new(MIB, &b, NULL), HUB_OK);
    cr_assert_eq(hub_h5_layout(file, &d, b, &array, NULL), HUB_OK);
    cr_assert_eq(hub_layout_finish(b, &blob, &size, NULL), HUB_OK);
    hub_layout_builder_free(b);
    cr_assert_eq(hub_layout_open(blob, size, &layout, NULL), HUB_OK);
    cr_expect_eq(layout.extents[6].length, 7);
    cr_expect_eq(layout.extents[7].length, 3);
}
