#include "server/config/config.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/hub-config-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    unsetenv("MINARI_DATASETS_PATH");
    unsetenv("XDG_STATE_HOME");
    unsetenv("STATE_DIRECTORY");
    setenv("HOME", folder, 1);
    setenv("MINARI_HUB_CONFIG", "/dev/null", 1); /* not what the machine has in /etc */
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

static const char *path(const char *name)
{
    static char paths[4][128];
    static int next;
    char *out = paths[next++ % 4];
    snprintf(out, sizeof paths[0], "%s/%s", folder, name);
    return out;
}

static const char *write_file(const char *name, const char *text)
{
    const char *at = path(name);
    FILE *out = fopen(at, "w");
    fputs(text, out);
    fclose(out);
    return at;
}

static enum hub_status read_flags(struct hub_config *config, struct hub_error *err, const char *a,
                                  const char *b, const char *c)
{
    char *const argv[] = {(char *)(uintptr_t)a, (char *)(uintptr_t)b, (char *)(uintptr_t)c, NULL};
    cr_assert_eq(hub_config_init(config, err), HUB_OK);
    return hub_config_read(config, argv, err);
}

TestSuite(config, .init = make_folder, .fini = remove_folder);

Test(config, defaults)
{
    struct hub_config config;
    struct hub_error err = {0};
    cr_assert_eq(read_flags(&config, &err, NULL, NULL, NULL), HUB_OK, "%s", err.detail);
    cr_assert_str_eq(config.listen, "127.0.0.1:8080");
    cr_assert_eq(config.memory, 256 * MIB);
    cr_assert_eq(config.queue, 1024);
    cr_assert_eq(config.settle_ms, 2000);
    cr_assert_eq(config.sweep_ms, 300000);
    cr_assert(config.hash == HUB_HASH_ON_DEMAND && config.access_log && config.sync &&
              !config.unsafe_inspect);
    hub_config_dispose(&config);
}

Test(config, flags_beat_the_environment_and_that_beats_the_file)
{
    struct hub_config config;
    struct hub_error err = {0};
    const char *file = write_file(
        "hub.conf",
        "# a comment\nroot = /from/file\nroot = /and/another:ro\nqueue = 5\nworkers = 3\nsettle = 1m\n");
    setenv("MINARI_HUB_QUEUE", "6", 1);
    setenv("MINARI_HUB_EVENT_THREADS", "2", 1);
    cr_assert_eq(read_flags(&config, &err, "--config", file, "--workers=4"), HUB_OK, "%s", err.detail);
    cr_assert_eq(config.root_texts.count, 2);
    cr_assert_str_eq(config.root_texts.items[1], "/and/another:ro");
    cr_assert_eq(config.queue, 6);
    cr_assert_eq(config.event_threads, 2);
    cr_assert_eq(config.workers, 4);
    cr_assert_eq(config.settle_ms, 60000);
    hub_config_dispose(&config);
    setenv("MINARI_HUB_ROOT", "/a,/b", 1);
    cr_assert_eq(read_flags(&config, &err, "--config", file, NULL), HUB_OK);
    cr_assert_eq(config.root_texts.count, 2, "a stronger source replaces the list");
    cr_assert_str_eq(config.root_texts.items[0], "/a");
    hub_config_dispose(&config);
    cr_assert_eq(read_flags(&config, &err, "--root=/x", "--root", "/y"), HUB_OK);
    cr_assert_eq(config.root_texts.count, 2);
    cr_assert_str_eq(config.root_texts.items[0], "/x");
    hub_config_dispose(&config);
}

/* --switch off, --switch=off, --no-switch; alone it is on, and takes no other option for its value */
Test(config, switches_take_a_word_or_none)
{
    static const char *const off[][2] = {{"--access-log", "off"},
                                         {"--access-log=off", NULL},
                                         {"--no-access-log", NULL},
                                         {"--access-log", "No"}};
    struct hub_config config;
    struct hub_error err = {0};
    for (size_t i = 0; i < HUB_COUNT(off); i++) {
        cr_assert_eq(read_flags(&config, &err, off[i][0], off[i][1], NULL), HUB_OK, "%s", err.detail);
        cr_expect_not(config.access_log, "%s", off[i][0]);
        hub_config_dispose(&config);
    }
    cr_assert_eq(read_flags(&config, &err, "--unsafe-inspect", "--queue", "7"), HUB_OK, "%s", err.detail);
    cr_assert(config.unsafe_inspect && config.queue == 7);
    hub_config_dispose(&config);
}

struct bad_case {
    const char *a, *b, *says;
};

Test(config, mistakes_are_named)
{
    static const struct bad_case cases[] = {
        {"--memry", "1", "unknown option --memry, probably meant: --memory"},
        {"--sweep", "5w", "must be between 0ms and 30d"},
        {"--memory", "lots", "not a size"},
        {"--memory", "1", "must be between 8M and 1T"},
        {"--grace", "11m", "must be between 0ms and 10m"},
        {"--memory", "99999999999999999999G", "not a size"},
        {"--workers", "-1", "not a whole number"},
        {"--workers", NULL, "needs a value"},
        {"--hash=maybe", NULL, "must be one of on-demand|idle|off"},
        {"--settle", "2 weeks", "not a time"},
        {"--access-log=perhaps", NULL, "on or off"},
        {"--root=", NULL, "has no value"},
        {"--no-hash", NULL, "unknown option --no-hash"},
        {"serve", NULL, "not an option"},
        {"--", NULL, "not an option"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_config config;
        struct hub_error err = {0};
        cr_assert_eq(read_flags(&config, &err, cases[i].a, cases[i].b, NULL), HUB_INVALID, "%s", cases[i].a);
        cr_assert(strstr(err.detail, cases[i].says), "%s: %s", cases[i].a, err.detail);
        hub_config_dispose(&config);
    }
}

Test(config, mistakes_in_the_file_have_a_line)
{
    static const char *const texts[][2] = {{"queue = 5\n\nqueu = 6\n", "line 3: unknown setting \"queu\""},
                                           {"queue = 5\nworkers = x\n", "line 2: workers \"x\""},
                                           {"queue\n", "line 1: not of the form"},
                                           {"config = x\n", "line 1: unknown setting"}};
    for (size_t i = 0; i < HUB_COUNT(texts); i++) {
        struct hub_config config;
        struct hub_error err = {0};
        const char *file = write_file("bad.conf", texts[i][0]);
        cr_assert_eq(read_flags(&config, &err, "--config", file, NULL), HUB_INVALID);
        cr_assert(strstr(err.detail, texts[i][1]), "%s", err.detail);
        hub_config_dispose(&config);
    }
    struct hub_config config;
    struct hub_error err = {0};
    cr_assert_eq(read_flags(&config, &err, "--config", path("absent.conf"), NULL), HUB_NOT_FOUND);
    hub_config_dispose(&config);
}

Test(config, what_is_printed_can_be_read)
{
    struct hub_config config, again;
    struct hub_error err = {0};
    const char *file = path("printed.conf");
    cr_assert_eq(read_flags(&config, &err, "--root=/x:ro", "--memory=1G", "--no-access-log"), HUB_OK);
    FILE *out = fopen(file, "w");
    hub_config_print(&config, out);
    fclose(out);
    cr_assert_eq(read_flags(&again, &err, "--config", file, NULL), HUB_OK, "%s", err.detail);
    cr_assert_eq(again.memory, GIB);
    cr_assert_not(again.access_log);
    cr_assert_str_eq(again.root_texts.items[0], "/x:ro");
    cr_assert_eq(again.queue, 1024);
    hub_config_dispose(&config);
    hub_config_dispose(&again);
}

static enum hub_status finish(struct hub_config *config, struct hub_error *err, const char *a, const char *b,
                              const char *c)
{
    cr_assert_eq(read_flags(config, err, a, b, c), HUB_OK, "%s", err->detail);
    free(config->inspector);
    config->inspector = strdup("/bin/true");
    return hub_config_finish(config, err);
}

Test(config, roots_and_state)
{
    struct hub_config config;
    struct hub_error err = {0};
    char flag[160];
    mkdir(path("a"), 0755);
    mkdir(path("a/b"), 0755);
    mkdir(path("x=y"), 0755);
    snprintf(flag, sizeof flag, "--root=lab=%s:ro", path("x=y"));
    cr_assert_eq(finish(&config, &err, "--root", path("a"), flag), HUB_OK, "%s", err.detail);
    cr_assert_eq(config.roots.count, 2);
    cr_assert_str_eq(config.roots.roots[1].path, path("x=y"));
    cr_assert_str_eq(config.roots.roots[1].name, "lab");
    cr_assert(config.roots.roots[1].read_only && !config.roots.roots[0].read_only);
    cr_assert_str_eq(config.state, path(".local/state/minari-hub"));
    hub_config_dispose(&config);

    setenv("STATE_DIRECTORY", path("service"), 1);
    cr_assert_eq(finish(&config, &err, "--root", path("a"), NULL), HUB_OK);
    cr_assert_str_eq(config.state, path("service"));
    hub_config_dispose(&config);

    snprintf(flag, sizeof flag, "--root=%s", path("a/b"));
    cr_assert_eq(finish(&config, &err, "--root", path("a"), flag), HUB_INVALID);
    cr_assert(strstr(err.detail, "overlap"));
    hub_config_dispose(&config);

    snprintf(flag, sizeof flag, "--state=%s", path("a/state"));
    cr_assert_eq(finish(&config, &err, "--root", path("a"), flag), HUB_INVALID);
    cr_assert(strstr(err.detail, "is inside the root"));
    hub_config_dispose(&config);

    cr_assert_eq(finish(&config, &err, NULL, NULL, NULL), HUB_NOT_FOUND, "no default root");
    cr_assert(strstr(err.detail, "--root DIR"));
    hub_config_dispose(&config);

    setenv("MINARI_DATASETS_PATH", path("a"), 1);
    cr_assert_eq(finish(&config, &err, NULL, NULL, NULL), HUB_OK);
    cr_assert_str_eq(config.roots.roots[0].path, path("a"));
    hub_config_dispose(&config);
}

struct listen_case {
    const char *text, *address;
    uint16_t port;
};

Test(config, addresses)
{
    static const struct listen_case cases[] = {
        {"127.0.0.1:80", "127.0.0.1", 80},
        {":8080", "0.0.0.0", 8080},
        {"9000", "127.0.0.1", 9000},
        {"[::1]:8080", "::1", 8080},
        {"0.0.0.0:0", "0.0.0.0", 0},
        {"::1:80", NULL, 0},
        {"1.2.3.4:", NULL, 0},
        {"1.2.3.4:99999", NULL, 0},
        {"1.2.3.4:8x", NULL, 0},
        {"localhost", NULL, 0},
    };
    mkdir(path("a"), 0755);
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_config config;
        struct hub_error err = {0};
        char flag[64];
        snprintf(flag, sizeof flag, "--listen=%s", cases[i].text);
        enum hub_status st = finish(&config, &err, "--root", path("a"), flag);
        cr_assert_eq(st, cases[i].address ? HUB_OK : HUB_INVALID, "%s: %s", cases[i].text, err.detail);
        if (cases[i].address) {
            cr_assert_str_eq(config.address, cases[i].address);
            cr_assert_eq(config.port, cases[i].port);
        }
        hub_config_dispose(&config);
    }
}

Test(config, off_is_no_address)
{
    struct hub_config config;
    struct hub_error err = {0};
    mkdir(path("a"), 0755);
    cr_assert_eq(finish(&config, &err, "--root", path("a"), "--listen=off"), HUB_OK, "%s", err.detail);
    cr_assert_null(config.address);
    hub_config_dispose(&config);
}

Test(config, a_value_in_the_file_may_have_a_comment_behind_it)
{
    struct hub_config config;
    struct hub_error err = {0};
    const char *file = write_file("c.conf", "queue = 7 # seven\nsettle = 3s ; three\nstate = /a#b\n");
    cr_assert_eq(read_flags(&config, &err, "--config", file, NULL), HUB_OK, "%s", err.detail);
    cr_assert_eq(config.queue, 7);
    cr_assert_eq(config.settle_ms, 3000);
    cr_assert_str_eq(config.state, "/a#b");
    hub_config_dispose(&config);
}

Test(config, a_mistake_in_the_environment_names_the_variable)
{
    struct hub_config config;
    struct hub_error err = {0};
    setenv("MINARI_HUB_QUEUE", "many", 1);
    cr_assert_eq(read_flags(&config, &err, NULL, NULL, NULL), HUB_INVALID);
    cr_assert_str_eq(err.detail, "in the environment, MINARI_HUB_QUEUE: queue \"many\": not a whole number");
    unsetenv("MINARI_HUB_QUEUE");
    hub_config_dispose(&config);
}

Test(config, rules_of_access_are_kept_as_they_are)
{
    struct hub_config config;
    struct hub_error err = {0};
    const char *file = write_file("hub.conf", "audit-keep = 30d\n[access]\nset = * none lab/  # hidden\n"
                                              "set = group:Domain Users read lab/\n");
    cr_assert_eq(read_flags(&config, &err, "--config", file, NULL), HUB_OK, "%s", err.detail);
    cr_assert_eq(json_array_size(config.access), 2);
    cr_expect_str_eq(json_string_value(json_array_get(config.access, 0)), "* none lab/");
    cr_expect_str_eq(json_string_value(json_array_get(config.access, 1)), "group:Domain Users read lab/");
    cr_expect_eq(config.audit_keep_ms, 30 * 86400000ULL);
    hub_config_dispose(&config);
    file = write_file("hub.conf", "[access]\nrule = * none lab/\n");
    cr_expect_eq(read_flags(&config, &err, "--config", file, NULL), HUB_INVALID);
    cr_expect(strstr(err.detail, "line 2: [access] has no setting"), "%s", err.detail);
    hub_config_dispose(&config);
}
