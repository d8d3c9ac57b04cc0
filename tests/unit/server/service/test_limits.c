#include "server/service/limits.h"

#include <criterion/criterion.h>

Test(limits, connections_leave_descriptors_for_the_rest)
{
    static const uint64_t all[] = {64, 100, 256, 1024, 4096, 5000, 65536, 1 << 20};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const struct hub_limits limits = hub_limits_fit(all[i], 4, 4096);
        cr_assert_geq(all[i], limits.connections + limits.control + limits.files + 40);
        cr_assert(limits.connections >= 8 && limits.control > 0 && limits.files > 0);
    }
}

Test(limits, what_is_allowed_is_used)
{
    cr_assert_eq(hub_limits_fit(1 << 20, 64, 4096).connections, 4096);
    cr_assert_eq(hub_limits_fit(1 << 20, 64, 16).connections, 16);
    cr_assert_gt(hub_limits_fit(1024, 2, 4096).connections, 800);
    cr_assert_eq(hub_limits_fit(8, 2, 4096).connections, 8, "too few for anything: it will say so");
}
