/*
 * Stands in for libFuzzer where there is none: replays the given files and every file of the given folders,
 * then, with --mutate N, runs N random variations of them (the same ones each time, so that a failure comes
 * back; --seed S gives others). The input lies right before a page that must not be touched, so that
 * libraries built without sanitizers are caught reading past it as well.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_LIMIT = 1 << 20, SEED_LIMIT = 4096 };

struct seed {
    uint8_t *data;
    size_t size;
};

static struct seed seeds[SEED_LIMIT];
static size_t seed_count;
static uint8_t *guard; /* the first byte that must not be read */
static uint64_t state = 0x9E3779B97F4A7C15u;

static size_t draw(size_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below ? (size_t)(state % below) : 0;
}

static void run(const uint8_t *data, size_t size)
{
    uint8_t *at = guard - size;
    memcpy(at, data, size);
    (void)LLVMFuzzerTestOneInput(at, size);
}

static void load(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || seed_count == SEED_LIMIT)
        return;
    struct seed *seed = &seeds[seed_count];
    seed->data = malloc(INPUT_LIMIT);
    seed->size = seed->data ? fread(seed->data, 1, INPUT_LIMIT, file) : 0;
    fclose(file);
    if (!seed->data)
        return;
    seed->data = realloc(seed->data, seed->size + 1);
    seed_count++;
    run(seed->data, seed->size);
}

static void load_folder(const char *folder)
{
    struct dirent **names = NULL;
    const int n = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[4096];
        if (names[i]->d_name[0] != '.' &&
            snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name) < (int)sizeof path)
            load(path);
        free(names[i]);
    }
    free(names);
}

static void load_any(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        load(path);
    else
        load_folder(path);
}

/* One small change in place; returns the new size. */
static size_t change(uint8_t *data, size_t size)
{
    static const uint64_t odd[] = {0,      1,          0x7f,       0x80,       0xff,       0x7fff,
                                   0xffff, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX, 1u << 28};
    const size_t at = draw(size);
    uint64_t value = odd[draw(sizeof odd / sizeof odd[0])];
    switch (draw(8)) {
    case 0:
        if (size)
            data[at] ^= (uint8_t)(1u << draw(8));
        return size;
    case 1:
        if (size)
            data[at] = (uint8_t)draw(256);
        return size;
    case 2: { /* an integer at its limits, anywhere */
        const size_t width = (size_t)1 << draw(4);
        if (at + width <= size)
            memcpy(data + at, &value, width);
        return size;
    }
    case 3: { /* a little more or less */
        if (size)
            data[at] = (uint8_t)(data[at] + draw(9) - 4);
        return size;
    }
    case 4:
        return at; /* cut */
    case 5: {      /* leave a run out */
        const size_t n = draw(size - at < 16 ? size - at : 16);
        memmove(data + at, data + at + n, size - at - n);
        return size - n;
    }
    case 6: { /* put a run in */
        const size_t n = 1 + draw(16);
        if (size + n > INPUT_LIMIT)
            return size;
        memmove(data + at + n, data + at, size - at);
        for (size_t i = 0; i < n; i++)
            data[at + i] = (uint8_t)draw(256);
        return size + n;
    }
    default: { /* a run of another seed */
        const struct seed *other = &seeds[draw(seed_count)];
        const size_t from = draw(other->size),
                     most = other->size - from < size - at ? other->size - from : size - at;
        memcpy(data + at, other->data + from, draw(most + 1));
        return size;
    }
    }
}

static void mutate(unsigned long rounds)
{
    uint8_t *data = malloc(INPUT_LIMIT);
    for (unsigned long i = 0; data && seed_count && i < rounds; i++) {
        const struct seed *seed = &seeds[draw(seed_count)];
        size_t size = seed->size;
        memcpy(data, seed->data, size);
        for (size_t changes = 1 + draw(6); changes > 0; changes--)
            size = change(data, size);
        run(data, size);
    }
    free(data);
}

int main(int argc, char **argv)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (INPUT_LIMIT + page - 1) / page * page;
    uint8_t *map = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + room, page, PROT_NONE) != 0)
        return perror("mmap"), 1;
    guard = map + room;
    run((const uint8_t *)"", 0);
    unsigned long rounds = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--mutate") == 0 && i + 1 < argc)
            rounds = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            state ^= strtoull(argv[++i], NULL, 10) * 0x2545F4914F6CDD1Du;
        else
            load_any(argv[i]);
    }
    if (!seed_count)
        return fprintf(stderr, "no inputs\n"), 1;
    mutate(rounds);
    printf("%zu inputs, %lu variations\n", seed_count, rounds);
    for (size_t i = 0; i < seed_count; i++)
        free(seeds[i].data);
    return 0;
}
