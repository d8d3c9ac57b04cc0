/* Windows of steps, as an npz; and the arrays of one, where they lie. */
#include "client/lib/internal.h"
#include "storage/text/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- sample ---- */

static enum hub_status add_number(struct hub_buf *url, const char *name, uint64_t value,
                                  struct hub_error *err)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return hub_api_parameter(url, name, value ? text : NULL, err);
}

static enum hub_status sample_url(const struct minari_client *client, const char *id,
                                  const struct minari_sample_query *q, struct hub_buf *url,
                                  struct hub_error *err)
{
    const struct {
        const char *name, *value;
    } texts[] = {{"where", q->where},
                 {"split", q->split},
                 {"task", q->task},
                 {"seed", q->seed},
                 {"pad", q->pad},
                 {"weight", q->weight},
                 {"final", q->final_row ? "1" : NULL},
                 {"partition", q->partition},
                 {"partition_seed", q->partition_seed},
                 {"sentinel", q->sentinel},
                 {"valid", q->valid},
                 {"format", q->format}};
    HUB_TRY(hub_api_url(&client->remote, id, "sample", url, err));
    HUB_TRY(add_number(url, "windows", q->windows, err));
    HUB_TRY(add_number(url, "length", q->length, err));
    HUB_TRY(add_number(url, "part", q->part, err));
    for (size_t i = 0; i < q->field_count; i++)
        HUB_TRY(hub_api_parameter(url, "fields", q->fields[i], err));
    for (size_t i = 0; i < HUB_COUNT(texts); i++)
        HUB_TRY(hub_api_parameter(url, texts[i].name, texts[i].value, err));
    return HUB_OK;
}

static enum hub_status sample(struct minari_client *client, const char *id,
                              const struct minari_sample_query *query, struct hub_taken *a,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    struct minari_sample_query own;
    HUB_OPTIONS_COPY(own, query);
    if (!client || !id || (!a->sink && !a->buffer))
        return hub_client_missing(err);
    HUB_TRY(sample_url(client, id, &own, &url, err));
    return hub_take(client, url.data, NULL, a, err);
}

enum minari_status minari_sample_get(struct minari_client *client, const char *id,
                                     const struct minari_sample_query *query, minari_sink_fn sink, void *user,
                                     struct minari_rows_info *info, struct minari_error *err)
{
    struct hub_error error = {0};
    struct hub_taken a = {.sink = sink, .user = user, .info = info};
    return hub_client_report(sample(client, id, query, &a, &error), &error, err);
}

enum minari_status minari_sample_read(struct minari_client *client, const char *id,
                                      const struct minari_sample_query *query, void *buffer, size_t capacity,
                                      size_t *size, struct minari_error *err)
{
    struct hub_error error = {0};
    struct hub_taken a = {.buffer = buffer, .capacity = capacity};
    const enum hub_status st = sample(client, id, query, &a, &error);
    if (!st && size)
        *size = a.used;
    return hub_client_report(st, &error, err);
}

/* ---- batch ---- */

static void put_bound(struct hub_json *json, const char *name, bool has, int64_t value)
{
    if (has)
        hub_json_put_int(json, name, value);
}

static enum hub_status write_batch(const struct minari_batch_query *q, struct hub_buf *out,
                                   struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, err);
    hub_json_object(&json);
    hub_json_put_array(&json, "items");
    for (size_t i = 0; i < q->item_count; i++) {
        const struct minari_batch_item *item = &q->items[i];
        hub_json_object(&json);
        hub_json_put_text(&json, "dataset", item->dataset);
        hub_json_put_uint(&json, "episode", item->episode);
        put_bound(&json, "start", item->steps.has_start, item->steps.start);
        put_bound(&json, "stop", item->steps.has_stop, item->steps.stop);
        hub_json_end_object(&json);
    }
    hub_json_end_array(&json);
    hub_json_put_array(&json, "fields");
    for (size_t i = 0; i < q->field_count; i++)
        hub_json_string(&json, hub_view_of(q->fields[i]));
    hub_json_end_array(&json);
    hub_json_put_text(&json, "pad", q->pad);
    hub_json_put_bool(&json, "final", q->final_row);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

static enum hub_status batch(struct minari_client *client, const struct minari_batch_query *query,
                             struct hub_taken *a, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf json = HUB_BUF_INIT(64 * MIB), url = HUB_BUF_INIT(64 * KIB);
    struct minari_batch_query own;
    HUB_OPTIONS_COPY(own, query);
    if (!client || !a->buffer || !own.items || !own.fields)
        return hub_client_missing(err);
    HUB_TRY(write_batch(&own, &json, err));
    HUB_TRY(hub_api_url(&client->remote, NULL, NULL, &url, err));
    url.size -= strlen("datasets"); /* beside them */
    HUB_TRY(hub_buf_add_text(&url, "batch", err));
    return hub_take(client, url.data, json.data, a, err);
}

enum minari_status minari_batch_read(struct minari_client *client, const struct minari_batch_query *query,
                                     void *buffer, size_t capacity, size_t *size, struct minari_error *err)
{
    struct hub_error error = {0};
    struct hub_taken a = {.buffer = buffer, .capacity = capacity};
    const enum hub_status st = batch(client, query, &a, &error);
    if (!st && size)
        *size = a.used;
    return hub_client_report(st, &error, err);
}

/* ---- the arrays of an npz: stored members with their sizes before them, of .npy version 1.0 ---- */

enum { LOCAL_BYTES = 30, NPY_BYTES = 10, DESCRIBED = 8 /* the flag: its checksum follows it */ };

static uint64_t number(const uint8_t *at, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/* The member at the head of `rest`, which loses it. False: there is none. */
static bool take_member(struct hub_view *rest, struct hub_view *name, struct hub_view *content)
{
    const uint8_t *at = (const uint8_t *)rest->data;
    if (rest->size < LOCAL_BYTES || number(at, 4) != 0x04034B50 || number(at + 8, 2) != 0)
        return false;
    uint64_t size = number(at + 22, 4);
    const uint64_t names = number(at + 26, 2), extra = number(at + 28, 2), head = LOCAL_BYTES + names + extra;
    if (head > rest->size)
        return false;
    const bool big = size == UINT32_MAX && extra >= 20; /* ZIP64 */
    if (big)
        size = number(at + LOCAL_BYTES + names + 4, 8);
    const uint64_t behind = number(at + 6, 2) & DESCRIBED ? (big ? 24 : 16) : 0;
    if (size > rest->size - head)
        return false;
    *name = (struct hub_view){rest->data + LOCAL_BYTES, names};
    *content = (struct hub_view){rest->data + head, size};
    const uint64_t taken = head + size + HUB_MIN(behind, rest->size - head - size);
    *rest = (struct hub_view){rest->data + taken, rest->size - taken};
    return true;
}

/* {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } */
static bool read_header(const char *text, struct minari_array *out)
{
    const char *shape = strstr(text, "'shape': (");
    int end = 0;
    if (sscanf(text, "{'descr': '%23[^']'%n", out->dtype, &end) != 1 || !end || !shape ||
        !strstr(text, "'fortran_order': False"))
        return false;
    out->ndim = 0;
    for (const char *at = shape + strlen("'shape': ("); *at && *at != ')';) {
        int64_t dim;
        int used = 0;
        if (out->ndim == MINARI_MAX_DIMS || sscanf(at, "%" SCNd64 "%n", &dim, &used) != 1 || dim < 0)
            return false;
        out->shape[out->ndim++] = dim;
        at += used;
        at += strspn(at, ", ");
    }
    return true;
}

/* "<f4" and "|S5" are of so many bytes, "<U3" of so many characters. */
static bool is_whole(const struct minari_array *array)
{
    const bool wide = strlen(array->dtype) > 2;
    uint64_t bytes = wide ? strtoul(array->dtype + 2, NULL, 10) : 0;
    if (wide && array->dtype[1] == 'U')
        bytes *= 4;
    for (int i = 0; i < array->ndim; i++)
        if (__builtin_mul_overflow(bytes, (uint64_t)array->shape[i], &bytes))
            return false;
    return wide && bytes == array->bytes;
}

static bool read_array(struct hub_view npy, struct minari_array *out)
{
    char text[1024];
    if (npy.size < NPY_BYTES || memcmp(npy.data, "\x93NUMPY\x01\x00", 8) != 0)
        return false;
    const uint64_t size = number((const uint8_t *)npy.data + 8, 2);
    if (size >= sizeof text || size > npy.size - NPY_BYTES)
        return false;
    memcpy(text, npy.data + NPY_BYTES, size);
    text[size] = '\0';
    out->data = npy.data + NPY_BYTES + size;
    out->bytes = npy.size - NPY_BYTES - size;
    return read_header(text, out) && is_whole(out);
}

enum minari_status minari_npz_find(const void *npz, size_t size, const char *name, struct minari_array *out,
                                   struct minari_error *err)
{
    struct hub_error error = {0};
    struct hub_view rest = {npz, npz ? size : 0}, member, content;
    if (!npz || !name || !out)
        return hub_client_report(hub_client_missing(&error), &error, err);
    while (take_member(&rest, &member, &content)) {
        const bool named = member.size == strlen(name) + 4 && memcmp(member.data, name, member.size - 4) == 0;
        if (!named || !hub_view_ends(member, ".npy"))
            continue;
        const bool good = read_array(content, out);
        return hub_client_report(
            good ? HUB_OK : hub_fail(&error, HUB_CORRUPT, "'%.200s' is not an array of numbers", name),
            &error, err);
    }
    return hub_client_report(rest.data == npz
                                 ? hub_fail(&error, HUB_CORRUPT, "this is not an npz file of a hub")
                                 : hub_fail(&error, HUB_NOT_FOUND, "the npz has no array '%.200s'", name),
                             &error, err);
}
