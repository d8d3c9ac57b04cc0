/* The rows of the formats: see format_row.h. */
#include "storage/model/format_row.h"

#include <string.h>

/* ---- lines that load a download ---- */

#define LINES(row) static const struct hub_loading_line row[]

LINES(robomimic) = {
    {"*.hdf5", "import h5py; demos = h5py.File(%F)['data']; names = list(demos)"},
    {"*.h5", "import h5py; demos = h5py.File(%F)['data']; names = list(demos)"},
    {0},
};
LINES(webdataset) = {
    {"*.tar*", "import glob, webdataset; dataset = webdataset.WebDataset(sorted(glob.glob(glob.escape(%P) + "
               "'/*.tar*')), shardshuffle=False)"},
    {"*.tgz", "import webdataset; dataset = webdataset.WebDataset(%F, shardshuffle=False)"},
    {0},
};
LINES(il) = {
    {"*.npz", "import numpy; demos = numpy.load(%F, allow_pickle=True)['arr_0']"},
    {"*.pkl", "import cloudpickle; demo = cloudpickle.load(open(%F, 'rb'))"},
    {"*.pickle", "import cloudpickle; demo = cloudpickle.load(open(%F, 'rb'))"},
    {0},
};
LINES(imitation) = {
    {"*.npz", "from imitation.data import serialize; trajectories = serialize.load(%F)"},
    {"*.parquet", "import datasets; dataset = datasets.load_dataset(%D)"},
    {0},
};

/* ---- the table ---- */

#define ROW(row, ...) {__VA_ARGS__},
const struct hub_format_traits hub_format_rows[HUB_FORMAT_COUNT] = {HUB_FORMATS(ROW)};

const struct hub_format_traits *hub_format_traits_of(const char *name)
{
    static const struct hub_format_traits none = {0};
    for (size_t i = 0; name && i < HUB_FORMAT_COUNT; i++)
        if (strcmp(hub_format_rows[i].name, name) == 0)
            return &hub_format_rows[i];
    return &none;
}

const char *hub_format_library(const char *name)
{
    const struct hub_format_traits *traits = hub_format_traits_of(name);
    const size_t word = name ? strcspn(name, "-") : 0;
    for (size_t i = 0; word && !traits->name && i < HUB_FORMAT_COUNT; i++)
        if (strncmp(hub_format_rows[i].name, name, word) == 0 && hub_format_rows[i].name[word] == '-')
            return hub_format_rows[i].library;
    return traits->library;
}

bool hub_format_is_of(const char *name, const char *library)
{
    const char *of = hub_format_library(name);
    return of && strcmp(of, library) == 0;
}

const char *hub_format_stated(const char *data_format)
{
    const char *first = NULL;
    for (size_t i = 0; i < HUB_FORMAT_COUNT; i++) {
        const struct hub_format_traits *row = &hub_format_rows[i];
        if (row->data_format && data_format && strcmp(row->data_format, data_format) == 0)
            return row->name;
        if (row->data_format && !first)
            first = row->name;
    }
    return first;
}
