/*
 * Whole drivers over files in memory: plan, then every part, through the sink to the hub's proofs. Whatever a
 * driver makes of damaged files, the hub must not have to call it a lie. Input: format (1), then files:
 * name (1), length (4, little-endian), bytes; the last one may be cut. See make_corpus.py.
 */
#include "storage/base/cursor.h"
#include "storage/formats/registry.h"
#include "storage/inspect/proof.h"
#include "storage/worker/sink.h"
#include "tests/fuzz/memory_files.h"

#include <stdio.h>

enum { NAMES = 6 };

/* Sorted by path bytes, as the files of a job are. */
static const struct kind {
    const char *format, *names[NAMES];
} kinds[] = {
    {"minari-hdf5",
     {"data/additional_data_0.hdf5", "data/main_data.hdf5", "data/metadata.json", "data/x.txt", "y", "z"}},
    {"lerobot",
     {"data/chunk-000/episode_000000.parquet", "data/chunk-000/episode_000001.parquet", "meta/episodes.jsonl",
      "meta/episodes_stats.jsonl", "meta/info.json", "meta/tasks.jsonl"}},
    {"webdataset", {"a-000.tar", "a-001.tar", "b.tar", "c.tar", "d.tar", "e.tar"}},
    {"robomimic", {"a.hdf5", "b.hdf5", "c.hdf5", "d.hdf5", "e.hdf5", "f.hdf5"}},
    {"generic", {"a.npz", "b.npy", "c.h5", "d.parquet", "e.arrow", "f.npz"}},
    {"d4rl", {"a.hdf5", "b.hdf5", "c.hdf5", "d.hdf5", "e.hdf5", "f.hdf5"}},
    {"il-native", {"a.npz", "b.pkl", "c.pkl.gz", "d.pickle", "e.npz", "f.npz"}},
    {"minari-arrow",
     {"data/0/metadata.json", "data/0/part-0.arrow", "data/1/metadata.json", "data/1/part-0.arrow",
      "data/metadata.json", "z"}},
    {"minari-parquet",
     {"data/0/metadata.json", "data/0/part-0.parquet", "data/1/metadata.json", "data/1/part-0.parquet",
      "data/metadata.json", "z"}},
    {"aloha",
     {"data/x", "episode_0.hdf5", "episode_1.hdf5", "episode_2.hdf5", "instructions/episode0.json", "z"}},
    {"datasets",
     {"data-00000-of-00001.arrow", "dataset_dict.json", "dataset_info.json", "state.json",
      "train/data-00000-of-00001.arrow", "train/state.json"}},
    {"molmospaces",
     {"house_1/episode_00000000_wrist_camera_batch_1_of_1.mp4", "house_1/trajectories_batch_1_of_1.h5",
      "train/aggregated_stats.json", "train/house_7/trajectories_batch_1_of_1.h5",
      "train/valid_trajectory_index.json", "z"}},
    {"maniskill", {"trajectory.h5", "trajectory.json", "u.h5", "v.h5", "w", "z"}},
    {"imitation",
     {"a.npz", "data/test-00000-of-00001.parquet", "data/train-00000-of-00002.parquet",
      "data/train-00001-of-00002.parquet", "e.npz", "f.npz"}},
    {"molmospaces-shards",
     {"00000.tar", "00001.tar", "notes.json", "train_shards/00000.tar", "val_shards/00000.tar", "z"}},
};

struct run {
    struct memory_files files;
    struct hub_job_file job_files[MEMORY_FILES];
    struct hub_job job;
    struct hub_findings *found;
    struct hub_findings_reader reader;
    struct hub_frame_reader frames;
    struct hub_error lie;
};

static enum hub_status flush(void *user, struct hub_frame_writer *w, struct hub_error *err)
{
    struct run *r = user;
    (void)err;
    for (size_t at = 0; at < w->out.size;) {
        void *room;
        size_t space;
        HUB_TRY(hub_frame_room(&r->frames, &room, &space, &r->lie));
        const size_t n = HUB_MIN(space, w->out.size - at);
        memcpy(room, w->out.data + at, n);
        hub_frame_filled(&r->frames, n);
        at += n;
        for (;;) {
            struct hub_frame frame;
            HUB_TRY(hub_frame_next(&r->frames, &frame, &r->lie));
            if (!frame.type)
                break;
            HUB_TRY(hub_findings_take(&r->reader, &frame, &r->lie));
        }
    }
    w->out.size = 0;
    return HUB_OK;
}

static enum hub_status drive(struct run *r, const struct hub_format *format, const struct hub_part *part,
                             struct hub_frame_writer *w, struct hub_sink *sink)
{
    struct hub_files *files = &r->files.files;
    HUB_TRY(part ? format->inspect(files, part, sink, NULL) : format->plan(files, sink, NULL));
    HUB_TRY(hub_sink_finish(sink, NULL));
    HUB_TRY(flush(r, w, NULL));
    return hub_findings_finish(&r->reader, files->side_size, &r->lie);
}

static bool run_job(struct run *r, const struct hub_format *format, const struct hub_part *part,
                    struct hub_findings *found)
{
    struct hub_frame_writer w;
    struct hub_sink *sink = NULL;
    r->found = found;
    r->reader = (struct hub_findings_reader){.job = &r->job, .found = found};
    hub_frame_reader_init(&r->frames);
    hub_frame_writer_init(&w, (size_t)4 * HUB_MAX_MESSAGE);
    enum hub_status st = hub_sink_new(&r->files.files, &w, flush, r, &sink, NULL);
    if (!st)
        st = drive(r, format, part, &w, sink);
    if (r->lie.status == HUB_CORRUPT) {
        fprintf(stderr, "a lie: %s\n", r->lie.detail);
        abort();
    }
    hub_sink_freep(&sink);
    hub_frame_writer_dispose(&w);
    hub_frame_reader_dispose(&r->frames);
    return st == HUB_OK;
}

static void run_all(struct run *r, const struct hub_format *format)
{
    struct hub_findings plan = {0};
    r->job.kind = HUB_JOB_PLAN;
    const bool planned = run_job(r, format, NULL, &plan);
    for (uint32_t i = 0; planned && i < HUB_MIN(plan.part_count, 4); i++) {
        const struct hub_found_part *p = &plan.parts[i];
        const struct hub_part part = {hub_view_of(p->name), p->files, p->file_count, hub_view_of(p->hint)};
        struct hub_findings found = {0};
        r->job.kind = HUB_JOB_INSPECT;
        r->job.part = p->name;
        r->job.hint = p->hint;
        r->job.part_files = p->files;
        r->job.part_file_count = p->file_count;
        (void)run_job(r, format, &part, &found);
        hub_findings_dispose(&found);
    }
    hub_findings_dispose(&plan);
}

static void add_files(struct run *r, const struct kind *kind, struct hub_cursor c)
{
    struct hub_view given[NAMES] = {{0}};
    while (hub_cursor_left(&c) > 5) {
        const uint8_t name = hub_cursor_u8(&c);
        const size_t size = hub_cursor_u32(&c), left = hub_cursor_left(&c);
        given[name % NAMES].data = (const char *)c.at;
        given[name % NAMES].size = HUB_MIN(size, left);
        (void)hub_cursor_skip(&c, HUB_MIN(size, left));
    }
    for (uint32_t i = 0; i < NAMES; i++) {
        if (!given[i].data)
            continue;
        r->job_files[r->files.files.count] = (struct hub_job_file){kind->names[i], given[i].size, false};
        memory_files_add(&r->files, kind->names[i], given[i].data, given[i].size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct kind *kind = size ? &kinds[data[0] % HUB_COUNT(kinds)] : NULL;
    const struct hub_format *format = kind ? hub_format_find(hub_formats, kind->format) : NULL;
    if (!format)
        return 0;
    struct run r = {0};
    memory_files_init(&r.files);
    add_files(&r, kind, hub_cursor_of(data + 1, size - 1));
    r.job = (struct hub_job){
        .format = kind->format, .files = r.job_files, .file_count = r.files.files.count, .side_fd = -1};
    run_all(&r, format);
    memory_files_dispose(&r.files);
    return 0;
}
