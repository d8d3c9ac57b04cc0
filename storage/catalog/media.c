/* The cameras of episodes, a blob for a run of them, and the tables of the video files. That there are none
 * is said too: a blob that is not there is damage. */
#include "storage/base/order.h"
#include "storage/base/pack.h"
#include "storage/catalog/publish.h"

#include <stdio.h>
#include <stdlib.h>

enum { RUN = 128, RUN_NAME = 16, MAX_RUN_BYTES = 256 * 1024 * 1024 };

/* ---- writing ---- */

static enum hub_status add_media(struct hub_buf *out, const struct hub_found_media *m, struct hub_error *err)
{
    const uint64_t numbers[] = {m->episode, m->file,    m->width,       m->height, m->fps_num,
                                m->fps_den, m->samples, m->first_frame, m->frames};
    const double seconds[] = {m->from, m->to};
    for (size_t i = 0; i < HUB_COUNT(numbers); i++)
        HUB_TRY(hub_pack_uint(out, numbers[i], err));
    HUB_TRY(hub_buf_add(out, seconds, sizeof seconds, err));
    HUB_TRY(hub_pack_text(out, m->camera, err));
    HUB_TRY(hub_pack_option(out, m->codec, err));
    return hub_pack_option(out, m->problem, err);
}

/* In the order of their episodes. */
struct media_order {
    uint32_t episode, at;
};

static int by_episode(const void *a, const void *b)
{
    const struct media_order *x = a, *y = b;
    const int episodes = (x->episode > y->episode) - (x->episode < y->episode);
    return episodes ? episodes : (x->at > y->at) - (x->at < y->at);
}

static enum hub_status write_runs(struct hub_db *db, int64_t part, const struct hub_findings *found,
                                  const struct media_order *order, struct hub_error *err)
{
    char name[RUN_NAME];
    uint32_t at = 0;
    for (uint32_t run = 0; run * RUN < found->episode_count; run++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MAX_RUN_BYTES);
        for (; at < found->media_count && order[at].episode / RUN == run; at++)
            HUB_TRY(add_media(&out, &found->media[order[at].at], err));
        snprintf(name, sizeof name, "%u", run);
        HUB_TRY(hub_blob_write(db, part, HUB_BLOB_MEDIA, name, hub_buf_view(&out), err));
    }
    return HUB_OK;
}

enum hub_status hub_media_write(struct hub_publication *p, int64_t part, const struct hub_findings *found,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct media_order *order = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf count = HUB_BUF_INIT(16);
    HUB_TRY(hub_pack_uint(&count, found->media_count, err));
    HUB_TRY(hub_blob_write(p->db, part, HUB_BLOB_MEDIA, "", hub_buf_view(&count), err));
    for (uint32_t i = 0; i < found->video_count; i++) {
        const struct hub_found_video *v = &found->videos[i];
        if (v->file < p->draft->file_count)
            HUB_TRY(hub_blob_write(p->db, part, HUB_BLOB_VIDEO, p->draft->files[v->file].path,
                                   (struct hub_view){v->table, v->size}, err));
    }
    if (!found->media_count)
        return HUB_OK;
    HUB_TRY(hub_new(&order, found->media_count, sizeof *order, err));
    for (uint32_t i = 0; i < found->media_count; i++)
        order[i] = (struct media_order){found->media[i].episode, i};
    qsort(order, found->media_count, sizeof *order, by_episode);
    return write_runs(p->db, part, found, order, err);
}

/* ---- reading ---- */

static void get_media(struct hub_cursor *c, char **arena, struct hub_found_media *m)
{
    double seconds[2] = {0};
    *m = (struct hub_found_media){.episode = hub_unpack_u32(c), .file = hub_unpack_u32(c)};
    m->width = hub_unpack_u32(c);
    m->height = hub_unpack_u32(c);
    m->fps_num = hub_unpack_u32(c);
    m->fps_den = hub_unpack_u32(c);
    m->samples = hub_unpack_uint(c);
    m->first_frame = hub_unpack_uint(c);
    m->frames = hub_unpack_uint(c);
    const uint8_t *times = hub_cursor_bytes(c, sizeof seconds);
    if (times)
        memcpy(seconds, times, sizeof seconds);
    m->from = seconds[0];
    m->to = seconds[1];
    m->camera = hub_unpack_text(c, arena);
    m->codec = hub_unpack_option(c, arena);
    m->problem = hub_unpack_option(c, arena);
}

/* A blob that must be there. */
static enum hub_status read_blob(const struct hub_state *state, int64_t part, const char *name,
                                 struct hub_stmt **stmt, struct hub_view *blob, struct hub_error *err)
{
    const struct hub_blob_id id = {state->catalog, state->db, part, HUB_BLOB_MEDIA, name};
    const enum hub_status st = hub_blob_read(&id, stmt, blob, err);
    return st == HUB_NOT_FOUND ? hub_blob_missing(state->catalog, state->db, part, err) : st;
}

static enum hub_status count_media(const struct hub_state *state, int64_t part, uint64_t *count,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_view blob;
    HUB_TRY(read_blob(state, part, "", &stmt, &blob, err));
    struct hub_cursor c = hub_cursor_of(blob.data, blob.size);
    *count = hub_unpack_uint(&c);
    return HUB_OK;
}

enum hub_status hub_media_cameras(struct hub_publication *p, int64_t part, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    HUB_CLEANUP(hub_freep) char *texts = NULL;
    const struct hub_state state = {.catalog = p->catalog, .db = p->db};
    struct hub_found_media m;
    struct hub_view blob;
    uint64_t count;
    HUB_TRY(count_media(&state, part, &count, err));
    if (!count)
        return HUB_OK;
    HUB_TRY(read_blob(&state, part, "0", &stmt, &blob, err));
    HUB_TRY(hub_new(&texts, 1, blob.size + 1, err));
    struct hub_cursor c = hub_cursor_of(blob.data, blob.size);
    for (char *arena = texts; hub_cursor_left(&c) && !c.failed;) {
        get_media(&c, &arena, &m);
        if (!c.failed && m.file != HUB_NONE)
            HUB_TRY(hub_text_set_add(&p->cameras, m.camera, err));
    }
    return HUB_OK;
}

/* Those of a run of episodes; of all, or of one. */
static enum hub_status each_of_run(const struct hub_state *state, uint32_t part, uint32_t run,
                                   uint32_t episode, hub_media_each *each, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    HUB_CLEANUP(hub_freep) char *texts = NULL;
    const int64_t row = state->dataset->parts[part].row;
    struct hub_view blob;
    char name[RUN_NAME];
    snprintf(name, sizeof name, "%u", run);
    HUB_TRY(read_blob(state, row, name, &stmt, &blob, err));
    HUB_TRY(hub_new(&texts, 1, blob.size + 1, err));
    struct hub_cursor c = hub_cursor_of(blob.data, blob.size);
    for (char *arena = texts; hub_cursor_left(&c) && !c.failed;) {
        struct hub_found_media m;
        get_media(&c, &arena, &m);
        m.file = hub_part_file(&hub_dataset_box_of(state->dataset)->maps[part], m.file);
        if (m.file >= state->dataset->file_count)
            m.file = HUB_NONE;
        if (!c.failed && (episode == HUB_NONE || m.episode == episode))
            HUB_TRY(each(user, &m, err));
    }
    return c.failed ? hub_blob_damaged(state->catalog, state->db, row, err) : HUB_OK;
}

enum hub_status hub_episode_media(const struct hub_state *state, const struct hub_dataset_episode *episode,
                                  hub_media_each *each, void *user, struct hub_error *err)
{
    uint64_t count;
    HUB_TRY(count_media(state, state->dataset->parts[episode->part].row, &count, err));
    return count ? each_of_run(state, episode->part, episode->index / RUN, episode->index, each, user, err)
                 : HUB_OK;
}

enum hub_status hub_part_media(const struct hub_state *state, uint32_t part, hub_media_each *each, void *user,
                               struct hub_error *err)
{
    const uint32_t episodes = hub_dataset_box_of(state->dataset)->part_episodes[part];
    uint64_t count;
    HUB_TRY(count_media(state, state->dataset->parts[part].row, &count, err));
    for (uint32_t run = 0; count && run * RUN < episodes; run++)
        HUB_TRY(each_of_run(state, part, run, HUB_NONE, each, user, err));
    return HUB_OK;
}

/* ---- tables ---- */

struct hub_video_ref {
    struct hub_cached_blob blob; /* first; its name is the file's path */
    struct hub_video video;
};

struct media_key {
    const struct hub_state *state;
    int64_t part;
    uint64_t file_size;
};

static enum hub_status prove(struct hub_cached_blob *blob, void *user, struct hub_error *err)
{
    struct hub_video *video = &((struct hub_video_ref *)blob)->video;
    const struct media_key *wanted = user;
    enum hub_status st = hub_video_open(blob->data, blob->size, video, err);
    if (!st)
        st = hub_video_check(video, wanted->file_size, err);
    return st ? hub_blob_damaged(blob->catalog, wanted->state->db, wanted->part, err) : HUB_OK;
}

enum hub_status hub_video_get(const struct hub_state *state, uint32_t part, uint32_t file,
                              struct hub_video_ref **out, struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    const char *path = dataset->files[file].path;
    struct media_key wanted = {state, dataset->parts[part].row, dataset->files[file].stamp.size};
    const struct hub_blob_maker maker = {sizeof(struct hub_video_ref), prove, &wanted};
    const struct hub_blob_id id = {state->catalog, state->db, wanted.part, HUB_BLOB_VIDEO, path};
    const struct hub_lru_key key = {hub_cache_videos(dataset->summary->serial), (uint64_t)wanted.part,
                                    hub_text_hash(hub_view_of(path))};
    struct hub_cached_blob *blob = hub_blob_cached(state->catalog, &key, path);
    if (!blob)
        HUB_TRY(hub_blob_load(&id, &key, &maker, &blob, err));
    *out = (struct hub_video_ref *)blob;
    return HUB_OK;
}

const struct hub_video *hub_video_of(const struct hub_video_ref *ref)
{
    return &ref->video;
}

void hub_video_put(struct hub_video_ref *ref)
{
    if (ref)
        hub_lru_put(&ref->blob.item);
}
