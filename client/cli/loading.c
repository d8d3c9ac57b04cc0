/* The line that loads a download: see loading.h. It follows from the files that came, so that it is known
 * also where the
 * remote does not say what they are. */
#include "client/cli/loading.h"

#include "storage/transfer/record.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>

/* The first row whose pattern fits a file is taken. In a line %D is the dataset's folder, %F the file, %P the
 * folder that the file lies in, each as a text of Python, %I the dataset's id, and
 * %E the episodes it was downloaded for, where they are listed. */
static const struct {
    const char *format; /* NULL: any */
    const char *file, *line;
} rows[] = {
    {NULL, "meta/episodes.jsonl", /* v2.1 and before, which lerobot reads up to its release 0.3 */
     "from lerobot.datasets.lerobot_dataset import LeRobotDataset; dataset = LeRobotDataset(%I, root=%D%E)  "
     "# lerobot < 0.4"},
    {NULL, "meta/info.json",
     "from lerobot.datasets.lerobot_dataset import LeRobotDataset; dataset = LeRobotDataset(%I, root=%D%E)"},
    {NULL, "dataset_dict.json", "import datasets; dataset = datasets.load_from_disk(%P)"},
    {NULL, "state.json", "import datasets; dataset = datasets.load_from_disk(%P)"},
    {"imitation", "*.npz", "from imitation.data import serialize; trajectories = serialize.load(%F)"},
    {"imitation", "*.parquet", "import datasets; dataset = datasets.load_dataset(%D)"},
    {"il-native", "*.npz", "import numpy; demos = numpy.load(%F, allow_pickle=True)['arr_0']"},
    {NULL, "*.pkl.gz", "import cloudpickle, gzip; demo = cloudpickle.load(gzip.open(%F))"},
    {NULL, "*.pickle.gz", "import cloudpickle, gzip; demo = cloudpickle.load(gzip.open(%F))"},
    {"il-native", "*.pkl", "import cloudpickle; demo = cloudpickle.load(open(%F, 'rb'))"},
    {"il-native", "*.pickle", "import cloudpickle; demo = cloudpickle.load(open(%F, 'rb'))"},
    {"webdataset", "*.tar*",
     "import glob, webdataset; dataset = webdataset.WebDataset(sorted(glob.glob(glob.escape(%P) + "
     "'/*.tar*')), "
     "shardshuffle=False)"},
    {"webdataset", "*.tgz", "import webdataset; dataset = webdataset.WebDataset(%F, shardshuffle=False)"},
    {NULL, "*.tar",
     "import glob, webdataset; dataset = webdataset.WebDataset(sorted(glob.glob(glob.escape(%P) + "
     "'/*.tar')), "
     "shardshuffle=False)"},
    {"robomimic", "*.hdf5", "import h5py; demos = h5py.File(%F)['data']; names = list(demos)"},
    {"robomimic", "*.h5", "import h5py; demos = h5py.File(%F)['data']; names = list(demos)"},
    {NULL, "*.hdf5", "import h5py; data = h5py.File(%F)"},
    {NULL, "*.h5", "import h5py; data = h5py.File(%F)"},
    {NULL, "*.npz", "import numpy; data = numpy.load(%F)"},
    {NULL, "*.npy", "import numpy; data = numpy.load(%F)"},
    {NULL, "*.parquet", "import pyarrow.parquet; table = pyarrow.parquet.read_table(%F)"},
    {NULL, "*.feather", "import pyarrow.feather; table = pyarrow.feather.read_table(%F)"},
    {NULL, "*.arrow",
     "import pyarrow; f = pyarrow.OSFile(%F); "
     "table = (pyarrow.ipc.open_file if f.read(6) == b'ARROW1' else pyarrow.ipc.open_stream)"
     "(pyarrow.OSFile(%F)).read_all()"},
};

/* A text as Python writes it. */
static enum hub_status add_text(struct hub_buf *out, struct hub_view text, struct hub_error *err)
{
    HUB_TRY(hub_buf_add_text(out, "'", err));
    for (size_t i = 0; i < text.size; i++) {
        const unsigned char c = (unsigned char)text.data[i];
        HUB_TRY(c < 32 || c == 127       ? hub_buf_addf(out, err, "\\x%02x", c)
                : c == '\'' || c == '\\' ? hub_buf_addf(out, err, "\\%c", c)
                                         : hub_buf_add(out, &c, 1, err));
    }
    return hub_buf_add_text(out, "'", err);
}

static enum hub_status add_path(struct hub_buf *out, const char *directory, struct hub_view below,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(PATH_MAX * (size_t)2);
    HUB_TRY(hub_buf_add_text(&path, directory, err));
    HUB_TRY(hub_buf_add_text(&path, below.size ? "/" : "", err));
    HUB_TRY(hub_buf_add_view(&path, below, err));
    return add_text(out, hub_buf_view(&path), err);
}

/* ", episodes=[*range(0, 10), 15]"; nothing where a range is open. */
static enum hub_status add_episodes(struct hub_buf *out, const char *episodes, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf list = HUB_BUF_INIT(64 * KIB);
    for (const char *at = episodes; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        unsigned long long from, to;
        char end;
        const int n = sscanf(at, "%18llu%c%18llu", &from, &end, &to);
        if (n < 1 || (n > 1 && end == ':' && n < 3))
            return HUB_OK;
        HUB_TRY(hub_buf_add_text(&list, list.size ? ", " : ", episodes=[", err));
        HUB_TRY(n == 3 && end == ':' ? hub_buf_addf(&list, err, "*range(%llu, %llu)", from, to)
                                     : hub_buf_addf(&list, err, "%llu", from));
    }
    HUB_TRY(hub_buf_add_view(out, hub_buf_view(&list), err));
    return hub_buf_add_text(out, list.size ? "]" : "", err);
}

/* What a line is written from. */
struct filling {
    const struct hub_record *record;
    const char *directory, *episodes, *file;
};

static enum hub_status write_line(const char *line, const struct filling *f, struct hub_buf *out,
                                  struct hub_error *err)
{
    const char *file = f->file, *directory = f->directory;
    const struct hub_view path = hub_view_of(file);
    const char *slash = strrchr(file, '/');
    for (; *line; line++) {
        if (*line != '%') {
            HUB_TRY(hub_buf_add(out, line, 1, err));
            continue;
        }
        line++;
        HUB_TRY(*line == 'I'   ? add_text(out, hub_view_of(f->record->id), err)
                : *line == 'E' ? add_episodes(out, f->episodes, err)
                : *line == 'D' ? add_path(out, directory, (struct hub_view){"", 0}, err)
                : *line == 'F' ? add_path(out, directory, path, err)
                               : add_path(out, directory,
                                          (struct hub_view){file, slash ? (size_t)(slash - file) : 0}, err));
    }
    return HUB_OK;
}

/* By the path, or the last name. */
static const char *find(const struct hub_record *record, const char *pattern)
{
    for (size_t i = 0; i < record->count; i++) {
        const char *path = record->files[i].path, *slash = strrchr(path, '/');
        if (fnmatch(pattern, path, 0) == 0 || fnmatch(pattern, slash ? slash + 1 : path, 0) == 0)
            return path;
    }
    return NULL;
}

enum hub_status loading_line(const char *format, const char *directory, const char *episodes,
                             struct hub_buf *out, struct hub_error *err)
{
    struct hub_record record;
    enum hub_status st = HUB_OK;
    if (strncmp(format, "minari", 6) == 0)
        return HUB_OK;
    HUB_TRY(hub_record_read(directory, &record, err));
    for (size_t i = 0; i < HUB_COUNT(rows); i++) {
        const char *file =
            !rows[i].format || strcmp(rows[i].format, format) == 0 ? find(&record, rows[i].file) : NULL;
        if (file) {
            st = write_line(rows[i].line, &(struct filling){&record, directory, episodes, file}, out, err);
            break;
        }
    }
    hub_record_dispose(&record);
    return st;
}
