/* Ids nearest in spelling to one that is not there: "did you mean". Edit distance by Myers' bit-parallel
 * algorithm (J. ACM 46, 1999), so that ten thousand ids cost well under a millisecond. An id is compared from
 * each of its segments on and with '/' as
 * '-', because Minari 0.5 moved door-human-v2 to D4RL/door/human-v2. */
#include "storage/base/nearest.h"

enum { MAX_PATTERN = 64 };

static uint8_t fold(char c)
{
    if (c == '/' || c == '_')
        return '-';
    return (uint8_t)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool hub_nearest_begin(struct hub_nearest *p, struct hub_view text, uint32_t limit)
{
    *p = (struct hub_nearest){.text = text, .limit = HUB_MIN(limit, (uint32_t)HUB_MAX_NEAREST)};
    if (!text.size || text.size > MAX_PATTERN)
        return false;
    p->size = (unsigned)text.size;
    for (unsigned i = 0; i < p->size; i++)
        p->peq[fold(text.data[i])] |= (uint64_t)1 << i;
    p->ceiling = HUB_MAX(2, p->size / 3);
    return true;
}

static unsigned distance(const struct hub_nearest *p, const char *text, size_t size)
{
    uint64_t pv = ~(uint64_t)0, mv = 0;
    const uint64_t last = (uint64_t)1 << (p->size - 1);
    unsigned score = p->size;
    for (size_t i = 0; i < size; i++) {
        const uint64_t eq = p->peq[fold(text[i])];
        const uint64_t xv = eq | mv;
        const uint64_t xh = (((eq & pv) + pv) ^ pv) | eq;
        uint64_t ph = mv | ~(xh | pv), mh = pv & xh;
        if (ph & last)
            score++;
        if (mh & last)
            score--;
        ph = (ph << 1) | 1;
        mh <<= 1;
        pv = mh | ~(xv | ph);
        mv = ph & xv;
    }
    return score;
}

/* Far in length is far in spelling. */
static unsigned distance_to(const struct hub_nearest *p, const char *text)
{
    const size_t size = strlen(text);
    if (size > p->size + p->ceiling || size + p->ceiling < p->size)
        return UINT16_MAX;
    return distance(p, text, size);
}

/* The least over all suffixes of the key that begin at a segment; a whole key that merely holds the text is
 * near too. */
static unsigned score_of(const struct hub_nearest *p, const char *key)
{
    unsigned best = distance_to(p, key);
    for (const char *slash = strchr(key, '/'); slash; slash = strchr(slash + 1, '/')) {
        const unsigned d = distance_to(p, slash + 1);
        best = HUB_MIN(best, d + 1); /* a left-out namespace is a small mistake */
    }
    if (best > 2 && p->text.size >= 3 && memmem(key, strlen(key), p->text.data, p->text.size))
        best = 2;
    return best;
}

const void *hub_nearest_offer(struct hub_nearest *p, const char *key, const void *item)
{
    const unsigned score = score_of(p, key);
    if (score > p->ceiling || !p->limit || (p->count == p->limit && score >= p->scores[p->count - 1]))
        return item;
    const void *dropped = p->count == p->limit ? p->items[p->count - 1] : NULL;
    uint32_t at = p->count < p->limit ? p->count++ : p->count - 1;
    for (; at > 0 && p->scores[at - 1] > score; at--) {
        p->scores[at] = p->scores[at - 1];
        p->items[at] = p->items[at - 1];
    }
    p->scores[at] = score;
    p->items[at] = item;
    return dropped;
}
