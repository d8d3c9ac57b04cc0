/* storage/remote/divide.c: what marks a dataset in a bucket is what its driver looks for, under the driver's
 * name. */
#include "storage/formats/registry.h"
#include "storage/remote/found.h"

#include <criterion/criterion.h>
#include <fnmatch.h>

Test(marks, are_names_that_a_driver_looks_for)
{
    cr_assert_not_null(hub_found_marks[0].file);
    for (const struct hub_found_mark *mark = hub_found_marks; mark->file; mark++) {
        const struct hub_format *driver = hub_format_find(hub_formats, mark->format);
        bool looks = false;
        cr_assert_not_null(driver, "there is no format '%s'", mark->format);
        for (const char *const *name = driver->names; *name && !looks; name++)
            looks = fnmatch(*name, mark->file, 0) == 0;
        cr_expect(looks, "%s does not look for %s", mark->format, mark->file);
    }
}
