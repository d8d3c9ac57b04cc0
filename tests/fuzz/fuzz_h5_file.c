/* Whole HDF5 files: every link followed, every attribute written as JSON, every dataset placed. What the
 * parser calls a good layout must pass the hub's proof. libhdf5 is not entered: side data is refused
 * before. */
#include "tests/fuzz/h5_memory.h"

#include <stdio.h>

static struct hub_layout_builder *builder;

static enum hub_status see_attribute(void *user, const struct hub_h5_attribute *attribute,
                                     struct hub_error *err)
{
    struct hub_buf out = HUB_BUF_INIT(64 * KIB);
    int64_t i;
    double d;
    (void)hub_h5_attribute_int(attribute, &i);
    (void)hub_h5_attribute_double(attribute, &d);
    if (hub_h5_attribute_json(user, attribute, 1024, &out, err) == HUB_OK && out.size == 0)
        abort();
    hub_buf_dispose(&out);
    return HUB_OK;
}

static void place(struct hub_h5 *file, const struct hub_h5_dataset *d)
{
    struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    uint32_t array;
    const uint64_t row = hub_h5_row_bytes(d);
    if (d->rows && row && row < 65536 && !d->unreadable[0]) {
        uint8_t *out = malloc(row);
        (void)!hub_h5_read(file, d, d->rows - 1, 1, out, NULL);
        (void)!hub_h5_read_text(file, d, 0, &text, NULL);
        free(out);
    }
    hub_buf_dispose(&text);
    if (hub_h5_layout(file, d, builder, &array, NULL) == HUB_OK && d->unreadable[0])
        abort();
}

static enum hub_status see_member(void *user, struct hub_view name, const struct hub_h5_dataset *member,
                                  struct hub_error *err)
{
    (void)name, (void)err;
    if (!member->library)
        place(user, member);
    return HUB_OK;
}

static void see_dataset(struct hub_h5 *file, const struct hub_h5_object *object)
{
    struct hub_h5_dataset d;
    if (hub_h5_dataset(file, object, &d, NULL) || d.library)
        return;
    place(file, &d);
    if (hub_h5_has_members(&d))
        (void)!hub_h5_members(file, object, &d, see_member, file, NULL);
}

static void walk(struct hub_h5 *file, uint64_t address, unsigned depth)
{
    struct hub_h5_object object = {0};
    struct hub_h5_links links = {0};
    if (depth > 6 || file->objects > 300) /* a case is to be quick */
        return;
    if (hub_h5_object_load(file, address, &object, NULL) == HUB_OK) {
        (void)!hub_h5_attributes(file, &object, see_attribute, file, NULL);
        if (object.kind == HUB_H5_DATASET)
            see_dataset(file, &object);
        if (object.kind == HUB_H5_GROUP)
            (void)!hub_h5_links_load(file, &object, &links, NULL);
        for (uint32_t i = 0; i < links.count && i < 100; i++) {
            uint64_t to;
            if (links.items[i].kind == HUB_H5_HARD)
                walk(file, links.items[i].address, depth + 1);
            else if (links.items[i].kind == HUB_H5_SOFT &&
                     hub_h5_resolve(file, address, links.items[i].path, &to, NULL) == HUB_OK)
                walk(file, to, depth + 1);
        }
    }
    hub_h5_object_dispose(&object);
    hub_h5_links_dispose(&links);
}

static void prove(uint64_t size)
{
    void *blob = NULL;
    size_t blob_size;
    struct hub_layout layout;
    struct hub_error err = {0};
    if (hub_layout_finish(builder, &blob, &blob_size, &err))
        return;
    if (hub_layout_open(blob, blob_size, &layout, &err) || hub_layout_check(&layout, &size, 1, 0, 0, &err)) {
        dprintf(2, "%s\n", err.detail);
        abort();
    }
    free(blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory *m = memory_of(data, size);
    struct hub_h5 *file = NULL;
    if (hub_h5_open(&m->files, 0, &file, NULL))
        return 0;
    file->unverified = true; /* a mutation's checksum is never right */
    if (hub_layout_builder_new(64 * MIB, &builder, NULL))
        abort();
    walk(file, hub_h5_root(file), 0);
    prove(size);
    hub_layout_builder_free(builder);
    hub_h5_close(file);
    return 0;
}
