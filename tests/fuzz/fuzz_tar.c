/* The tar indexer: the input is an archive. Header checksums are mended first, else no variation would get
 * past them. Members that look like arrays are read as such. Where it comes block by block, its members are
 * the same ones. */
#include "storage/formats/npy.h"
#include "storage/formats/tar.h"
#include "storage/io/tar_feed.h"

#include <stdio.h>
#include <stdlib.h>

static void mend(uint8_t *data, size_t size)
{
    for (size_t at = 0; at + 512 <= size; at += 512) {
        unsigned sum = 8 * ' ';
        if (memcmp(data + at + 257, "ustar", 5) != 0)
            continue;
        for (size_t i = 0; i < 512; i++)
            sum += i >= 148 && i < 156 ? 0 : data[at + i];
        snprintf((char *)data + at + 148, 8, "%06o", sum);
    }
}

/* What is seen of an archive: a sum over names, sizes and bytes of its members. */
struct seen {
    uint64_t sum, left;
    unsigned members;
};

static void see(struct seen *seen, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        seen->sum = (seen->sum ^ ((const uint8_t *)data)[i]) * 1099511628211U;
}

static void see_member(struct seen *seen, const struct hub_tar_member *m)
{
    see(seen, m->name.data, m->name.size);
    see(seen, &m->size, sizeof m->size);
    seen->members++;
}

static enum hub_status begin(void *user, const struct hub_tar_member *m, struct hub_error *err)
{
    struct seen *seen = user;
    (void)err;
    see_member(seen, m);
    seen->left = m->size;
    return HUB_OK;
}

static enum hub_status bytes(void *user, struct hub_view bytes, struct hub_error *err)
{
    struct seen *seen = user;
    (void)err;
    if (!bytes.size || bytes.size > seen->left)
        abort();
    seen->left -= bytes.size;
    see(seen, bytes.data, bytes.size);
    return HUB_OK;
}

static enum hub_status end_member(void *user, struct hub_error *err)
{
    (void)err;
    if (((struct seen *)user)->left)
        abort();
    return HUB_OK;
}

/* In blocks whose sizes the input chooses. */
static void feed_it(const uint8_t *data, size_t size, const struct seen *whole)
{
    static const struct hub_tar_taker taker = {begin, bytes, end_member};
    struct seen seen = {0};
    struct hub_tar_feed feed;
    enum hub_status st = HUB_OK;
    hub_tar_feed_begin(&feed, &taker, &seen);
    for (size_t at = 0, n; at < size && !st; at += n) {
        n = HUB_MIN(size - at, 1 + (size_t)data[at] * data[at] % 3000);
        st = hub_tar_feed_add(&feed, (struct hub_view){(const char *)data + at, n}, NULL);
    }
    if (!st && !hub_tar_feed_end(&feed, NULL) && (seen.sum != whole->sum || seen.members != whole->members))
        abort();
    hub_tar_feed_dispose(&feed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HUB_CLEANUP(hub_freep) uint8_t *copy = malloc(size + 1);
    struct hub_byte_source source;
    struct hub_tar tar;
    struct hub_tar_member m;
    struct seen seen = {0};
    bool end = false;
    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    mend(copy, size);
    hub_byte_source_memory(&source, copy, size);
    hub_tar_init(&tar, &source);
    while (!hub_tar_next(&tar, &m, &end, NULL) && !end) {
        struct hub_npy npy;
        if (m.offset > size || m.size > size - m.offset)
            abort();
        see_member(&seen, &m);
        see(&seen, copy + m.offset, m.size);
        if (hub_view_ends(m.name, ".npy"))
            (void)!hub_npy_read(&source, m.offset, m.size, &npy, NULL);
    }
    hub_tar_dispose(&tar);
    feed_it(copy, size, &seen);
    return 0;
}
