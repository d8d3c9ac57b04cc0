/* Ids nearest in spelling to one that is not there: "did you mean". Edit distance by Myers' bit-parallel
 * algorithm (J. ACM 46, 1999), so that ten thousand ids cost well under a millisecond. An id is compared from
 * each of its segments on and with '/' as
 * '-', because Minari 0.5 moved door-human-v2 to D4RL/door/human-v2. */
#include "storage/catalog/internal.h"

#include "storage/base/id.h"

enum { MAX_PATTERN = 64, MAX_NEAREST = 32 };

struct pattern {
    uint64_t peq[256];
    unsigned size;
};

static uint8_t fold(char c)
{
    if (c == '/' || c == '_')
        return '-';
    return (uint8_t)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static void pattern_of(struct hub_view text, struct pattern *p)
{
    memset(p, 0, sizeof *p);
    p->size = (unsigned)HUB_MIN(text.size, (size_t)MAX_PATTERN);
    for (unsigned i = 0; i < p->size; i++)
        p->peq[fold(text.data[i])] |= (uint64_t)1 << i;
}

static unsigned distance(const struct pattern *p, const char *text, size_t size)
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
static unsigned distance_to(const struct pattern *p, const char *text, unsigned ceiling)
{
    const size_t size = strlen(text);
    if (size > p->size + ceiling || size + ceiling < p->size)
        return UINT16_MAX;
    return distance(p, text, size);
}

/* The least over all suffixes of the key that begin at a segment; a whole key that merely holds the text is
 * near too. */
static unsigned nearest_of(const struct pattern *p, struct hub_view text, const char *key, unsigned ceiling)
{
    unsigned best = distance_to(p, key, ceiling);
    for (const char *slash = strchr(key, '/'); slash; slash = strchr(slash + 1, '/')) {
        const unsigned d = distance_to(p, slash + 1, ceiling);
        best = HUB_MIN(best, d + 1); /* a left-out namespace is a small mistake */
    }
    if (best > 2 && text.size >= 3 && memmem(key, strlen(key), text.data, text.size))
        best = 2;
    return best;
}

uint32_t hub_snapshot_nearest(const struct hub_snapshot *snapshot, struct hub_view id,
                              const struct hub_summary **out, uint32_t limit)
{
    struct hub_view key;
    uint32_t version, count = 0;
    unsigned scores[MAX_NEAREST];
    (void)hub_id_split_alias(id, &key, &version);
    if (!key.size || key.size > MAX_PATTERN)
        return 0;
    struct pattern p;
    pattern_of(key, &p);
    limit = HUB_MIN(limit, (uint32_t)MAX_NEAREST);
    const unsigned ceiling = HUB_MAX(2, (unsigned)key.size / 3);
    for (uint32_t i = 0; i < snapshot->count && limit; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        /* of several versions the newest, which comes last */
        if (i + 1 < snapshot->count && strcmp(summary->key, snapshot->summaries[i + 1]->key) == 0)
            continue;
        const unsigned score = nearest_of(&p, key, summary->key, ceiling);
        if (score > ceiling || (count == limit && score >= scores[count - 1]))
            continue;
        uint32_t at = count < limit ? count++ : count - 1;
        for (; at > 0 && scores[at - 1] > score; at--) {
            scores[at] = scores[at - 1];
            out[at] = out[at - 1];
        }
        scores[at] = score;
        out[at] = summary;
    }
    return count;
}
