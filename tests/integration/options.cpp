// A C++ program with all warnings: the initialisers of option structures are clean, NULL is answered, not followed.
#include <minari/minari.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static int failed;

static void expect(bool good, const char *what)
{
    if (!good)
        std::printf("failed: %s\n", what);
    failed += !good;
}

static int count(const void *, size_t size, void *user)
{
    *static_cast<size_t *>(user) += size;
    return 0;
}

static int revision(const struct minari_revision *, void *)
{
    return 0;
}

int main(int, char **argv)
{
    struct minari_client_options options = MINARI_CLIENT_OPTIONS_INIT;
    struct minari_download_options download = MINARI_DOWNLOAD_OPTIONS_INIT;
    struct minari_upload_options upload = MINARI_UPLOAD_OPTIONS_INIT;
    minari_client *client = nullptr;
    minari_dataset_list *list = nullptr;
    minari_facet_list *facets = nullptr;
    minari_dataset *dataset = nullptr;
    minari_file_list *files = nullptr;
    minari_rows_info info;
    minari_error err;
    size_t bytes = 0;
    char *text = nullptr;
    minari_identity identity;
    expect(options.size == sizeof options && download.size == sizeof download && !options.base_url, "initialisers");

    expect(minari_client_new(nullptr, &client, &err) == MINARI_INVALID && *err.detail, "no options");
    expect(minari_client_new(&options, nullptr, nullptr) == MINARI_INVALID, "no place for the client");
    expect(minari_dataset_list_get(nullptr, nullptr, &list, nullptr) == MINARI_INVALID, "no client");
    static const char *const urls[] = {"http://127.0.0.1:99999", "http://[::1", "hub:80", ""};
    for (const char *url : urls) {
        options.base_url = url;
        expect(minari_client_new(&options, &client, &err) == MINARI_INVALID, url);
    }
    options.base_url = argv[1];
    options.size = offsetof(struct minari_client_options, token); // a program that knows no more than the address
    options.token = reinterpret_cast<const char *>(1);
    expect(minari_client_new(&options, &client, &err) == MINARI_OK, "an older program");

    options.size = sizeof options;
    options.token = "two words";
    minari_client *none = nullptr;
    expect(minari_client_new(&options, &none, &err) == MINARI_INVALID && !none && !std::strstr(err.detail, "words"), "no token");
    expect(minari_identity_get(nullptr, &identity, nullptr) == MINARI_INVALID, "identity without a client");
    expect(minari_identity_get(client, nullptr, nullptr) == MINARI_INVALID, "no place for an identity");
    expect(minari_identity_get(client, &identity, &err) == MINARI_NOT_FOUND && *err.detail, "an old hub");

    expect(minari_dataset_list_get(client, nullptr, &list, nullptr) == MINARI_OK && minari_dataset_list_count(list) == 2, "no query");
    expect(minari_dataset_list_get(client, nullptr, nullptr, nullptr) == MINARI_INVALID, "no place for a list");
    expect(minari_facet_list_get(client, nullptr, nullptr, nullptr, nullptr) == MINARI_INVALID, "no place for facets");
    expect(minari_facet_list_get(client, nullptr, "env", &facets, &err) == MINARI_PROTOCOL && !facets && *err.detail, "an answer without facets");
    minari_facet_list_free(nullptr);
    expect(minari_dataset_get(client, nullptr, nullptr, &dataset, nullptr) == MINARI_INVALID, "no id");
    expect(minari_dataset_get(client, "a-v0", nullptr, nullptr, nullptr) == MINARI_INVALID, "no place for a dataset");
    expect(minari_dataset_download(client, "a-v0", nullptr, &err) == MINARI_INVALID && *err.detail, "no download options");
    expect(minari_dataset_download(nullptr, "a-v0", &download, nullptr) == MINARI_INVALID, "download without a client");
    expect(minari_episodes_each(client, "a-v0", nullptr, nullptr, nullptr, nullptr) == MINARI_INVALID, "no function");
    expect(minari_episode_get(client, "a-v0", 0, nullptr, nullptr) == MINARI_INVALID, "no place for an episode");
    expect(minari_file_list_get(client, "a-v0", nullptr, nullptr) == MINARI_INVALID, "no place for files");
    expect(minari_file_list_get(client, "a-v0", &files, nullptr) == MINARI_OK, "files");
    expect(minari_rows_get(client, "a-v0", 0, nullptr, nullptr, nullptr, count, &bytes, nullptr, nullptr) == MINARI_INVALID, "no field");
    expect(minari_rows_get(client, "a-v0", 0, "rewards", nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) == MINARI_INVALID, "no sink");
    expect(minari_rows_get(client, "a-v0", 0, "rewards", nullptr, nullptr, count, &bytes, &info, nullptr) == MINARI_OK && bytes == 9, "rows");
    expect(info.ndim == 2 && info.shape[0] == 10 && info.shape[1] == 39 && !std::strcmp(info.dtype, "float64"), "a shape of numbers");
    expect(minari_rows_read(client, "a-v0", 0, "rewards", nullptr, nullptr, 100, &text, nullptr, nullptr, nullptr) == MINARI_OK, "into memory");
    bytes = 0;
    expect(minari_file_get(client, "a-v0", "data/x", count, &bytes, nullptr, nullptr) == MINARI_OK && bytes == 1, "a file");
    expect(minari_file_get(client, "a-v0", "../x", count, &bytes, nullptr, &err) == MINARI_INVALID && bytes == 1, "no path of a file");
    expect(minari_file_get(client, "a-v0", nullptr, count, nullptr, nullptr, nullptr) == MINARI_INVALID, "no path");
    expect(minari_dataset_verify(client, "a-v0", nullptr, nullptr, nullptr, nullptr, nullptr) == MINARI_INVALID, "no directory");
    expect(minari_dataset_delete(nullptr, "a-v0", nullptr) == MINARI_INVALID, "no root");
    expect(minari_partial_each(nullptr, nullptr, nullptr, nullptr) == MINARI_INVALID, "no root for partial downloads");
    expect(upload.size == sizeof upload && minari_dataset_upload(client, &upload, nullptr) == MINARI_INVALID, "nothing to push");
    upload.path = "/nonexistent";
    upload.id = "lab/a-v0";
    expect(minari_dataset_upload(client, nullptr, nullptr) == MINARI_INVALID, "no upload options");
    expect(minari_dataset_upload(nullptr, &upload, nullptr) == MINARI_INVALID, "push without a client");
    expect(minari_dataset_upload(client, &upload, &err) == MINARI_NOT_FOUND && *err.detail, "no such folder");
    expect(minari_draft_each(client, nullptr, nullptr, nullptr) == MINARI_INVALID, "no function for drafts");
    expect(minari_draft_drop(client, nullptr, nullptr) == MINARI_INVALID, "no draft");
    expect(minari_namespace_each(nullptr, nullptr, nullptr, nullptr, nullptr) == MINARI_INVALID, "no root for namespaces");
    expect(minari_namespace_create(client, nullptr, nullptr, nullptr, nullptr) == MINARI_INVALID, "no name of a namespace");
    expect(minari_namespace_update(nullptr, nullptr, "lab", "{}", nullptr) == MINARI_INVALID, "no root of a namespace");
    expect(minari_namespace_delete(nullptr, "/nonexistent", "a.b", &err) == MINARI_INVALID && *err.detail, "no such name of a namespace");
    upload.base = "latest";
    expect(minari_dataset_upload(client, &upload, &err) == MINARI_INVALID && std::strstr(err.detail, "not a commit"), "no commit");
    expect(minari_revision_each(client, "a-v0", nullptr, nullptr, nullptr) == MINARI_INVALID, "no function for revisions");
    expect(minari_revision_each(client, nullptr, revision, nullptr, nullptr) == MINARI_INVALID, "no id for revisions");
    expect(minari_revision_each(client, "none-v0", revision, nullptr, &err) == MINARI_NOT_FOUND, "no revisions");
    expect(minari_dataset_remove(nullptr, "a-v0", nullptr) == MINARI_INVALID, "removal without a client");
    expect(minari_dataset_remove(client, "", nullptr) == MINARI_INVALID, "no id to remove");
    expect(minari_dataset_revert(client, "a-v0", nullptr, nullptr, nullptr, nullptr, nullptr) == MINARI_INVALID, "no commit to revert to");
    expect(minari_dataset_revert(client, "a-v0", "123456", nullptr, nullptr, nullptr, &err) == MINARI_INVALID, "too few digits");
    expect(minari_remote_parse("http://hub", nullptr, nullptr) == MINARI_OK, "no place for a remote");

    std::free(text);
    minari_file_list_free(files);
    minari_dataset_list_free(list);
    minari_client_free(client);
    minari_client_resume(nullptr, nullptr);
    minari_client_free(nullptr);
    minari_dataset_free(nullptr);
    return failed;
}
