/* The file store of this program. */
#include "storage/read/read.h"

enum hub_status hub_store_open(const struct hub_store_options *options, struct hub_store **out,
                               struct hub_error *err)
{
    return hub_store_kind->open(options, out, err);
}

void hub_store_close(struct hub_store *store)
{
    if (store)
        hub_store_kind->close(store);
}

bool hub_store_in_place(void)
{
    return hub_store_kind->in_place;
}

enum hub_status hub_file_get(struct hub_store *store, const struct hub_file_ref *ref, struct hub_file **out,
                             struct hub_error *err)
{
    return hub_store_kind->get(store, ref, out, err);
}

void hub_store_forget(struct hub_store *store, uint32_t root, const char *prefix)
{
    hub_store_kind->forget(store, root, prefix);
}
