/* The whole API on one page. */
#include "server/routes.h"

#include "server/api/handlers.h"
#include "server/facade/handlers.h"
#include "server/page/handlers.h"

/* All rows that one answer may hold, decoded from deflate, take less. */
enum { ROWS_MS = 5000 };

const struct hub_route hub_routes[] = {
    /* asked for most, so found first */
    {"GET", "/api/v1/datasets/{id}/episodes/{n}/~media", hub_media_list, "media", 0, false, 0},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}/~media/{camera}", hub_media_data, "video", 0, false, 0},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}/{path}", hub_field_data, "field", 0, false, ROWS_MS},
    {"GET", "/api/v1/datasets/{id}/files/{path}", hub_file_data, "file", 0, false, 0},
    {"GET", "/api/v1/datasets/{id}/archive.tar", hub_archive_data, "archive", 0, false, 0},
    {"GET", "/api/v1/datasets", hub_datasets_list, "datasets", 0, false, 0},
    {"GET", "/api/v1/datasets/{id}", hub_dataset_show, "dataset", 0, false, 0},
    {"GET", "/api/v1/datasets/{id}/~statistics", hub_statistics_show, "statistics", 0, false, 0},
    {"GET", "/api/v1/datasets/{id}/~findings", hub_findings_show, "findings", 0, false, 0},
    {"GET", "/api/v1/datasets/{id}/~spaces", hub_space_data, "space", 0, false, 0},
    {"GET", "/api/v1/datasets/{id}/episodes", hub_episodes_list, "episodes", 0, false, 0},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}", hub_episode_show, "episode", 0, false, ROWS_MS},
    {"GET", "/api/v1/datasets/{id}/sample", hub_sample_show, "sample", 0, false, ROWS_MS},
    {"POST", "/api/v1/batch", hub_batch_post, "batch", 1 * MIB, false, ROWS_MS},
    {"GET", "/api/v1/datasets/{id}/rows", hub_rows_data, "rows", 0, false, 0},
    {"GET", "/api/v1/datasets/{id}/files", hub_files_list, "files", 0, false, 0},
    {"GET", "/api/v1/namespaces", hub_namespaces_list, "namespaces", 0, false, 0},
    {"GET", "/api/v1/namespaces/{path}", hub_namespace_show, "namespace", 0, false, 0},
    {"GET", "/api/v1/status", hub_status_show, "status", 0, false, 0},
    {"GET", "/api/v1/jobs", hub_jobs_list, "jobs", 0, false, 0},
    {"GET", "/api/v1/jobs/{id}", hub_job_show, "job", 0, false, 0},
    {"POST", "/api/v1/jobs", hub_job_post, "job-add", 0, true, 0},
    {"POST", "/api/v1/jobs/{id}", hub_job_do, "job-do", 0, true, 0},
    {"POST", "/api/v1/check", hub_check_post, "check", 0, true, 0},
    {"GET", "/api/v1/mirrors", hub_mirrors_list, "mirrors", 0, false, 0},
    {"GET", "/api/v1/mirrors/{n}", hub_mirror_show, "mirror", 0, false, 0},
    {"POST", "/api/v1/mirrors", hub_mirror_post, "mirror-add", 0, true, 0},
    {"POST", "/api/v1/mirrors/{n}", hub_mirror_do, "mirror-do", 0, true, 0},
    {"GET", "/api/v1/problems", hub_problems_list, "problems", 0, false, 0},
    {"POST", "/api/v1/sweep", hub_sweep_post, "sweep", 0, true, 0},
    {"GET", "/healthz", hub_healthz_show, "healthz", 0, false, 0},
    {"GET", "/readyz", hub_readyz_show, "readyz", 0, false, 0},
    {"GET", "/metrics", hub_metrics_show, "metrics", 0, false, 0},
    {"GET", "/openapi.json", hub_openapi_show, "openapi", 0, false, 0},
    {"GET", "/", hub_page_front, "front", 0, false, 0},
    /* pages for people: at the addresses of the API, with /d/ for /api/v1/datasets/ */
    {"GET", "/d/{id}", hub_page_dataset, "page", 0, false, 0},
    {"GET", "/d/{id}/episodes", hub_page_episodes, "page", 0, false, 0},
    {"GET", "/d/{id}/episodes/{n}", hub_page_episode, "page", 0, false, 0},
    {"GET", "/d/{id}/files", hub_page_files, "page", 0, false, 0},
    {"GET", "/d/{id}/~statistics", hub_page_statistics, "page", 0, false, 0},
    {"GET", "/d/{id}/~findings", hub_page_findings, "page", 0, false, 0},
    {"GET", "/d/{id}/~use", hub_page_use, "page", 0, false, 0},
    {"GET", "/~operations", hub_page_operations, "page", 0, false, 0},
    {"GET", "/~assets/{build}/{path}", hub_page_asset, "asset", 0, false, 0},
    /* Google Cloud Storage: its JSON API, at the addresses that its clients use, and names as paths */
    {"GET", "/storage/v1/b", hub_gcs_buckets, "gcs", 0, false, 0},
    {"GET", "/storage/v1/b/{bucket}", hub_gcs_bucket, "gcs", 0, false, 0},
    {"GET", "/storage/v1/b/{bucket}/o", hub_gcs_list, "gcs", 0, false, 0},
    {"GET", "/storage/v1/b/{bucket}/o/{path}", hub_gcs_object, "gcs", 0, false, 0},
    {"GET", "/download/storage/v1/b/{bucket}/o/{path}", hub_gcs_media, "gcs", 0, false, 0},
    {"GET", "/upload/{path}", hub_gcs_nothing, "gcs", 0, false, 0},
    {"GET", "/resumable/{path}", hub_gcs_nothing, "gcs", 0, false, 0},
    {"GET", "/batch/{path}", hub_gcs_nothing, "gcs", 0, false, 0},
    {"GET", "/b", hub_gcs_buckets, "gcs", 0, false, 0},
    {"GET", "/b/{bucket}", hub_gcs_bucket, "gcs", 0, false, 0},
    {"GET", "/b/{bucket}/o", hub_gcs_list, "gcs", 0, false, 0},
    {"GET", "/b/{bucket}/o/{path}", hub_gcs_object, "gcs", 0, false, 0},
    /* Hugging Face */
    {"GET", "/datasets/{org}/{name}/resolve/{rev}/{path}", hub_hf_resolve, "hf", 0, false, 0},
    {"GET", "/datasets/{org}/{name}/raw/{rev}/{path}", hub_hf_resolve, "hf", 0, false, 0},
    {"GET", "/api/datasets", hub_hf_repos, "hf", 0, false, 0},
    {"GET", "/api/datasets/{org}/{name}", hub_hf_repo_show, "hf", 0, false, 0},
    {"GET", "/api/datasets/{org}/{name}/revision/{rev}", hub_hf_repo_show, "hf", 0, false, 0},
    {"GET", "/api/datasets/{org}/{name}/tree/{rev}", hub_hf_tree, "hf", 0, false, 0},
    {"GET", "/api/datasets/{org}/{name}/tree/{rev}/{path}", hub_hf_tree, "hf", 0, false, 0},
    {"POST", "/api/datasets/{org}/{name}/paths-info/{rev}", hub_hf_paths, "hf", 1 * MIB, false, 0},
    {"GET", "/api/datasets/{org}/{name}/refs", hub_hf_refs, "hf", 0, false, 0},
    {"GET", "/api/datasets/{org}/{name}/auth-check", hub_hf_auth_check, "hf", 0, false, 0},
    {"GET", "/api/whoami-v2", hub_hf_whoami, "hf", 0, false, 0},
    /* Google's again: buckets and names as paths, beside all that is above */
    {"GET", "/{bucket}/", hub_gcs_folder, "gcs", 0, false, 0},
    {"GET", "/{bucket}/{path}/", hub_gcs_folder, "gcs", 0, false, 0},
    {"GET", "/{bucket}/{path}", hub_gcs_path, "gcs", 0, false, 0},
    {NULL, NULL, NULL, NULL, 0, false, 0},
};

const struct hub_protocol hub_protocols[] = {
    {"/storage/", &hub_gcs_shape},
    {"/download/", &hub_gcs_shape},
    {"/upload/", &hub_gcs_shape},
    {"/resumable/", &hub_gcs_shape},
    {"/batch/", &hub_gcs_shape},
    {"/b/", &hub_gcs_shape},
    {"/d/", &hub_page_shape},
    {"/~operations", &hub_page_shape},
    {"/api/v1/", NULL},
    {"/api/", &hub_hf_shape},
    {"/datasets/", &hub_hf_shape},
    {"/", &hub_gcs_xml_shape},
    {NULL, NULL},
};
