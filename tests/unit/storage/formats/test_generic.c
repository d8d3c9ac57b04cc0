/* The claims of the generic driver over folders of many files. */
#include "storage/worker/format.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

extern const struct hub_format hub_format_generic;

enum { FILES = 3000 };

static unsigned opens;
static int opened = -1;

/* Those whose names begin with "no" have another head than their ending says. */
static enum hub_status open_head(struct hub_files *files, uint32_t number, int *fd, struct hub_error *err)
{
    const struct hub_view path = files->entries[number].path;
    const char *head = hub_view_ends(path, ".npz") ? "PK\x03\x04" : "PAR1";
    opened = *fd = memfd_create("file", 0);
    opens++;
    if (*fd < 0 || write(*fd, hub_view_starts(path, "no") ? "none" : head, 4) != 4)
        return hub_fail(err, HUB_IO, "no memory file");
    return HUB_OK;
}

static void close_head(struct hub_files *files, uint32_t number)
{
    (void)files;
    (void)number;
    close(opened);
}

struct many_case {
    char pattern[16];
    uint64_t size;
    unsigned claimed, opens; /* at most */
};

ParameterizedTestParameters(generic, many_files)
{
    static struct many_case cases[] = {
        {"yes%04u.npz", 4, FILES, 4 * FILES},
        {"no%04u.npz", 4, 0, 4 * FILES},
        {"yes%04u.parquet", 4, FILES, 4 * FILES},
        {"yes%04u.parquet", 0, 0, 0}, /* what is empty is not opened */
        {"yes%04u.txt", 4, 0, 0},     /* nor what has another name */
    };
    return cr_make_param_array(struct many_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct many_case *c, generic, many_files)
{
    static struct hub_file_entry entries[FILES];
    static char names[FILES][24];
    static uint32_t files[FILES];
    struct hub_files listing = {.entries = entries, .count = FILES, .open = open_head, .close = close_head};
    struct hub_claim claim = {.files = files};
    unsigned found = 0;
    for (unsigned i = 0; i < FILES; i++) {
        const char *ending = strchr(c->pattern, '.');
        snprintf(names[i], sizeof names[i], "%s%04u%s", c->pattern[0] == 'y' ? "yes" : "no", i, ending);
        entries[i] = (struct hub_file_entry){hub_view_of(names[i]), c->size, false};
    }
    opens = 0;
    for (; hub_format_generic.claim_files(&listing, &claim); found++)
        entries[claim.files[0]] = (struct hub_file_entry){{NULL, 0}, 0, false};
    cr_expect_eq(found, c->claimed, "%s: %u", c->pattern, found);
    cr_expect_leq(opens, c->opens, "%s: opened %u times", c->pattern, opens);
}
