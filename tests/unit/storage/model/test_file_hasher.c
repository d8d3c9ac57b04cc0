/* storage/model/file_hasher.c and file_facts.c: digests of a file in one pass; whether two are the same. */
#include "storage/model/file_hasher.h"

#include <criterion/criterion.h>

Test(file_hasher, sums_of_pieces_in_any_order_are_those_of_the_bytes)
{
    static const size_t sizes[] = {1, HUB_SUM_PIECE, HUB_SUM_PIECE + 1, 3 * HUB_SUM_PIECE,
                                   3 * HUB_SUM_PIECE + 4567};
    static char bytes[4 * HUB_SUM_PIECE];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * i >> 9);
    for (size_t i = 0; i < HUB_COUNT(sizes); i++) {
        HUB_CLEANUP(hub_sums_dispose) struct hub_sums want = {0}, sums = {0};
        struct hub_file_hasher hasher;
        cr_assert_eq(hub_file_hasher_begin(&hasher, HUB_BY_CRC32C, sizes[i], NULL), HUB_OK);
        cr_assert_eq(hub_file_hasher_add(&hasher, (struct hub_view){bytes, sizes[i]}, NULL), HUB_OK);
        cr_assert_eq(hub_file_hasher_end(&hasher, &want, NULL), HUB_OK);
        cr_assert_eq(hub_sums_begin(&sums, sizes[i], NULL), HUB_OK);
        hub_sums_put(&sums, 0, 42); /* what came first is fetched again */
        for (size_t piece = (sizes[i] + HUB_SUM_PIECE - 1) / HUB_SUM_PIECE; piece-- > 0;) {
            const size_t at = piece * HUB_SUM_PIECE;
            hub_sums_put(&sums, piece,
                         hub_crc32c(0, bytes + at, HUB_MIN(sizes[i] - at, (size_t)HUB_SUM_PIECE)));
        }
        hub_sums_end(&sums, sizes[i]);
        cr_assert(sums.known && !sums.has_sha256 && sums.kind == want.kind);
        cr_assert_arr_eq(sums.other, want.other, sizeof want.other);
        cr_assert_eq(sums.pieces_size, want.pieces_size);
        if (want.pieces_size)
            cr_assert_arr_eq(sums.pieces, want.pieces, want.pieces_size);
        struct hub_file_facts file = {.other = HUB_BY_CRC32C};
        memcpy(file.sum, want.other, sizeof file.sum);
        cr_assert(hub_sums_agree(&sums, &file));
        file.has_sha256 = true; /* of zeros */
        cr_assert_not(hub_sums_agree(&sums, &file));
    }
}

Test(file_hasher, one_pass_has_all_digests)
{
    static const struct hub_view bytes = {"abc", 3};
    HUB_CLEANUP(hub_sums_dispose) struct hub_sums sums = {0};
    struct hub_file_hasher hasher;
    char sha256[65], md5[33], crc32c[9];
    cr_assert_eq(hub_file_hasher_begin(&hasher, HUB_BY_MD5, bytes.size, NULL), HUB_OK);
    cr_assert_eq(hub_file_hasher_add(&hasher, bytes, NULL), HUB_OK);
    cr_assert_eq(hub_file_hasher_end(&hasher, &sums, NULL), HUB_OK);
    hub_hex(sums.sha256, sizeof sums.sha256, sha256);
    hub_hex(sums.other, HUB_MD5_BYTES, md5);
    hub_hex(sums.crc32c, sizeof sums.crc32c, crc32c);
    cr_expect_str_eq(sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    cr_expect_str_eq(md5, "900150983cd24fb0d6963f7d28e17f72");
    cr_expect_str_eq(crc32c, "364b3fb7");
}

Test(file_facts, without_a_sha256_it_is_no_file_that_the_remote_states_one_of)
{
    struct hub_file_facts then = {.size = 5, .other = HUB_BY_CRC32C, .sum = {1}};
    struct hub_file_facts now = {.size = 5, .other = HUB_BY_CRC32C, .sum = {1}};
    cr_assert(hub_file_same(&then, &now));
    now.has_sha256 = true; /* of zeros, as that of `then` which is not known */
    cr_assert_not(hub_file_same(&then, &now));
    then.has_sha256 = true;
    cr_assert(hub_file_same(&then, &now));
}
