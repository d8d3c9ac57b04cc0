/* The list of formats: see registry.h. */
#include "storage/formats/registry.h"

extern const struct hub_format hub_format_aloha;
extern const struct hub_format hub_format_d4rl;
extern const struct hub_format hub_format_datasets;
extern const struct hub_format hub_format_generic;
extern const struct hub_format hub_format_il;
extern const struct hub_format hub_format_imitation;
extern const struct hub_format hub_format_lerobot;
extern const struct hub_format hub_format_maniskill;
extern const struct hub_format hub_format_minari_arrow;
extern const struct hub_format hub_format_minari_hdf5;
extern const struct hub_format hub_format_minari_parquet;
extern const struct hub_format hub_format_molmospaces;
extern const struct hub_format hub_format_robomimic;
extern const struct hub_format hub_format_webdataset;

/* clang-format off */
const struct hub_format *const hub_formats[] = {
    &hub_format_minari_hdf5,
    &hub_format_minari_arrow,
    &hub_format_minari_parquet,
    &hub_format_lerobot,
    &hub_format_datasets,
    &hub_format_robomimic,
    &hub_format_d4rl,
    &hub_format_aloha,
    &hub_format_maniskill,
    &hub_format_molmospaces,
    &hub_format_webdataset,
    &hub_format_il,
    &hub_format_imitation,
    &hub_format_generic,
    NULL,
};
