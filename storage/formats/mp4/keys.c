/* Encoders that refresh pictures bit by bit (x264's intra-refresh) call frames key frames that are none:
 * who begins to decode there gets no whole picture for a while. Some key frames are looked at; where one is
 * not, only the first frame of the file is taken for one. ITU-T H.264 7.3.1, 7.3.3; H.265 7.3.1.2; 14496-15
 * 5.3.3, 8.3.3 (lengths). */
#include "storage/formats/mp4/boxes.h"

enum { LOOKED_AT = 8, MAX_UNITS = 16, UNIT_BYTES = 8 };

struct units {
    bool hevc;
    unsigned length_bytes; /* in front of each unit */
};

/* False: of another codec. */
static bool units_of(struct mp4_box stsd, struct units *out)
{
    enum { VISUAL_BYTES = 78 };
    struct hub_cursor c = stsd.body;
    struct mp4_box entry;
    (void)mp4_version(&c);
    (void)hub_cursor_be32(&c);
    if (!mp4_next(&c, &entry))
        return false;
    hub_cursor_skip(&entry.body, VISUAL_BYTES);
    struct hub_cursor avc = mp4_child(entry.body, "avcC").body, hevc = mp4_child(entry.body, "hvcC").body;
    out->hevc = hub_cursor_left(&hevc) > 21;
    if (!out->hevc && hub_cursor_left(&avc) <= 4)
        return false;
    out->length_bytes = 1 + ((out->hevc ? hevc.at[21] : avc.at[4]) & 3);
    return true;
}

/* An unsigned Exp-Golomb number (9.1), of those that fit into the bits. */
static unsigned take_golomb(uint64_t *bits)
{
    if (!*bits)
        return 0;
    const unsigned zeros = (unsigned)__builtin_clzll(*bits);
    if (zeros > 15)
        return 0;
    *bits <<= zeros;
    const unsigned value = (unsigned)(*bits >> (63 - zeros)) - 1;
    *bits <<= zeros + 1;
    return value;
}

/* A unit of a picture decides; others (parameters, messages) stand before it. */
static bool decides(bool hevc, const uint8_t unit[UNIT_BYTES], bool *whole)
{
    uint64_t bits = 0;
    if (hevc) {
        const unsigned type = unit[0] >> 1 & 63;
        *whole = type >= 16 && type <= 23; /* IRAP */
        return type < 32;
    }
    const unsigned type = unit[0] & 31;
    for (unsigned i = 1; i < UNIT_BYTES; i++)
        bits |= (uint64_t)unit[i] << (64 - 8 * i);
    (void)take_golomb(&bits); /* first_mb_in_slice */
    *whole =
        type == 5 || take_golomb(&bits) % 5 == 2; /* IDR, or slices of type I, of an open group of pictures */
    return type >= 1 && type <= 5;
}

/* Whether a picture begins there that needs no other; what makes no sense is left to decoders. */
static enum hub_status look(struct hub_byte_source *source, const struct units *units,
                            const struct mp4_sample *s, bool *whole, struct hub_error *err)
{
    uint64_t at = 0;
    *whole = true;
    for (unsigned n = 0; n < MAX_UNITS && s->size - at > units->length_bytes + UNIT_BYTES; n++) {
        const uint8_t *bytes;
        size_t got;
        uint64_t size = 0;
        const enum hub_status st =
            hub_byte_source_peek(source, s->offset + at, units->length_bytes + UNIT_BYTES, &bytes, &got, err);
        if (st == HUB_CORRUPT || (!st && got < units->length_bytes + UNIT_BYTES))
            break; /* outside the file, which is reported where the table is proven */
        HUB_TRY(st);
        for (unsigned i = 0; i < units->length_bytes; i++)
            size = size << 8 | bytes[i];
        if (size > s->size - at - units->length_bytes)
            break; /* no unit */
        if (decides(units->hevc, bytes + units->length_bytes, whole))
            return HUB_OK;
        *whole = true;
        at += units->length_bytes + size;
    }
    return HUB_OK;
}

enum hub_status mp4_keys(struct hub_byte_source *source, struct mp4_track *t, struct hub_error *err)
{
    struct units units;
    uint32_t keys = 0, seen = 0;
    bool whole = true;
    if (!units_of(t->stsd, &units))
        return HUB_OK;
    for (uint32_t i = 1; i < t->count; i++)
        keys += t->samples[i].key;
    const uint32_t apart = keys / LOOKED_AT + 1;
    for (uint32_t i = 1; i < t->count && whole; i++)
        if (t->samples[i].key && seen++ % apart == 0)
            HUB_TRY(look(source, &units, &t->samples[i], &whole, err));
    for (uint32_t i = 1; i < t->count && !whole; i++)
        t->samples[i].key = false;
    return HUB_OK;
}
