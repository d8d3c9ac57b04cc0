/* Dataset ids: see id.h. */
#include "storage/ids/id.h"

#include "storage/text/number.h"
#include "storage/text/utf8.h"

static struct hub_view head_of(struct hub_view text, size_t size)
{
    return (struct hub_view){text.data, size};
}

static struct hub_view tail_of(struct hub_view text, size_t from)
{
    return (struct hub_view){text.data + from, text.size - from};
}

/* Position of the last '/', or SIZE_MAX. */
static size_t last_slash(struct hub_view text)
{
    const char *slash = text.size ? memrchr(text.data, '/', text.size) : NULL;
    return slash ? (size_t)(slash - text.data) : SIZE_MAX;
}

/* Where "-vN" begins, leaving at least one byte before it; SIZE_MAX without one. */
static size_t version_at(struct hub_view text)
{
    size_t i = text.size;
    while (i > 0 && text.data[i - 1] >= '0' && text.data[i - 1] <= '9')
        i--;
    if (i == text.size || i < 3 || text.data[i - 1] != 'v' || text.data[i - 2] != '-')
        return SIZE_MAX;
    return i - 2;
}

bool hub_name_hidden(struct hub_view name)
{
    static const char *const zarr[] = {".zgroup", ".zarray", ".zattrs", ".zmetadata"};
    for (size_t i = 0; i < HUB_COUNT(zarr); i++)
        if (hub_view_is(name, zarr[i]))
            return false;
    return name.size && name.data[0] == '.';
}

bool hub_path_hidden(struct hub_view path)
{
    const char *slash = memchr(path.data, '/', path.size);
    for (; slash; slash = memchr(path.data, '/', path.size)) {
        const size_t size = (size_t)(slash - path.data);
        if (hub_name_hidden((struct hub_view){path.data, size}))
            return true;
        path = (struct hub_view){slash + 1, path.size - size - 1};
    }
    return hub_name_hidden(path);
}

bool hub_id_segment_safe(struct hub_view segment)
{
    return segment.size >= 1 && segment.size <= 255 && !hub_name_hidden(segment) &&
           !memchr(segment.data, '/', segment.size) && hub_utf8_printable(segment);
}

bool hub_id_segment_word(struct hub_view segment)
{
    static const char *const words[] = {"episodes", "files", "rows", "sample", "batch", "archive.tar"};
    for (size_t i = 0; i < HUB_COUNT(words); i++)
        if (hub_view_is(segment, words[i]))
            return true;
    return false;
}

bool hub_id_segment_reserved(struct hub_view segment)
{
    return (segment.size && segment.data[0] == '~') || hub_id_segment_word(segment);
}

static bool is_allowed(struct hub_view segment, bool words)
{
    return !hub_id_segment_reserved(segment) || (words && hub_id_segment_word(segment));
}

static enum hub_status check(struct hub_view id, bool words, struct hub_error *err)
{
    if (id.size == 0 || id.size > HUB_MAX_ID)
        return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_BAD_ID, "a dataset id has 1 to %d bytes",
                           HUB_MAX_ID);
    while (true) {
        const char *slash = memchr(id.data, '/', id.size);
        const struct hub_view segment = head_of(id, slash ? (size_t)(slash - id.data) : id.size);
        if (!hub_id_segment_safe(segment))
            return hub_fail_as(
                err, HUB_INVALID, HUB_PROBLEM_BAD_ID,
                "a segment of a dataset id is 1 to 255 bytes of UTF-8 without control characters or a "
                "leading dot");
        if (!is_allowed(segment, words))
            return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_BAD_ID,
                               "'%.*s' is reserved and cannot be part of a dataset id", (int)segment.size,
                               segment.data);
        if (!slash)
            return HUB_OK;
        id = tail_of(id, segment.size + 1);
    }
}

enum hub_status hub_id_check(struct hub_view id, struct hub_error *err)
{
    return check(id, false, err);
}

enum hub_status hub_folder_check(struct hub_view path, struct hub_error *err)
{
    return check(path, true, err);
}

/* Any letter beyond ASCII counts as one. */
static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || (unsigned char)c >= 0x80;
}

enum hub_status hub_namespace_check(struct hub_view name, struct hub_error *err)
{
    size_t letters = 0; /* of UTF-8, by their first bytes */
    bool good = true;
    for (size_t i = 0; i < name.size && good; i++) {
        good = is_word(name.data[i]) || name.data[i] == '/';
        letters += ((unsigned char)name.data[i] & 0xC0) != 0x80;
    }
    return good && letters >= 2 && check(name, false, NULL) == HUB_OK
               ? HUB_OK
               : hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_BAD_ID,
                             "'%.*s' cannot be a namespace: it is two letters, digits, '-' or '_' at least, "
                             "with '/' between its parts, such as lab/arms",
                             (int)HUB_MIN(name.size, (size_t)200), name.data);
}

bool hub_id_split_alias(struct hub_view id, struct hub_view *alias, uint32_t *version)
{
    const size_t slash = last_slash(id);
    const size_t from = slash == SIZE_MAX ? 0 : slash + 1;
    const struct hub_view name = tail_of(id, from);
    const size_t at = version_at(name);
    uint64_t number;
    *alias = id;
    if (at == SIZE_MAX || !hub_number_read(tail_of(name, at + 2), HUB_MAX_VERSION, &number))
        return false;
    *version = (uint32_t)number;
    *alias = head_of(id, from + at);
    return true;
}

static int compare_bytes(struct hub_view a, struct hub_view b)
{
    const size_t n = HUB_MIN(a.size, b.size);
    const int order = n ? memcmp(a.data, b.data, n) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

int hub_id_compare(struct hub_view a, struct hub_view b)
{
    struct hub_view left, right;
    uint32_t left_version = 0, right_version = 0;
    const bool left_has = hub_id_split_alias(a, &left, &left_version);
    const bool right_has = hub_id_split_alias(b, &right, &right_version);
    const size_t left_slash = last_slash(left), right_slash = last_slash(right);
    int order = compare_bytes(head_of(left, left_slash == SIZE_MAX ? 0 : left_slash),
                              head_of(right, right_slash == SIZE_MAX ? 0 : right_slash));
    if (!order)
        order = compare_bytes(tail_of(left, left_slash == SIZE_MAX ? 0 : left_slash + 1),
                              tail_of(right, right_slash == SIZE_MAX ? 0 : right_slash + 1));
    if (!order)
        order = left_has - right_has;
    if (!order)
        order = (left_version > right_version) - (left_version < right_version);
    return order ? order : compare_bytes(a, b);
}
