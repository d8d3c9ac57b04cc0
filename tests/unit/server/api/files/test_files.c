/* Listings of files, and their bytes. */
#include "tests/support/api_kit.h"

#include <criterion/criterion.h>

TestSuite(files, .init = api_kit_open, .fini = api_kit_close, .timeout = 60);

#define DOOR "/api/v1/datasets/door-human-v0/files"

Test(files, listed_and_sent)
{
    static const struct api_case cases[] = {
        {DOOR, 200, NULL, "\"total\":1,\"items\":[{\"path\":\"data/main_data.hdf5\",\"size\":261360,"},
        {DOOR "?colour=1", 400, "bad-parameter", "unknown parameter"},
        {DOOR "?limit=1", 200, NULL, "\"prefixes\":[]"},
        {DOOR "/data/main_data.hdf5", 200, NULL, NULL, "Accept-Ranges: bytes"},
        {DOOR "/data/main_data.hdf5", 200, NULL, NULL,
         "Content-Security-Policy: sandbox; default-src 'none'"},
        {DOOR "/data", 404, "file-not-found", NULL},
        {DOOR "/data/other.hdf5", 404, "file-not-found", "'door-human-v0' has no file 'data/other.hdf5'"},
        {DOOR "/data%2Fmain_data.hdf5", 200, NULL, NULL, NULL},
        {"/api/v1/datasets/cut-v0/files/data/main_data.hdf5", 200, NULL, NULL,
         NULL}, /* no status blocks bytes */
        {"/api/v1/datasets/root-files/files/notes.txt", 200, NULL, "hello", NULL},
        {"/api/v1/datasets/nothing/files", 404, "dataset-not-found", NULL},
        {"/api/v1/datasets/door-human-v0/files/../x", 400, "bad-request", NULL},
    };
    api_kit_expect(cases, HUB_COUNT(cases));
}
