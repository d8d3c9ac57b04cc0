/* What a sample description says, and its codec as RFC 6381 writes it. */
#include "storage/formats/mp4/boxes.h"

#include <stdio.h>

enum { VISUAL_BYTES = 78 }; /* of a visual sample entry, before its boxes */

struct sample_entry {
    char type[5];
    struct hub_cursor boxes;
};

typedef void describe(const struct sample_entry *entry, struct hub_cursor box, char *out, size_t size);

static void describe_avc(const struct sample_entry *e, struct hub_cursor c, char *out, size_t size)
{
    const uint8_t *b = hub_cursor_bytes(&c, 4);
    if (b)
        snprintf(out, size, "%s.%02x%02x%02x", e->type, b[1], b[2], b[3]);
}

static uint32_t reversed(uint32_t bits)
{
    uint32_t out = 0;
    for (unsigned i = 0; i < 32; i++)
        out |= (bits >> i & 1) << (31 - i);
    return out;
}

static void describe_hevc(const struct sample_entry *e, struct hub_cursor c, char *out, size_t size)
{
    static const char spaces[][2] = {"", "A", "B", "C"};
    const uint8_t *b = hub_cursor_bytes(&c, 13);
    unsigned constraints = 6;
    if (!b)
        return;
    const uint32_t compatible = (uint32_t)b[2] << 24 | (uint32_t)b[3] << 16 | (uint32_t)b[4] << 8 | b[5];
    size_t used = (size_t)snprintf(out, size, "%s.%s%u.%X.%c%u", e->type, spaces[b[1] >> 6], b[1] & 31U,
                                   reversed(compatible), b[1] & 32 ? 'H' : 'L', b[12]);
    while (constraints && !b[5 + constraints])
        constraints--;
    for (unsigned i = 0; i < constraints && used + 4 < size; i++)
        used += (size_t)snprintf(out + used, size - used, ".%X", b[6 + i]);
}

/* The long form where it is not 4:2:0: colours as most have them, for they stand elsewhere. */
static void describe_av1(const struct sample_entry *e, struct hub_cursor c, char *out, size_t size)
{
    const uint8_t *b = hub_cursor_bytes(&c, 4);
    if (!b)
        return;
    const unsigned depth = !(b[2] & 0x40) ? 8
                           : b[2] & 0x20  ? 12
                                          : 10,
                   mono = b[2] >> 4 & 1, x = b[2] >> 3 & 1, y = b[2] >> 2 & 1;
    const int used = snprintf(out, size, "%s.%u.%02u%c.%02u", e->type, b[1] >> 5U, b[1] & 31U,
                              b[2] & 0x80 ? 'H' : 'M', depth);
    if (mono || !x || !y)
        snprintf(out + used, size - (size_t)used, ".%u.%u%u%u.01.01.01.0", mono, x, y,
                 x && y ? b[2] & 3U : 0);
}

static void describe_vp(const struct sample_entry *e, struct hub_cursor c, char *out, size_t size)
{
    (void)mp4_version(&c);
    const uint8_t *b = hub_cursor_bytes(&c, 3);
    if (b)
        snprintf(out, size, "%s.%02u.%02u.%02u", e->type, b[0], b[1], b[2] >> 4U);
}

/* A descriptor: its tag, a length of up to four times seven bits, its content. */
static struct hub_cursor descriptor(struct hub_cursor *c, uint8_t tag)
{
    struct hub_cursor none = hub_cursor_of("", 0);
    size_t size = 0;
    if (hub_cursor_u8(c) != tag)
        c->failed = true;
    for (unsigned i = 0, more = 1; i < 4 && more; i++) {
        const uint8_t byte = hub_cursor_u8(c);
        size = size << 7 | (byte & 127);
        more = byte >> 7;
    }
    const uint8_t *at = hub_cursor_bytes(c, HUB_MIN(size, hub_cursor_left(c)));
    return at ? hub_cursor_of(at, (size_t)(c->at - at)) : none;
}

static void describe_mpeg4(const struct sample_entry *e, struct hub_cursor c, char *out, size_t size)
{
    static const uint8_t sequence[] = {0, 0, 1, 0xB0};
    (void)mp4_version(&c);
    struct hub_cursor stream = descriptor(&c, 3);
    (void)hub_cursor_u16(&stream);
    const uint8_t flags = hub_cursor_u8(&stream);
    hub_cursor_skip(&stream, flags & 0x80 ? 2 : 0);
    if (flags & 0x40)
        hub_cursor_skip(&stream, hub_cursor_u8(&stream));
    hub_cursor_skip(&stream, flags & 0x20 ? 2 : 0);
    struct hub_cursor decoder = descriptor(&stream, 4);
    const uint8_t type = hub_cursor_u8(&decoder);
    if (decoder.failed)
        return;
    hub_cursor_skip(&decoder, 12);
    const int used = snprintf(out, size, "%s.%02X", e->type, type);
    const struct hub_cursor own = descriptor(&decoder, 5);
    const uint8_t *at = memmem(own.at, hub_cursor_left(&own), sequence, sizeof sequence);
    if (type == 0x20 && at && own.end - at > 4)
        snprintf(out + used, size - (size_t)used, ".%u", at[4]);
}

static const struct {
    char type[5], box[5];
    describe *describe;
} codecs[] = {
    {"avc1", "avcC", describe_avc},  {"avc3", "avcC", describe_avc},   {"hev1", "hvcC", describe_hevc},
    {"hvc1", "hvcC", describe_hevc}, {"av01", "av1C", describe_av1},   {"vp08", "vpcC", describe_vp},
    {"vp09", "vpcC", describe_vp},   {"mp4v", "esds", describe_mpeg4},
};

/* Its type alone where its box does not say more. */
static void name_codec(const struct sample_entry *e, char *out, size_t size)
{
    snprintf(out, size, "%s", e->type);
    for (size_t i = 0; i < HUB_COUNT(codecs); i++)
        if (strcmp(codecs[i].type, e->type) == 0)
            codecs[i].describe(e, mp4_child(e->boxes, codecs[i].box).body, out, size);
}

bool mp4_describe(struct mp4_box stsd, struct hub_mp4 *out)
{
    struct hub_cursor c = stsd.body;
    struct mp4_box box = {.body = hub_cursor_of("", 0)};
    struct sample_entry e = {.type = ""};
    (void)mp4_version(&c);
    (void)hub_cursor_be32(&c);
    if (mp4_next(&c, &box))
        for (unsigned i = 0; i < 4; i++) {
            const uint8_t letter = (uint8_t)(box.type >> (24 - 8 * i));
            e.type[i] = letter > ' ' && letter < 127 ? (char)letter : '?';
        }
    hub_cursor_skip(&box.body, 24);
    out->width = mp4_be16(&box.body);
    out->height = mp4_be16(&box.body);
    hub_cursor_skip(&box.body, VISUAL_BYTES - 28);
    e.boxes = box.body;
    if (!e.type[0] || box.body.failed)
        snprintf(out->problem, sizeof out->problem, "its codec is not described");
    else if (strcmp(e.type, "encv") == 0)
        snprintf(out->problem, sizeof out->problem, "it is encrypted");
    else if ((size_t)(stsd.body.end - stsd.start) > HUB_MAX_VIDEO_DESCRIPTION)
        snprintf(out->problem, sizeof out->problem, "the description of its codec takes more than 64 KiB");
    if (!box.body.failed)
        name_codec(&e, out->codecs, sizeof out->codecs);
    if (strncmp(out->codecs, "mp4v.6", 6) == 0) /* MPEG-1 and MPEG-2: their key frames do not stand first */
        snprintf(out->problem, sizeof out->problem, "frames of MPEG-1 and MPEG-2 cannot be cut out");
    return !out->problem[0];
}
