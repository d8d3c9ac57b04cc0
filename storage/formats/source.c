/* Bytes at offsets: see source.h. */
#include "storage/formats/source.h"

void hub_byte_source_file(struct hub_byte_source *source, struct hub_files *files, uint32_t number)
{
    source->memory = NULL;
    source->files = files;
    source->number = number;
    source->size = files->entries[number].size;
    source->window_offset = 0;
    source->window_size = 0;
}

void hub_byte_source_side(struct hub_byte_source *source, struct hub_files *files, uint64_t end)
{
    *source = (struct hub_byte_source){.size = end, .files = files, .number = HUB_SIDE_FILE};
}

void hub_byte_source_memory(struct hub_byte_source *source, const void *data, size_t size)
{
    static const uint8_t nothing[1];
    source->memory = data ? data : nothing;
    source->files = NULL;
    source->number = 0;
    source->size = size;
    source->window_offset = 0;
    source->window_size = 0;
}

static enum hub_status check_range(const struct hub_byte_source *source, uint64_t offset, size_t size,
                                   struct hub_error *err)
{
    if (offset > source->size || size > source->size - offset)
        return hub_fail(err, HUB_CORRUPT, "%zu bytes at %llu lie past the end of the file (%llu bytes)", size,
                        (unsigned long long)offset, (unsigned long long)source->size);
    return HUB_OK;
}

enum hub_status hub_byte_source_read(struct hub_byte_source *source, uint64_t offset, void *out, size_t size,
                                     struct hub_error *err)
{
    HUB_TRY(check_range(source, offset, size, err));
    if (size == 0)
        return HUB_OK;
    if (source->memory) {
        memcpy(out, source->memory + offset, size);
        return HUB_OK;
    }
    size_t got = 0;
    HUB_TRY(hub_files_read(source->files, source->number, offset, out, size, &got, err));
    if (got != size)
        return hub_fail(err, HUB_CHANGED, "the file became shorter while it was read");
    return HUB_OK;
}

enum hub_status hub_byte_source_peek(struct hub_byte_source *source, uint64_t offset, size_t want,
                                     const uint8_t **at, size_t *got, struct hub_error *err)
{
    HUB_TRY(check_range(source, offset, 0, err));
    *got = (size_t)HUB_MIN((uint64_t)HUB_MIN(want, HUB_BYTE_SOURCE_WINDOW), source->size - offset);
    if (source->memory) {
        *at = source->memory + offset;
        return HUB_OK;
    }
    const uint64_t skip = offset - source->window_offset;
    if (offset < source->window_offset || skip > source->window_size || *got > source->window_size - skip) {
        const size_t size = (size_t)HUB_MIN((uint64_t)HUB_BYTE_SOURCE_WINDOW, source->size - offset);
        source->window_size = 0;
        HUB_TRY(hub_byte_source_read(source, offset, source->window, size, err));
        source->window_offset = offset;
        source->window_size = size;
    }
    *at = source->window + (offset - source->window_offset);
    return HUB_OK;
}

enum hub_status hub_byte_source_usable(struct hub_byte_source *source, struct hub_error *err)
{
    static const char magic[] = "version https://git-lfs.github.com/spec/v1";
    struct hub_error why = {0};
    const uint8_t *at;
    size_t got;
    const enum hub_status st = hub_byte_source_peek(source, 0, sizeof magic - 1, &at, &got, &why);
    if (st == HUB_DENIED)
        return hub_fail_as(err, st, HUB_PROBLEM_PERMISSION_DENIED, "%s", why.detail);
    if (st)
        return hub_fail_as(err, st, why.problem, "%s", why.detail);
    if (source->size < 1024 && got == sizeof magic - 1 && memcmp(at, magic, got) == 0)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_NOT_FETCHED,
                           "a Git LFS pointer instead of the file: run git lfs pull");
    return HUB_OK;
}

enum hub_status hub_files_usable(struct hub_files *files, uint32_t number, struct hub_error *err)
{
    struct hub_byte_source source;
    struct hub_error why = {0};
    hub_byte_source_file(&source, files, number);
    const enum hub_status st = hub_byte_source_usable(&source, &why);
    const struct hub_view path = files->entries[number].path;
    if (!st || memmem(why.detail, strlen(why.detail), path.data, path.size))
        return st ? hub_fail_as(err, st, why.problem, "%s", why.detail) : HUB_OK; /* which names it already */
    return hub_fail_as(err, st, why.problem, "%.*s: %s", (int)path.size, path.data, why.detail);
}

bool hub_is_local(enum hub_status st)
{
    return st == HUB_CORRUPT || st == HUB_UNSUPPORTED || st == HUB_TOO_BIG || st == HUB_NOT_FOUND ||
           st == HUB_DENIED || st == HUB_INVALID || st == HUB_OUT_OF_RANGE || st == HUB_NOT_ACCEPTABLE;
}
