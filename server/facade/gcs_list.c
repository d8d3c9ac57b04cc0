/* The objects of a bucket, a page at a time, in JSON or as XML (object_store and what is made with it:
 * obstore, polars, Lance). A token is the name to go on at. */
#include "server/facade/cached_answer.h"
#include "server/facade/gcs.h"
#include "server/facade/glob.h"
#include "server/facade/handlers.h"
#include "server/facade/markup.h"

#include "server/api/work.h"
#include "storage/ids/spell.h"
#include "storage/text/base64.h"
#include "storage/text/time.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST = 1000, MOST_LOOKS = 100000 }; /* objects on a page; those that a glob is held against for one */
/* The steps that globs may take for a page, which ends behind the object that reaches them; steps in a
 * microsecond; steps that take as long as finding a name. */
enum { MOST_STEPS = 20 * 1000 * 1000, STEPS_IN_A_US = 200, STEPS_OF_A_NAME = 50, LOOKS_BETWEEN = 256 };
enum { ENOUGH_BYTES = 4 * MIB }; /* of metadata: a page ends behind the object that brings it there */

/* What the parameters are called; in XML a listing begins behind the offset. */
static const struct list_dialect {
    const char *token, *offset, *most, *type;
    bool xml;
} json_api = {"pageToken", "startOffset", "maxResults", "application/json; charset=UTF-8", false},
  xml_api = {"continuation-token", "start-after", "max-keys", "application/xml; charset=UTF-8", true};

struct gcs_listing {
    const struct list_dialect *dialect;
    struct hub_request *request;
    struct hub_gcs_bucket bucket;
    struct hub_objects objects;
    struct hub_buf prefix, start, end, common, next; /* whole names, as they are here */
    struct hub_view delimiter;
    struct hub_glob glob;
    struct hub_json items, prefixes;
    struct hub_buf items_text, prefixes_text;
    uint64_t most, count, looks, steps;
    bool behind; /* and not at the start */
    bool plain;  /* nothing is asked for but a prefix */
};

static void listing_dispose(struct gcs_listing *l)
{
    struct hub_buf *const bufs[] = {&l->prefix, &l->start,      &l->end,          &l->common,
                                    &l->next,   &l->items_text, &l->prefixes_text};
    hub_gcs_bucket_dispose(&l->bucket);
    hub_objects_dispose(&l->objects);
    hub_glob_dispose(&l->glob);
    for (size_t i = 0; i < HUB_COUNT(bufs); i++)
        hub_buf_dispose(bufs[i]);
}

/* ---- what is asked ---- */

/* A name of the bucket as it is called here. */
static enum hub_status whole_name(const struct gcs_listing *l, struct hub_view name, struct hub_buf *out,
                                  struct hub_error *err)
{
    HUB_TRY(hub_buf_add_view(out, hub_buf_view(&l->bucket.begins), err));
    return name.size ? hub_unspell(name, out, err) : HUB_OK;
}

static int compare(struct hub_view a, struct hub_view b)
{
    const int order = memcmp(a.data, b.data, HUB_MIN(a.size, b.size));
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static bool begins_with(struct hub_view name, struct hub_view prefix)
{
    return name.size >= prefix.size && memcmp(name.data, prefix.data, prefix.size) == 0;
}

static enum hub_status read_start(struct gcs_listing *l, struct hub_error *err)
{
    const struct hub_view token = hub_request_query(l->request, l->dialect->token),
                          offset = hub_request_query(l->request, l->dialect->offset);
    HUB_TRY(whole_name(l, offset.data ? offset : HUB_VIEW(""), &l->start, err));
    l->behind = l->dialect->xml && offset.size;
    if (compare(hub_buf_view(&l->start), hub_buf_view(&l->prefix)) < 0) {
        l->start.size = 0;
        HUB_TRY(hub_buf_add_view(&l->start, hub_buf_view(&l->prefix), err));
    }
    if (!token.size)
        return HUB_OK;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf at = HUB_BUF_INIT(64 * KIB);
    if (hub_base64_decode(token, &at, NULL) || memchr(at.data, '\0', at.size))
        return hub_request_wrong(l->request, l->dialect->token, err, "the %s is not valid",
                                 l->dialect->token);
    if (compare(hub_buf_view(&at), hub_buf_view(&l->start)) > 0) {
        l->start.size = 0;
        l->behind = false;
        return hub_buf_add_view(&l->start, hub_buf_view(&at), err);
    }
    return HUB_OK;
}

static enum hub_status read_listing(struct hub_request *request, const struct list_dialect *dialect,
                                    struct gcs_listing *l, struct hub_error *err)
{
    int64_t most = MOST;
    l->request = request;
    l->dialect = dialect;
    struct hub_buf *const names[] = {&l->prefix, &l->start, &l->end, &l->common, &l->next};
    for (size_t i = 0; i < HUB_COUNT(names); i++)
        *names[i] = HUB_BUF_INIT(128 * KIB);
    l->items_text = HUB_BUF_INIT(64 * MIB); /* one object may say so much */
    l->prefixes_text = HUB_BUF_INIT(16 * MIB);
    HUB_TRY(hub_gcs_bucket_of(request, &l->bucket, err));
    const struct hub_view prefix = hub_request_query(request, "prefix"),
                          end = hub_request_query(request, "endOffset");
    HUB_TRY(whole_name(l, prefix, &l->prefix, err));
    HUB_TRY(read_start(l, err));
    if (end.size)
        HUB_TRY(whole_name(l, end, &l->end, err));
    const bool present = hub_request_int(request, dialect->most, &most);
    l->most = most > 0 && most < MOST ? (uint64_t)most : MOST;
    l->delimiter = hub_request_query(request, "delimiter");
    const struct hub_view glob = hub_request_query(request, "matchGlob");
    l->plain = !dialect->xml && !present && !l->delimiter.data && !glob.data &&
               !hub_request_query(request, "fields").data;
    if (glob.size)
        HUB_TRY(hub_glob_read(glob, &l->glob, err));
    l->items = hub_json_to(&l->items_text, err);
    l->prefixes = hub_json_to(&l->prefixes_text, err);
    return HUB_OK;
}

/* ---- the page ---- */

/* The name as far as the first delimiter behind the prefix; empty where there is none. */
static struct hub_view folder_of(const struct gcs_listing *l, struct hub_view name)
{
    const size_t before = l->prefix.size;
    const char *at = l->delimiter.size ? memmem(name.data + before, name.size - before, l->delimiter.data,
                                                l->delimiter.size)
                                       : NULL;
    return at ? (struct hub_view){name.data, (size_t)(at - name.data) + l->delimiter.size} : HUB_VIEW("");
}

/* The text of a name in answers, and in the bucket. */
static enum hub_status spell(const struct gcs_listing *l, struct hub_view name, struct hub_buf *out,
                             struct hub_error *err)
{
    return hub_spell_path(
        (struct hub_view){name.data + l->bucket.begins.size, name.size - l->bucket.begins.size}, out, err);
}

static enum hub_status add_text(struct hub_buf *out, const char *name, struct hub_view text,
                                struct hub_error *err)
{
    HUB_TRY(hub_buf_addf(out, err, "<%s>", name));
    HUB_TRY(hub_markup_add(text, out, err));
    return hub_buf_addf(out, err, "</%s>", name);
}

static enum hub_status add_prefix(struct hub_buf *out, struct hub_view prefix, struct hub_error *err)
{
    HUB_TRY(hub_buf_add_text(out, "<CommonPrefixes>", err));
    HUB_TRY(add_text(out, "Prefix", prefix, err));
    return hub_buf_add_text(out, "</CommonPrefixes>", err);
}

static enum hub_status add_contents(struct gcs_listing *l, const struct hub_object *object,
                                    struct hub_view name, struct hub_error *err)
{
    HUB_CLEANUP(hub_object_facts_dispose) struct hub_object_facts facts = {0};
    char modified[HUB_TIME_CHARS], etag[32];
    struct hub_buf *out = &l->items_text;
    HUB_TRY(hub_object_facts(l->request, object, true, &facts, err));
    hub_time_rfc3339_ns(facts.modified_ns, modified);
    hub_gcs_etag(facts.generation, etag);
    HUB_TRY(hub_buf_add_text(out, "<Contents>", err));
    HUB_TRY(add_text(out, "Key", name, err));
    HUB_TRY(hub_buf_addf(out, err,
                         "<Generation>%" PRId64
                         "</Generation><MetaGeneration>1</MetaGeneration><LastModified>%s</LastModified>",
                         facts.generation, modified));
    HUB_TRY(add_text(out, "ETag", hub_view_of(etag), err));
    return hub_buf_addf(out, err, "<Size>%" PRIu64 "</Size><StorageClass>STANDARD</StorageClass></Contents>",
                        facts.size);
}

static enum hub_status add_folder(struct gcs_listing *l, struct hub_view folder, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(128 * KIB);
    HUB_TRY(spell(l, folder, &text, err));
    if (l->dialect->xml)
        HUB_TRY(add_prefix(&l->prefixes_text, hub_buf_view(&text), err));
    else
        hub_json_string(&l->prefixes, hub_buf_view(&text));
    l->count++;
    /* on behind all that is in it */
    l->common.size = 0;
    HUB_TRY(hub_buf_add_view(&l->common, folder, err));
    l->common.data[l->common.size - 1]++;
    return hub_objects_seek(&l->objects, hub_buf_view(&l->common), err);
}

static enum hub_status add_object(struct gcs_listing *l, const struct hub_object *object,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(128 * KIB);
    if (!hub_glob_matches(&l->glob, object->name.data + l->bucket.begins.size, &l->steps))
        return HUB_OK;
    HUB_TRY(spell(l, object->name, &text, err));
    l->count++;
    if (l->dialect->xml)
        return add_contents(l, object, hub_buf_view(&text), err);
    return hub_gcs_object_write(&l->items, l->request, &l->bucket, object, hub_buf_view(&text), err);
}

/*
 * Python Minari lists a bucket with nothing but a prefix, and takes the folder above the one of each
 * metadata.json for a dataset: those that its own Arrow and Parquet sets have for each episode make it fail,
 * whatever it was looking for. So they are left out there, unless the prefix names one version of a dataset:
 * then Minari downloads it, and needs them.
 */
static bool is_left_out(const struct gcs_listing *l, const struct hub_object *object)
{
    static const char digits[] = "0123456789";
    const char *path = object->file ? object->file->path : "";
    if (!l->plain || !hub_view_starts(hub_view_of(path), "data/"))
        return false;
    const size_t number = strspn(path + 5, digits), above = object->name.size - strlen(path);
    if (!number || strcmp(path + 5 + number, "/metadata.json") != 0 ||
        !hub_is_minari(object->dataset->summary))
        return false;
    const size_t named = l->prefix.size; /* "lab/pick-v1" is the start of lab/pick-v1/ and of lab/pick-v10/ */
    if (named >= above)
        return false;
    const char *rest = object->name.data + named;
    return !named || !strchr(digits, rest[-1]) || rest[strspn(rest, digits)] != '/';
}

/* The page is full, or has taken all the time that one may. */
static bool is_full(const struct gcs_listing *l)
{
    return l->count == l->most || l->looks > MOST_LOOKS || l->steps > MOST_STEPS ||
           l->items_text.size >= ENOUGH_BYTES;
}

/* How many names a glob is compared with, and how long that takes, is known only once it is done. */
static enum hub_status go_on(struct gcs_listing *l, struct hub_error *err)
{
    l->steps += STEPS_OF_A_NAME;
    return ++l->looks % LOOKS_BETWEEN == 0
               ? hub_work_go_on(l->request, HUB_WORK_OBJECTS, (double)l->steps / STEPS_IN_A_US, err)
               : HUB_OK;
}

static enum hub_status walk(struct gcs_listing *l, struct hub_error *err)
{
    const struct hub_view prefix = hub_buf_view(&l->prefix), end = hub_buf_view(&l->end),
                          deleted = hub_request_query(l->request, "softDeleted");
    if (deleted.size && strcasecmp(deleted.data, "true") == 0) /* what is deleted is gone */
        return HUB_OK;
    HUB_TRY(hub_objects_seek(&l->objects, hub_buf_view(&l->start), err));
    for (;;) {
        struct hub_object object;
        const enum hub_status st = hub_objects_next(&l->objects, &object, err);
        if (st == HUB_NOT_FOUND)
            return HUB_OK;
        HUB_TRY(st);
        if (!begins_with(object.name, prefix) || (end.size && compare(object.name, end) >= 0))
            return HUB_OK;
        if (l->behind && hub_view_equal(object.name, hub_buf_view(&l->start)))
            continue;
        if (is_full(l))
            return hub_buf_add_view(&l->next, object.name, err);
        HUB_TRY(go_on(l, err));
        if (is_left_out(l, &object))
            continue;
        const struct hub_view folder = folder_of(l, object.name);
        HUB_TRY(folder.size ? add_folder(l, folder, err) : add_object(l, &object, err));
    }
}

static enum hub_status add_array(struct hub_buf *out, const char *begins, const struct hub_buf *items,
                                 struct hub_error *err)
{
    if (!items->size)
        return HUB_OK;
    HUB_TRY(hub_buf_add_text(out, begins, err));
    HUB_TRY(hub_buf_add_view(out, hub_buf_view(items), err));
    return hub_buf_add_text(out, "]", err);
}

static enum hub_status write_xml(const struct gcs_listing *l, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf token = HUB_BUF_INIT(256 * KIB);
    HUB_TRY(hub_buf_add_text(out,
                             "<?xml version='1.0' encoding='UTF-8'?><ListBucketResult "
                             "xmlns='http://doc.s3.amazonaws.com/2006-03-01'>",
                             err));
    HUB_TRY(add_text(out, "Name", l->bucket.name, err));
    HUB_TRY(add_text(out, "Prefix", hub_request_query(l->request, "prefix"), err));
    HUB_TRY(hub_buf_addf(out, err,
                         "<KeyCount>%" PRIu64 "</KeyCount><MaxKeys>%" PRIu64
                         "</MaxKeys><IsTruncated>%s</IsTruncated>",
                         l->count, l->most, l->next.size ? "true" : "false"));
    if (l->next.size) {
        HUB_TRY(hub_base64_encode(hub_buf_view(&l->next), &token, err));
        HUB_TRY(add_text(out, "NextContinuationToken", hub_buf_view(&token), err));
    }
    HUB_TRY(hub_buf_add_view(out, hub_buf_view(&l->items_text), err));
    HUB_TRY(hub_buf_add_view(out, hub_buf_view(&l->prefixes_text), err));
    return hub_buf_add_text(out, "</ListBucketResult>\n", err);
}

static enum hub_status write_listing(const struct gcs_listing *l, struct hub_response *response,
                                     struct hub_error *err)
{
    struct hub_buf *out = hub_response_buffer(response, 200, l->dialect->type, 96 * MIB);
    if (l->dialect->xml)
        return write_xml(l, out, err);
    HUB_TRY(hub_buf_add_text(out, "{\"kind\":\"storage#objects\"", err));
    HUB_TRY(add_array(out, ",\"items\":[", &l->items_text, err));
    HUB_TRY(add_array(out, ",\"prefixes\":[", &l->prefixes_text, err));
    if (l->next.size) {
        HUB_TRY(hub_buf_add_text(out, ",\"nextPageToken\":\"", err));
        HUB_TRY(hub_base64_encode(hub_buf_view(&l->next), out, err));
        HUB_TRY(hub_buf_add_text(out, "\"", err));
    }
    return hub_buf_add_text(out, "}\n", err);
}

/* ---- the list ---- */

static enum hub_status make_in(struct hub_request *request, const struct list_dialect *dialect,
                               struct hub_response *response, bool *lasting, struct hub_error *err)
{
    HUB_CLEANUP(listing_dispose) struct gcs_listing l = {0};
    HUB_TRY(read_listing(request, dialect, &l, err));
    HUB_TRY(hub_objects_open(request, &l.objects, err));
    HUB_TRY(walk(&l, err));
    if (!l.count)
        HUB_TRY(hub_gcs_bucket_check(request, &l.bucket, err));
    HUB_TRY(hub_json_status(&l.items));
    HUB_TRY(hub_json_status(&l.prefixes));
    *lasting = !l.objects.remote; /* what an upstream says may be another thing the next time */
    return write_listing(&l, response, err);
}

static enum hub_status make(struct hub_request *request, struct hub_response *response, bool *lasting,
                            struct hub_error *err)
{
    return make_in(request, &json_api, response, lasting, err);
}

static enum hub_status make_xml(struct hub_request *request, struct hub_response *response, bool *lasting,
                                struct hub_error *err)
{
    return make_in(request, &xml_api, response, lasting, err);
}

enum hub_status hub_gcs_list(struct hub_request *request, struct hub_response *response,
                             struct hub_error *err)
{
    return hub_cached_answer(request, response, make, err);
}

enum hub_status hub_gcs_list_xml(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    request->shape = &hub_gcs_xml_shape;
    return hub_cached_answer(request, response, make_xml, err);
}
