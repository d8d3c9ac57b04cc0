/* The table of episodes: written part by part, read by pages.
 *
 * Pages go by key: every sort has an index (dataset, key, number), and a page begins strictly after
 * the last key, so that the thousandth page costs what the first does. Episodes without the key come last in
 * both directions; ties are in order of number, reversed with the direction.
 *
 * A key in a cursor is a letter and the value: "i12", "r3fe8..." (bits of the double), "tTEXT", "pTEXT" for
 * the first bytes of a long text, whose rest the episode itself tells; empty: the key was null. */
#include "storage/catalog/publish.h"

#include "storage/base/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { FLAG_RETURN_COMPUTED = 1, FLAG_RETURN_NAN = 2, MAX_PAGE = 1000, MAX_KEY_TEXT = 512 };

#define COLUMNS                                                                                              \
    "e.number, e.steps, e.return, e.flags, e.seed, e.success, e.terminated, e.truncated, e.task, e.part, "   \
    "e.file,"                                                                                                \
    " e.name, e.splits, e.attributes, e.statistics"

enum {
    C_NUMBER,
    C_STEPS,
    C_RETURN,
    C_FLAGS,
    C_SEED,
    C_SUCCESS,
    C_TERMINATED,
    C_TRUNCATED,
    C_TASK,
    C_PART,
    C_FILE,
    C_NAME,
    C_SPLITS,
    C_ATTRIBUTES,
    C_STATISTICS
};

struct page {
    struct hub_db *db;
    const struct hub_dataset *dataset;
    const struct hub_episode_query *query;
    hub_episode_each *each;
    void *user;
    struct hub_episode_page *out;
    uint32_t left;
};

static const struct {
    const char *column; /* NULL: the number itself */
    int index;
} sorts[] = {
    [HUB_BY_NUMBER] = {NULL, C_NUMBER},     [HUB_BY_STEPS] = {"steps", C_STEPS},
    [HUB_BY_RETURN] = {"return", C_RETURN}, [HUB_BY_SEED] = {"seed", C_SEED},
    [HUB_BY_TASK] = {"task", C_TASK},       [HUB_BY_SUCCESS] = {"success", C_SUCCESS},
};

/* ---- writing ---- */

/* A seed is kept so that seeds sort as numbers: within int64 as one, up to uint64 as 20 digits, else as the
 * text it is. */
static void bind_seed(struct hub_stmt *stmt, int parameter, const char *seed, char padded[24])
{
    const size_t size = seed ? strlen(seed) : 0;
    const bool negative = size && seed[0] == '-';
    const char *digits = seed ? seed + negative : "";
    const size_t count = strlen(digits);
    const bool canonical = count && count <= 20 && strspn(digits, "0123456789") == count &&
                           (digits[0] != '0' || (count == 1 && !negative));
    if (!seed) {
        hub_stmt_bind_null(stmt, parameter);
    } else if (canonical && (count < 19 || (count == 19 && strcmp(digits, "9223372036854775807") <= 0))) {
        hub_stmt_bind_int(stmt, parameter, strtoll(seed, NULL, 10));
    } else if (canonical && !negative) {
        snprintf(padded, 24, "%020llu", strtoull(seed, NULL, 10));
        hub_stmt_bind_text(stmt, parameter, count == 20 ? seed : padded);
    } else {
        hub_stmt_bind_text(stmt, parameter, seed);
    }
}

static void bind_flag(struct hub_stmt *stmt, int parameter, int8_t value)
{
    if (value < 0)
        hub_stmt_bind_null(stmt, parameter);
    else
        hub_stmt_bind_int(stmt, parameter, value != 0);
}

static enum hub_status write_episode(struct hub_db *db, int64_t part, uint32_t position, int64_t dataset,
                                     int64_t number, const struct hub_found_episode *e, struct hub_error *err)
{
    struct hub_stmt *stmt;
    char padded[24];
    const bool nan = e->has_return && e->episode_return != e->episode_return;
    HUB_TRY(hub_db_ask(
        db,
        "INSERT INTO episodes (part, position, dataset, number, own, steps, return, flags, seed, success,"
        " terminated, truncated, task, file, name, splits, attributes, statistics)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        part, &stmt, err));
    hub_stmt_bind_int(stmt, 2, position);
    hub_stmt_bind_int(stmt, 3, dataset);
    if (dataset)
        hub_stmt_bind_int(stmt, 4, number);
    hub_stmt_bind_int(stmt, 5, e->number);
    hub_stmt_bind_int(stmt, 6, (int64_t)e->steps);
    if (e->has_return && !nan)
        hub_stmt_bind_real(stmt, 7, e->episode_return);
    hub_stmt_bind_int(stmt, 8, (e->return_computed ? FLAG_RETURN_COMPUTED : 0) | (nan ? FLAG_RETURN_NAN : 0));
    bind_seed(stmt, 9, e->seed, padded);
    bind_flag(stmt, 10, e->success);
    bind_flag(stmt, 11, e->terminated);
    bind_flag(stmt, 12, e->truncated);
    hub_stmt_bind_text(stmt, 13, e->task);
    hub_stmt_bind_int(stmt, 14, e->file);
    hub_stmt_bind_text(stmt, 15, e->name);
    hub_stmt_bind_text(stmt, 16, e->splits);
    hub_stmt_bind_text(stmt, 17, e->attributes);
    hub_stmt_bind_text(stmt, 18, e->statistics);
    return hub_stmt_run(stmt, err);
}

/* The episode's row once more, for each of its splits. */
static enum hub_status write_split(struct hub_db *db, int64_t part, uint32_t position, const char *split,
                                   struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(
        hub_db_ask(db,
                   "INSERT OR IGNORE INTO episode_splits (part, position, split, dataset, number, steps,"
                   " return, seed, success, task) SELECT part, position, ?3, dataset, number, steps, return,"
                   " seed, success, task FROM episodes WHERE part = ?1 AND position = ?2",
                   part, &stmt, err));
    hub_stmt_bind_int(stmt, 2, position);
    hub_stmt_bind_text(stmt, 3, split);
    return hub_stmt_run(stmt, err);
}

static enum hub_status write_splits(struct hub_db *db, int64_t part, uint32_t position, const char *splits,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *array = NULL;
    size_t i;
    json_t *split;
    HUB_TRY(hub_json_parse(hub_view_of(splits), HUB_MAX_ATTRIBUTES, &array, err));
    json_array_foreach(array, i, split) if (json_is_string(split))
        HUB_TRY(write_split(db, part, position, json_string_value(split), err));
    return HUB_OK;
}

enum hub_status hub_episodes_write(struct hub_publication *p, int64_t part, const struct hub_findings *found,
                                   bool show, uint64_t base, struct hub_error *err)
{
    const int64_t dataset = show ? p->row : 0;
    for (uint32_t i = 0; i < found->episode_count; i++) {
        const struct hub_found_episode *e = &found->episodes[i];
        const int64_t number = e->number >= 0 ? e->number : (int64_t)(base + i);
        if (e->steps > INT64_MAX)
            return hub_fail(err, HUB_CORRUPT, "an episode of %llu steps", (unsigned long long)e->steps);
        HUB_TRY(write_episode(p->db, part, i, dataset, number, e, err));
        if (e->splits)
            HUB_TRY(write_splits(p->db, part, i, e->splits, err));
    }
    return HUB_OK;
}

/* ---- rows ---- */

static const char *file_of(const struct hub_dataset *dataset, int64_t part, uint32_t number)
{
    const struct hub_dataset_box *box = hub_dataset_box_of(dataset);
    for (uint32_t i = 0; i < dataset->part_count; i++) {
        if (dataset->parts[i].row != part)
            continue;
        const uint32_t today = hub_part_file(&box->maps[i], number);
        return today < dataset->file_count ? dataset->files[today].path : NULL;
    }
    return NULL;
}

static int8_t flag_of(struct hub_stmt *stmt, int column)
{
    return hub_stmt_is_null(stmt, column) ? -1 : (int8_t)hub_stmt_int(stmt, column);
}

static const char *seed_of(struct hub_stmt *stmt)
{
    const char *seed = hub_stmt_text(stmt, C_SEED);
    if (!seed || hub_stmt_is_int(stmt, C_SEED) || strlen(seed) != 20 || strspn(seed, "0123456789") != 20)
        return seed;
    return seed + (seed[0] == '0'); /* see bind_seed */
}

static enum hub_status give(const struct hub_dataset *dataset, struct hub_stmt *stmt, hub_episode_each *each,
                            void *user, struct hub_error *err)
{
    const int64_t flags = hub_stmt_int(stmt, C_FLAGS);
    const bool nan = flags & FLAG_RETURN_NAN;
    const struct hub_found_episode episode = {
        .number = hub_stmt_int(stmt, C_NUMBER),
        .file = HUB_NONE,
        .steps = (uint64_t)hub_stmt_int(stmt, C_STEPS),
        .has_return = nan || !hub_stmt_is_null(stmt, C_RETURN),
        .return_computed = flags & FLAG_RETURN_COMPUTED,
        .episode_return = nan ? __builtin_nan("") : hub_stmt_real(stmt, C_RETURN),
        .success = flag_of(stmt, C_SUCCESS),
        .terminated = flag_of(stmt, C_TERMINATED),
        .truncated = flag_of(stmt, C_TRUNCATED),
        .seed = hub_stmt_is_null(stmt, C_SEED) ? NULL : seed_of(stmt),
        .task = hub_stmt_text(stmt, C_TASK),
        .name = hub_stmt_text(stmt, C_NAME),
        .splits = hub_stmt_text(stmt, C_SPLITS),
        .attributes = hub_stmt_text(stmt, C_ATTRIBUTES),
        .statistics = hub_stmt_text(stmt, C_STATISTICS),
    };
    return each(user, &episode,
                file_of(dataset, hub_stmt_int(stmt, C_PART), (uint32_t)hub_stmt_int(stmt, C_FILE)), err);
}

/* ---- keys ---- */

static enum hub_status write_key(struct hub_stmt *stmt, int column, struct hub_buf *out,
                                 struct hub_error *err)
{
    out->size = 0;
    if (column == C_NUMBER || hub_stmt_is_null(stmt, column))
        return HUB_OK;
    if (column == C_RETURN) {
        uint64_t bits;
        const double value = hub_stmt_real(stmt, column);
        memcpy(&bits, &value, sizeof bits);
        return hub_buf_addf(out, err, "r%016llx", (unsigned long long)bits);
    }
    if (hub_stmt_is_int(stmt, column))
        return hub_buf_addf(out, err, "i%lld", (long long)hub_stmt_int(stmt, column));
    struct hub_view text = hub_stmt_view(stmt, column);
    const bool cut = text.size > MAX_KEY_TEXT;
    text.size = cut ? MAX_KEY_TEXT : text.size;
    HUB_TRY(hub_buf_add_text(out, cut ? "p" : "t", err));
    return hub_buf_add_view(out, text, err);
}

static enum hub_status bad_key(struct hub_error *err)
{
    return hub_fail_as(err, HUB_INVALID, "bad-cursor", "the cursor does not belong to this listing");
}

/* "pTEXT" -> "tTEXT" and the rest, as the episode has it. When it has another text by now, the page goes on
 * from the part that is known. */
static enum hub_status whole_key(const struct page *page, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    const struct hub_episode_query *q = page->query;
    const struct hub_view known = {q->after_key.data + 1, q->after_key.size - 1};
    char sql[120];
    bool row;
    snprintf(sql, sizeof sql, "SELECT %s FROM episodes WHERE dataset = ? AND number = ?",
             sorts[q->sort].column);
    HUB_TRY(hub_db_ask(page->db, sql, page->dataset->summary->row, &stmt, err));
    hub_stmt_bind_int(stmt, 2, q->after_number);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    const struct hub_view text = row ? hub_stmt_view(stmt, 0) : known;
    const bool same = text.size >= known.size && memcmp(text.data, known.data, known.size) == 0;
    HUB_TRY(hub_buf_add_text(out, "t", err));
    return hub_buf_add_view(out, same ? text : known, err);
}

static enum hub_status bind_key(struct hub_stmt *stmt, int parameter, struct hub_view key,
                                struct hub_error *err)
{
    char digits[32] = "", *end = digits;
    if (!key.size)
        return bad_key(err);
    if (key.data[0] == 't') {
        hub_stmt_bind_view(stmt, parameter, (struct hub_view){key.data + 1, key.size - 1});
        return HUB_OK;
    }
    if (key.size < 2 || key.size > sizeof digits)
        return bad_key(err);
    memcpy(digits, key.data + 1, key.size - 1);
    if (key.data[0] == 'r') {
        const uint64_t bits = strtoull(digits, &end, 16);
        double value;
        memcpy(&value, &bits, sizeof value);
        hub_stmt_bind_real(stmt, parameter, value);
    } else if (key.data[0] == 'i') {
        hub_stmt_bind_int(stmt, parameter, strtoll(digits, &end, 10));
    }
    return end == digits + key.size - 1 ? HUB_OK : bad_key(err);
}

/* ---- one run over an index ---- */

/* Parameters: 1 dataset, 2 key, 3 number, 4 limit, 5 split. Built from fixed words only; no value is
 * pasted. */
static void write_sql(const struct page *page, bool nulls, bool after, char *sql, size_t size)
{
    const struct hub_episode_query *q = page->query;
    const char *column = sorts[q->sort].column, *order = q->descending ? "DESC" : "ASC";
    const char *compare = q->descending ? "<" : ">", *t = q->split ? "s" : "e";
    char from[320], range[200] = "";
    if (q->split)
        snprintf(from, sizeof from,
                 "episode_splits s INDEXED BY splits_%s CROSS JOIN episodes e ON e.part = s.part AND "
                 "e.position = s.position"
                 " WHERE s.dataset = ?1 AND s.split = ?5",
                 column ? column : "number");
    else
        snprintf(from, sizeof from, "episodes e INDEXED BY episodes_%s WHERE e.dataset = ?1",
                 column ? column : "number");
    const int n =
        column ? snprintf(range, sizeof range, " AND %s.%s IS %s", t, column, nulls ? "NULL" : "NOT NULL")
               : 0;
    if (after && column && !nulls)
        snprintf(range + n, sizeof range - (size_t)n, " AND (%s.%s, %s.number) %s (?2, ?3)", t, column, t,
                 compare);
    else if (after)
        snprintf(range + n, sizeof range - (size_t)n, " AND %s.number %s ?3", t, compare);
    const int m = snprintf(sql, size, "SELECT " COLUMNS " FROM %s%s ORDER BY ", from, range);
    if (column && !nulls)
        snprintf(sql + m, size - (size_t)m, "%s.%s %s, %s.number %s LIMIT ?4", t, column, order, t, order);
    else
        snprintf(sql + m, size - (size_t)m, "%s.number %s LIMIT ?4", t, order);
}

/* Rows with a key (or those without) after the given place, as many as the page still takes. */
static enum hub_status run(struct page *page, bool nulls, bool after, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf whole = HUB_BUF_INIT(64 * MIB);
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    const struct hub_episode_query *q = page->query;
    struct hub_view key = q->after_key;
    char sql[1400];
    bool row;
    if (after && !nulls && sorts[q->sort].column && key.size && key.data[0] == 'p') {
        HUB_TRY(whole_key(page, &whole, err));
        key = hub_buf_view(&whole);
    }
    write_sql(page, nulls, after, sql, sizeof sql);
    HUB_TRY(hub_db_ask(page->db, sql, page->dataset->summary->row, &stmt, err));
    if (after && !nulls && sorts[q->sort].column)
        HUB_TRY(bind_key(stmt, 2, key, err));
    if (after)
        hub_stmt_bind_int(stmt, 3, q->after_number);
    hub_stmt_bind_int(stmt, 4, (int64_t)page->left + 1);
    if (q->split)
        hub_stmt_bind_text(stmt, 5, q->split);
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        if (!page->left) {
            page->out->more = true;
            return HUB_OK;
        }
        page->left--;
        HUB_TRY(give(page->dataset, stmt, page->each, page->user, err));
        HUB_TRY(write_key(stmt, sorts[q->sort].index, &page->out->key, err));
    }
}

static enum hub_status run_both(struct page *page, struct hub_error *err)
{
    const struct hub_episode_query *q = page->query;
    const bool has_key = sorts[q->sort].column != NULL;
    const bool in_nulls = has_key && q->has_after && (q->after_is_null || !q->after_key.size);
    if (!in_nulls)
        HUB_TRY(run(page, false, q->has_after, err));
    if (has_key && !page->out->more)
        return run(page, true, in_nulls, err);
    return HUB_OK;
}

static enum hub_status count(struct page *page, uint64_t *total, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row;
    if (!page->query->split) {
        *total = page->dataset->episode_count;
        return HUB_OK;
    }
    HUB_TRY(hub_db_ask(page->db, "SELECT episodes FROM splits WHERE dataset = ? AND split = ?",
                       page->dataset->summary->row, &stmt, err));
    hub_stmt_bind_text(stmt, 2, page->query->split);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    *total = row ? (uint64_t)hub_stmt_int(stmt, 0) : 0;
    return HUB_OK;
}

static enum hub_status check_query(const struct hub_episode_query *q, struct hub_error *err)
{
    if ((unsigned)q->sort >= HUB_COUNT(sorts))
        return hub_fail(err, HUB_INVALID, "unknown sort %d", (int)q->sort);
    if (!q->limit || q->limit > MAX_PAGE)
        return hub_fail(err, HUB_INVALID, "a page has 1 to %d episodes", MAX_PAGE);
    return HUB_OK;
}

enum hub_status hub_episode_page(const struct hub_state *state, const struct hub_episode_query *query,
                                 hub_episode_each *each, void *user, struct hub_episode_page *out,
                                 struct hub_error *err)
{
    struct page page = {.db = state->db,
                        .dataset = state->dataset,
                        .query = query,
                        .each = each,
                        .user = user,
                        .out = out,
                        .left = query->limit};
    out->more = false;
    HUB_TRY(check_query(query, err));
    HUB_TRY(count(&page, &out->total, err));
    return run_both(&page, err);
}

enum hub_status hub_episode_one(const struct hub_state *state, int64_t number, hub_episode_each *each,
                                void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    const struct hub_summary *summary = state->dataset->summary;
    bool row;
    HUB_TRY(hub_db_prepare(
        state->db, "SELECT " COLUMNS " FROM episodes e WHERE e.dataset = ? AND e.number = ?", &stmt, err));
    hub_stmt_bind_int(stmt, 1, summary->row);
    hub_stmt_bind_int(stmt, 2, number);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return hub_fail_as(err, HUB_NOT_FOUND, "episode-missing", "%s has no episode %lld", summary->id,
                           (long long)number);
    return give(state->dataset, stmt, each, user, err);
}
