/* What a tar holds, by its first members: samples of webdataset, a LeRobot set that somebody packed, or
 * anything else. */
#include "storage/formats/webdataset/webdataset.h"

enum { MAX_LOOK = 16 };

/* "code/main.c": the member of an archive of programs, whose names split like those of samples. */
static bool is_source(struct hub_view field)
{
    static const char *const endings[] = {"c",     "h",  "cc", "cpp", "hpp",  "cu",  "py",  "pyc",
                                          "ipynb", "sh", "md", "rst", "toml", "cfg", "ini", "yml",
                                          "yaml",  "js", "ts", "css", "html", "o"};
    for (size_t i = 0; i < HUB_COUNT(endings); i++)
        if (hub_view_is(field, endings[i]))
            return true;
    return false;
}

/* A member that belongs to a sample, by what of its name is compared. */
struct surveyed_member {
    uint64_t key, field;
    bool numbered; /* its key has a digit */
    bool data;     /* it holds arrays, or is what only webdataset calls so */
};

struct shard_survey {
    struct surveyed_member seen[MAX_LOOK];
    unsigned count;
    unsigned sources, others; /* members of programs, and those of no sample */
    bool lerobot;
    bool all; /* the tar has no more */
};

static uint64_t hash_of(struct hub_view text)
{
    return hub_hash(HUB_HASH_START, text.data, text.size);
}

static bool has_digit(struct hub_view text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] >= '0' && text.data[i] <= '9')
            return true;
    return false;
}

static bool has(struct hub_view text, const char *word)
{
    return memmem(text.data, text.size, word, strlen(word)) != NULL;
}

/* "SET/meta/info.json", and where the rows and videos of all versions lie. */
static bool is_of_lerobot(struct hub_view name)
{
    return hub_view_is(name, "meta/info.json") || hub_view_ends(name, "/meta/info.json") ||
           (has(name, "/chunk-") && (hub_view_ends(name, ".parquet") || hub_view_ends(name, ".mp4")));
}

static void note(struct shard_survey *look, struct hub_view name)
{
    struct hub_view key, field;
    look->lerobot = look->lerobot || is_of_lerobot(name);
    if (!hub_wds_split(name, &key, &field))
        look->others++;
    else if (is_source(field))
        look->sources++;
    else
        look->seen[look->count++] = (struct surveyed_member){
            hash_of(key), hash_of(field), has_digit(hub_view_behind(key, '/')),
            hub_wds_is_npy(field) || hub_wds_is_container(field) || hub_view_is(field, "cls")};
}

/* Two numbered keys that share a field, or two fields of one. */
static bool make_series(const struct surveyed_member *a, const struct surveyed_member *b)
{
    return a->numbered && b->numbered && (a->key == b->key) != (a->field == b->field);
}

static bool has_member(const struct shard_survey *look, uint64_t key, uint64_t field)
{
    for (unsigned i = 0; i < look->count; i++)
        if (look->seen[i].key == key && look->seen[i].field == field)
            return true;
    return false;
}

/* Two fields of one key that another key has, too: "cat.jpg cat.json dog.jpg dog.json". */
static bool repeats(const struct shard_survey *look, const struct surveyed_member *a,
                    const struct surveyed_member *b)
{
    for (unsigned i = 0; i < look->count && a->key == b->key && a->field != b->field; i++)
        if (look->seen[i].key != a->key && look->seen[i].field == a->field &&
            has_member(look, look->seen[i].key, b->field))
            return true;
    return false;
}

/* Names alone do not tell samples from other files: their keys are numbered or go on, or what they hold is
 * arrays. */
static bool are_samples(const struct shard_survey *look)
{
    const bool alone = look->all && look->count == 1 && !look->others && look->seen[0].numbered;
    if (look->count <= look->sources)
        return false;
    for (unsigned i = 0; i < look->count; i++) {
        if (look->seen[i].data || alone)
            return true;
        for (unsigned k = 0; k < i; k++)
            if (make_series(&look->seen[k], &look->seen[i]) || repeats(look, &look->seen[k], &look->seen[i]))
                return true;
    }
    return false;
}

/* `damaged`: more than this cannot be read. */
static enum hub_wds_content content_of(struct hub_byte_source *source, bool beginning, bool damaged)
{
    HUB_CLEANUP(hub_tar_dispose) struct hub_tar tar;
    struct shard_survey look = {.count = 0};
    struct hub_tar_member m;
    hub_tar_init(&tar, source);
    tar.beginning = beginning;
    for (unsigned i = 0; i < MAX_LOOK && !look.all; i++) {
        if (hub_tar_next(&tar, &m, &look.all, NULL)) {
            damaged = true;
            break;
        }
        if (!look.all && m.regular)
            note(&look, m.name);
    }
    if (look.lerobot)
        return HUB_WDS_LEROBOT;
    if (are_samples(&look))
        return HUB_WDS_SAMPLES;
    return !damaged && (look.count || look.sources || look.others) ? HUB_WDS_OTHER : HUB_WDS_UNKNOWN;
}

struct hub_packed hub_wds_packed(struct hub_byte_source *source)
{
    struct hub_packed packed = {.source = source, .size = source->size};
    const uint8_t *head;
    size_t got;
    if (!hub_byte_source_peek(source, 0, 4, &head, &got, NULL))
        packed.packing = hub_packing_of(head, got);
    return packed;
}

static enum hub_wds_content look_into(struct hub_byte_source *file)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(MIB); /* metadata have up to 250 KB */
    struct hub_byte_source memory;
    const struct hub_packed packed = hub_wds_packed(file);
    const enum hub_status st = packed.packing ? hub_unpack_head(&packed, &head, NULL) : HUB_CORRUPT;
    if (st == HUB_TOO_BIG)
        return HUB_WDS_SAMPLES; /* as its name says; inspection refuses it with what to do */
    hub_byte_source_memory(&memory, head.data, head.size);
    return content_of(&memory, head.size == head.limit, st != HUB_OK);
}

enum hub_wds_content hub_wds_look(struct hub_files *files, uint32_t number)
{
    struct hub_byte_source source;
    hub_byte_source_file(&source, files, number);
    switch (hub_wds_shard_of(files->entries[number].path).packing) {
    case HUB_WDS_TAR:
        return content_of(&source, false, false);
    case HUB_WDS_PACKED:
        return look_into(&source);
    default:
        return HUB_WDS_UNKNOWN;
    }
}
