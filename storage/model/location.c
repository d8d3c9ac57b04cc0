/* Places as facts: see record.h. */
#include "storage/model/record.h"

#include <inttypes.h>
#include <stdio.h>

void hub_location_write(const struct hub_location *location, char out[HUB_LOCATION_CHARS])
{
    snprintf(out, HUB_LOCATION_CHARS, "%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d", location->file,
             location->offset, location->stored, location->decoded, location->escaped);
}

/* Decimal digits of a number below 10^18 and what separates it from the next one. */
static bool take_number(struct hub_view *text, uint64_t *out)
{
    size_t n = 0;
    *out = 0;
    for (; n < text->size && n < 18 && text->data[n] >= '0' && text->data[n] <= '9'; n++)
        *out = *out * 10 + (uint64_t)(text->data[n] - '0');
    const bool end = n == text->size, blank = !end && text->data[n] == ' ';
    text->data += n + blank;
    text->size -= n + blank;
    return n > 0 && (end || (blank && text->size));
}

bool hub_location_read(struct hub_view text, struct hub_location *out)
{
    uint64_t file, escaped;
    if (!take_number(&text, &file) || !take_number(&text, &out->offset) ||
        !take_number(&text, &out->stored) || !take_number(&text, &out->decoded) ||
        !take_number(&text, &escaped) || text.size || file > UINT32_MAX || escaped > 1)
        return false;
    out->file = (uint32_t)file;
    out->escaped = escaped;
    return escaped ? out->decoded <= out->stored : out->decoded == out->stored;
}
