/*
 * LeRobot v2.0, v2.1 and v3.x (https://github.com/huggingface/lerobot): meta/info.json, the rows in Parquet
 * files, one an episode (v2) or many episodes to a file (v3), videos beside them. Here: whose directory it
 * is. The rows say what is there; the metadata is kept as a claim, for it is often wrong. v1 (meta_data/) is
 * refused by name.
 *
 * Problems (tests/fixtures/lerobot-broken/TABLE has a set for each), of metadata: bad-metadata, no-version,
 * missing-file, unlisted-episodes, repeated-episode, bad-split, other-spelling, bad-json-line, json-array,
 * count-mismatch, task-order, missing-statistics, not-loadable; of how files are called (rules.c):
 * no-chunks-size, bad-template, backslash-path, no-first-chunk, bad-file-name, unpadded-name, wrong-chunk,
 * other-path, camera-folder, video-without-feature, video-without-episode, other-files; of an episode's file
 * or video: not-fetched (Git LFS), permission-denied; of a file: not-finalized, unreadable-episode,
 * unreadable-numbers, no-episode-number, number-mismatch, length-mismatch, unknown-task, index-mismatch,
 * rows-not-contiguous; of what is said of episodes: wrong-data-file, wrong-rows, video-not-placed,
 * video-span; of a video: bad-video, cut-video, video-length, video-times, fps-mismatch, codec-mismatch,
 * videos-not-checked; of a field: missing-column, missing-video, shape-mismatch, dtype-mismatch, nulls,
 * unreadable-in-episodes.
 */
#include "storage/formats/lerobot/lerobot.h"

#define HEAD (64 * KIB)

/* Without a version in meta/info.json: by the names of the rest. */
static int claim(struct hub_files *listing)
{
    char head[HEAD + 1];
    size_t got = 0;
    const uint32_t info = hub_files_find(listing, LEROBOT_INFO);
    if (info == HUB_NONE || hub_files_read(listing, info, 0, head, HEAD, &got, NULL))
        return hub_files_bid(listing, hub_marks_lerobot, NULL);
    head[got] = '\0';
    if (strstr(head, "\"codebase_version\""))
        return 95;
    if (strstr(head, "\"version\"") && strstr(head, "\"features\""))
        return 70;
    return hub_files_bid(listing, hub_marks_lerobot, LEROBOT_INFO);
}

static const char *const eras[] = {"v2.0: statistics of the whole dataset",
                                   "v2.1: statistics of each episode", "v3.0: many episodes to a file", NULL};

const struct hub_format hub_format_lerobot = {
    .name = "lerobot",
    .marks = hub_marks_lerobot,
    .eras = eras,
    .claim_directory = claim,
    .plan = hub_lerobot_plan,
    .inspect = hub_lerobot_inspect,
};
