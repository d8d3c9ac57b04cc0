/* What paths in the cache of huggingface_hub are called. */
#include "storage/ids/hf_cache.h"

#include <criterion/criterion.h>

#define COMMIT "0123456789abcdef0123456789abcdef01234567"

Test(hf_cache, names)
{
    static const char *const cases[][2] = {
        {"hub/datasets--lab--plans/snapshots/0a1b", "lab/plans"},
        {"datasets--lab--plans/snapshots/0a1b/data/x.npz", "lab/plans/data/x.npz"},
        {"mine/hub/datasets--squad/snapshots/0a1b", "mine/squad"},
        {"hub/models--lab--net/snapshots/0a1b", "models--lab--net"},
        {"hub/datasets--lab--plans", "hub/datasets--lab--plans"},
        {"hub/datasets--lab--plans/blobs/0a1b", "hub/datasets--lab--plans/blobs/0a1b"},
        {"hub/datasets--lab--plans/snapshots", "hub/datasets--lab--plans/snapshots"},
        {"hub/hub/x", "hub/hub/x"},
        {"hub", "hub"},
        {"door/human-v2", "door/human-v2"},
        {".minari-hub/kept/door/human-v2@" COMMIT, "door/human-v2"},
        {"mine/.minari-hub-1000/kept/human-v2@" COMMIT "/data", "mine/human-v2/data"},
        {".minari-hub/kept/human@v2", "human@v2"},
        {"", ""},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
        cr_assert_eq(hub_hf_cache_name(hub_view_of(cases[i][0]), false, &out, NULL), HUB_OK);
        cr_expect(hub_view_is(hub_buf_view(&out), cases[i][1]), "%s: %s", cases[i][0], out.data);
    }
}

Test(hf_cache, commits)
{
    static const char *const cases[][2] = {
        {"hub/datasets--lab--plans/snapshots/0a1b", "0a1b"},
        {"datasets--lab--plans/snapshots/0a1b/data/x.npz", "0a1b"},
        {"hub/datasets--lab--plans/refs/main", ""},
        {"snapshots/0a1b", ""},
        {".minari-hub/kept/door/human-v2@" COMMIT "/data", COMMIT},
        {"door/human-v2@" COMMIT, ""},
        {".minari-hub/trash/human-v2@" COMMIT, ""},
        {"", ""},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        cr_expect(hub_view_is(hub_hf_cache_commit(hub_view_of(cases[i][0])), cases[i][1]), "%s", cases[i][0]);
}

Test(hf_cache, names_with_their_commit)
{
    static const char *const cases[][3] = {
        {"hub/datasets--lab--plans/snapshots/0a1b", "lab/plans@0a1b", "hub/datasets--lab--plans"},
        {"datasets--lab--plans/snapshots/0a1b/data", "lab/plans@0a1b/data", "datasets--lab--plans"},
        {"mine/models--net/snapshots/main/x", "mine/models--net@main/x", "mine/models--net"},
        {"lab/plans@0a1b", "lab/plans@0a1b", ""},
        {"mine/.minari-hub/kept/human-v2@" COMMIT, "mine/human-v2@" COMMIT, ""},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
        const char *path = cases[i][0], *folder = cases[i][2];
        cr_assert_eq(hub_hf_cache_name(hub_view_of(path), true, &out, NULL), HUB_OK);
        cr_expect(hub_view_is(hub_buf_view(&out), cases[i][1]), "%s: %s", path, out.data);
        cr_expect(hub_view_is(hub_hf_cache_folder(hub_view_of(path)), folder), "%s", path);
        const char *at = hub_hf_cache_at(out.data, path);
        cr_expect_eq(at, hub_hf_cache_commit(hub_view_of(path)).size ? strchr(out.data, '@') : NULL, "%s",
                     path);
    }
    cr_expect_null(hub_hf_cache_at("lab/plans@0a", "datasets--lab--plans/snapshots/0a1b"));
    cr_expect_null(hub_hf_cache_at("lab/plans", "datasets--lab--plans/snapshots/0a1b"));
}
