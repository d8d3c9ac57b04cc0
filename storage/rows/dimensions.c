/* What the numbers of a row are called: see dimensions.h. */
#include "storage/rows/dimensions.h"

#define MAX_FACT_BYTES (16 * MIB)

enum hub_status hub_dimensions_read(const struct hub_state *state, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MAX_FACT_BYTES);
    HUB_TRY(hub_dataset_fact(state, "dimensions", &text, err));
    return text.size ? hub_json_parse(hub_buf_view(&text), text.limit, out, err) : HUB_OK;
}

void hub_dimensions_put(struct hub_json *json, const json_t *dimensions, const char *path, uint32_t dims,
                        const uint32_t *chosen, uint32_t count)
{
    const json_t *names = json_object_get(json_object_get(dimensions, path), "names");
    if (!dims || json_array_size(names) != dims)
        return;
    hub_json_put_array(json, "names");
    for (uint32_t d = 0; d < (chosen ? count : dims); d++) {
        const json_t *name = json_array_get(names, chosen ? chosen[d] : d);
        hub_json_string(json, (struct hub_view){json_string_value(name), json_string_length(name)});
    }
    hub_json_end_array(json);
}
