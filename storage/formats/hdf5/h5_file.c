/*
 * An open HDF5 file: its superblock (versions 0 to 3) and bounded reads through a small page cache, since
 * metadata comes in pieces of a few hundred bytes that lie close together. Addresses count from the end of
 * the user block.
 */
#include "storage/formats/hdf5/h5_parse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static const uint8_t signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};
enum { MAX_USER_BLOCK = 2 * 1024 * 1024 };

/* Where the signature is: 0, 512, 1024, 2048, ... from the start on */
static bool find_signature(struct hub_files *files, uint32_t number, uint64_t start, uint64_t *base)
{
    for (uint64_t at = 0; at <= MAX_USER_BLOCK; at = at ? at * 2 : 512) {
        uint8_t head[8];
        size_t got = 0;
        if (hub_files_read(files, number, start + at, head, sizeof head, &got, NULL) || got < sizeof head)
            return false;
        if (memcmp(head, signature, sizeof head) == 0) {
            *base = start + at;
            return true;
        }
    }
    return false;
}

bool hub_h5_is(struct hub_files *files, uint32_t number)
{
    uint64_t base;
    return find_signature(files, number, 0, &base);
}

uint64_t h5_offset(const struct hub_h5 *file, struct hub_cursor *c)
{
    const uint64_t value = hub_cursor_uint(c, file->offset_size);
    const uint64_t ones = file->offset_size == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * file->offset_size)) - 1;
    return value == ones ? H5_UNDEFINED : value;
}

uint64_t h5_length(const struct hub_h5 *file, struct hub_cursor *c)
{
    return hub_cursor_uint(c, file->length_size);
}

static enum hub_status read_exact(const struct hub_h5 *file, uint64_t offset, void *out, size_t size,
                                  struct hub_error *err)
{
    const ssize_t n = hub_fs_pread(file->fd, out, size, offset);
    if (n < 0)
        return hub_fail_errno(err, errno, "reading at byte %" PRIu64, offset);
    return (size_t)n == size ? HUB_OK
                             : hub_fail(err, HUB_CHANGED, "the file became shorter while it was read");
}

/* The cached page that holds `offset`, read if need be. */
static enum hub_status load_page(struct hub_h5 *file, uint64_t offset, const uint8_t **out,
                                 struct hub_error *err)
{
    const uint64_t page = offset / H5_PAGE, start = page * H5_PAGE;
    const size_t slot = (size_t)(page % H5_PAGES);
    uint8_t *data = file->pages + slot * H5_PAGE;
    if (file->page_tags[slot] != page + 1) {
        file->page_tags[slot] = 0;
        HUB_TRY(read_exact(file, start, data, (size_t)HUB_MIN(H5_PAGE, file->size - start), err));
        file->page_tags[slot] = page + 1;
    }
    *out = data;
    return HUB_OK;
}

static enum hub_status get_stored(struct hub_h5 *file, uint64_t offset, void *out, size_t size,
                                  struct hub_error *err)
{
    if (size > H5_PAGE)
        return read_exact(file, offset, out, size, err);
    for (size_t done = 0; done < size;) {
        const uint8_t *page;
        HUB_TRY(load_page(file, offset + done, &page, err));
        const size_t within = (size_t)((offset + done) % H5_PAGE), n = HUB_MIN(size - done, H5_PAGE - within);
        memcpy((uint8_t *)out + done, page + within, n);
        done += n;
    }
    return HUB_OK;
}

enum hub_status h5_get_raw(struct hub_h5 *file, uint64_t offset, void *out, size_t size,
                           struct hub_error *err)
{
    if (offset > file->size || size > file->size - offset)
        return hub_fail(err, HUB_CORRUPT, "%zu bytes at %" PRIu64 " are beyond the end of the file", size,
                        offset);
    HUB_TRY(get_stored(file, offset, out, size, err));
    if (file->image.count)
        h5_image_apply(file, offset, out, size);
    return HUB_OK;
}

enum hub_status h5_locate(const struct hub_h5 *file, uint64_t address, uint64_t size, uint64_t *offset,
                          struct hub_error *err)
{
    const uint64_t end = file->size - file->base;
    if (address > end || size > end - address)
        return hub_fail(err, HUB_CORRUPT,
                        "%" PRIu64 " bytes at address %" PRIu64 " are beyond the end of the file", size,
                        address);
    *offset = address + file->base;
    return HUB_OK;
}

enum hub_status h5_get(struct hub_h5 *file, uint64_t address, void *out, size_t size, struct hub_error *err)
{
    uint64_t offset = 0;
    HUB_TRY(h5_locate(file, address, size, &offset, err));
    return h5_get_raw(file, offset, out, size, err);
}

enum hub_status h5_count_node(struct hub_h5 *file, struct hub_error *err)
{
    if (++file->nodes > H5_MAX_NODES)
        return hub_fail(err, HUB_TOO_BIG, "the file has more than %u index nodes", H5_MAX_NODES);
    return HUB_OK;
}

static enum hub_status check_widths(const struct hub_h5 *file, struct hub_error *err)
{
    const uint8_t o = file->offset_size, l = file->length_size;
    const bool known = (o == 2 || o == 4 || o == 8) && (l == 2 || l == 4 || l == 8);
    const bool legal = (known || o == 16 || o == 32 || l == 16 || l == 32) && o && l && o <= 32 && l <= 32 &&
                       !(o & (o - 1)) && !(l & (l - 1));
    return known ? HUB_OK
                 : hub_fail(err, legal ? HUB_UNSUPPORTED : HUB_CORRUPT,
                            "superblock: offsets of %u and lengths of %u bytes", o, l);
}

/* Versions 0 and 1: the root group is behind a symbol table entry. */
static enum hub_status parse_old(struct hub_h5 *file, struct hub_cursor *c, uint64_t *stated,
                                 struct hub_error *err)
{
    hub_cursor_skip(c, 4);
    file->offset_size = hub_cursor_u8(c);
    file->length_size = hub_cursor_u8(c);
    HUB_TRY(check_widths(file, err));
    hub_cursor_skip(c, file->version == 0 ? 9 : 13);
    h5_offset(file, c); /* base address: the signature's own place counts */
    h5_offset(file, c); /* free space */
    *stated = h5_offset(file, c);
    h5_offset(file, c); /* driver block */
    h5_offset(file, c); /* name of the root */
    file->root = h5_offset(file, c);
    return HUB_OK;
}

static enum hub_status parse_new(struct hub_h5 *file, struct hub_cursor *c, uint64_t *stated,
                                 uint64_t *extension, struct hub_error *err)
{
    file->offset_size = hub_cursor_u8(c);
    file->length_size = hub_cursor_u8(c);
    HUB_TRY(check_widths(file, err));
    file->flags = hub_cursor_u8(c);
    h5_offset(file, c); /* base address */
    *extension = h5_offset(file, c);
    *stated = h5_offset(file, c);
    file->root = h5_offset(file, c);
    return c->failed ? HUB_OK : h5_verify(file, "superblock", 0, (uint64_t)12 + 4 * file->offset_size, err);
}

static enum hub_status parse_superblock(struct hub_h5 *file, struct hub_error *err)
{
    uint8_t block[128];
    uint64_t stated = H5_UNDEFINED, extension = H5_UNDEFINED;
    const size_t size = (size_t)HUB_MIN(sizeof block, file->size - file->base);
    HUB_TRY(h5_get(file, 0, block, size, err));
    struct hub_cursor c = hub_cursor_of(block, size);
    hub_cursor_skip(&c, sizeof signature);
    file->version = hub_cursor_u8(&c);
    if (file->version > 3)
        return hub_fail(err, HUB_UNSUPPORTED, "superblock of version %u", file->version);
    HUB_TRY(file->version < 2 ? parse_old(file, &c, &stated, err)
                              : parse_new(file, &c, &stated, &extension, err));
    if (c.failed || file->root == H5_UNDEFINED)
        return hub_fail(err, HUB_CORRUPT, "the superblock is cut short");
    if (stated != H5_UNDEFINED && stated > file->size - file->start)
        return hub_fail(err, HUB_CORRUPT,
                        "the file was cut short: %" PRIu64 " of %" PRIu64 " bytes are there",
                        file->size - file->start, stated);
    return extension == H5_UNDEFINED ? HUB_OK : h5_image_load(file, extension, err);
}

static enum hub_status fill_in(struct hub_h5 *file, struct hub_error *err)
{
    if (!find_signature(file->files, file->number, file->start, &file->base) || file->base >= file->size)
        return hub_fail(err, HUB_CORRUPT, "not an HDF5 file");
    HUB_TRY(file->number == HUB_SIDE_FILE ? file->files->side(file->files, &file->fd, err)
                                          : file->files->open(file->files, file->number, &file->fd, err));
    file->pages = malloc((size_t)H5_PAGES * H5_PAGE);
    file->page_tags = calloc(H5_PAGES, sizeof *file->page_tags);
    file->heaps = calloc(H5_HEAPS, sizeof *file->heaps);
    HUB_TRY(hub_allocated(file->pages && file->page_tags && file->heaps, err));
    return parse_superblock(file, err);
}

static enum hub_status open_as(const struct hub_h5 *as, struct hub_h5 **out, struct hub_error *err)
{
    struct hub_h5 *file = malloc(sizeof *file);
    HUB_TRY(hub_allocated(file, err));
    *file = *as;
    const enum hub_status st = fill_in(file, err);
    if (st) {
        hub_h5_close(file);
        return st;
    }
    *out = file;
    return HUB_OK;
}

enum hub_status hub_h5_open(struct hub_files *files, uint32_t number, struct hub_h5 **out,
                            struct hub_error *err)
{
    if (number >= files->count)
        return hub_fail(err, HUB_NOT_FOUND, "there is no file %u", number);
    const struct hub_h5 as = {
        .files = files, .number = number, .named = number, .fd = -1, .size = files->entries[number].size};
    return open_as(&as, out, err);
}

enum hub_status hub_h5_open_side(struct hub_files *files, uint32_t number, uint64_t offset, uint64_t size,
                                 struct hub_h5 **out, struct hub_error *err)
{
    const struct hub_h5 as = {.files = files,
                              .number = HUB_SIDE_FILE,
                              .named = number,
                              .fd = -1,
                              .start = offset,
                              .size = offset + size};
    return open_as(&as, out, err);
}

void hub_h5_close(struct hub_h5 *file)
{
    if (!file)
        return;
    h5_library_close(file);
    h5_heap_dispose(file);
    h5_image_dispose(file);
    if (file->fd >= 0 && file->number != HUB_SIDE_FILE)
        file->files->close(file->files, file->number);
    free(file->pages);
    free(file->page_tags);
    free(file->heaps);
    h5_grid_dispose(&file->grid);
    hub_h5_links_dispose(&file->members.links);
    free(file);
}

void hub_h5_closep(struct hub_h5 **file)
{
    hub_h5_close(*file);
    *file = NULL;
}

uint64_t hub_h5_root(const struct hub_h5 *file)
{
    return file->root;
}

uint32_t hub_h5_number(const struct hub_h5 *file)
{
    return file->named;
}

bool hub_h5_exhausted(const struct hub_h5 *file)
{
    return file->objects > H5_MAX_OBJECTS || file->nodes > H5_MAX_NODES;
}

bool hub_h5_left_open(const struct hub_h5 *file)
{
    return file->version == 3 && file->flags & 5;
}
