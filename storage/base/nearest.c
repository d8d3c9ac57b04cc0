/* Names nearest in spelling to one that is not there: "did you mean". Edit distance by Myers' bit-parallel
 * algorithm (J. ACM 46, 1999), with swapped neighbours as one edit (Hyyro, 2003), so that ten thousand ids
 * cost well under a millisecond. An id is compared from each of its segments on and with '/' as '-', because
 * Minari 0.5 moved door-human-v2 to D4RL/door/human-v2. */
#include "storage/base/nearest.h"

enum { MAX_PATTERN = 64 };

static uint8_t fold(char c)
{
    if (c == '/' || c == '_')
        return '-';
    return (uint8_t)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool hub_nearest_begin(struct hub_nearest *nearest, struct hub_view text, uint32_t limit)
{
    *nearest = (struct hub_nearest){.text = text, .limit = HUB_MIN(limit, (uint32_t)HUB_MAX_NEAREST)};
    if (!text.size || text.size > MAX_PATTERN)
        return false;
    nearest->size = (unsigned)text.size;
    for (unsigned i = 0; i < nearest->size; i++)
        nearest->peq[fold(text.data[i])] |= (uint64_t)1 << i;
    nearest->ceiling = HUB_MAX(2, nearest->size / 3);
    return true;
}

static unsigned distance(const struct hub_nearest *nearest, const char *text, size_t size)
{
    uint64_t pv = ~(uint64_t)0, mv = 0, before = 0, d0 = 0;
    const uint64_t last = (uint64_t)1 << (nearest->size - 1);
    unsigned score = nearest->size;
    for (size_t i = 0; i < size; i++) {
        const uint64_t eq = nearest->peq[fold(text[i])];
        const uint64_t swapped = ((~d0 & eq) << 1) & before;
        d0 = (((eq & pv) + pv) ^ pv) | eq | mv | swapped;
        uint64_t ph = mv | ~(d0 | pv), mh = pv & d0;
        if (ph & last)
            score++;
        if (mh & last)
            score--;
        ph = (ph << 1) | 1;
        mh <<= 1;
        pv = mh | ~(d0 | ph);
        mv = ph & d0;
        before = eq;
    }
    return score;
}

/* Far in length is far in spelling. */
static unsigned distance_to(const struct hub_nearest *nearest, const char *text)
{
    const size_t size = strlen(text);
    if (size > nearest->size + nearest->ceiling || size + nearest->ceiling < nearest->size)
        return UINT16_MAX;
    return distance(nearest, text, size);
}

/* The least over all suffixes of the key that begin at a segment; a whole key that merely holds the text is
 * near too. */
static unsigned score_of(const struct hub_nearest *nearest, const char *key)
{
    unsigned best = distance_to(nearest, key);
    for (const char *slash = strchr(key, '/'); slash; slash = strchr(slash + 1, '/')) {
        const unsigned d = distance_to(nearest, slash + 1);
        best = HUB_MIN(best, d + 1); /* a left-out namespace is a small mistake */
    }
    if (best > 2 && nearest->text.size >= 3 &&
        memmem(key, strlen(key), nearest->text.data, nearest->text.size))
        best = 2;
    return best;
}

const void *hub_nearest_offer(struct hub_nearest *nearest, const char *key, const void *item)
{
    const unsigned score = score_of(nearest, key);
    if (score > nearest->ceiling || !nearest->limit ||
        (nearest->count == nearest->limit && score >= nearest->scores[nearest->count - 1]))
        return item;
    const void *dropped = nearest->count == nearest->limit ? nearest->items[nearest->count - 1] : NULL;
    uint32_t at = nearest->count < nearest->limit ? nearest->count++ : nearest->count - 1;
    for (; at > 0 && nearest->scores[at - 1] > score; at--) {
        nearest->scores[at] = nearest->scores[at - 1];
        nearest->items[at] = nearest->items[at - 1];
    }
    nearest->scores[at] = score;
    nearest->items[at] = item;
    return dropped;
}
