/* Object headers at address 0 and, from the same bytes, a datatype and a dataspace. */
#include "tests/fuzz/h5_memory.h"

static enum hub_status ignore(void *user, const struct hub_h5_attribute *attribute, struct hub_error *err)
{
    (void)user, (void)err;
    return attribute->data.size ? HUB_OK : HUB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hub_h5 *file = bare_of(data, size);
    struct hub_h5_object object = {0};
    struct hub_h5_dataset dataset;
    struct hub_h5_links links = {0};
    struct hub_h5_type type;
    uint32_t rank;
    uint64_t dims[HUB_MAX_RANK], max_dims[HUB_MAX_RANK];
    if (hub_h5_object_load(file, 0, &object, NULL) == HUB_OK) {
        (void)!hub_h5_attributes(file, &object, ignore, NULL, NULL);
        (void)!hub_h5_dataset(file, &object, &dataset, NULL);
        (void)!hub_h5_links_load(file, &object, &links, NULL);
    }
    struct hub_cursor c = hub_cursor_of(data, size);
    if (h5_type_parse(&c, &type, NULL) == HUB_OK && !type.unreadable[0] && !hub_variant_valid(&type.variant))
        abort();
    c = hub_cursor_of(data, size);
    (void)!h5_space_parse(file, &c, &rank, dims, max_dims, NULL);
    hub_h5_object_dispose(&object);
    hub_h5_links_dispose(&links);
    hub_h5_close(file);
    return 0;
}
