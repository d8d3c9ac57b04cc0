/* The list of formats: see registry.h. A row is the NAME of a driver's hub_format_NAME. */
#include "storage/formats/registry.h"

/* clang-format off */
#define FORMATS(row) \
    row(minari_hdf5) \
    row(minari_arrow) \
    row(minari_parquet) \
    row(data_collector) \
    row(lerobot) \
    row(datasets) \
    row(robomimic) \
    row(d4rl) \
    row(aloha) \
    row(maniskill) \
    row(molmospaces) \
    row(molmospaces_shards) \
    row(webdataset) \
    row(il) \
    row(imitation) \
    row(generic)

#define DECLARE(name) extern const struct hub_format hub_format_##name;
#define POINT(name) &hub_format_##name,

FORMATS(DECLARE)
const struct hub_format *const hub_formats[] = {FORMATS(POINT) NULL};
