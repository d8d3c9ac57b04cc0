/* Digests of what was published: see known.h. */
#include "server/api/drafts/known.h"

#include "storage/drafts/kept.h"
#include "storage/io/roots.h"
#include "storage/truth/digests.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The files that lie in their place, and what is stored of each. */
struct known {
    struct hub_dataset_file *files; /* paths are borrowed from the facts */
    struct hub_digest_item *items;
    struct hub_file_digests *before; /* of the same files, as they were known before */
    uint32_t count;
};

static void known_dispose(struct known *k)
{
    for (uint32_t i = 0; i < k->count; i++)
        free((char *)k->items[i].path);
    free(k->items);
    free(k->files);
    free(k->before);
}

static enum hub_status make_room(struct known *k, uint32_t count)
{
    HUB_TRY(hub_new(&k->files, count + (size_t)1, sizeof *k->files, NULL));
    HUB_TRY(hub_new(&k->items, count + (size_t)1, sizeof *k->items, NULL));
    return hub_new(&k->before, count + (size_t)1, sizeof *k->before, NULL);
}

static void put_digests(const struct hub_file_facts *file, const struct hub_draft_sums *sums,
                        struct hub_file_digests *out)
{
    hub_digests_stated(file, out);
    if (sums->has_md5)
        hub_hex(sums->md5, sizeof sums->md5, out->md5);
    if (sums->has_crc32c)
        hub_hex(sums->crc32c, sizeof sums->crc32c, out->crc32c);
}

/* What is not there any more is left out. */
static void add(struct known *k, const struct hub_app *app, const struct hub_draft_row *row,
                const struct hub_file_facts *file, const struct hub_draft_sums *sums)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    struct stat st;
    char *path = hub_path_join(row->path, file->path);
    if (!path || hub_roots_open(app->roots, row->root, path, O_PATH, &fd, NULL) || fstat(fd, &st) ||
        (uint64_t)st.st_size != file->size) {
        free(path);
        return;
    }
    const struct hub_stamp stamp = hub_stamp_of(&st);
    k->files[k->count] = (struct hub_dataset_file){file->path, stamp};
    k->items[k->count] = (struct hub_digest_item){.path = path, .stamp = stamp};
    put_digests(file, sums, &k->items[k->count++].digests);
}

/* A file that stayed is the same link: what was known of it is known of it still. */
static void take_before(struct known *k)
{
    for (uint32_t i = 0; i < k->count; i++) {
        struct hub_file_digests *now = &k->items[i].digests;
        if (!*now->crc32c && strcmp(now->sha256, k->before[i].sha256) == 0)
            *now = k->before[i];
    }
}

void hub_draft_keep_digests(const struct hub_app *app, const struct hub_draft_row *row,
                            const struct hub_draft_facts *facts)
{
    HUB_CLEANUP(known_dispose) struct known k = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf kept = HUB_BUF_INIT(2 * PATH_MAX);
    if (make_room(&k, facts->files.count))
        return;
    for (uint32_t i = 0; i < facts->files.count; i++)
        add(&k, app, row, &facts->files.items[i], &facts->sums[i]);
    if (!hub_digest_list(app->truth, row->root, row->path, k.files, k.count, k.before, NULL))
        take_before(&k);
    const bool is_kept =
        *row->base && !hub_kept_find(app->roots->roots[row->root].path, row->path, row->base, &kept, NULL);
    const struct hub_digest_move move = {row->path, kept.data};
    (void)!hub_digests_move(app->truth, row->root, is_kept ? &move : NULL, k.items, k.count, NULL);
}
