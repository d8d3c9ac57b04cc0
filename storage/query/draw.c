/*
 * PCG64 and SeedSequence as numpy has them (numpy/random/src/pcg64, bit_generator.pyx), and the two
 * algorithms of its Generator that choose among items (_generator.pyx: choice, permutation). numpy promises
 * the raw stream for ever, that of the Generator for as long as nobody finds a better one.
 */
#include "storage/query/draw.h"

#include <stdlib.h>
#include <string.h>

/* ---- seeds ---- */

enum { POOL = 4 };

static uint32_t hash_mix(uint32_t value, uint32_t *constant)
{
    value ^= *constant;
    *constant *= 0x931E8875U;
    value *= *constant;
    return value ^ value >> 16;
}

static uint32_t mix(uint32_t x, uint32_t y)
{
    const uint32_t result = 0xCA01F9DDU * x - 0x4973F715U * y;
    return result ^ result >> 16;
}

/* The 32-bit words of a seed of at most 64 bits, spread over the pool. */
static void fill_pool(uint64_t seed, uint32_t pool[POOL])
{
    const uint32_t words[POOL] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t constant = 0x43B0D7E5U;
    for (unsigned i = 0; i < POOL; i++)
        pool[i] = hash_mix(words[i], &constant);
    for (unsigned from = 0; from < POOL; from++)
        for (unsigned to = 0; to < POOL; to++)
            if (from != to)
                pool[to] = mix(pool[to], hash_mix(pool[from], &constant));
}

/* generate_state(count, numpy.uint64) */
static void generate_state(const uint32_t pool[POOL], uint64_t *out, unsigned count)
{
    uint32_t constant = 0x8B51F9DDU;
    for (unsigned i = 0; i < 2 * count; i++) {
        uint32_t value = pool[i % POOL] ^ constant;
        constant *= 0x58F38DEDU;
        value *= constant;
        value ^= value >> 16;
        out[i / 2] = i % 2 ? out[i / 2] | (uint64_t)value << 32 : value;
    }
}

static unsigned __int128 wide(uint64_t high, uint64_t low)
{
    return (unsigned __int128)high << 64 | low;
}

static void step(struct hub_draw *draw)
{
    draw->state = draw->state * wide(2549297995355413924U, 4865540595714422341U) + draw->increment;
}

void hub_draw_init(struct hub_draw *draw, uint64_t seed)
{
    uint32_t pool[POOL];
    uint64_t words[4];
    fill_pool(seed, pool);
    generate_state(pool, words, 4);
    *draw = (struct hub_draw){.increment = wide(words[2], words[3]) << 1 | 1};
    step(draw);
    draw->state += wide(words[0], words[1]);
    step(draw);
}

uint64_t hub_draw_raw(struct hub_draw *draw)
{
    step(draw);
    const uint64_t value = (uint64_t)(draw->state >> 64) ^ (uint64_t)draw->state;
    const unsigned turn = (unsigned)(draw->state >> 122);
    return value >> turn | value << (-turn & 63);
}

uint64_t hub_draw_below(struct hub_draw *draw, uint64_t n)
{
    return (uint64_t)((unsigned __int128)hub_draw_raw(draw) * n >> 64);
}

/* ---- the Generator ---- */

/* A raw number serves twice, its low half first. */
static uint32_t next_half(struct hub_draw *draw)
{
    draw->has_half = !draw->has_half;
    if (!draw->has_half)
        return draw->half;
    const uint64_t raw = hub_draw_raw(draw);
    draw->half = (uint32_t)(raw >> 32);
    return (uint32_t)raw;
}

/* One of 0 .. last without bias: D. Lemire, Fast Random Integer Generation in an Interval, 2019. */
static uint32_t up_to(struct hub_draw *draw, uint32_t last)
{
    const uint32_t n = last + 1;
    if (!last)
        return 0;
    if (!n)
        return next_half(draw);
    uint64_t product = (uint64_t)next_half(draw) * n;
    const uint32_t threshold = (0U - n) % n;
    while ((uint32_t)product < threshold)
        product = (uint64_t)next_half(draw) * n;
    return (uint32_t)(product >> 32);
}

/* The same by another way: bits that are too many are drawn again. */
static uint32_t up_to_masked(struct hub_draw *draw, uint32_t last)
{
    const uint32_t mask = last ? UINT32_MAX >> __builtin_clz(last) : 0;
    uint32_t value = last ? next_half(draw) & mask : 0;
    while (value > last)
        value = next_half(draw) & mask;
    return value;
}

/* Those at `first` and behind change places with one before, the last one first. */
static void shuffle(struct hub_draw *draw, uint32_t (*pick)(struct hub_draw *draw, uint32_t last),
                    uint32_t *items, uint32_t count, uint32_t first)
{
    for (uint32_t i = count; i-- > first;) {
        const uint32_t j = pick(draw, i), item = items[j];
        items[j] = items[i];
        items[i] = item;
    }
}

void hub_draw_permute(struct hub_draw *draw, uint32_t *items, uint32_t count)
{
    shuffle(draw, up_to_masked, items, count, 1);
}

/* Numbers that were drawn, by open addressing. */
struct drawn_set {
    uint64_t *slots, mask;
};

/* False: it was there. */
static bool add_drawn(struct drawn_set *drawn, uint64_t value)
{
    uint64_t at = value & drawn->mask;
    while (drawn->slots[at] != UINT64_MAX && drawn->slots[at] != value)
        at = (at + 1) & drawn->mask;
    const bool new = drawn->slots[at] != value;
    drawn->slots[at] = value;
    return new;
}

/* R. Floyd's: each of the last `count` numbers takes one up to itself, or itself where that is taken. */
static enum hub_status choose_few(struct hub_draw *draw, uint32_t total, uint32_t *out, uint32_t count,
                                  struct hub_error *err)
{
    struct drawn_set drawn = {.mask = 1};
    while (drawn.mask < (uint64_t)(1.2 * count))
        drawn.mask = drawn.mask << 1 | 1;
    HUB_TRY(hub_new(&drawn.slots, drawn.mask + 1, sizeof *drawn.slots, err));
    memset(drawn.slots, 0xFF, (size_t)(drawn.mask + 1) * sizeof *drawn.slots);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t last = total - count + i;
        out[i] = up_to(draw, last);
        if (!add_drawn(&drawn, out[i])) {
            out[i] = last;
            (void)add_drawn(&drawn, last);
        }
    }
    free(drawn.slots);
    shuffle(draw, up_to, out, count, 1);
    return HUB_OK;
}

/* Of many, many: the end of all of them, shuffled. */
static enum hub_status choose_many(struct hub_draw *draw, uint32_t total, uint32_t *out, uint32_t count,
                                   struct hub_error *err)
{
    uint32_t *all;
    HUB_TRY(hub_new(&all, total, sizeof *all, err));
    for (uint32_t i = 0; i < total; i++)
        all[i] = i;
    const uint32_t first = total - count;
    shuffle(draw, up_to, all, total, first ? first : 1);
    memcpy(out, all + first, count * sizeof *out);
    free(all);
    return HUB_OK;
}

enum hub_status hub_draw_choose(struct hub_draw *draw, const uint32_t *items, uint32_t total, uint32_t *out,
                                uint32_t count, struct hub_error *err)
{
    if (!count)
        return HUB_OK;
    HUB_TRY(total > 10000 && count > total / 50 ? choose_many(draw, total, out, count, err)
                                                : choose_few(draw, total, out, count, err));
    for (uint32_t i = 0; i < count; i++)
        out[i] = items[out[i]];
    return HUB_OK;
}
