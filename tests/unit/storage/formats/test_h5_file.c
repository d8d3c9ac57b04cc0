/* What an HDF5 file says of itself: its end, the checksums of its metadata, the flags of an open writer. */
#include "tests/fuzz/h5_memory.h"
#include "tests/support/slurp.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

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
Test(h5_file, wrong_checksums_are_told)
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
