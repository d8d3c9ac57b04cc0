/* Recursive descent with a ceiling on depth; texts are unquoted in the copy of the text that is kept. */
#include "storage/query/where_inside.h"

#include "storage/base/nearest.h"
#include "storage/text/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* a name or a word of the grammar */
    TOKEN_QUOTED, /* "…" */
    TOKEN_TEXT,   /* '…' */
    TOKEN_NUMBER,
    TOKEN_SIGN /* ( ) , and the operators */
};

struct parser {
    struct hub_where *where;
    size_t size, at;
    enum token_kind kind; /* the next token */
    size_t begins;
    struct hub_view token; /* texts without their quotes */
    unsigned depth;
    bool of_steps;  /* names are fields */
    uint32_t names; /* the index of the next field or attribute */
    struct hub_error *err;
};

/* ---- errors ---- */

static const char *parameter(bool of_steps)
{
    return of_steps ? "step_where" : "where";
}

static enum hub_status wrong_at(struct parser *p, size_t at, const char *expected)
{
    struct hub_view rest = {p->where->text + at, p->size - at};
    rest.size = HUB_MIN(rest.size, 24);
    return hub_fail_about(p->err, HUB_INVALID, HUB_PROBLEM_BAD_WHERE, parameter(p->of_steps), NULL,
                          "at %zu (%s%.*s%s): %s", at + 1, rest.size ? "\"" : "the end", (int)rest.size,
                          rest.data, rest.size ? "\"" : "", expected);
}

static enum hub_status wrong(struct parser *p, const char *expected)
{
    return wrong_at(p, p->begins, expected);
}

static enum hub_status unknown_name(struct parser *p)
{
    char expected[512];
    struct hub_nearest nearest;
    const bool any = p->kind == TOKEN_WORD && hub_nearest_begin(&nearest, p->token, 1);
    for (unsigned kind = 0; any && kind < HUB_PROPERTY_ATTRIBUTE; kind++) {
        const char *word = hub_property_word((enum hub_property_kind)kind);
        (void)hub_nearest_offer(&nearest, word, word);
    }
    const char *near = any && nearest.count ? nearest.items[0] : NULL;
    snprintf(expected, sizeof expected,
             "%s%s%sa name is one of " HUB_KNOWN_PROPERTIES(HUB_PROPERTY_COMMA)
                 HUB_METRIC_PROPERTIES(HUB_PROPERTY_COMMA)
                     HUB_FIELD_PROPERTIES(HUB_PROPERTY_OF_FIELD_COMMA) "\"ATTRIBUTE\"",
             near ? "did you mean " : "", near ? near : "", near ? "? " : "");
    return wrong(p, expected);
}

/* ---- tokens ---- */

/* Doubled quotes become one, in place: what is left behind the text is never looked at again. */
static enum hub_status take_quoted(struct parser *p, char quote)
{
    char *text = p->where->text, *out = text + p->at + 1;
    p->token.data = out;
    for (size_t i = p->at + 1; i < p->size; i++) {
        if (text[i] == quote && (i + 1 == p->size || text[i + 1] != quote)) {
            p->token.size = (size_t)(out - p->token.data);
            p->at = i + 1;
            p->kind = quote == '"' ? TOKEN_QUOTED : TOKEN_TEXT;
            return HUB_OK;
        }
        i += text[i] == quote;
        *out++ = text[i];
    }
    return wrong(p, "this quote is not closed");
}

static bool is_in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool is_in_number(char c, char before)
{
    return is_in_word(c) || c == '.' || ((c == '-' || c == '+') && (before == 'e' || before == 'E'));
}

static enum hub_status next_token(struct parser *p)
{
    const char *text = p->where->text;
    while (p->at < p->size && strchr(" \t\r\n", text[p->at]))
        p->at++;
    p->begins = p->at;
    p->kind = TOKEN_END;
    p->token = (struct hub_view){text + p->at, 0};
    if (p->at == p->size)
        return HUB_OK;
    const char c = text[p->at];
    if (c == '\'' || c == '"')
        return take_quoted(p, c);
    size_t end = p->at + 1;
    if (isdigit((unsigned char)c) || c == '-' || c == '.') {
        p->kind = TOKEN_NUMBER;
        while (end < p->size && is_in_number(text[end], text[end - 1]))
            end++;
    } else if (is_in_word(c)) {
        p->kind = TOKEN_WORD;
        while (end < p->size && is_in_word(text[end]))
            end++;
    } else {
        p->kind = TOKEN_SIGN;
        end += end < p->size && text[end] == '=' && strchr("!<>", c);
    }
    p->token.size = end - p->at;
    p->at = end;
    return HUB_OK;
}

static bool is(const struct parser *p, enum token_kind kind, const char *text)
{
    return p->kind == kind && hub_view_is(p->token, text);
}

/* Go on behind it where it is the next token. */
static enum hub_status accept(struct parser *p, enum token_kind kind, const char *text, bool *was)
{
    *was = is(p, kind, text);
    return *was ? next_token(p) : HUB_OK;
}

static enum hub_status expect(struct parser *p, const char *sign, const char *otherwise)
{
    return is(p, TOKEN_SIGN, sign) ? next_token(p) : wrong(p, otherwise);
}

/* ---- values ---- */

static bool read_integer(struct hub_view text, struct hub_value *out)
{
    const bool negative = text.data[0] == '-';
    const struct hub_view digits = {text.data + negative, text.size - negative};
    uint64_t number;
    if (!hub_number_read(digits, negative ? (uint64_t)INT64_MAX + 1 : UINT64_MAX, &number))
        return false;
    *out = negative ? (struct hub_value){.kind = HUB_VALUE_INT, .number = (int64_t)(0 - number)}
                    : hub_value_uint(number);
    return true;
}

/* digits [. digits] [e digits], as strtod reads them and nothing more of what it would read. */
static bool read_decimal(struct hub_view text, struct hub_value *out)
{
    char copy[64], *end;
    if (text.size >= sizeof copy || strspn(text.data, "+-.0123456789eE") < text.size)
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    *out = hub_value_real(strtod(copy, &end));
    return *end == '\0' && end > copy && strpbrk(copy, ".eE") && out->real - out->real == 0;
}

static enum hub_status read_value(struct parser *p, struct hub_value *out)
{
    const char *number = "a number must be like 12, -0.5 or 1e-3; whole numbers from -2^63 to 2^64-1";
    if (p->kind == TOKEN_TEXT)
        *out = hub_value_text(p->token);
    else if (is(p, TOKEN_WORD, "true") || is(p, TOKEN_WORD, "false"))
        *out = hub_value_uint(p->token.data[0] == 't');
    else if (p->kind != TOKEN_NUMBER)
        return wrong(p, "a value must be a number, 'text', true or false");
    else if (!read_integer(p->token, out) && !read_decimal(p->token, out))
        return wrong(p, number);
    return HUB_OK;
}

/* What is known of all episodes under a name has one type; attributes may be anything. */
static bool fits(const struct hub_property *name, const struct hub_value *value)
{
    if (name->kind == HUB_PROPERTY_ATTRIBUTE || name->kind == HUB_PROPERTY_SEED)
        return true;
    const bool text = value->kind == HUB_VALUE_TEXT;
    if (name->kind == HUB_PROPERTY_STEP_FIELD)
        return !text;
    if (name->kind == HUB_PROPERTY_TASK)
        return text || value->kind != HUB_VALUE_REAL;
    const enum hub_property_type type = hub_property_row(name->kind)->type;
    return text == (type == HUB_PROPERTY_TEXT || type == HUB_PROPERTY_TEXTS);
}

static enum hub_status add_value(struct parser *p, struct hub_where_test *test)
{
    struct hub_where *w = p->where;
    HUB_TRY(read_value(p, &w->values[w->value_count]));
    if (!fits(&test->name, &w->values[w->value_count]))
        return wrong(p, w->values[w->value_count].kind == HUB_VALUE_TEXT
                            ? "this name needs a number, true or false"
                            : "this name needs a 'text'");
    w->value_count++;
    test->count++;
    return next_token(p);
}

/* ---- tests ---- */

/* [2], where there is one. */
static enum hub_status read_component(struct parser *p, struct hub_property *name)
{
    uint64_t component = 0;
    HUB_TRY(accept(p, TOKEN_SIGN, "[", &name->of_row));
    if (!name->of_row)
        return HUB_OK;
    if (p->kind != TOKEN_NUMBER || !hub_number_read(p->token, UINT32_MAX, &component))
        return wrong(p, "the brackets must hold the index of a number of the row, from 0");
    name->component = (uint32_t)component;
    HUB_TRY(next_token(p));
    return expect(p, "]", "] was expected");
}

static enum hub_status read_field(struct parser *p, struct hub_property *name)
{
    const bool of_row = hub_property_is_of_row(name->kind);
    const char *form = of_row ? "a row must be written like last(\"FIELD\") or last(\"FIELD\")[2]"
                              : "a statistic must be written like mean(\"FIELD\")";
    HUB_TRY(expect(p, "(", form));
    if (p->kind != TOKEN_QUOTED)
        return wrong(p, form);
    name->of = p->token;
    HUB_TRY(next_token(p));
    HUB_TRY(expect(p, ")", form));
    return of_row ? read_component(p, name) : HUB_OK;
}

/* FIELD, "FIELD" or "FIELD"[2] */
static enum hub_status read_step_field(struct parser *p, struct hub_property *name)
{
    *name = (struct hub_property){.kind = HUB_PROPERTY_STEP_FIELD, .of = p->token};
    if (p->kind != TOKEN_WORD && p->kind != TOKEN_QUOTED)
        return wrong(p, "a name must be a field, such as rewards, \"observations/angle\" or \"actions\"[2]");
    HUB_TRY(next_token(p));
    return read_component(p, name);
}

static enum hub_status read_name(struct parser *p, struct hub_property *name)
{
    if (p->of_steps)
        return read_step_field(p, name);
    *name = (struct hub_property){.kind = HUB_PROPERTY_ATTRIBUTE, .of = p->token};
    name->index = p->names++;
    if (p->kind == TOKEN_QUOTED)
        return next_token(p);
    if (p->kind != TOKEN_WORD)
        return unknown_name(p);
    if (!hub_property_find(p->token, &name->kind))
        return unknown_name(p);
    name->of = (struct hub_view){0};
    HUB_TRY(next_token(p));
    return hub_property_row(name->kind)->of_field ? read_field(p, name) : HUB_OK;
}

static enum hub_status read_list(struct parser *p, struct hub_where_test *test)
{
    bool more = true;
    HUB_TRY(expect(p, "(", "in must be followed by (value, value)"));
    while (more) {
        HUB_TRY(add_value(p, test));
        HUB_TRY(accept(p, TOKEN_SIGN, ",", &more));
    }
    return expect(p, ")", "the list of values must end with )");
}

static enum hub_status read_null(struct parser *p, bool *negated)
{
    HUB_TRY(accept(p, TOKEN_WORD, "not", negated));
    return is(p, TOKEN_WORD, "null") ? next_token(p) : wrong(p, "is must be followed by null or not null");
}

static enum hub_status read_test(struct parser *p, struct hub_where_test *test, bool *negated)
{
    static const char *const signs[] = {"=", "!=", "<", "<=", ">", ">="};
    bool was;
    HUB_TRY(read_name(p, &test->name));
    test->first = p->where->value_count;
    HUB_TRY(accept(p, TOKEN_WORD, "in", &was));
    if (was)
        return read_list(p, test);
    HUB_TRY(accept(p, TOKEN_WORD, "is", &was));
    if (was) {
        test->op = HUB_TEST_NULL;
        return read_null(p, negated);
    }
    for (unsigned i = 0; i < HUB_COUNT(signs); i++) {
        test->op = i;
        HUB_TRY(accept(p, TOKEN_SIGN, signs[i], &was));
        if (was)
            return add_value(p, test);
    }
    return wrong(p, "a name must be followed by =, !=, <, <=, >, >=, in or is");
}

/* ---- the tree ---- */

static enum hub_status read_or(struct parser *p, uint16_t *out);

static uint16_t add_node(struct parser *p, struct hub_where_node node)
{
    p->where->nodes[p->where->node_count] = node; /* no more than one a test, and one to join it */
    return p->where->node_count++;
}

static enum hub_status read_leaf(struct parser *p, uint16_t *out)
{
    struct hub_where *w = p->where;
    bool negated = false;
    if (w->test_count == HUB_WHERE_TESTS)
        return wrong(p, "there are more than 64 tests: in (…) takes many values as one");
    struct hub_where_test *test = &w->tests[w->test_count];
    HUB_TRY(read_test(p, test, &negated));
    *out = add_node(p, (struct hub_where_node){HUB_WHERE_TEST, negated, w->test_count++, 0});
    return HUB_OK;
}

static enum hub_status read_bracket(struct parser *p, uint16_t *out)
{
    if (++p->depth > HUB_WHERE_DEPTH)
        return wrong(p, "brackets are more than 16 deep");
    HUB_TRY(next_token(p));
    HUB_TRY(read_or(p, out));
    p->depth--;
    return expect(p, ")", "and, or or ) was expected");
}

static enum hub_status read_not(struct parser *p, uint16_t *out)
{
    bool negated;
    *out = 0;
    HUB_TRY(accept(p, TOKEN_WORD, "not", &negated));
    HUB_TRY(is(p, TOKEN_SIGN, "(") ? read_bracket(p, out) : read_leaf(p, out));
    p->where->nodes[*out].negated ^= negated;
    return HUB_OK;
}

static enum hub_status read_and(struct parser *p, uint16_t *out)
{
    bool more;
    uint16_t right = 0;
    HUB_TRY(read_not(p, out));
    for (;;) {
        HUB_TRY(accept(p, TOKEN_WORD, "and", &more));
        if (!more)
            return HUB_OK;
        HUB_TRY(read_not(p, &right));
        *out = add_node(p, (struct hub_where_node){HUB_WHERE_AND, false, *out, right});
    }
}

static enum hub_status read_or(struct parser *p, uint16_t *out)
{
    bool more;
    uint16_t right = 0;
    HUB_TRY(read_and(p, out));
    for (;;) {
        HUB_TRY(accept(p, TOKEN_WORD, "or", &more));
        if (!more)
            return HUB_OK;
        HUB_TRY(read_and(p, &right));
        *out = add_node(p, (struct hub_where_node){HUB_WHERE_OR, false, *out, right});
    }
}

/* What a text is parsed into, at its first token. */
static enum hub_status begin(struct hub_view text, bool of_steps, struct parser *p, struct hub_where **out,
                             struct hub_error *err)
{
    if (text.size > HUB_WHERE_BYTES)
        return hub_fail_about(
            err, HUB_INVALID, HUB_PROBLEM_BAD_WHERE, parameter(of_steps), NULL,
            "it has %zu bytes; at most %d are allowed: in (…) takes many values as one test", text.size,
            HUB_WHERE_BYTES);
    HUB_TRY(hub_new(out, 1, sizeof **out, err));
    if (text.size)
        memcpy((*out)->text, text.data, text.size);
    *p = (struct parser){.where = *out, .size = text.size, .of_steps = of_steps, .err = err};
    return next_token(p);
}

static enum hub_status end(struct parser *p, const char *expected)
{
    return p->kind == TOKEN_END ? HUB_OK : wrong(p, expected);
}

static enum hub_status parse(struct hub_view text, bool of_steps, struct hub_where **out,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_where_freep) struct hub_where *where = NULL;
    struct parser p;
    HUB_TRY(begin(text, of_steps, &p, &where, err));
    HUB_TRY(read_or(&p, &where->root));
    HUB_TRY(end(&p, "and, or or the end was expected"));
    *out = where;
    where = NULL;
    return HUB_OK;
}

enum hub_status hub_where_parse(struct hub_view text, struct hub_where **out, struct hub_error *err)
{
    return parse(text, false, out, err);
}

enum hub_status hub_step_where_parse(struct hub_view text, struct hub_where **out, struct hub_error *err)
{
    return parse(text, true, out, err);
}

enum hub_status hub_properties_parse(struct hub_view text, struct hub_where **holder,
                                     struct hub_property *out, unsigned most, unsigned *count,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_where_freep) struct hub_where *where = NULL;
    struct parser p;
    bool more = true;
    *count = 0;
    HUB_TRY(begin(text, false, &p, &where, err));
    p.names = HUB_WHERE_TESTS; /* beside those of a test */
    while (more) {
        if (*count == most)
            return wrong(&p, "there are too many names");
        HUB_TRY(read_name(&p, &out[(*count)++]));
        HUB_TRY(accept(&p, TOKEN_SIGN, ",", &more));
    }
    HUB_TRY(end(&p, "a comma or the end was expected"));
    *holder = where;
    where = NULL;
    return HUB_OK;
}

enum hub_status hub_property_parse(struct hub_view text, struct hub_where **holder, struct hub_property *out,
                                   struct hub_error *err)
{
    unsigned count;
    return hub_properties_parse(text, holder, out, 1, &count, err);
}

void hub_where_free(struct hub_where *where)
{
    free(where);
}

void hub_where_freep(struct hub_where **where)
{
    hub_where_free(*where);
}
