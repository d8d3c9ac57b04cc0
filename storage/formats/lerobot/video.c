/* The videos of LeRobot episodes: is each of them all there? Of an mp4 only the outermost boxes are looked
 * at. */
#include "storage/formats/lerobot/lerobot.h"

enum { MAX_LOOKED_AT = 10000 };

static enum hub_status check_video(struct hub_files *files, uint32_t number, struct hub_error *err)
{
    struct hub_byte_source source;
    hub_byte_source_file(&source, files, number);
    HUB_TRY(hub_byte_source_usable(&source, err));
    return hub_mp4_check(&source, err);
}

enum hub_status hub_lerobot_check_videos(struct hub_files *files, struct hub_sink *sink, uint64_t *count,
                                         struct hub_error *err)
{
    uint64_t bad = 0;
    *count = 0;
    for (uint32_t i = 0; i < files->count; i++) {
        struct hub_error why = {0};
        const struct hub_view path = files->entries[i].path;
        if (!hub_view_ends(path, ".mp4") || ++*count > MAX_LOOKED_AT)
            continue;
        const enum hub_status st = check_video(files, i, &why);
        if (st && st != HUB_CORRUPT && st != HUB_DENIED)
            return hub_fail(err, st, "%s", why.detail);
        if (st)
            HUB_TRY(hub_sink_problem(sink, hub_problem_name_or(why.problem, "bad-video"), path, err, "%s",
                                     why.detail));
        bad += st != HUB_OK;
    }
    if (*count > MAX_LOOKED_AT)
        HUB_TRY(hub_sink_problem(sink, "videos-not-checked", HUB_VIEW("videos"), err,
                                 "%llu of %llu videos were not checked: only the first %d of a dataset are",
                                 (unsigned long long)(*count - MAX_LOOKED_AT), (unsigned long long)*count,
                                 MAX_LOOKED_AT));
    return bad ? hub_sink_problem(sink, "not-loadable", HUB_VIEW("videos"), err,
                                  "%llu of %llu videos cannot be played", (unsigned long long)bad,
                                  (unsigned long long)*count)
               : HUB_OK;
}
