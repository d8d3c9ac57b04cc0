/* Fills a state directory with hand-made datasets through hub_catalog_publish, opens it again and measures
 * what the catalogue promises: start <= 1 s and RssAnon <= 64 MiB idle with 10,000 datasets and 1,000,000
 * episodes, p99 of a page of episodes <= 10 ms.
 *
 * usage: gen_catalog STATE [datasets [episodes of each]]      default 10000 100, and one set of 1,000,000 is
 * measured apart with gen_catalog STATE 1 1000000 */
#include "storage/catalog/catalog.h"
#include "storage/catalog/write.h"
#include "storage/episodes/episode_reader.h"
#include "storage/text/time.h"
#include "tests/support/snapshot.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what, const struct hub_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->detail);
    exit(1);
}

#define MUST(call)                                                                                           \
    do {                                                                                                     \
        struct hub_error err_ = {0}, *err = &err_;                                                           \
        if (call)                                                                                            \
            die(#call, err);                                                                                 \
    } while (0)

static uint64_t seed = 88172645463325252U;

static uint64_t random_number(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Of this thread alone: the machine may be busy with others. */
static uint64_t cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static long status_kib(const char *name)
{
    char line[256];
    long value = 0;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtol(line + strlen(name), NULL, 10);
    if (f)
        fclose(f);
    return value;
}

static void layout_of(struct hub_found_field *field, uint32_t dim, uint32_t episodes)
{
    struct hub_layout_builder *b = NULL;
    const struct hub_variant variant = {.kind = HUB_KIND_FLOAT, .rank = 1, .item_size = 4, .dims = {dim}};
    const struct hub_piece piece = {.kind = HUB_PIECE_STRIDED,
                                    .rows = 100 * (uint64_t)episodes,
                                    .row_stride = 4 * dim,
                                    .geometry = HUB_NONE};
    uint32_t number, array;
    MUST(hub_layout_builder_new(GIB, &b, err));
    MUST(hub_layout_variant(b, &variant, &number, err));
    MUST(hub_layout_array(b, number, &array, err));
    MUST(hub_layout_piece(b, &piece, err));
    for (uint32_t i = 0; i < episodes; i++)
        MUST(hub_layout_add_window(b, &(struct hub_window){i, array, i * (uint64_t)100, 100}, err));
    MUST(hub_layout_finish(b, &field->layout, &field->layout_size, err));
    hub_layout_builder_free(b);
}

/* What does not differ between datasets is made once. */
struct model {
    struct hub_findings found;
    struct hub_found_field fields[6];
    struct hub_found_episode *episodes;
    char (*names)[24], (*seeds)[24];
};

static void model_init(struct model *m, uint32_t episodes)
{
    static const char *const paths[] = {"actions", "infos/goal",   "observations",
                                        "rewards", "terminations", "truncations"};
    static const enum hub_role roles[] = {HUB_ROLE_ACTION, HUB_ROLE_INFO, HUB_ROLE_OBSERVATION,
                                          HUB_ROLE_REWARD, HUB_ROLE_DONE, HUB_ROLE_DONE};
    memset(m, 0, sizeof *m);
    m->episodes = calloc(episodes, sizeof *m->episodes);
    m->names = calloc(episodes, sizeof *m->names);
    m->seeds = calloc(episodes, sizeof *m->seeds);
    for (size_t i = 0; i < HUB_COUNT(paths); i++) {
        m->fields[i] = (struct hub_found_field){
            .path = (char *)paths[i], .type = HUB_FIELD_NUMBER, .role = roles[i], .axis = HUB_AXIS_STEP};
        layout_of(&m->fields[i], 1 + (uint32_t)i * 3, episodes);
    }
    for (uint32_t i = 0; i < episodes; i++) {
        snprintf(m->names[i], sizeof m->names[i], "episode_%u", i);
        snprintf(m->seeds[i], sizeof m->seeds[i], "%llu", (unsigned long long)(random_number() >> 33));
        m->episodes[i] = (struct hub_found_episode){.number = i,
                                                    .name = m->names[i],
                                                    .seed = m->seeds[i],
                                                    .has_return = true,
                                                    .success = (int8_t)(i % 3) - 1,
                                                    .terminated = 1,
                                                    .truncated = -1,
                                                    .return_computed = true,
                                                    .splits = i % 10 ? "[\"train\"]" : "[\"val\"]",
                                                    .task = i % 2 ? "open the door" : "close the door"};
    }
    m->found = (struct hub_findings){
        .fields = m->fields, .field_count = 6, .episodes = m->episodes, .episode_count = episodes};
}

static void publish(struct hub_catalog *catalog, struct model *m, uint32_t number)
{
    char id[64], description[200];
    for (uint32_t i = 0; i < m->found.episode_count; i++) {
        m->episodes[i].steps = 50 + random_number() % 950;
        m->episodes[i].episode_return = (double)(random_number() % 1000000) / 1000;
    }
    snprintf(id, sizeof id, "lab%u/robot-%u/task%u-v%u", number % 7, number / 40, number / 4, number % 4);
    snprintf(description, sizeof description,
             "Trajectories number %u of the arm in the corner, collected by a policy that was trained for a "
             "while.",
             number);
    struct hub_found_fact facts[] = {
        {"era", "E5"},
        {"stated_version", "0.5.3"},
        {"description", description},
        {"authors", "[\"A. Person\",\"B. Person\"]"},
        {"id", id},
        {"metadata", "{\"algorithm_name\":\"PPO\",\"code_permalink\":\"https://example.org/code\"}"}};
    const struct hub_findings plan = {.facts = facts, .fact_count = HUB_COUNT(facts)};
    const struct hub_stamp stamp = {UINT64_C(1) << 40, 1700000000000000000U + number, number};
    const struct hub_dataset_file files[] = {{"data/main_data.hdf5", stamp}, {"data/metadata.json", stamp}};
    const struct hub_draft_part part = {.name = "main_data.hdf5", .signature = number, .found = &m->found};
    const struct hub_draft draft = {.id = id,
                                    .path = id,
                                    .format = "minari-hdf5",
                                    .rule = "minari",
                                    .status = HUB_DATASET_READY,
                                    .files = files,
                                    .file_count = 2,
                                    .plan = &plan,
                                    .parts = &part,
                                    .part_count = 1,
                                    .revision = "0123456789012345678901234567890123456789"};
    MUST(hub_catalog_publish(catalog, &draft, err));
}

static void fill(const char *state, uint32_t datasets, uint32_t episodes)
{
    struct hub_catalog *catalog = NULL;
    struct model m;
    const struct hub_catalog_options options = {.state = state};
    MUST(hub_catalog_open(&options, &catalog, err));
    if (snapshot_now(catalog)->count < datasets) {
        const uint64_t began = hub_time_mono_ms();
        model_init(&m, episodes);
        for (uint32_t i = 0; i < datasets; i++)
            publish(catalog, &m, i);
        printf("published %u datasets of %u episodes in %.1f s\n", datasets, episodes,
               (double)(hub_time_mono_ms() - began) / 1000);
        for (size_t i = 0; i < HUB_COUNT(m.fields); i++)
            free(m.fields[i].layout);
        free(m.episodes);
        free(m.names);
        free(m.seeds);
    }
    hub_catalog_close(catalog);
}

/* What a page says of its episodes. */
static void see_all(const struct hub_state *state, const struct hub_episode_page *page)
{
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = state};
    for (uint32_t i = 0; i < page->count; i++) {
        struct hub_found_episode row;
        const char *file;
        MUST(hub_episode_describe(&reader, &state->dataset->episodes[page->places[i]], &row, &file, err));
    }
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Pages of 100 at places that a walk over the whole would come by: behind a random episode. */
static void measure_pages(struct hub_catalog *catalog, const char *split)
{
    enum { PAGES = 2000 };
    static const enum hub_property_kind sorts[] = {HUB_PROPERTY_NUMBER, HUB_PROPERTY_STEPS,
                                                   HUB_PROPERTY_RETURN, HUB_PROPERTY_SEED,
                                                   HUB_PROPERTY_TASK,   HUB_PROPERTY_SUCCESS};
    static uint64_t times[PAGES], cpu[PAGES];
    for (size_t sort = 0; sort < HUB_COUNT(sorts); sort++) {
        for (unsigned i = 0; i < PAGES; i++) {
            const struct hub_snapshot *s = snapshot_now(catalog);
            const struct hub_summary *summary = s->summaries[random_number() % s->count];
            const struct hub_episode_query query = {.sort = {.kind = sorts[sort]},
                                                    .descending = i % 2,
                                                    .limit = 100,
                                                    .split = split,
                                                    .from = i % 8 ? HUB_PAGE_BEHIND : HUB_PAGE_FIRST,
                                                    .number = (int64_t)(random_number() % summary->episodes)};
            HUB_CLEANUP(hub_episode_page_dispose) struct hub_episode_page page = {0};
            const uint64_t began = hub_time_mono_us(), cpu_began = cpu_us();
            struct hub_state state;
            MUST(hub_state_open(catalog, summary, &state, err));
            MUST(hub_episode_page(&state, &query, &page, err));
            see_all(&state, &page);
            hub_state_close(&state);
            times[i] = hub_time_mono_us() - began;
            cpu[i] = cpu_us() - cpu_began;
        }
        qsort(times, PAGES, sizeof times[0], compare);
        qsort(cpu, PAGES, sizeof cpu[0], compare);
        printf("page of 100 by %-8s%s%s p50 %6llu us  p99 %6llu us  p99 of its own time %6llu us\n",
               hub_property_word(sorts[sort]), split ? " of split " : "", split ? split : "",
               (unsigned long long)times[PAGES / 2], (unsigned long long)times[PAGES * 99 / 100],
               (unsigned long long)cpu[PAGES * 99 / 100]);
    }
}

static void measure_opening(struct hub_catalog *catalog)
{
    const struct hub_snapshot *s = snapshot_now(catalog);
    const uint32_t count = HUB_MIN(s->count, 1000U);
    const uint64_t began = hub_time_mono_us();
    for (uint32_t i = 0; i < count; i++) {
        const struct hub_dataset *dataset = NULL;
        struct hub_layout_ref *layout = NULL;
        MUST(hub_dataset_get(catalog, s->summaries[(uint64_t)i * s->count / count], true, &dataset, err));
        MUST(hub_layout_get(catalog, dataset, 0, 0, true, &layout, err));
        hub_layout_put(layout);
        hub_dataset_put(dataset);
    }
    printf("cold dataset and layout: %.1f us each\n", (double)(hub_time_mono_us() - began) / count);
    const struct hub_summary *summary = s->summaries[0];
    const uint64_t warm = hub_time_mono_us();
    for (uint32_t i = 0; i < 1000000; i++) {
        const struct hub_dataset *dataset = NULL;
        MUST(hub_dataset_get(catalog, summary, true, &dataset, err));
        hub_dataset_put(dataset);
    }
    printf("warm dataset: %.0f ns\n", (double)(hub_time_mono_us() - warm) / 1000);
    const uint64_t finding = hub_time_mono_us();
    for (uint32_t i = 0; i < 1000000; i++) {
        HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *now = hub_catalog_snapshot(catalog);
        if (!hub_snapshot_find(now, hub_view_of(s->summaries[i % s->count]->id)))
            abort();
    }
    printf("snapshot and find: %.0f ns\n", (double)(hub_time_mono_us() - finding) / 1000);
    const struct hub_summary *near[5];
    const uint64_t nearest = hub_time_mono_us();
    for (uint32_t i = 0; i < 100; i++)
        (void)hub_snapshot_nearest(s, HUB_VIEW("lab3/robto-12/task77"), near, 5);
    printf("nearest: %.0f us\n", (double)(hub_time_mono_us() - nearest) / 100);
}

/* Words that all have, that a seventh has, that few have, that one is called; and one as it is typed. */
static void measure_search(struct hub_catalog *catalog)
{
    enum { TIMES = 20 };
    static const char *const words[] = {"policy",
                                        "lab3",
                                        "robot-12 task",
                                        "lab0/robot-0/task0-v0",
                                        "p",
                                        "arm in the corner collected",
                                        "nothing-like-it"};
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *s = hub_catalog_snapshot(catalog);
    uint8_t *ranks = malloc(s->count + 1);
    for (size_t i = 0; i < HUB_COUNT(words); i++) {
        uint64_t times[TIMES];
        uint32_t found = 0;
        for (unsigned k = 0; k < TIMES; k++) {
            const uint64_t began = cpu_us();
            MUST(hub_catalog_search(catalog, s, hub_view_of(words[i]), ranks, err));
            times[k] = cpu_us() - began;
        }
        for (uint32_t k = 0; k < s->count; k++)
            found += ranks[k] > 0;
        qsort(times, TIMES, sizeof times[0], compare);
        printf("search %-28s finds %5u: %6llu us of its own time, median\n", words[i], found,
               (unsigned long long)times[TIMES / 2]);
    }
    free(ranks);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: gen_catalog STATE [datasets [episodes]]\n");
        return 2;
    }
    const uint32_t datasets = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 10000;
    const uint32_t episodes = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 100;
    setvbuf(stdout, NULL, _IOLBF, 0);
    (void)mkdir(argv[1], 0700);
    fill(argv[1], datasets, episodes);
    malloc_trim(0);
    const long before = status_kib("RssAnon:");
    struct hub_catalog *catalog = NULL;
    const struct hub_catalog_options options = {.state = argv[1]};
    const uint64_t began = hub_time_mono_us();
    MUST(hub_catalog_open(&options, &catalog, err));
    printf("opened %u datasets in %.1f ms\n", snapshot_now(catalog)->count,
           (double)(hub_time_mono_us() - began) / 1000);
    printf("RssAnon idle: %ld KiB (%ld before)\n", status_kib("RssAnon:"), before);
    measure_pages(catalog, NULL);
    measure_pages(catalog, "val");
    measure_opening(catalog);
    measure_search(catalog);
    printf("RssAnon after: %ld KiB\n", status_kib("RssAnon:"));
    hub_catalog_close(catalog);
    return 0;
}
