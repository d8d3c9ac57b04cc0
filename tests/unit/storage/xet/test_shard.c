/* Shards: as hf_xet writes them, and as a liar would. */
#include "storage/xet/shard.h"

#include "tests/unit/storage/xet/xet_kit.h"

#include <criterion/parameterized.h>

static struct hub_error err;

static enum hub_status scan_of(const void *data, size_t size, size_t step, struct hub_shard *out)
{
    HUB_CLEANUP(hub_shard_scan_dispose) struct hub_shard_scan scan = {0};
    *out = (struct hub_shard){0};
    for (size_t at = 0; at < size; at += step)
        HUB_TRY(hub_shard_scan_add(
            &scan, (struct hub_view){(const char *)data + at, HUB_MIN(step, size - at)}, &err));
    return hub_shard_scan_end(&scan, out, &err);
}

Test(shard, files_and_terms_are_read_however_the_bytes_come)
{
    static const size_t steps[] = {1, 47, 48, 100, 1 << 20};
    size_t size;
    uint8_t *data = slurp(FIRST_SHARD, &size), x[HUB_DIGEST_MAX];
    cr_assert_eq(hub_digest_of(HUB_SHA256, HUB_VIEW("x"), x, NULL), HUB_OK);
    for (unsigned i = 0; i < HUB_COUNT(steps); i++) {
        HUB_CLEANUP(hub_shard_dispose) struct hub_shard shard;
        cr_assert_eq(scan_of(data, size, steps[i], &shard), HUB_OK, "%s", err.detail);
        cr_expect_eq(shard.file_count, 4);
        cr_expect_eq(shard.term_count, 4);
        cr_expect_eq(shard.files[2].size, 1);
        cr_expect_eq(memcmp(shard.files[2].sha256, x, sizeof x), 0);
        cr_expect_eq(shard.files[3].first_term, 3);
        cr_expect_eq(shard.terms[3].first, 4);
        cr_expect_eq(shard.terms[3].end, 11);
        cr_expect_eq(shard.files[3].size, 0x088a54);
    }
    free(data);
}

Test(shard, a_file_may_have_terms_of_several_xorbs)
{
    size_t size;
    uint8_t *data = slurp(SECOND_SHARD, &size), first[HUB_XET_HASH], second[HUB_XET_HASH];
    HUB_CLEANUP(hub_shard_dispose) struct hub_shard shard;
    cr_assert(hub_xet_hash_read(HUB_VIEW(FIRST_XORB), first));
    cr_assert(hub_xet_hash_read(HUB_VIEW(SECOND_XORB), second));
    cr_assert_eq(scan_of(data, size, size, &shard), HUB_OK, "%s", err.detail);
    cr_expect_eq(shard.file_count, 1);
    cr_expect_eq(shard.term_count, 2);
    cr_expect_eq(shard.files[0].size, shard.terms[0].bytes + shard.terms[1].bytes);
    cr_expect_eq(memcmp(shard.terms[0].xorb, first, sizeof first), 0);
    cr_expect_eq(memcmp(shard.terms[1].xorb, second, sizeof second), 0);
    free(data);
}

Test(shard, is_refused_wherever_it_is_cut)
{
    size_t size;
    uint8_t *data = slurp(FIRST_SHARD, &size);
    for (size_t cut = 0; cut < size; cut++) {
        HUB_CLEANUP(hub_shard_dispose) struct hub_shard shard;
        cr_assert_eq(scan_of(data, cut, size, &shard), HUB_CORRUPT, "cut at %zu", cut);
        cr_assert_null(shard.files);
    }
    free(data);
}

Test(shard, what_follows_the_list_of_xorbs_does_not_count)
{
    size_t size;
    HUB_CLEANUP(hub_shard_dispose) struct hub_shard shard;
    uint8_t *data = slurp(SECOND_SHARD, &size), *more = calloc(1, size + 1000);
    memcpy(more, data, size);
    cr_expect_eq(scan_of(more, size + 1000, 333, &shard), HUB_OK);
    free(data), free(more);
}

/* Four bytes of the second shard that say something else. */
struct lie {
    uint32_t at, value;
    enum hub_status st;
};
ParameterizedTestParameters(shard, fields_that_lie)
{
    static struct lie lies[] = {
        {0, 0, HUB_CORRUPT},                     /* no shard */
        {32, 3, HUB_CORRUPT},                    /* another version */
        {48 + 32, 0x80000000, HUB_UNSUPPORTED},  /* a file without its SHA-256 */
        {48 + 36, 0xffffffff, HUB_TOO_BIG},      /* four billion terms */
        {48 + 36, HUB_SHARD_TERMS, HUB_CORRUPT}, /* more terms than come: the end of the list is no term */
        {48 + 36, 3, HUB_CORRUPT},               /* one term more: a verification is none */
        {48 + 36, 1, HUB_UNSUPPORTED},           /* one less: what comes then is no file */
        {96 + 36, 0, HUB_CORRUPT},               /* a term of no bytes */
        {96 + 36, 0xffffffff, HUB_CORRUPT},      /* of more than a xorb has */
        {96 + 40, 10, HUB_CORRUPT},              /* of no chunk */
        {96 + 40, 11, HUB_CORRUPT},              /* that ends before it begins */
        {96 + 44, 8193, HUB_CORRUPT},            /* of chunks that no xorb has */
        {0x180 + 36, 8193, HUB_CORRUPT},         /* a xorb of too many chunks */
        {0x180 + 36, 3, HUB_CORRUPT},            /* of one more than are listed */
        {0x180 + 36, 0, HUB_CORRUPT},            /* of none: a chunk is no xorb */
    };
    return cr_make_param_array(struct lie, lies, HUB_COUNT(lies));
}

ParameterizedTest(struct lie *lie, shard, fields_that_lie)
{
    size_t size;
    uint8_t *data = slurp(SECOND_SHARD, &size);
    HUB_CLEANUP(hub_shard_dispose) struct hub_shard shard;
    memcpy(data + lie->at, &lie->value, sizeof lie->value);
    cr_expect_eq(scan_of(data, size, 64, &shard), lie->st, "%u at %u", lie->value, lie->at);
    free(data);
}

Test(shard, files_and_terms_are_bounded)
{
    HUB_CLEANUP(hub_shard_scan_dispose) struct hub_shard_scan scan = {0};
    size_t size;
    uint8_t *data = slurp(SECOND_SHARD, &size), file[2 * HUB_SHARD_RECORD] = {[35] = 0x40}; /* no terms */
    enum hub_status st = hub_shard_scan_add(&scan, (struct hub_view){(char *)data, 48}, &err);
    for (unsigned i = 0; i < HUB_SHARD_FILES && !st; i++)
        st = hub_shard_scan_add(&scan, (struct hub_view){(char *)file, sizeof file}, &err);
    cr_assert_eq(st, HUB_OK);
    cr_expect_eq(hub_shard_scan_add(&scan, (struct hub_view){(char *)file, sizeof file}, &err), HUB_TOO_BIG);
    free(data);
}
