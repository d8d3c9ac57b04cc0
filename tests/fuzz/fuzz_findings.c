/* What a child sends: byte 0 is the kind of job, the rest is its side of the conversation. Whatever is
 * accepted must be true. */
#include "storage/inspect/proof.h"
#include "storage/inspect/text.h"

#include <stdlib.h>

static const struct hub_job_file files[] = {{"a.txt", 4096, false}, {"b.txt", 100, false}, {"sub", 0, true}};

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check(const struct hub_findings *f)
{
    for (uint32_t i = 0; i < f->field_count; i++) {
        struct hub_layout layout;
        require(hub_path_valid(hub_view_of(f->fields[i].path)));
        require(f->fields[i].layout || !f->fields[i].unreadable);
        if (f->fields[i].layout)
            require(hub_layout_open(f->fields[i].layout, f->fields[i].layout_size, &layout, NULL) == HUB_OK);
    }
    for (uint32_t i = 0; i < f->episode_count; i++)
        require(f->episodes[i].number >= -1 && f->episodes[i].file < HUB_COUNT(files));
    for (uint32_t i = 0; i < f->fact_count; i++)
        require(hub_fact_valid(hub_view_of(f->facts[i].key), hub_view_of(f->facts[i].text)));
    for (uint32_t i = 0; i < f->claim_count; i++)
        for (uint32_t k = 0; k < f->claims[i].file_count; k++)
            require(f->claims[i].files[k] < 2);
}

static enum hub_status converse(struct hub_frame_reader *frames, struct hub_findings_reader *r,
                                const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        void *room;
        size_t space;
        HUB_TRY(hub_frame_room(frames, &room, &space, NULL));
        const size_t n = HUB_MIN(HUB_MIN(space, size - at), (size_t)1000);
        memcpy(room, data + at, n);
        hub_frame_filled(frames, n);
        at += n;
        for (;;) {
            struct hub_frame frame;
            HUB_TRY(hub_frame_next(frames, &frame, NULL));
            if (!frame.type)
                break;
            HUB_TRY(hub_findings_take(r, &frame, NULL));
        }
    }
    return hub_findings_finish(r, 64, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const struct hub_job job = {
        .kind = (enum hub_job_kind)(data[0] % 3 + 1), .files = files, .file_count = HUB_COUNT(files)};
    struct hub_findings found = {0};
    struct hub_findings_reader reader = {.job = &job, .found = &found};
    struct hub_frame_reader frames;
    hub_frame_reader_init(&frames);
    if (converse(&frames, &reader, data + 1, size - 1) == HUB_OK)
        check(&found);
    hub_frame_reader_dispose(&frames);
    hub_findings_dispose(&found);
    return 0;
}
