/* Recipes: see recipes.h. One more is one row. */
#include "server/page/recipes.h"

#include "server/api/app.h"
#include "server/page/lanes.h"
#include "server/page/problems.h"
#include "storage/model/format_row.h"
#include "storage/query/where.h"
#include "storage/text/uri.h"

#include <inttypes.h>

enum recipe_needs {
    MINARI = 1,       /* stock Minari loads it */
    LISTED = 256,     /* ... and finds it elsewhere: not what was written before 0.5 */
    TREE = 2,         /* it does not */
    LEROBOT = 4,      /* LeRobot does */
    REPO = 8,         /* it lies in a repo of Hugging Face ... */
    WHOLE_REPO = 16,  /* ... and is all of it */
    FIELD = 32,       /* it has a field of numbers */
    TRANSITIONS = 64, /* it has observations and actions */
    TARS = 128,       /* it has shards that the library webdataset reads */
    CHOSEN = 512,     /* some of its episodes were chosen; these alone are shown then */
    EDITED = 1024,    /* LeRobot's own tool edits it: from v3.0 on */
    FITS = 2048,      /* a filter may be as long as one that names them all */
    READY = 4096,     /* it can be read ... */
    LOADS = 8192,     /* ... and its own library does not refuse it ... */
    ROWS = 16384,     /* ... and it has an episode */
    SPACED = 32768 /* it lies in a namespace, a repo of the author: Minari takes others from a bucket alone */
};

/* <name> is a value as part of a URL, <name sh> one argument of a shell, <name py> a text of Python. */
static const struct recipe {
    const char *title, *text;
    unsigned needs;
    bool first; /* also on the dataset's page */
} recipes[] = {
    {"minari-cli", "export MINARI_HUB_URL=<base>\nminari-cli download <id sh>", MINARI | LOADS, true},
    {"minari-cli", "export MINARI_HUB_URL=<base>\nminari-cli download <id sh> -o .", TREE | LOADS, true},
    {"Python: Minari",
     "import os\nos.environ[\"HF_ENDPOINT\"] = \"<base>\"\n"
     "os.environ[\"MINARI_REMOTE\"] = \"hf://<author>\"\nimport minari\n"
     "minari.download_dataset(<id py>)",
     LISTED | LOADS | SPACED, false},
    {"Python: Minari, from a bucket",
     "import os\nos.environ[\"STORAGE_EMULATOR_HOST\"] = \"<base>\"\n"
     "os.environ[\"MINARI_REMOTE\"] = \"gcp://<bucket>\"\nimport minari\n"
     "minari.download_dataset(<id py>)",
     LISTED | LOADS, false},
    {"Python: Minari, once downloaded",
     "import minari\ndataset = minari.load_dataset(<id py>)\nepisode = "
     "next(iter(dataset.iterate_episodes([<n>])))\n"
     "print(episode.rewards)",
     MINARI | LOADS | ROWS, false},
    {"Python: LeRobot",
     "import os\nos.environ[\"HF_ENDPOINT\"] = \"<base>\"\n"
     "from lerobot.datasets.lerobot_dataset import LeRobotDataset\n"
     "dataset = LeRobotDataset(<repo py>, episodes=[<n>])\nprint(dataset[0].keys())",
     LEROBOT | WHOLE_REPO | LOADS | ROWS, true},
    {"Python: huggingface_hub",
     "import os\nos.environ[\"HF_ENDPOINT\"] = \"<base>\"\nfrom huggingface_hub import snapshot_download\n"
     "print(snapshot_download(<repo py>, repo_type=\"dataset\", allow_patterns=<within py>))",
     REPO | READY, false},
    {"minari-cli: rows of a field", "minari-cli get <id sh> <n> <field sh> --rows 0:10 -o rows.npy",
     FIELD | ROWS, false},
    {"curl: rows of a field", "curl -s '<base>/api/v1/datasets/<id>/episodes/<n>/<field>?start=0&stop=10'",
     FIELD | ROWS, false},
    {"Python: numpy, rows of a field",
     "import io, urllib.request, numpy\na = numpy.load(io.BytesIO(urllib.request.urlopen(\n"
     "    \"<base>/api/v1/datasets/<id>/episodes/<n>/<field>?format=npy\").read()))\nprint(a.shape)",
     FIELD | ROWS, false},
    {"Python: pandas, a table of all episodes",
     "import pandas\nprint(pandas.read_csv(\"<base>/api/v1/datasets/<id>/episodes?columns=number,steps,return"
     "&format=csv\"))",
     ROWS, false},
    {"Python: numpy, transitions of all episodes",
     "import io, urllib.request, numpy\nd = numpy.load(io.BytesIO(urllib.request.urlopen(\n"
     "    \"<base>/api/v1/datasets/<id>/rows?layout=transitions&format=npz\").read()))\nprint({k: d[k].shape "
     "for k in d})",
     TRANSITIONS | ROWS, false},
    {"Python: webdataset",
     "import webdataset\nfor sample in webdataset.WebDataset(\"<base>\" + <shards py>, shardshuffle=False):\n"
     "    print(sample.keys())\n    break",
     TARS | LOADS, true},
    {"curl: all files", "curl -s '<base>/api/v1/datasets/<id>/archive.tar' | tar x", 0, false},
    {"rclone: sync all files", "rclone copy ':http,url=\"<base>/<bucket>/<id>/\":' <id sh>", 0, false},
    {"The episodes as a filter", "number in (<chosen>)", CHOSEN | FITS, false},
    {"The episodes as JSON", "[<chosen>]", CHOSEN, false},
    {"minari-cli: all their rows", "minari-cli rows <id sh> --where 'number in (<chosen>)' -o rows.npz",
     CHOSEN | TRANSITIONS | FITS, false},
    {"Python: Minari, without them",
     "import minari\ndataset = minari.load_dataset(<id py>)\n"
     "kept = dataset.filter_episodes(lambda episode: episode.id not in {<chosen>})\n"
     "print(kept.total_episodes)",
     CHOSEN | MINARI | LOADS, false},
    {"LeRobot: delete them from a copy",
     "lerobot-edit-dataset --repo_id <repo sh> --operation.type delete_episodes "
     "--operation.episode_indices '[<chosen>]'",
     CHOSEN | LEROBOT | WHOLE_REPO | EDITED | LOADS, false},
};

/* ---- what it is ---- */

struct recipe_values {
    const struct page *page;
    struct hub_view id, field, shards, chosen; /* chosen: "3, 7, 19" */
    struct hub_buf repo, within;
    int64_t episode; /* -1: it has none that can be read */
    unsigned has;    /* enum recipe_needs */
};

/* As clients of Hugging Face allow; a dot or a dash neither first nor last nor twice. */
static bool can_be_repo(struct hub_view name)
{
    bool letter = false;
    for (size_t i = 0; i < name.size; i++) {
        const char c = name.data[i];
        const bool plain =
            (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
        if (!plain && (!letter || (c != '-' && c != '.')))
            return false;
        letter = plain;
    }
    return letter && name.size <= 96 && !hub_view_ends(name, ".git");
}

/* The first two segments; a single one is a repo of the hub's author. `within`: what is it of the repo. */
static enum hub_status find_repo(struct recipe_values *v, struct hub_error *err)
{
    const struct hub_view author = hub_view_of(v->page->request->app->author);
    const char *end = v->id.data + v->id.size, *slash = memchr(v->id.data, '/', v->id.size);
    const char *name = slash ? slash + 1 : v->id.data, *stop = memchr(name, '/', (size_t)(end - name));
    const struct hub_view org = slash ? (struct hub_view){v->id.data, (size_t)(slash - v->id.data)} : author;
    const struct hub_view repo = {name, (size_t)((stop ? stop : end) - name)};
    v->has |= slash && can_be_repo(org) ? SPACED : 0;
    if (!can_be_repo(org) || !can_be_repo(repo))
        return HUB_OK;
    v->has |= stop ? REPO : REPO | WHOLE_REPO;
    HUB_TRY(hub_buf_add_view(&v->repo, org, err));
    HUB_TRY(hub_buf_add_text(&v->repo, "/", err));
    HUB_TRY(hub_buf_add_view(&v->repo, repo, err));
    if (stop)
        HUB_TRY(hub_buf_addf(&v->within, err, "%.*s/*", (int)(end - stop - 1), stop + 1));
    return HUB_OK;
}

/* As Minari reads ids. */
static bool minari_can_say(struct hub_view id)
{
    for (size_t i = 0; i < id.size; i++) {
        const char c = id.data[i];
        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || strchr("-_/", c)))
            return false;
    }
    return true;
}

static bool has_role(const json_t *fields, const char *role)
{
    size_t i;
    const json_t *field;
    json_array_foreach(fields, i, field)
    {
        if (hub_view_is(page_text(field, "role"), role))
            return true;
    }
    return false;
}

/* By the ending of their name. */
static bool are_tars(struct hub_view shards)
{
    const struct hub_view name = hub_view_behind(shards, '/');
    return name.size && (memmem(name.data, name.size, ".tar", 4) || hub_view_ends(name, ".tgz"));
}

static enum hub_status find_values(struct recipe_values *v, const json_t *dataset, struct hub_error *err)
{
    const json_t *fields = json_object_get(dataset, "fields");
    v->id = page_text(dataset, "id");
    v->shards = hub_view_of(json_string_value(json_array_get(json_object_get(dataset, "shards"), 0)));
    v->has |=
        json_array_size(json_object_get(dataset, "loadable_by")) && minari_can_say(v->id) ? MINARI : TREE;
    v->has |= v->has & MINARI && hub_view_is(page_text(dataset, "era"), "E5") ? LISTED : 0;
    v->has |= hub_format_is_of(page_text(dataset, "format").data, HUB_LIBRARY_LEROBOT) ? LEROBOT : 0;
    v->has |= hub_view_is(page_text(dataset, "era"), "v3.0") ? EDITED : 0;
    v->has |= are_tars(v->shards) ? TARS : 0;
    v->has |= v->chosen.size ? CHOSEN : 0;
    v->has |= v->chosen.size + strlen("number in ()") <= HUB_WHERE_BYTES ? FITS : 0;
    v->has |= has_role(fields, "observation") && has_role(fields, "action") ? TRANSITIONS : 0;
    if (hub_view_is(page_text(dataset, "status"), "ready"))
        v->has |= json_is_false(json_object_get(dataset, "loadable")) ? READY : READY | LOADS;
    v->has |= v->has & READY && (v->episode >= 0 || v->chosen.size) ? ROWS : 0;
    return find_repo(v, err);
}

/* ---- writing ---- */

/* A text of Python. */
static enum hub_status add_python(struct hub_view text, struct hub_buf *out, struct hub_error *err)
{
    if (!text.size)
        return hub_buf_add_text(out, "None", err);
    HUB_TRY(hub_buf_add_text(out, "\"", err));
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\')
            HUB_TRY(hub_buf_add_text(out, "\\", err));
        HUB_TRY(hub_buf_add(out, text.data + i, 1, err));
    }
    return hub_buf_add_text(out, "\"", err);
}

static struct hub_view value_of(const struct recipe_values *v, struct hub_view name)
{
    const struct hub_app *app = v->page->request->app;
    return hub_view_is(name, "base")     ? hub_view_of(hub_base_url(v->page->request))
           : hub_view_is(name, "bucket") ? hub_view_of(app->bucket)
           : hub_view_is(name, "author") ? hub_view_of(app->author)
           : hub_view_is(name, "id")     ? v->id
           : hub_view_is(name, "field")  ? v->field
           : hub_view_is(name, "repo")   ? hub_buf_view(&v->repo)
           : hub_view_is(name, "within") ? hub_buf_view(&v->within)
                                         : v->shards;
}

/* What stands between < and >. */
static enum hub_status add_value(const struct recipe_values *v, struct hub_view slot, struct hub_buf *out,
                                 struct hub_error *err)
{
    const char *space = memchr(slot.data, ' ', slot.size);
    const struct hub_view name = {slot.data, space ? (size_t)(space - slot.data) : slot.size};
    if (hub_view_is(name, "n"))
        return hub_buf_addf(out, err, "%" PRId64, v->episode);
    if (hub_view_is(name, "chosen"))
        return hub_buf_add_view(out, v->chosen, err);
    const struct hub_view value = value_of(v, name);
    if (space)
        return strncmp(space, " sh", 3) == 0 ? page_add_shell(value, out, err) : add_python(value, out, err);
    return hub_view_is(name, "base") || hub_view_is(name, "bucket") || hub_view_is(name, "author")
               ? hub_buf_add_view(out, value, err)
               : hub_uri_encode_path(value, out, err);
}

static enum hub_status write_text(const struct recipe_values *v, const char *text, struct hub_buf *out,
                                  struct hub_error *err)
{
    while (*text) {
        const size_t plain = strcspn(text, "<");
        HUB_TRY(hub_buf_add(out, text, plain, err));
        text += plain;
        if (!*text)
            break;
        const size_t size = strcspn(text, ">");
        HUB_TRY(add_value(v, (struct hub_view){text + 1, size - 1}, out, err));
        text += size + 1;
    }
    return HUB_OK;
}

static enum hub_status write_recipes(struct page *page, struct recipe_values *v, bool first)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    for (size_t i = 0; i < HUB_COUNT(recipes); i++) {
        const struct recipe *r = &recipes[i];
        if ((r->needs & v->has) != r->needs || (r->needs & CHOSEN) != (v->has & CHOSEN) ||
            (first && !r->first && (v->has & LOADS || r->needs)))
            continue;
        text.size = 0;
        HUB_TRY(write_text(v, r->text, &text, page->err));
        page_recipe(&page->out, &(struct page_recipe){hub_view_of(r->title), hub_buf_view(&text)});
    }
    return HUB_OK;
}

/* Why its own library refuses it: the first problem of those. */
static struct hub_view refusal_of(struct page *page, const json_t *dataset)
{
    size_t i;
    const json_t *problem;
    json_array_foreach(json_object_get(dataset, "problems"), i, problem)
    {
        const struct hub_view path = page_text(problem, "path");
        if (hub_view_is(page_text(problem, "costs"), "loading"))
            return page_url(page, path.size ? "%r: %r" : "%r%r", path, page_text(problem, "detail"));
    }
    return HUB_VIEW("its problems say why");
}

/* Why some commands are left out; "": none is. */
static struct hub_view why_fewer(struct page *page, const json_t *dataset, const struct recipe_values *v)
{
    const struct hub_view status = page_text(dataset, "status");
    if (hub_view_is(status, "pending"))
        return HUB_VIEW("It is still being read: more commands appear here when that is complete.");
    if (hub_view_is(status, "broken") || hub_view_is(status, "unsupported"))
        return page_url(page, "Only its files can be downloaded, as they are: %r",
                        page_text(dataset, "reason"));
    if (!(v->has & READY))
        return HUB_VIEW("");
    if (!(v->has & LOADS))
        return page_url(page, "Commands that load it are left out because %r refuses it: %r",
                        page_library_of(dataset), refusal_of(page, dataset));
    return v->has & ROWS || hub_view_is(page_text(dataset, "format"), HUB_FILES_FORMAT)
               ? HUB_VIEW("")
               : HUB_VIEW("Commands that read rows are left out because none of its episodes can be read.");
}

static enum hub_status write_all(struct page *page, const json_t *dataset, struct recipe_values *v,
                                 bool first)
{
    v->page = page;
    v->repo = HUB_BUF_INIT(KIB);
    v->within = HUB_BUF_INIT(4 * KIB);
    enum hub_status st = find_values(v, dataset, page->err);
    const struct hub_view fewer = why_fewer(page, dataset, v);
    if (!st && fewer.size && !v->chosen.size)
        page_paragraph(&page->out, &(struct page_paragraph){HUB_VIEW("muted"), fewer});
    if (!st)
        st = write_recipes(page, v, first);
    hub_buf_dispose(&v->repo);
    hub_buf_dispose(&v->within);
    return st;
}

enum hub_status page_recipes(struct page *page, const json_t *dataset, int64_t episode, const char *field,
                             bool first)
{
    struct recipe_values v = {
        .field = hub_view_of(field ? field : ""), .episode = episode, .has = field ? FIELD : 0};
    return write_all(page, dataset, &v, first);
}

enum hub_status page_recipes_chosen(struct page *page, const json_t *dataset, struct hub_view numbers)
{
    struct recipe_values v = {.chosen = numbers};
    return write_all(page, dataset, &v, false);
}

int64_t page_first_episode(const json_t *list)
{
    const json_t *number = json_object_get(json_array_get(json_object_get(list, "items"), 0), "number");
    return json_is_integer(number) ? json_integer_value(number) : -1;
}

const char *page_first_number(const json_t *dataset, const json_t *episode)
{
    size_t i;
    const json_t *field;
    json_array_foreach(json_object_get(dataset, "fields"), i, field)
    {
        const struct hub_view path = page_text(field, "path");
        if (hub_view_is(page_text(field, "type"), "number") && page_field_of(episode, path))
            return path.data;
    }
    return NULL;
}
