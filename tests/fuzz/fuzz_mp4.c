/* The mp4 reader, the proof of its table, and cuts by it: what is read must be proven, and every cut of a
 * proven table must lie in the file and fit the memory it was promised. The first byte says where cuts
 * begin. */
#include "storage/encode/mp4.h"
#include "storage/formats/mp4/mp4.h"

#include <stdlib.h>

static void cut(const struct hub_video *video, uint64_t file_size, uint64_t first, uint64_t count)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(hub_mp4_head_bytes(video));
    struct hub_mp4_cut bytes;
    const enum hub_status st = hub_mp4_cut(video, first, count, &head, &bytes, NULL);
    if (st && st != HUB_NOT_ACCEPTABLE && st != HUB_NO_MEMORY)
        abort();
    if (!st && (bytes.offset > file_size || bytes.length > file_size - bytes.offset))
        abort();
}

/* What stands for a frame is no later one, and can be cut out. */
static void stand_for(const struct hub_video *video, uint64_t file_size, uint64_t turn, uint64_t few)
{
    uint64_t still = turn, bytes;
    if (hub_mp4_still(video, 0, few, &still, &bytes, NULL))
        return;
    if (still > turn)
        abort();
    cut(video, file_size, still, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hub_byte_source source;
    struct hub_video video;
    HUB_CLEANUP(hub_mp4_dispose) struct hub_mp4 mp4 = {0};
    hub_byte_source_memory(&source, data, size);
    if (hub_mp4_read(&source, &mp4, NULL) || !mp4.table.size)
        return 0;
    if (hub_video_open(mp4.table.data, mp4.table.size, &video, NULL) || hub_video_check(&video, size, NULL))
        abort();
    const uint64_t shown = video.head->shown;
    if (mp4.samples != shown)
        abort();
    for (uint64_t first = data[0] % 7; first < shown && first < 64; first += 7) {
        cut(&video, size, first, 1);
        cut(&video, size, first, shown - first);
        stand_for(&video, size, first, 0);
        stand_for(&video, size, first, size / 4);
    }
    return 0;
}
