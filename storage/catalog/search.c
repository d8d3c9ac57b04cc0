/* Finding datasets by words: see search.h.
 *
 * The order of what is found is that of ranks, which say where the words stand. Unlike the weights of bm25 a
 * rank depends on one dataset alone, so that a cursor stays where it was when others come and go. */
#include "storage/catalog/search.h"

#include "storage/base/order.h"
#include "storage/text/utf8.h"

#include <stdlib.h>
#include <strings.h>

enum { MAX_WORDS = 16, MAX_STORED = 64 * 1024 };

/* ---- words ---- */

/* Scripts that are written without spaces: to FTS5 a whole sentence of them would be one word. */
static bool is_word_of_its_own(uint32_t c)
{
    return (c >= 0x2E80 && c <= 0x9FFF) || (c >= 0xAC00 && c <= 0xD7AF) || (c >= 0xF900 && c <= 0xFAFF) ||
           (c >= 0x20000 && c <= 0x3FFFF) || (c >= 0x0E00 && c <= 0x0EFF);
}

/* The text with spaces around such characters, and quotes doubled. */
static enum hub_status add_spaced(struct hub_buf *out, struct hub_view text, struct hub_error *err)
{
    while (text.size) {
        const char *at = text.data;
        const uint32_t c = hub_utf8_next(&text);
        const struct hub_view one = {at, (size_t)(text.data - at)};
        const bool spaced = is_word_of_its_own(c);
        HUB_TRY(hub_buf_add_text(out, spaced ? " " : c == '"' ? "\"" : "", err));
        HUB_TRY(hub_buf_add_view(out, one, err));
        HUB_TRY(hub_buf_add_text(out, spaced ? " " : "", err));
    }
    return HUB_OK;
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* Does a word of its own begin at `i`, as Hand and Door in AdroitHandDoor, and Gym in MyURDFGym? */
static bool is_hump(struct hub_view text, size_t i)
{
    return i > 0 && is_upper(text.data[i]) &&
           (is_lower(text.data[i - 1]) ||
            (is_upper(text.data[i - 1]) && i + 1 < text.size && is_lower(text.data[i + 1])));
}

/* The text, and behind it the words in its words. */
static enum hub_status add_words(struct hub_buf *out, const char *text, struct hub_error *err)
{
    const struct hub_view all = {text, strnlen(text, MAX_STORED)};
    HUB_TRY(add_spaced(out, all, err));
    bool humps = false;
    for (size_t i = 0; i < all.size && !humps; i++)
        humps = is_hump(all, i);
    for (size_t i = 0; i < all.size && humps; i++) {
        HUB_TRY(hub_buf_add_text(out, i == 0 || is_hump(all, i) ? " " : "", err));
        HUB_TRY(hub_buf_add(out, &all.data[i], 1, err));
    }
    return hub_buf_add_text(out, " ", err);
}

/* ---- writing ---- */

static enum hub_status add_fields(const struct hub_publication *p, struct hub_buf *out, struct hub_error *err)
{
    for (uint32_t i = 0; i < p->field_count && out->size < MAX_STORED; i++)
        HUB_TRY(add_words(out, p->fields[i].path, err));
    return HUB_OK;
}

enum hub_status hub_search_store(struct hub_publication *p, const struct hub_search_words *words,
                                 struct hub_error *err)
{
    enum { ID, KNOWN, SAID, FIELDS, COLUMNS };
    struct hub_buf texts[COLUMNS];
    struct hub_stmt *stmt;
    for (int i = 0; i < COLUMNS; i++)
        texts[i] = HUB_BUF_INIT(16 * (size_t)MAX_STORED);
    enum hub_status st = add_words(&texts[ID], p->draft->id, err);
    st = st ? st : add_words(&texts[KNOWN], words->known, err);
    st = st ? st : add_words(&texts[SAID], words->said, err);
    st = st ? st : add_fields(p, &texts[FIELDS], err);
    st =
        st ? st
           : hub_db_query(p->db, "REPLACE INTO words (rowid, id, known, said, fields) VALUES (?, ?, ?, ?, ?)",
                          p->row, &stmt, err);
    for (int i = 0; !st && i < COLUMNS; i++)
        hub_stmt_bind_view(stmt, i + 2, hub_buf_view(&texts[i]));
    st = st ? st : hub_stmt_run(stmt, err);
    for (int i = 0; i < COLUMNS; i++)
        hub_buf_dispose(&texts[i]);
    return st;
}

enum hub_status hub_search_forget(struct hub_publication *p, struct hub_error *err)
{
    return hub_db_run(p->db, "DELETE FROM words WHERE rowid = ?", p->row, err);
}

/* ---- asking ---- */

static bool next_word(struct hub_view *text, struct hub_view *word)
{
    size_t from = 0, to;
    while (from < text->size && (unsigned char)text->data[from] <= ' ')
        from++;
    for (to = from; to < text->size && (unsigned char)text->data[to] > ' ';)
        to++;
    *word = (struct hub_view){text->data + from, to - from};
    *text = (struct hub_view){text->data + to, text->size - to};
    return word->size > 0;
}

enum hub_status hub_search_query(struct hub_view text, const char *columns, bool whole, struct hub_buf *out,
                                 struct hub_error *err)
{
    struct hub_view word;
    unsigned count = 0;
    for (; count < MAX_WORDS && next_word(&text, &word); count++) {
        HUB_TRY(hub_buf_addf(out, err, count ? " \"" : "%s : (\"", columns));
        HUB_TRY(add_spaced(out, word, err));
        HUB_TRY(hub_buf_add_text(out, whole ? "\"" : "\"*", err));
    }
    return count ? hub_buf_add_text(out, ")", err) : HUB_OK;
}

struct hit {
    int64_t row; /* first: hub_by_i64 */
    uint8_t rank;
};
struct hits {
    struct hit *items;
    uint32_t count, capacity;
};

static void hits_dispose(struct hits *hits)
{
    free(hits->items);
}

static struct hit *find_hit(const struct hits *hits, int64_t row)
{
    return hits->count ? bsearch(&row, hits->items, hits->count, sizeof *hits->items, hub_by_i64) : NULL;
}

/* Where the words may stand, from the last rank to the first: each finds some of those that the one before it
 * found. */
static const struct search_scope {
    const char *columns;
    bool whole;
} places[] = {{"{id known said fields}", false}, {"{id known}", false}, {"{id}", false}, {"{id}", true}};

static enum hub_status run_query(struct hub_db *db, struct hub_view text, unsigned place, struct hits *hits,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf query = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    const uint8_t rank = (uint8_t)(HUB_COUNT(places) + 1 - place);
    HUB_TRY(hub_search_query(text, places[place].columns, places[place].whole, &query, err));
    if (!query.size)
        return HUB_OK;
    HUB_TRY(hub_db_prepare(db, "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid", &stmt, err));
    hub_stmt_bind_view(stmt, 1, hub_buf_view(&query));
    for (bool row;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const int64_t number = hub_stmt_int(stmt, 0);
        struct hit *known = place ? find_hit(hits, number) : NULL;
        if (known)
            known->rank = rank;
        if (place)
            continue;
        HUB_TRY(hub_grow(&hits->items, hits->count, &hits->capacity, sizeof *hits->items, err));
        hits->items[hits->count++] = (struct hit){number, rank};
    }
}

static bool is_same(struct hub_view text, const char *id)
{
    return strlen(id) == text.size && strncasecmp(id, text.data, text.size) == 0;
}

/* Whether a word, or what follows an upper case letter in one, begins so. */
static bool has_word(const char *text, struct hub_view word)
{
    for (const char *at = text; *at; at++) {
        const bool inside = at > text && (is_lower(at[-1]) || is_upper(at[-1])) && !is_upper(*at);
        if (!inside && strncasecmp(at, word.data, word.size) == 0)
            return true;
    }
    return false;
}

/* Datasets of an upstream are ranked by id and description; nothing of them is stored. */
static uint8_t rank_remote(const struct hub_summary *s, struct hub_view text)
{
    struct hub_view word;
    uint8_t rank = text.size ? 3 : 0;
    while (rank && next_word(&text, &word))
        rank = has_word(s->id, word) ? rank : has_word(s->description, word) ? 5 : 0;
    return rank;
}

enum hub_status hub_catalog_search(struct hub_catalog *catalog, const struct hub_snapshot *snapshot,
                                   struct hub_view text, uint8_t *ranks, struct hub_error *err)
{
    HUB_CLEANUP(hits_dispose) struct hits hits = {0};
    struct hub_db *db;
    HUB_TRY(hub_catalog_reader(catalog, &db, err));
    for (unsigned i = 0; i < HUB_COUNT(places) && (i == 0 || hits.count); i++)
        HUB_TRY(run_query(db, text, i, &hits, err));
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const struct hub_summary *s = snapshot->summaries[i];
        const bool remote = !hub_summary_is_here(s);
        const struct hit *hit = remote ? NULL : find_hit(&hits, s->row);
        ranks[i] = is_same(text, s->id) || is_same(text, s->key) ? 1 : hit ? hit->rank : 0;
        if (remote && !ranks[i])
            ranks[i] = rank_remote(s, text);
    }
    return HUB_OK;
}
