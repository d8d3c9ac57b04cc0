/* The arrays of an npz as libminari finds them: those that storage/encode writes, and what is damaged. */
#include "tests/unit/storage/encode/npz.h"

#include <criterion/criterion.h>
#include <minari/minari.h>
#include <stdlib.h>

static void add_array(struct hub_npz_writer *zip, struct hub_buf *out, const char *name,
                      const struct hub_rows *rows)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf npy = HUB_BUF_INIT(4 * KIB);
    cr_assert_eq(hub_npy_array_header(HUB_NPY_VALUES, rows, false, 0, &npy, NULL), HUB_OK);
    cr_assert_eq(hub_npy_array_rows(HUB_NPY_VALUES, rows, 0, &npy, NULL), HUB_OK);
    cr_assert_eq(add_member(zip, out, name, hub_buf_view(&npy)), HUB_OK);
}

static void make_npz(struct hub_buf *out)
{
    static uint8_t sevens[48], ones[4];
    memset(sevens, 7, sizeof sevens);
    memset(ones, 1, sizeof ones);
    const struct hub_rows numbers = {
        .variant = {.kind = HUB_KIND_FLOAT, .item_size = 4, .rank = 1, .dims = {3}},
        .rows = 4,
        .data = sevens,
        .windows = 2};
    const struct hub_rows mask = {
        .variant = {.kind = HUB_KIND_BOOL, .item_size = 1}, .rows = 4, .data = ones};
    struct hub_npz_writer *zip;
    cr_assert_eq(hub_npz_writer_begin(out, &zip, NULL), HUB_OK);
    add_array(zip, out, "obs/state", &numbers);
    add_array(zip, out, "mask", &mask);
    cr_assert_eq(hub_npz_writer_finish(zip, NULL), HUB_OK);
    hub_npz_writer_free(zip);
}

Test(npz, arrays_are_found_where_they_lie)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf npz = HUB_BUF_INIT(1 * MIB);
    struct minari_array array;
    make_npz(&npz);
    cr_assert_eq(minari_npz_find(npz.data, npz.size, "obs/state", &array, NULL), MINARI_OK);
    cr_assert_str_eq(array.dtype, "<f4");
    cr_assert(array.ndim == 3 && array.shape[0] == 2 && array.shape[1] == 2 && array.shape[2] == 3);
    cr_assert(array.bytes == 48 && *(const char *)array.data == 7);
    cr_assert_eq(minari_npz_find(npz.data, npz.size, "mask", &array, NULL), MINARI_OK);
    cr_assert(array.ndim == 1 && array.shape[0] == 4 && array.bytes == 4 && *(const char *)array.data == 1);
    cr_assert_eq(minari_npz_find(npz.data, npz.size, "mas", &array, NULL), MINARI_NOT_FOUND);
    cr_assert_eq(minari_npz_find(npz.data, npz.size, "", &array, NULL), MINARI_NOT_FOUND);
    cr_assert_eq(minari_npz_find("no zip at all, but long enough for one", 38, "mask", &array, NULL),
                 MINARI_PROTOCOL);
    cr_assert_eq(minari_npz_find(NULL, 9, "mask", &array, NULL), MINARI_INVALID);
}

/* As the hub sends rows and tables: each member's checksum follows it. */
Test(npz, arrays_of_a_streamed_one_are_found_too)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf npz = HUB_BUF_INIT(1 * MIB), header = HUB_BUF_INIT(4 * KIB);
    const struct hub_variant variant = {.kind = HUB_KIND_INT, .item_size = 8};
    static const char *const names[] = {"number", "steps", "ends"};
    struct minari_array array;
    struct hub_npz_writer *zip;
    int64_t row = 0, found;
    cr_assert_eq(npy_header(&variant, 1, false, &header), HUB_OK);
    cr_assert_eq(hub_npz_writer_begin(NULL, &zip, NULL), HUB_OK);
    hub_npz_writer_resume(zip, &npz);
    for (size_t i = 0; i < HUB_COUNT(names); i++, row++) {
        cr_assert_eq(hub_npz_writer_open_member(zip, names[i], header.size + sizeof row, NULL), HUB_OK);
        cr_assert_eq(hub_buf_add(&npz, header.data, header.size, NULL), HUB_OK);
        cr_assert_eq(hub_buf_add(&npz, &row, sizeof row, NULL), HUB_OK);
        cr_assert_eq(hub_npz_writer_close_member(zip, NULL), HUB_OK);
    }
    cr_assert_eq(hub_npz_writer_finish(zip, NULL), HUB_OK);
    hub_npz_writer_free(zip);
    for (size_t i = 0; i < HUB_COUNT(names); i++) {
        cr_assert_eq(minari_npz_find(npz.data, npz.size, names[i], &array, NULL), MINARI_OK, "%s", names[i]);
        memcpy(&found, array.data, sizeof found);
        cr_assert(array.ndim == 1 && array.shape[0] == 1 && found == (int64_t)i);
    }
    cr_assert_eq(minari_npz_find(npz.data, npz.size, "return", &array, NULL), MINARI_NOT_FOUND);
}

Test(npz, damage_leads_nowhere_else)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf npz = HUB_BUF_INIT(1 * MIB);
    struct minari_array array;
    make_npz(&npz);
    for (size_t size = 0; size < npz.size;
         size++) { /* cut: in memory of its own, so that no byte behind is read */
        char *cut = malloc(size + 1);
        memcpy(cut, npz.data, size);
        if (minari_npz_find(cut, size, "mask", &array, NULL) == MINARI_OK)
            cr_assert((const char *)array.data + array.bytes <= cut + size);
        free(cut);
    }
    for (size_t at = 0; at < npz.size; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            npz.data[at] ^= (char)(1 << bit);
            if (minari_npz_find(npz.data, npz.size, "obs/state", &array, NULL) == MINARI_OK)
                cr_assert((const char *)array.data + array.bytes <= npz.data + npz.size);
            npz.data[at] ^= (char)(1 << bit);
        }
}
