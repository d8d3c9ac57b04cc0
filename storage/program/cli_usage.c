/* What minari-inspect takes: --help, its man page and the completions, of one table. */
#include "storage/base/usage.h"
#include "storage/formats/registry.h"
#include "storage/program/cli.h"

#include <stdio.h>

static const char text[] =
    "Describes PATH as a hub would: a dataset's folder, a file of a dataset, or a folder above,\nwith every "
    "dataset below it. Files are only read, and only inside a sandbox.\n";

#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* texts have no end of a row */
static const struct hub_usage_option options[] = {
    {0, "json", NULL, NULL,
     "one document: {\"inspector\",\"datasets\":[...]}, every episode and field in it"},
    {0, "strict", NULL, NULL, "exit with 1 when there is any problem, unreadable field or broken part"},
    {0, "allow-target", "DIR", NULL, "a folder outside PATH that links may lead to (may be repeated)"},
    {0, "timeout", "SECONDS", NULL, "give up on a part after this long (60)"},
    {0, "unsafe", NULL, NULL, "inspect without a sandbox where seccomp is not available"},
    {0, "version", NULL, NULL, "print the version"},
    {0, "worker", NULL, NULL, "serve a hub on descriptor 3; started by minari-hub"},
    {'h', "help", NULL, NULL, "show this"},
};

static const char exit_codes[] = "0 ok, 1 failed or --strict, 2 usage, 3 not found, 8 a dataset is broken.\n";

int hub_inspect_help(void)
{
    printf("usage: minari-inspect [OPTION]... PATH\n\n%s\n", text);
    for (size_t i = 0; i < HUB_COUNT(options); i++) {
        const struct hub_usage_option *o = &options[i];
        const int used = printf("  --%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
        printf("%*s%s\n", used < 20 ? 21 - used : 1, "", o->help);
    }
    printf("\nExit codes: %s\nAn era says who wrote a set:\n", exit_codes);
    for (const struct hub_format *const *f = hub_formats; *f; f++)
        for (const char *const *era = (*f)->eras; era && *era; era++)
            printf("  %s\n", *era);
    return ferror(stdout) != 0;
}

int hub_inspect_generate(const char *what)
{
    static const struct hub_usage_part parts[] = {{"EXIT STATUS", exit_codes}};
    static const struct hub_usage usage = {.program = "minari-inspect",
                                           .version = HUB_VERSION,
                                           .section = 1,
                                           .summary = "describes a dataset, and what is wrong with it",
                                           .text = text,
                                           .arguments = "PATH",
                                           .options = options,
                                           .option_count = HUB_COUNT(options),
                                           .parts = parts,
                                           .part_count = HUB_COUNT(parts)};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(1 * MIB);
    struct hub_error err = {0};
    if (hub_usage_write(&usage, what, &out, &err)) {
        fprintf(stderr, "minari-inspect: --generate %s\n", err.detail);
        return HUB_EXIT_USAGE;
    }
    fwrite(out.data, 1, out.size, stdout);
    return fflush(stdout) ? HUB_EXIT_FAILED : HUB_EXIT_OK;
}
