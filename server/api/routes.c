/* The whole API on one page. */
#include "server/api/datasets.h"
#include "server/api/episodes.h"
#include "server/api/field.h"
#include "server/api/files.h"
#include "server/api/health.h"

const struct hub_route hub_routes[] = {
    {"GET", "/api/v1/datasets", hub_datasets_list, "datasets", 0, false},
    {"GET", "/api/v1/datasets/{id}", hub_dataset_show, "dataset", 0, false},
    {"GET", "/api/v1/datasets/{id}/episodes", hub_episodes_list, "episodes", 0, false},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}", hub_episode_show, "episode", 0, false},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}/{path}", hub_field_get, "field", 0, false},
    {"GET", "/api/v1/datasets/{id}/files", hub_files_list, "files", 0, false},
    {"GET", "/api/v1/datasets/{id}/files/{path}", hub_files_get, "file", 0, false},
    {"GET", "/healthz", hub_healthz_get, "healthz", 0, false},
    {"GET", "/readyz", hub_readyz_get, "readyz", 0, false},
    {"GET", "/metrics", hub_metrics_get, "metrics", 0, false},
    {"GET", "/openapi.json", hub_openapi_get, "openapi", 0, false},
    {"GET", "/", hub_front_get, "front", 0, false},
    {NULL, NULL, NULL, NULL, 0, false},
};
