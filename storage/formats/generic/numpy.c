/* .npy files, one field "array"; .npz archives, a field a member. */
#include "storage/formats/generic/generic.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_npy(const uint8_t *head, size_t size)
{
    return size >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

struct array {
    struct hub_npz_array a;
    enum hub_status status; /* of a .npy that cannot be read */
};

static enum hub_status open_npy(const struct generic_input *at, void **state, struct hub_error *err)
{
    struct array *array = NULL;
    struct hub_byte_source source;
    struct hub_error why = {0};
    HUB_TRY(hub_new(&array, 1, sizeof *array, err));
    *state = array;
    struct hub_npy *npy = &array->a.npy;
    array->a.file = at->file;
    hub_byte_source_file(&source, at->files, at->file);
    enum hub_status st = hub_npy_read(&source, 0, source.size, npy, &why);
    if (st == HUB_UNSUPPORTED && npy->utf32)
        st = hub_npy_texts(at->files, &source, npy, &array->a.file, &why);
    if (st && st != HUB_UNSUPPORTED && !(npy->utf32 && hub_is_local(st)))
        return hub_pass(st, &why, err);
    array->status = st;
    snprintf(array->a.reason, sizeof array->a.reason, "%.150s", why.detail);
    return HUB_OK;
}

static size_t vote_npy(const void *state, struct hub_row_vote *votes, size_t room)
{
    const struct array *array = state;
    if (array->status || !array->a.npy.rank || !room)
        return 0;
    votes[0] = hub_row_vote_of(&array->a.npy.item, array->a.npy.shape, array->a.npy.rank);
    return 1;
}

static enum hub_status lay_out_npy(const struct generic_input *at, void *state, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(HUB_MAX_PATH);
    struct array *array = state;
    HUB_TRY(
        generic_path(at, at->prefix.size ? HUB_VIEW("") : HUB_VIEW("array"), &path, &array->a.named, err));
    array->a.path = hub_buf_view(&path);
    return array->status ? hub_report_unreadable(at->sink, array->a.path, at->episode, array->a.reason, err)
                         : hub_npy_lay_out(at->sink, &array->a, at->episode, at->steps, err);
}

/* Rows of one type and shape. */
static bool alike_npy(struct hub_files *files, uint32_t a, uint32_t b)
{
    const uint32_t numbers[2] = {a, b};
    struct hub_variant rows[2];
    for (size_t i = 0; i < HUB_COUNT(numbers); i++) {
        struct hub_byte_source source;
        struct hub_npy npy = {0};
        hub_byte_source_file(&source, files, numbers[i]);
        if (hub_npy_read(&source, 0, source.size, &npy, NULL) || npy.rank == 0 ||
            hub_npy_variant(&npy.item, npy.shape + 1, npy.rank - 1, &rows[i], NULL))
            return false;
    }
    return hub_variant_equal(&rows[0], &rows[1]);
}

/* ---- archives ---- */

static void close_npz(void *state)
{
    hub_npz_reader_dispose(state);
    free(state);
}

static enum hub_status open_npz(const struct generic_input *at, void **state, struct hub_error *err)
{
    struct hub_npz_reader *npz = NULL;
    HUB_TRY(hub_new(&npz, 1, sizeof *npz, err));
    *state = npz;
    return hub_npz_reader_open(npz, at->files, at->file, err);
}

static size_t vote_npz(const void *state, struct hub_row_vote *votes, size_t room)
{
    const struct hub_npz_reader *npz = state;
    size_t count = 0;
    for (uint32_t i = 0; i < npz->count && count < room; i++) {
        const struct hub_npy *npy = &npz->arrays[i].npy;
        if (!npz->arrays[i].reason[0] && npy->rank)
            votes[count++] = hub_row_vote_of(&npy->item, npy->shape, npy->rank);
    }
    return count;
}

static enum hub_status lay_out_npz(const struct generic_input *at, void *state, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(HUB_MAX_PATH);
    struct hub_npz_reader *npz = state;
    for (uint32_t i = 0; i < npz->count; i++) {
        struct hub_npz_array a = npz->arrays[i];
        HUB_TRY(generic_path(at, a.path, &path, &a.named, err));
        a.path = hub_buf_view(&path);
        HUB_TRY(a.reason[0] ? hub_report_unreadable(at->sink, a.path, at->episode, a.reason, err)
                            : hub_npy_lay_out(at->sink, &a, at->episode, at->steps, err));
    }
    return hub_npz_reader_report(npz, at->sink, err);
}

/* Their directories have the same names. */
static bool alike_npz(struct hub_files *files, uint32_t a, uint32_t b)
{
    HUB_CLEANUP(hub_zip_dispose) struct hub_zip one = {0}, other = {0};
    struct hub_byte_source sources[2];
    hub_byte_source_file(&sources[0], files, a);
    hub_byte_source_file(&sources[1], files, b);
    if (hub_zip_read(&one, &sources[0], NULL) || hub_zip_read(&other, &sources[1], NULL) ||
        one.count != other.count)
        return false;
    for (uint32_t i = 0; i < one.count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < other.count && !found; k++)
            found = hub_view_equal(one.members[i].name, other.members[(i + k) % other.count].name);
        if (!found)
            return false;
    }
    return true;
}

static const char *const npy_endings[] = {".npy", NULL}, *const npz_endings[] = {".npz", NULL};
const struct generic_container generic_npy = {.endings = npy_endings,
                                              .is = is_npy,
                                              .open = open_npy,
                                              .vote = vote_npy,
                                              .lay_out = lay_out_npy,
                                              .close = free,
                                              .alike = alike_npy};
const struct generic_container generic_npz = {.endings = npz_endings,
                                              .is = hub_zip_is,
                                              .open = open_npz,
                                              .vote = vote_npz,
                                              .lay_out = lay_out_npz,
                                              .close = close_npz,
                                              .alike = alike_npz};
