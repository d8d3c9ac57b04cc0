/* The line that loads a download: see loading.h. It follows from the files that came, so that it is known
 * also where the remote does not say what they are. */
#include "client/cli/loading.h"

#include "storage/model/format_row.h"
#include "storage/transfer/record.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>

/* Where the format is not known, or its row has no line that fits. */
static const struct hub_loading_line lines[] = {
    {"meta/episodes.jsonl", /* v2.1 and before, which lerobot reads up to its release 0.3 */
     "from lerobot.datasets.lerobot_dataset import LeRobotDataset; dataset = LeRobotDataset(%I, root=%D%E)  "
     "# lerobot < 0.4"},
    {"meta/info.json",
     "from lerobot.datasets.lerobot_dataset import LeRobotDataset; dataset = LeRobotDataset(%I, root=%D%E)"},
    {"dataset_dict.json", "import datasets; dataset = datasets.load_from_disk(%P)"},
    {"state.json", "import datasets; dataset = datasets.load_from_disk(%P)"},
    {"*.pkl.gz", "import cloudpickle, gzip; demo = cloudpickle.load(gzip.open(%F))"},
    {"*.pickle.gz", "import cloudpickle, gzip; demo = cloudpickle.load(gzip.open(%F))"},
    {"*.tar", "import glob, webdataset; dataset = webdataset.WebDataset(sorted(glob.glob(glob.escape(%P) + "
              "'/*.tar')), "
              "shardshuffle=False)"},
    {"*.hdf5", "import h5py; data = h5py.File(%F)"},
    {"*.h5", "import h5py; data = h5py.File(%F)"},
    {"*.npz", "import numpy; data = numpy.load(%F)"},
    {"*.npy", "import numpy; data = numpy.load(%F)"},
    {"*.parquet", "import pyarrow.parquet; table = pyarrow.parquet.read_table(%F)"},
    {"*.feather", "import pyarrow.feather; table = pyarrow.feather.read_table(%F)"},
    {"*.arrow", "import pyarrow; f = pyarrow.OSFile(%F); "
                "table = (pyarrow.ipc.open_file if f.read(6) == b'ARROW1' else pyarrow.ipc.open_stream)"
                "(pyarrow.OSFile(%F)).read_all()"},
    {0},
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

static const char *find(const struct hub_record *record, const char *pattern)
{
    for (size_t i = 0; i < record->count; i++) {
        const char *path = record->files[i].path, *slash = strrchr(path, '/');
        if (fnmatch(pattern, path, 0) == 0 || fnmatch(pattern, slash ? slash + 1 : path, 0) == 0)
            return path;
    }
    return NULL;
}

/* The first line that fits a file; NULL: none does. */
static const struct hub_loading_line *choose(const struct hub_loading_line *line,
                                             const struct hub_record *record, const char **file)
{
    for (; line && line->file; line++)
        if ((*file = find(record, line->file)))
            return line;
    return NULL;
}

enum hub_status loading_line(const char *format, const char *directory, const char *episodes,
                             struct hub_buf *out, struct hub_error *err)
{
    struct hub_record record;
    struct filling filling = {&record, directory, episodes, NULL};
    if (hub_format_is_of(format, HUB_LIBRARY_MINARI))
        return HUB_OK;
    HUB_TRY(hub_record_read(directory, &record, err));
    const struct hub_loading_line *line =
        choose(hub_format_traits_of(format)->loading, &record, &filling.file);
    if (!line)
        line = choose(lines, &record, &filling.file);
    const enum hub_status st = line ? write_line(line->line, &filling, out, err) : HUB_OK;
    hub_record_dispose(&record);
    return st;
}
