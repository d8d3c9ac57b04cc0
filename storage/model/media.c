/* Videos: frame rates as ratios, and what documents say of one. */
#include "storage/model/findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void hub_media_rate(struct hub_media *media, double fps)
{
    uint32_t a = fps > 0 && fps < 1e6 ? (uint32_t)lround(fps * 1000) : 0, b = 1000;
    media->fps_num = a;
    media->fps_den = a ? b : 0;
    while (a) {
        const uint32_t rest = b % a;
        b = a;
        a = rest;
    }
    media->fps_num /= b;
    media->fps_den /= b;
}

void hub_media_put(struct hub_json *json, const struct hub_found_media *m)
{
    char fps[32];
    snprintf(fps, sizeof fps, "%" PRIu32 "/%" PRIu32, m->fps_num, m->fps_den);
    hub_json_put_text(json, "codecs", m->codec);
    if (m->width && m->height) {
        hub_json_put_uint(json, "width", m->width);
        hub_json_put_uint(json, "height", m->height);
    }
    hub_json_put_text(json, "fps", m->fps_den ? fps : NULL);
    if (m->samples)
        hub_json_put_uint(json, "samples", m->samples);
    if (m->frames) {
        hub_json_put_uint(json, "first_frame", m->first_frame);
        hub_json_put_uint(json, "frames", m->frames);
    }
    if (m->to > 0) {
        hub_json_put_double(json, "from", m->from);
        hub_json_put_double(json, "to", m->to);
    }
    hub_json_put_text(json, "problem", m->problem);
}
