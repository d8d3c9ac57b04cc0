/*
 * What reading rows costs without a server: layouts as h5py and pyarrow write them, over a file in the page
 * cache, one thread. The figures behind the constants of storage/read/gather.h and the bars of the
 * benchmarks. Prints microseconds a read (median of five rounds), beside the estimate of hub_plan_price.
 * micro_gather [FOLDER]
 */
#include "storage/read/scatter.h"

#include <libdeflate.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct hub_layout_builder *builder;
static FILE *output;
static uint64_t written;
static struct hub_layout layout;
static struct hub_file *file;

static void must(enum hub_status st)
{
    if (st) {
        fprintf(stderr, "failed: %s\n", hub_status_name(st));
        exit(1);
    }
}

static double now_us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static uint32_t draw(uint32_t below)
{
    static uint32_t state = 7;
    state = state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)state * below >> 32);
}

static uint64_t put(const void *data, size_t size)
{
    const uint64_t at = written;
    if (fwrite(data, 1, size, output) != size)
        exit(1);
    written += size;
    return at;
}

/* Pictures: a gradient with a little grain, which deflate halves, as it does with rendered frames. */
static void paint(uint8_t *out, uint64_t first, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        out[i] = (uint8_t)((first + i) / 700 % 200 + draw(5));
}

static uint32_t add_chunked(struct hub_variant v, uint64_t rows, const uint32_t *chunk, bool deflate,
                            bool shuffle)
{
    struct hub_grid g = {.rank = v.rank + 1u, .fill = HUB_NONE};
    struct hub_pipeline p = {0};
    if (shuffle)
        p.filters[p.count++] = (struct hub_filter){HUB_FILTER_SHUFFLE, v.item_size};
    if (deflate)
        p.filters[p.count++] = (struct hub_filter){HUB_FILTER_DEFLATE, 0};
    uint32_t variant, array, index, count = 1;
    size_t bytes = v.item_size;
    for (unsigned i = 0; i < g.rank; i++) {
        const uint64_t all = i ? v.dims[i - 1] : rows;
        g.chunk[i] = chunk[i];
        count *= (uint32_t)((all + chunk[i] - 1) / chunk[i]);
        bytes *= chunk[i];
    }
    must(hub_layout_variant(builder, &v, &variant, NULL));
    must(hub_layout_array(builder, variant, &array, NULL));
    must(hub_layout_pipeline(builder, &p, &g.pipeline, NULL));
    struct hub_piece piece = {.kind = HUB_PIECE_CHUNKED, .rows = rows, .count = count};
    must(hub_layout_grid(builder, &g, &piece.geometry, NULL));
    uint8_t *data = malloc(bytes), *packed = malloc(2 * bytes + 1000);
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(4);
    for (uint32_t i = 0; i < count; i++) {
        paint(data, (uint64_t)i * bytes, bytes);
        const size_t size =
            deflate ? libdeflate_zlib_compress(c, data, bytes, packed, 2 * bytes + 1000) : bytes;
        const struct hub_chunk entry = {.offset = put(deflate ? packed : data, size), .size = (uint32_t)size};
        must(hub_layout_chunks(builder, &entry, 1, &index, NULL));
        if (!i)
            piece.table = index;
    }
    libdeflate_free_compressor(c);
    free(data);
    free(packed);
    must(hub_layout_piece(builder, &piece, NULL));
    return array;
}

static uint32_t add_strided(struct hub_variant v, uint64_t rows, int64_t row_stride, bool fortran)
{
    uint32_t variant, array;
    struct hub_piece piece = {
        .kind = HUB_PIECE_STRIDED, .rows = rows, .row_stride = row_stride, .geometry = HUB_NONE};
    must(hub_layout_variant(builder, &v, &variant, NULL));
    must(hub_layout_array(builder, variant, &array, NULL));
    if (fortran) {
        const int64_t inner = (int64_t)rows * v.item_size;
        piece.row_stride = v.item_size;
        must(hub_layout_strides(builder, &inner, 1, &piece.geometry, NULL));
    }
    const uint64_t bytes = fortran ? rows * hub_variant_row_bytes(&v) : rows * (uint64_t)row_stride;
    uint8_t *data = malloc(bytes);
    paint(data, 0, bytes);
    piece.offset = put(data, bytes);
    free(data);
    must(hub_layout_piece(builder, &piece, NULL));
    return array;
}

static uint32_t add_extents(uint32_t rows, uint32_t length, uint32_t gap)
{
    const struct hub_variant v = {.kind = HUB_KIND_VAR};
    uint32_t variant, array;
    struct hub_piece piece = {.kind = HUB_PIECE_EXTENTS, .rows = rows, .count = rows};
    must(hub_layout_variant(builder, &v, &variant, NULL));
    must(hub_layout_array(builder, variant, &array, NULL));
    uint8_t *data = calloc(1, length + gap);
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t index;
        const struct hub_extent e = {.offset = put(data, length + gap), .length = length};
        must(hub_layout_extents(builder, &e, 1, &index, NULL));
        if (!i)
            piece.table = index;
    }
    free(data);
    must(hub_layout_piece(builder, &piece, NULL));
    return array;
}

/* A float column as pyarrow writes it: lists of `items`, dictionary of 1,024 values, 10 bits an index, all
 * packed. */
static uint32_t add_pages(uint32_t rows, uint32_t items)
{
    const struct hub_variant v = {.kind = HUB_KIND_FLOAT, .item_size = 4, .rank = 1, .dims = {items}};
    struct hub_column column = {.physical = HUB_PHYS_FLOAT};
    struct hub_piece piece = {.kind = HUB_PIECE_PAGES, .rows = rows, .count = 1};
    uint32_t variant, array;
    must(hub_layout_variant(builder, &v, &variant, NULL));
    must(hub_layout_array(builder, variant, &array, NULL));
    const uint32_t values = rows * items, groups = values / 8;
    uint8_t *data = malloc(groups * 10 + 16);
    float words[1024] = {0};
    struct hub_page page = {
        .offset = put(words, sizeof words), .stored = sizeof words, .decoded = sizeof words, .values = 1024};
    must(hub_layout_pages(builder, &page, 1, &column.dictionary, NULL));
    uint32_t n = 0, header = groups << 1 | 1;
    data[n++] = 10;
    for (; header > 127; header >>= 7)
        data[n++] = (uint8_t)(header | 128);
    data[n++] = (uint8_t)header;
    for (uint32_t i = 0; i < groups * 10; i++)
        data[n++] = (uint8_t)draw(256);
    page = (struct hub_page){.offset = put(data, n),
                             .stored = n,
                             .decoded = n,
                             .values = values,
                             .encoding = HUB_ENC_RLE_DICTIONARY};
    page.version = 1;
    must(hub_layout_pages(builder, &page, 1, &piece.table, NULL));
    must(hub_layout_column(builder, &column, &piece.geometry, NULL));
    must(hub_layout_piece(builder, &piece, NULL));
    free(data);
    return array;
}

/* ---- measuring ---- */

struct job {
    void (*work)(void *arg, uint32_t i);
    void *arg;
    uint32_t count;
    atomic_uint next;
};

static void *take(void *pointer)
{
    struct job *job = pointer;
    for (uint32_t i; (i = atomic_fetch_add(&job->next, 1)) < job->count;)
        job->work(job->arg, i);
    return NULL;
}

static void run_on_two(void *pool, void (*work)(void *arg, uint32_t i), void *arg, uint32_t count)
{
    (void)pool;
    struct job job = {.work = work, .arg = arg, .count = count};
    pthread_t helper;
    pthread_create(&helper, NULL, take, &job);
    take(&job);
    pthread_join(helper, NULL);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The chunks of an array decoded from memory and not scattered: what no reader can be faster than. */
static void measure_bare(const char *what, uint32_t array)
{
    const struct hub_piece *piece = &layout.pieces[layout.arrays[array].first_piece];
    const uint64_t bytes =
        layout.arrays[array].rows * hub_variant_row_bytes(&layout.variants[layout.arrays[array].variant]);
    uint8_t *stored = malloc(written), *out = malloc(2 * bytes);
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    size_t made = 0;
    double cpu[5];
    must(hub_read_bytes(file, 0, stored, written, 0, NULL));
    for (unsigned round = 0; round < 5; round++) {
        const double start = now_us(CLOCK_PROCESS_CPUTIME_ID);
        for (uint32_t i = 0; i < piece->count; i++) {
            const struct hub_chunk *chunk = &layout.chunks[piece->table + i];
            if (libdeflate_zlib_decompress(d, stored + chunk->offset, chunk->size, out, 2 * bytes, &made))
                exit(1);
        }
        cpu[round] = now_us(CLOCK_PROCESS_CPUTIME_ID) - start;
    }
    qsort(cpu, 5, sizeof *cpu, by_value);
    printf("%-46s %25.2f\n", what, cpu[2]);
    libdeflate_free_decompressor(d);
    free(stored);
    free(out);
}

static void measure(const char *what, uint32_t array, uint64_t rows, int64_t step, unsigned flags,
                    bool threads)
{
    static const struct hub_parallel two = {.run = run_on_two};
    struct hub_plan_file opened = {.file = file};
    struct hub_plan_files files = {&opened, 1, 1};
    struct hub_plan plan = {.layout = &layout, .array = &layout.arrays[array], .files = &files};
    plan.variant = &layout.variants[plan.array->variant];
    const uint64_t span = (rows - 1) * (uint64_t)step + 1;
    const bool var = plan.variant->kind == HUB_KIND_VAR;
    uint8_t *into = var ? NULL : malloc(rows * hub_variant_row_bytes(plan.variant));
    double medians[5], cpu[5], price_us = 0, estimate = 0;
    uint64_t done = 0;
    for (unsigned round = 0; round < 5; round++) {
        const double start = now_us(CLOCK_MONOTONIC), cpu_start = now_us(CLOCK_PROCESS_CPUTIME_ID);
        unsigned loops = 0;
        double elapsed;
        do {
            const uint64_t first = draw((uint32_t)(plan.array->rows - span + 1));
            const double before = loops % 64 ? 0 : now_us(CLOCK_MONOTONIC);
            plan.slice = (struct hub_slice){first, rows, step};
            must(hub_plan_price(&plan, NULL));
            if (before > 0)
                price_us = now_us(CLOCK_MONOTONIC) - before;
            struct hub_rows out;
            enum hub_status st = hub_read(&plan, flags, threads ? &two : NULL, into, &out, NULL);
            if (st == HUB_AGAIN) /* a host may take pages of the cache away */
                st = hub_read(&plan, 0, threads ? &two : NULL, into, &out, NULL);
            must(st);
            hub_rows_dispose(&out);
            estimate += plan.cost_us;
            loops++;
            done++;
            elapsed = now_us(CLOCK_MONOTONIC) - start;
        } while (elapsed < 100000);
        medians[round] = elapsed / loops;
        cpu[round] = (now_us(CLOCK_PROCESS_CPUTIME_ID) - cpu_start) / loops;
    }
    qsort(medians, 5, sizeof *medians, by_value);
    qsort(cpu, 5, sizeof *cpu, by_value);
    printf("%-46s %9.2f us, CPU %9.2f, estimated %6.0f, pricing %5.2f, %3u reads, %6.0f MB/s out\n", what,
           medians[2], cpu[2], estimate / (double)done, price_us, plan.reads,
           (double)plan.bytes_out / medians[2]);
    free(into);
}

/* ---- windows of a sample ---- */

enum {
    EPISODES = 400,
    STEPS = 1000,
    WINDOWS = 256,
    LENGTH = 16,
    FIELDS = 3
}; /* the file is larger than caches are */

static uint32_t episodes[EPISODES][FIELDS]; /* arrays of observations, actions, rewards */

static void add_episodes(void)
{
    const struct hub_variant obs = {.kind = HUB_KIND_FLOAT, .item_size = 8, .rank = 1, .dims = {39}};
    const struct hub_variant act = {.kind = HUB_KIND_FLOAT, .item_size = 8, .rank = 1, .dims = {28}};
    const struct hub_variant number = {.kind = HUB_KIND_FLOAT, .item_size = 8};
    for (unsigned e = 0; e < EPISODES; e++) {
        episodes[e][0] = add_chunked(obs, STEPS + 1, (const uint32_t[]){126, 10}, false, false);
        episodes[e][1] = add_chunked(act, STEPS, (const uint32_t[]){250, 7}, false, false);
        episodes[e][2] = add_chunked(number, STEPS, (const uint32_t[]){STEPS}, false, false);
    }
}

/* One sample: every window of a field goes to its place in the field's array, which is there. */
static void read_windows(struct hub_plan_files *files, uint8_t *into)
{
    uint32_t where[WINDOWS], start[WINDOWS];
    for (unsigned w = 0; w < WINDOWS; w++) {
        where[w] = draw(EPISODES);
        start[w] = draw(STEPS - LENGTH + 1);
    }
    for (unsigned f = 0; f < FIELDS; f++) {
        struct hub_scatter_part parts[WINDOWS];
        struct hub_scatter many = {.rows = WINDOWS * LENGTH, .parts = parts, .count = WINDOWS};
        struct hub_rows rows;
        for (unsigned w = 0; w < WINDOWS; w++)
            parts[w] = (struct hub_scatter_part){.layout = &layout,
                                                 .array = &layout.arrays[episodes[where[w]][f]],
                                                 .files = files,
                                                 .first = start[w],
                                                 .count = LENGTH,
                                                 .to = w * LENGTH};
        many.variant = layout.variants[parts->array->variant];
        must(hub_scatter_price(&many, NULL));
        must(hub_scatter_run(&many, NULL, into, &rows, NULL));
        hub_rows_dispose(&rows);
        hub_scatter_dispose(&many);
    }
}

static void measure_windows(const char *what)
{
    enum { SAMPLES = 40 };
    struct hub_plan_file opened = {.file = file};
    struct hub_plan_files files = {&opened, 1, 1};
    uint8_t *into = malloc(WINDOWS * LENGTH * 39 * 8);
    double cpu[5];
    for (unsigned round = 0; round < 5; round++) {
        const double start = now_us(CLOCK_PROCESS_CPUTIME_ID);
        for (unsigned i = 0; i < SAMPLES; i++)
            read_windows(&files, into);
        cpu[round] = (now_us(CLOCK_PROCESS_CPUTIME_ID) - start) / SAMPLES;
    }
    qsort(cpu, 5, sizeof *cpu, by_value);
    printf("%-46s %9.2f us CPU\n", what, cpu[2]);
    free(into);
}

int main(int argc, char **argv)
{
    char folder[256], path[300];
    snprintf(folder, sizeof folder, "%s/hub-micro-XXXXXX", argc > 1 ? argv[1] : "/tmp");
    if (!mkdtemp(folder))
        return perror(folder), 1;
    snprintf(path, sizeof path, "%s/data", folder);
    output = fopen(path, "wb");
    must(hub_layout_builder_new(64 * MIB, &builder, NULL));
    const struct hub_variant obs = {.kind = HUB_KIND_FLOAT, .item_size = 8, .rank = 1, .dims = {39}};
    const struct hub_variant act = {.kind = HUB_KIND_FLOAT, .item_size = 8, .rank = 1, .dims = {28}};
    const struct hub_variant number = {.kind = HUB_KIND_FLOAT, .item_size = 8};
    const struct hub_variant image = {.kind = HUB_KIND_UINT, .item_size = 1, .rank = 3, .dims = {84, 84, 3}};
    const uint32_t split = add_chunked(obs, 1001, (const uint32_t[]){126, 10}, false, false);
    const uint32_t split_shuffled = add_chunked(obs, 1001, (const uint32_t[]){126, 10}, true, true);
    const uint32_t actions = add_chunked(act, 1000, (const uint32_t[]){250, 7}, false, false);
    const uint32_t rewards = add_chunked(number, 1000, (const uint32_t[]){1000}, false, false);
    const uint32_t whole = add_strided(obs, 1001, 312, false);
    const uint32_t columns = add_strided(obs, 1001, 0, true);
    const uint32_t member = add_strided(number, 20000, 64, false);
    const uint32_t images = add_chunked(image, 200, (const uint32_t[]){50, 21, 21, 1}, true, false);
    const uint32_t frames = add_chunked(image, 200, (const uint32_t[]){1, 84, 84, 3}, true, false);
    const uint32_t plain_frames = add_chunked(image, 200, (const uint32_t[]){1, 84, 84, 3}, false, false);
    const uint32_t texts = add_extents(20000, 40, 0), jpegs = add_extents(400, 9000, 512);
    const uint32_t pages = add_pages(20000, 6);
    add_episodes();
    fclose(output);
    void *blob;
    size_t size;
    must(hub_layout_finish(builder, &blob, &size, NULL));
    must(hub_layout_open(blob, size, &layout, NULL));
    must(hub_layout_check(&layout, &written, 1, 0, 1, NULL));
    struct hub_store *store;
    static struct hub_roots roots;
    must(hub_roots_add(&roots, folder, NULL, NULL));
    must(hub_store_open(&(struct hub_store_options){.roots = &roots}, &store, NULL));
    must(hub_file_get(store, &(struct hub_file_ref){.path = "data"}, &file, NULL));

    measure("obs (1001,39) f8, chunks (126,10): 100 rows", split, 100, 1, HUB_READ_NOWAIT, false);
    measure_windows("a sample, 256 x 16 rows of 400 episodes"); /* works.py reads this */
    measure("obs: 16 rows", split, 16, 1, 0, false);
    measure("actions (1000,28) f8, chunks (250,7): 16 rows", actions, 16, 1, 0, false);
    measure("obs: 10 rows", split, 10, 1, HUB_READ_NOWAIT, false);
    measure("  1 row", split, 1, 1, HUB_READ_NOWAIT, false);
    measure("  whole", split, 1001, 1, HUB_READ_NOWAIT, false);
    measure("  shuffle+deflate: 100 rows", split_shuffled, 100, 1, 0, false);
    measure("rewards (1000,) one chunk: 100 rows", rewards, 100, 1, HUB_READ_NOWAIT, false);
    measure("obs contiguous: 100 rows", whole, 100, 1, HUB_READ_NOWAIT, false);
    measure("  every 7th of 700", whole, 100, 7, HUB_READ_NOWAIT, false);
    measure("  whole", whole, 1001, 1, HUB_READ_NOWAIT, false);
    measure("obs Fortran order: 100 rows", columns, 100, 1, HUB_READ_NOWAIT, false);
    measure("compound member, stride 64: 1000 rows", member, 1000, 1, HUB_READ_NOWAIT, false);
    measure("images gzip, chunks (50,21,21,1): 200", images, 200, 1, 0, false);
    measure_bare("  inflate alone", images);
    measure("  on 2 threads", images, 200, 1, 0, true);
    measure("  one frame", images, 1, 1, 0, false);
    measure("images gzip, chunks (1,84,84,3): 200", frames, 200, 1, 0, false);
    measure_bare("  inflate alone", frames);
    measure("  on 2 threads", frames, 200, 1, 0, true);
    measure("  one frame", frames, 1, 1, 0, false);
    measure("images plain, chunks (1,84,84,3): 200", plain_frames, 200, 1, 0, false);
    measure("texts of 40 bytes: 100", texts, 100, 1, HUB_READ_NOWAIT, false);
    measure("jpegs of 9 kB, gaps of 512: 16", jpegs, 16, 1, HUB_READ_NOWAIT, false);
    measure("Parquet dictionary floats (20000,6): 100 rows", pages, 100, 1, HUB_READ_NOWAIT, false);
    measure("  whole", pages, 20000, 1, 0, false);

    double start = now_us(CLOCK_MONOTONIC);
    struct hub_stamp stamp = *hub_file_stamp(file);
    for (unsigned i = 0; i < 100000; i++) {
        struct hub_file *again;
        must(hub_file_get(store, &(struct hub_file_ref){.path = "data", .expect = &stamp}, &again, NULL));
        hub_file_put(again);
    }
    printf("%-46s %9.3f us\n", "hub_file_get + put, cached", (now_us(CLOCK_MONOTONIC) - start) / 100000);
    start = now_us(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < 100000; i++)
        must(hub_file_unchanged(file, NULL));
    printf("%-46s %9.3f us\n", "hub_file_unchanged", (now_us(CLOCK_MONOTONIC) - start) / 100000);

    hub_file_put(file);
    hub_store_close(store);
    hub_layout_builder_free(builder);
    free(blob);
    unlink(path);
    rmdir(folder);
    return 0;
}
