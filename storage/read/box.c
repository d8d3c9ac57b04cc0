/* Copying boxes: see box.h. The two innermost axes run in loops made for the item's size; the others are an
 * odometer. */
#include "storage/read/box.h"

static bool joins(const struct hub_box_dim *outer, const struct hub_box_dim *inner)
{
    return (uint64_t)outer->from == (uint64_t)inner->from * inner->n &&
           (uint64_t)outer->to == (uint64_t)inner->to * inner->n;
}

void hub_box_simplify(struct hub_box *box)
{
    unsigned rank = 0;
    for (unsigned i = 0; i < box->rank; i++) {
        if (box->dim[i].n == 1)
            continue;
        if (rank && joins(&box->dim[rank - 1], &box->dim[i])) {
            box->dim[rank - 1].n *= box->dim[i].n;
            box->dim[rank - 1].from = box->dim[i].from;
            box->dim[rank - 1].to = box->dim[i].to;
        } else {
            box->dim[rank++] = box->dim[i];
        }
    }
    while (rank) {
        const struct hub_box_dim *last = &box->dim[rank - 1];
        if (last->from != (int64_t)box->item || last->to != (int64_t)box->item)
            break;
        box->item *= last->n;
        rank--;
    }
    box->rank = rank;
}

uint64_t hub_box_moves(const struct hub_box *box)
{
    uint64_t moves = 1;
    for (unsigned i = 0; i < box->rank; i++)
        moves *= box->dim[i].n;
    return moves;
}

/* Up to some cache lines, the last bytes overlapping. Cheaper than calling memcpy for each row. */
static inline void copy_short(uint8_t *to, const uint8_t *from, size_t size)
{
    size_t i = 0;
#pragma GCC unroll 4
    for (; i + 16 <= size; i += 16)
        memcpy(to + i, from + i, 16);
    if (i < size)
        memcpy(to + size - 16, from + size - 16, 16);
}

/* With a constant size this becomes a loop of single moves. */
static inline __attribute__((always_inline)) void plane(const struct hub_box_dim *outer,
                                                        const struct hub_box_dim *inner, size_t item,
                                                        uint8_t *to, const uint8_t *from)
{
    const int64_t in_step = inner->from, out_step = inner->to;
    const uint64_t count = inner->n;
    for (uint64_t i = 0; i < outer->n; i++, to += outer->to, from += outer->from) {
        uint8_t *t = to;
        const uint8_t *f = from;
#pragma GCC unroll 4
        for (uint64_t k = 0; k < count; k++, t += out_step, f += in_step)
            memcpy(t, f, item);
    }
}

static void plane_short(const struct hub_box_dim *outer, const struct hub_box_dim *inner, size_t item,
                        uint8_t *to, const uint8_t *from)
{
    for (uint64_t i = 0; i < outer->n; i++, to += outer->to, from += outer->from) {
        uint8_t *t = to;
        const uint8_t *f = from;
        for (uint64_t k = 0; k < inner->n; k++, t += inner->to, f += inner->from)
            copy_short(t, f, item);
    }
}

/* Bytes of one channel into pixels: eight are loaded at once, so that only the stores are single. */
static void plane_spread(const struct hub_box_dim *outer, const struct hub_box_dim *inner, uint8_t *to,
                         const uint8_t *from)
{
    const int64_t step = inner->to;
    const uint64_t count = inner->n;
    for (uint64_t i = 0; i < outer->n; i++, to += outer->to, from += outer->from) {
        uint8_t *t = to;
        uint64_t k = 0;
        for (; k + 8 <= count; k += 8, t += 8 * step) {
            uint64_t word;
            memcpy(&word, from + k, 8);
            for (unsigned b = 0; b < 8; b++)
                t[(int64_t)b * step] = (uint8_t)(word >> (8 * b));
        }
        for (; k < count; k++, t += step)
            *t = from[k];
    }
}

static void copy_plane(const struct hub_box_dim *outer, const struct hub_box_dim *inner, size_t item,
                       uint8_t *to, const uint8_t *from)
{
    switch (item) {
    case 1:
        if (inner->from == 1)
            plane_spread(outer, inner, to, from);
        else
            plane(outer, inner, 1, to, from);
        return;
    case 2:
        plane(outer, inner, 2, to, from);
        return;
    case 4:
        plane(outer, inner, 4, to, from);
        return;
    case 8:
        plane(outer, inner, 8, to, from);
        return;
    case 16:
        plane(outer, inner, 16, to, from);
        return;
    default:
        if (item > 16 && item <= 512)
            plane_short(outer, inner, item, to, from);
        else
            plane(outer, inner, item, to, from);
    }
}

static void zero_plane(const struct hub_box_dim *outer, const struct hub_box_dim *inner, size_t item,
                       uint8_t *to)
{
    for (uint64_t i = 0; i < outer->n; i++, to += outer->to) {
        uint8_t *t = to;
        for (uint64_t k = 0; k < inner->n; k++, t += inner->to)
            memset(t, 0, item);
    }
}

void hub_box_copy(const struct hub_box *box, uint8_t *to, const uint8_t *from)
{
    static const struct hub_box_dim one = {1, 0, 0};
    if (!box->item)
        return;
    for (unsigned i = 0; i < box->rank; i++)
        if (!box->dim[i].n)
            return;
    const struct hub_box_dim *inner = box->rank > 0 ? &box->dim[box->rank - 1] : &one;
    const struct hub_box_dim *outer = box->rank > 1 ? &box->dim[box->rank - 2] : &one;
    const unsigned turning = box->rank > 2 ? box->rank - 2 : 0;
    uint64_t at[HUB_MAX_RANK + 2] = {0};
    for (;;) {
        if (from)
            copy_plane(outer, inner, box->item, to, from);
        else
            zero_plane(outer, inner, box->item, to);
        unsigned i = turning;
        while (i > 0) {
            i--;
            to += box->dim[i].to;
            if (from)
                from += box->dim[i].from;
            if (++at[i] < box->dim[i].n)
                break;
            at[i] = 0;
            to -= box->dim[i].to * (int64_t)box->dim[i].n;
            if (from)
                from -= box->dim[i].from * (int64_t)box->dim[i].n;
            if (i == 0)
                return;
        }
        if (turning == 0)
            return;
    }
}
