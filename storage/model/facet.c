/* What people choose datasets by: see facet.h. */
#include "storage/model/facet.h"

#include <stdio.h>
#include <strings.h>

enum { MAX_VALUE = 200, MAX_VALUES = 256, MAX_LINES = 32 * 1024, MAX_NAME = 1024 };

const char *const hub_facet_names[HUB_FACET_COUNT + 1] = {
    "env", "task", "robot", "camera", "author", "algorithm", "kind", "license", "action_dim", NULL};

/* Where a value stands in the facts: members of objects, "*" for all items of an array, "a/b" for two texts
 * that are one together. A list of texts is all of them. Of one kind the first row that says something
 * counts. */
static const struct {
    enum hub_facet kind;
    const char *fact, *at;
} places[] = {
    {HUB_FACET_ENV, "env_spec", "id"},                               /* Minari */
    {HUB_FACET_ENV, "env_spec", "env_name"},                         /* robomimic */
    {HUB_FACET_ENV, "env_spec", "env_id"},                           /* ManiSkill */
    {HUB_FACET_ENV, "metadata", "env_cfg.benchmark_name/task_name"}, /* il-representations, in its shards */
    {HUB_FACET_ENV, "metadata", "benchmark/task"},                   /* in its folders */
    {HUB_FACET_ENV, "metadata", "env_name"},
    {HUB_FACET_ENV, "metadata", "env"}, /* robosuite's recordings */
    {HUB_FACET_TASK, "tasks", "*.task"},
    {HUB_FACET_TASK, "metadata", "problem_info.language_instruction"}, /* LIBERO */
    {HUB_FACET_TASK, "metadata", "env_cfg.task_name"},
    {HUB_FACET_TASK, "metadata", "task"},
    {HUB_FACET_ROBOT, "robot_type", ""},
    {HUB_FACET_ROBOT, "env_spec", "env_kwargs.robots"},
    {HUB_FACET_ROBOT, "env_spec", "env_kwargs.robot_uids"},
    {HUB_FACET_ROBOT, "metadata", "env_info.robots"},
    {HUB_FACET_ROBOT, "metadata", "robot"},
    {HUB_FACET_CAMERA, "cameras", "*.camera"},
    {HUB_FACET_AUTHOR, "authors", ""},
    {HUB_FACET_ALGORITHM, "metadata", "algorithm_name"},
    {HUB_FACET_ALGORITHM, "metadata", "algorithm"},
    {HUB_FACET_ALGORITHM, "metadata", "source_type"}, /* ManiSkill */
    {HUB_FACET_KIND, "metadata", "kind"},
    {HUB_FACET_LICENSE, "card", "license"},
    {HUB_FACET_LICENSE, "metadata", "license"},
    /* as hub_facet_put wrote them: of what another hub lists */
    {HUB_FACET_ENV, "facts", "env"},
    {HUB_FACET_TASK, "facts", "tasks"},
    {HUB_FACET_ROBOT, "facts", "robot"},
    {HUB_FACET_CAMERA, "facts", "cameras"},
    {HUB_FACET_ALGORITHM, "facts", "algorithm"},
    {HUB_FACET_KIND, "facts", "kind"},
    {HUB_FACET_LICENSE, "facts", "license"},
    {HUB_FACET_ACTION_DIM, "facts", "action_dim"},
};

/* ---- values ---- */

struct collector {
    struct hub_buf *out;
    struct hub_error *err;
    enum hub_status status;
    enum hub_facet kind;
    size_t first; /* of the lines of this kind */
    unsigned count;
};

static bool is_there(const struct collector *c, struct hub_view value)
{
    struct hub_view lines = {c->out->data + c->first, c->out->size - c->first}, known;
    enum hub_facet kind;
    while (hub_facet_take(&lines, &kind, &known))
        if (hub_view_equal(known, value))
            return true;
    return false;
}

/* A text, cut where it is long; what says nothing is left out, as the None that Minari writes. */
static void add(struct collector *c, struct hub_view text)
{
    char value[MAX_VALUE];
    size_t size = 0;
    for (uint32_t unused; text.size;) {
        const size_t n = hub_utf8_decode(text, &unused);
        if (n == 0 || size + n > sizeof value)
            break;
        const bool blank = unused <= ' ' || (unused >= 0x7F && unused < 0xA0);
        if (!blank || size)
            memcpy(value + size, blank ? " " : text.data, blank ? 1 : n);
        size += blank ? size > 0 : n;
        text = (struct hub_view){text.data + n, text.size - n};
    }
    while (size && value[size - 1] == ' ')
        size--;
    const bool nothing = size == 0 || (size == 4 && strncasecmp(value, "none", 4) == 0);
    if (c->status || nothing || c->count >= MAX_VALUES || c->out->size + size > MAX_LINES ||
        is_there(c, (struct hub_view){value, size}))
        return;
    c->count++;
    c->status = hub_buf_addf(c->out, c->err, "%c%.*s\n", 'a' + (int)c->kind, (int)size, value);
}

/* The text of a JSON string, up to `size` bytes of it; a number's digits. Empty: it is neither. */
static struct hub_view text_of(struct hub_view json, char *out, size_t size)
{
    if (json.size && (json.data[0] == '-' || (json.data[0] >= '0' && json.data[0] <= '9')))
        return json;
    if (json.size < 2 || json.data[0] != '"')
        return (struct hub_view){"", 0};
    struct hub_json_unescape u = {0};
    const size_t stored = HUB_MIN(json.size - 2, size - 8);
    size_t n = hub_json_unescape(&u, json.data + 1, stored, out);
    n += hub_json_unescape_end(&u, out + n);
    return (struct hub_view){out, n};
}

static void add_text(struct collector *c, struct hub_view json)
{
    char text[4 * MAX_VALUE];
    add(c, text_of(json, text, sizeof text));
}

static bool member_of(struct hub_view object, struct hub_view name, struct hub_view *value)
{
    struct hub_view key;
    if (!object.size || object.data[0] != '{')
        return false;
    while (hub_json_take(&object, &key, value))
        if (hub_view_equal(key, name))
            return true;
    return false;
}

static struct hub_view until(struct hub_view text, char c)
{
    const char *end = text.size ? memchr(text.data, c, text.size) : NULL;
    return (struct hub_view){text.data, end ? (size_t)(end - text.data) : text.size};
}

static struct hub_view behind(struct hub_view text, struct hub_view head)
{
    const size_t n = HUB_MIN(head.size + 1, text.size);
    return (struct hub_view){text.data + n, text.size - n};
}

static void add_pair(struct collector *c, struct hub_view object, struct hub_view names)
{
    const struct hub_view first = until(names, '/'), second = behind(names, first);
    struct hub_view a, b;
    char left[MAX_VALUE], right[MAX_VALUE], both[2 * MAX_VALUE + 2];
    if (!member_of(object, first, &a) || !member_of(object, second, &b))
        return;
    a = text_of(a, left, sizeof left);
    b = text_of(b, right, sizeof right);
    const int n = snprintf(both, sizeof both, "%.*s/%.*s", (int)a.size, a.data, (int)b.size, b.data);
    if (a.size && b.size)
        add(c, (struct hub_view){both, (size_t)n});
}

static void add_items(struct collector *c, struct hub_view array)
{
    struct hub_view item;
    while (c->count < MAX_VALUES && hub_json_take(&array, NULL, &item))
        add_text(c, item);
}

/* What stands at the end of members below a value. */
static void add_at(struct collector *c, struct hub_view json, struct hub_view at)
{
    while (at.size) {
        const struct hub_view step = until(at, '.');
        if (memchr(step.data, '/', step.size)) {
            add_pair(c, json, step);
            return;
        }
        if (!member_of(json, step, &json))
            return;
        at = behind(at, step);
    }
    if (json.size && json.data[0] == '[')
        add_items(c, json);
    else
        add_text(c, json);
}

static void add_member(struct collector *c, struct hub_view json, const char *at)
{
    struct hub_view item;
    if (at[0] != '*') {
        add_at(c, json, hub_view_of(at));
        return;
    }
    while (json.size && c->count < MAX_VALUES && hub_json_take(&json, NULL, &item))
        add_at(c, item, hub_view_of(at + 2));
}

/* ---- paths ---- */

static struct hub_view take_last(struct hub_view *path)
{
    const struct hub_view last = hub_view_behind(*path, '/');
    path->size -= HUB_MIN(path->size, last.size + 1);
    return last;
}

/* ".../demos/magical/move-to-corner": the folders of il-representations, where nothing else says it. */
static void add_folders(struct collector *c, const char *path)
{
    struct hub_view above = hub_view_of(path ? path : "");
    const struct hub_view task = take_last(&above), benchmark = take_last(&above), kind = take_last(&above);
    if (c->count || !benchmark.size || (!hub_view_is(kind, "demos") && !hub_view_is(kind, "random")))
        return;
    if (c->kind == HUB_FACET_KIND)
        add(c, kind);
    else if (c->kind == HUB_FACET_TASK)
        add(c, task);
    else if (c->kind == HUB_FACET_ENV)
        add(c, (struct hub_view){benchmark.data, (size_t)(task.data + task.size - benchmark.data)});
}

/* ---- fields ---- */

static bool is_picture(const struct hub_facet_field *f)
{
    if (f->type == HUB_FIELD_IMAGE_JPEG || f->type == HUB_FIELD_IMAGE_PNG || f->type == HUB_FIELD_IMAGE_RAW)
        return true; /* depth is another picture of a camera that has one in colours */
    return f->type == HUB_FIELD_NUMBER && f->is_byte && f->known && f->rank == 3 && f->dims[0] > 4 &&
           f->dims[1] > 4 && (f->dims[2] == 1 || f->dims[2] == 3 || f->dims[2] == 4);
}

static bool is_one_of(struct hub_view word, const char *const *words)
{
    while (*words && !hub_view_is(word, *words))
        words++;
    return *words;
}

/* The last part of a name that is not what all pictures are called: wrist of obs/wrist/rgb, top of
 * observation.images.top. */
static struct hub_view label_of(const char *path)
{
    static const char *const groups[] = {"obs", "observation", "observations", "vision", NULL},
                             *const common[] = {"rgb",  "rgba",  "color", "colors", "depth", "image",
                                                "data", "bytes", "jpeg",  "png",    NULL};
    struct hub_view above = hub_view_of(path), label = hub_view_behind(take_last(&above), '.');
    while (above.size && is_one_of(label, common)) {
        const struct hub_view next = hub_view_behind(take_last(&above), '.');
        if (is_one_of(next, groups))
            break;
        label = next;
    }
    return label;
}

static void add_cameras(struct collector *c, const struct hub_facet_source *source)
{
    struct hub_facet_field f;
    for (uint32_t i = 0; source->field(source->user, i, &f); i++)
        if (f.role == HUB_ROLE_OBSERVATION && is_picture(&f) && strncmp(f.path, "next_obs", 8) != 0)
            add(c, label_of(f.path));
}

/* Numbers of one action; 0: not known, or none is meant. */
static uint64_t dim_of(const struct hub_facet_field *f)
{
    if (f->role != HUB_ROLE_ACTION || f->type != HUB_FIELD_NUMBER || !f->known || f->rank > 1)
        return 0;
    return f->rank == 0 ? 1 : f->dims[0] == UINT32_MAX ? 0 : f->dims[0];
}

static bool is_whole_action(const char *path)
{
    static const char *const names[] = {"actions", "action", "acts", "joint_action/vector"};
    for (size_t i = 0; i < HUB_COUNT(names); i++)
        if (strcmp(path, names[i]) == 0)
            return true;
    return false;
}

/* Of the field that is the action, else of all fields that are parts of it. */
static void add_action_dim(struct collector *c, const struct hub_facet_source *source)
{
    struct hub_facet_field f;
    char digits[24];
    uint64_t sum = 0;
    bool whole = true;
    for (uint32_t i = 0; source->field(source->user, i, &f); i++) {
        if (f.role != HUB_ROLE_ACTION)
            continue;
        const uint64_t dim = dim_of(&f);
        whole = whole && dim;
        sum += dim;
        if (dim && is_whole_action(f.path)) {
            sum = dim;
            whole = true;
            break;
        }
    }
    if (whole && sum)
        add(c, (struct hub_view){digits,
                                 (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)sum)});
}

/* ---- all ---- */

/* Cameras are called by their labels. */
static void shorten_cameras(struct collector *c)
{
    struct hub_buf whole = HUB_BUF_INIT(MAX_LINES + KIB);
    struct hub_view lines, value;
    enum hub_facet kind;
    if (c->status || hub_buf_add(&whole, c->out->data + c->first, c->out->size - c->first, c->err))
        return;
    lines = hub_buf_view(&whole);
    c->out->size = c->first;
    c->count = 0;
    while (hub_facet_take(&lines, &kind, &value)) {
        char path[MAX_VALUE + 1];
        snprintf(path, sizeof path, "%.*s", (int)value.size, value.data);
        add(c, label_of(path));
    }
    hub_buf_dispose(&whole);
}

static void add_said(struct collector *c, const struct hub_facet_source *source)
{
    const char *text;
    for (uint32_t i = 0; source->said && (text = source->said(source->user, c->kind, i)); i++)
        add(c, c->kind == HUB_FACET_CAMERA ? label_of(text) : hub_view_of(text));
}

static void collect_kind(struct collector *c, const struct hub_facet_source *source)
{
    for (size_t i = 0; i < HUB_COUNT(places) && !c->status && !c->count; i++) {
        struct hub_view text = {"", 0};
        if (places[i].kind != c->kind)
            continue;
        c->status = source->fact(source->user, places[i].fact, &text, c->err);
        if (!c->status && text.size)
            add_member(c, text, places[i].at);
    }
    if (c->kind == HUB_FACET_CAMERA && c->count)
        shorten_cameras(c);
    else if (!c->count)
        add_said(c, source);
    if (c->count)
        return;
    if (c->kind == HUB_FACET_CAMERA)
        add_cameras(c, source);
    else if (c->kind == HUB_FACET_ACTION_DIM)
        add_action_dim(c, source);
    else
        add_folders(c, source->path);
}

enum hub_status hub_facet_collect(const struct hub_facet_source *source, struct hub_buf *out,
                                  struct hub_error *err)
{
    struct collector c = {.out = out, .err = err};
    HUB_TRY(hub_buf_add_text(out, "", err)); /* a text even where nothing is known */
    for (int kind = 0; kind < HUB_FACET_COUNT && !c.status; kind++) {
        c.kind = (enum hub_facet)kind;
        c.first = out->size;
        c.count = 0;
        collect_kind(&c, source);
    }
    return c.status;
}

/* ---- asking ---- */

bool hub_facet_take(struct hub_view *lines, enum hub_facet *kind, struct hub_view *value)
{
    if (!lines->size)
        return false;
    const struct hub_view line = until(*lines, '\n');
    *lines = behind(*lines, line);
    *kind = (enum hub_facet)(line.size ? line.data[0] - 'a' : HUB_FACET_COUNT);
    *value = (struct hub_view){line.data + (line.size > 0), line.size - (line.size > 0)};
    return true;
}

bool hub_facet_has(const char *lines, enum hub_facet kind, const char *value)
{
    struct hub_view rest = hub_view_of(lines), known;
    const size_t size = strlen(value);
    enum hub_facet of;
    while (hub_facet_take(&rest, &of, &known))
        if (of == kind && known.size == size && strncasecmp(known.data, value, size) == 0)
            return true;
    return false;
}

/* How a kind stands in a document: a text, whose second value is left out; a list; a number. Authors are the
 * document's own. */
static const struct {
    const char *member;
    bool list, number;
} members[HUB_FACET_COUNT] = {
    [HUB_FACET_ENV] = {"env", false, false},
    [HUB_FACET_TASK] = {"tasks", true, false},
    [HUB_FACET_ROBOT] = {"robot", false, false},
    [HUB_FACET_CAMERA] = {"cameras", true, false},
    [HUB_FACET_ALGORITHM] = {"algorithm", false, false},
    [HUB_FACET_KIND] = {"kind", false, false},
    [HUB_FACET_LICENSE] = {"license", false, false},
    [HUB_FACET_ACTION_DIM] = {"action_dim", false, true},
};

void hub_facet_put(struct hub_json *json, const char *lines)
{
    struct hub_view rest = hub_view_of(lines), value;
    enum hub_facet kind, last = HUB_FACET_COUNT;
    hub_json_put_object(json, "facts");
    while (hub_facet_take(&rest, &kind, &value)) {
        if (kind >= HUB_FACET_COUNT || !members[kind].member || (kind == last && !members[kind].list))
            continue;
        if (last != kind && last != HUB_FACET_COUNT && members[last].list)
            hub_json_end_array(json);
        if (last != kind && members[kind].list)
            hub_json_put_array(json, members[kind].member);
        else if (last != kind)
            hub_json_key(json, hub_view_of(members[kind].member));
        if (members[kind].number)
            hub_json_raw(json, value);
        else
            hub_json_string(json, value);
        last = kind;
    }
    if (last != HUB_FACET_COUNT && members[last].list)
        hub_json_end_array(json);
    hub_json_end_object(json);
}
