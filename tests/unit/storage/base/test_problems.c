#include "storage/base/error.h"

#include <criterion/criterion.h>
#include <string.h>

Test(problems, a_name_finds_its_row)
{
    for (enum hub_problem_code code = HUB_PROBLEM_NONE + 1; code < HUB_PROBLEM_COUNT; code++) {
        const char *name = hub_problem_name(code);
        cr_expect(*name && strlen(name) < 32 && strspn(name, "abcdefghijklmnopqrstuvwxyz-") == strlen(name),
                  "%s", name);
        cr_expect_eq(hub_problem_find(name), code, "two rows are named %s", name);
    }
    cr_expect_eq(hub_problem_find(""), HUB_PROBLEM_NONE);
    cr_expect_eq(hub_problem_find("dataset-not-foun"), HUB_PROBLEM_NONE);
    cr_expect_str_eq(hub_problem_name(HUB_PROBLEM_NONE), "");
}

/* What HTTP answers with has a title; what it does not answer with has no word of a protocol. */
Test(problems, a_status_has_its_words)
{
    for (enum hub_problem_code code = HUB_PROBLEM_NONE + 1; code < HUB_PROBLEM_COUNT; code++) {
        const struct hub_problem_row *row = &hub_problem_rows[code];
        cr_expect_eq(row->status != 0, row->title && row->reason && row->google_code, "%s", row->name);
        cr_expect(row->status || (!row->retry_s && !row->hugging_face && !row->page), "%s", row->name);
        cr_expect(!row->retry_s || row->status == 503 || row->status == 429, "%s", row->name);
    }
}
