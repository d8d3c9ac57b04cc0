/* One random change, or a few, of one file of a dataset: kinds and aims take turns, places are drawn. */
#include "tests/contract/damage/damage.h"

#include <stdio.h>
#include <stdlib.h>

struct random {
    uint64_t state;
};

static uint64_t draw(struct random *r, uint64_t below)
{
    r->state += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
    uint64_t z = r->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return below ? z % below : 0;
}

enum kind { BIT, BYTE, ZEROS, ONES, NUMBER, SWAP, CUT, APPEND, KINDS };
static const char *const kind_names[KINDS] = {"bit",    "byte", "zeros", "ones",
                                              "number", "swap", "cut",   "append"};
enum aim { ANYWHERE, METADATA, RAW, AIMS };
static const char *const aim_names[AIMS] = {"anywhere", "metadata", "raw"};

/* A byte of a set of ranges, each as likely. False: it is empty. */
static bool place_in(struct random *r, const struct ranges *set, uint32_t *file, uint64_t *at)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < set->count; i++)
        total += set->items[i].end - set->items[i].begin;
    uint64_t n = draw(r, total);
    for (uint32_t i = 0; i < set->count; i++) {
        const uint64_t length = set->items[i].end - set->items[i].begin;
        if (n < length) {
            *file = set->items[i].file;
            *at = set->items[i].begin + n;
            return true;
        }
        n -= length;
    }
    return false;
}

static void touch(struct mutation *m, uint64_t at, uint64_t size, uint64_t old_size)
{
    ranges_add(&m->touched, m->file, HUB_MIN(at, old_size), HUB_MIN(at + size, old_size));
}

static void fill(struct mutation *m, uint64_t at, uint64_t value, size_t size)
{
    size = HUB_MIN(size, m->size - at);
    memcpy(m->bytes + at, &value, size);
    touch(m, at, size, m->size);
}

static void put_number(struct random *r, struct mutation *m, uint64_t at)
{
    const uint64_t numbers[] = {0,
                                1,
                                0x7f,
                                0x80,
                                0x7fff,
                                0xffff,
                                0x7fffffff,
                                0x80000000,
                                0xffffffff,
                                UINT64_C(1) << 32,
                                UINT64_C(1) << 40,
                                INT64_MAX,
                                UINT64_C(1) << 63,
                                UINT64_MAX - 7,
                                m->size,
                                m->size - 1,
                                draw(r, m->size)};
    const size_t width = (size_t)1 << draw(r, 4);
    at &= ~(uint64_t)(draw(r, 2) ? width - 1 : 0);
    fill(m, at, numbers[draw(r, HUB_COUNT(numbers))], width);
}

static void swap(struct random *r, struct mutation *m, uint64_t a)
{
    uint64_t size = UINT64_C(8) << draw(r, 7);
    size = HUB_MIN(size, m->size / 2);
    uint64_t b = draw(r, m->size - size + 1);
    a = HUB_MIN(a, m->size - size);
    if (a > b) {
        const uint64_t c = a;
        a = b;
        b = c;
    }
    size = HUB_MIN(size, b - a);
    for (uint64_t i = 0; i < size; i++) {
        const uint8_t byte = m->bytes[a + i];
        m->bytes[a + i] = m->bytes[b + i];
        m->bytes[b + i] = byte;
    }
    touch(m, a, size, m->size);
    touch(m, b, size, m->size);
}

static void change(struct random *r, struct mutation *m, enum kind kind, uint64_t at)
{
    switch (kind) {
    case BIT:
        fill(m, at, m->bytes[at] ^ (1u << draw(r, 8)), 1);
        break;
    case BYTE:
        fill(m, at, draw(r, 256), 1);
        break;
    case ZEROS:
        fill(m, at, 0, 8);
        break;
    case ONES:
        fill(m, at, UINT64_MAX, 8);
        break;
    case NUMBER:
        put_number(r, m, at);
        break;
    case SWAP:
        swap(r, m, at);
        break;
    default:
        break;
    }
}

/* The end of a file is where formats keep what matters: a new size counts as touching it. */
static void resize(struct random *r, struct mutation *m, enum kind kind, uint64_t at)
{
    const size_t old = m->size;
    if (kind == CUT) {
        m->size = at;
        ranges_add(&m->touched, m->file, at, old + 1);
        return;
    }
    const size_t more = 1 + draw(r, draw(r, 2) ? 16 : 4096);
    m->bytes = realloc(m->bytes, old + more);
    if (!m->bytes)
        die("out of memory");
    for (size_t i = 0; i < more; i++)
        m->bytes[old + i] = (uint8_t)draw(r, 256);
    m->size = old + more;
    ranges_add(&m->touched, m->file, old, old + 1);
}

static void draw_place(struct random *r, const struct folder *folder, const struct ranges *set,
                       uint32_t *file, uint64_t *at)
{
    if (set && place_in(r, set, file, at))
        return;
    do
        *file = (uint32_t)draw(r, folder->count);
    while (folder->bytes[*file].size == 0);
    *at = draw(r, folder->bytes[*file].size);
}

void mutation_make(const struct folder *folder, const struct ranges *raw, const struct ranges *metadata,
                   uint64_t seed, uint64_t number, struct mutation *out)
{
    struct random r = {seed * UINT64_C(0x2545F4914F6CDD1D) + number};
    for (const char *c = folder->shown; *c; c++)
        r.state = (r.state ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    const enum kind kind = (enum kind)(number % KINDS);
    const enum aim aim = (enum aim)(number / KINDS % AIMS);
    const struct ranges *set = aim == ANYWHERE ? NULL : aim == RAW ? raw : metadata;
    uint64_t at;
    *out = (struct mutation){0};
    draw_place(&r, folder, set, &out->file, &at);
    const struct hub_buf *old = &folder->bytes[out->file];
    out->size = old->size;
    out->bytes = malloc(old->size + 1);
    if (!out->bytes)
        die("out of memory");
    memcpy(out->bytes, old->data, old->size);
    snprintf(out->text, sizeof out->text, "%s %s in %.100s at %llu", aim_names[aim], kind_names[kind],
             folder->files[out->file].path, (unsigned long long)at);
    if (kind >= CUT) {
        resize(&r, out, kind, at);
    } else {
        change(&r, out, kind, at);
        for (uint64_t more = draw(&r, 10) < 7 ? 0 : 1 + draw(&r, 4); more > 0; more--) {
            uint32_t file = HUB_NONE;
            for (unsigned tries = 0; file != out->file && tries < 8; tries++)
                draw_place(&r, folder, set, &file, &at);
            if (file == out->file)
                change(&r, out, kind, at);
        }
    }
    ranges_tidy(&out->touched);
}

void mutation_dispose(struct mutation *mutation)
{
    free(mutation->bytes);
    ranges_dispose(&mutation->touched);
}
