/* The template compiler, run at build time: template OUT.h OUT.c FILE.html...
 *
 * A file holds blocks of HTML with typed slots and no logic:
 *     {{block row(href url, name text)}}<li><a href="{{href}}">{{name}}</a>{{body}}</li>{{end}}
 * Each becomes a struct and a function that writes it: page_row; with a {{body}} two of them: page_row_begin
 * and page_row_end. {{asset NAME}} is the address of an asset. What a type writes is safe where the compiler
 * lets it stand: escaping is a matter of the build, not of who writes a page. Refused are slots in any other
 * place than text or a double-quoted attribute, addresses of another type than url, style= and on...=,
 * <style>, a <script> without src, tags that do not balance, slots that are not declared or not used. */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_SLOTS = 24, MAX_DEPTH = 64, NAME_BYTES = 48, MAX_FILE = 1 << 20 };

struct template_slot {
    char name[NAME_BYTES], type[NAME_BYTES];
    bool used;
};

struct state {
    const char *file, *text, *at; /* of the file */
    FILE *header, *source;
    char block[NAME_BYTES];
    struct template_slot slots[MAX_SLOTS];
    unsigned slot_count;
    char open[MAX_DEPTH][NAME_BYTES]; /* tags */
    unsigned depth;
    bool in_tag, in_value;
    char tag[NAME_BYTES], attribute[NAME_BYTES];
    bool closing, has_src, self_closing, body;
    const char *value; /* where the value of the attribute begins */
};

static const struct {
    const char *name, *member;
    bool in_attribute;
} types[] = {
    {"text", "struct hub_view ", true},  {"url", "struct hub_view ", true},
    {"number", "int64_t ", true},        {"count", "uint64_t ", true},
    {"real", "double ", true},           {"coord", "double ", true},
    {"bytes", "uint64_t ", false},       {"time", "struct hub_view ", false},
    {"link", "struct hub_view ", false}, {"path", "struct hub_view ", true},
    {"whole", "struct hub_view ", true},
};

static _Noreturn void __attribute__((format(printf, 2, 3)))
refuse(const struct state *s, const char *fmt, ...)
{
    unsigned line = 1;
    for (const char *c = s->text; c < s->at; c++)
        line += *c == '\n';
    fprintf(stderr, "%s:%u: ", s->file, line);
    va_list args;
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static bool is_void(const char *tag)
{
    static const char *const names[] = {"meta", "link",   "input", "img", "br",
                                        "hr",   "source", "wbr",   "col", NULL};
    return is_one_of(tag, names);
}

static bool is_address(const char *attribute)
{
    static const char *const names[] = {"href",   "src",  "action", "formaction", "poster",
                                        "srcset", "cite", "data",   "data-src",   NULL};
    return is_one_of(attribute, names);
}

/* A name that begins in lower case, as all of HTML and SVG do. */
static void take_name(const struct state *s, const char **at, char out[NAME_BYTES])
{
    size_t n = 0;
    while (islower((unsigned char)(*at)[n]) ||
           (n && (isalnum((unsigned char)(*at)[n]) || ((*at)[n] && strchr("_-:", (*at)[n])))))
        n++;
    if (!n || n >= NAME_BYTES)
        refuse(s, "a lower-case name is missing or too long");
    memcpy(out, *at, n);
    out[n] = '\0';
    *at += n;
}

static void skip_blanks(const char **at)
{
    while (**at == ' ' || **at == '\n')
        ++*at;
}

static void expect(struct state *s, const char *text)
{
    if (strncmp(s->at, text, strlen(text)) != 0)
        refuse(s, "'%s' expected", text);
    s->at += strlen(text);
}

static struct template_slot *slot_named(struct state *s, const char *name)
{
    for (unsigned i = 0; i < s->slot_count; i++)
        if (strcmp(s->slots[i].name, name) == 0)
            return &s->slots[i];
    return NULL;
}

static size_t type_of(const struct state *s, const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return i;
    refuse(s, "unknown type '%s'", name);
}

/* "row(href url, name text)}}" */
static void take_declaration(struct state *s)
{
    take_name(s, &s->at, s->block);
    expect(s, "(");
    for (s->slot_count = 0; *s->at != ')';) {
        if (s->slot_count == MAX_SLOTS)
            refuse(s, "too many slots");
        if (s->slot_count)
            expect(s, ",");
        skip_blanks(&s->at);
        struct template_slot slot = {.used = false};
        take_name(s, &s->at, slot.name);
        skip_blanks(&s->at);
        take_name(s, &s->at, slot.type);
        type_of(s, slot.type);
        if (slot_named(s, slot.name))
            refuse(s, "slot '%s' is declared twice", slot.name);
        s->slots[s->slot_count++] = slot;
    }
    expect(s, ")}}");
}

static void declare(struct state *s)
{
    fprintf(s->header, "struct page_%s {\n", s->block);
    for (unsigned i = 0; i < s->slot_count; i++)
        fprintf(s->header, "    %s%s;\n", types[type_of(s, s->slots[i].type)].member, s->slots[i].name);
    if (!s->slot_count)
        fprintf(s->header, "    char none;\n");
    fprintf(s->header, "};\n");
}

static void begin_function(struct state *s, const char *suffix)
{
    fprintf(s->header, "void page_%s%s(struct page_out *out, const struct page_%s *in);\n", s->block, suffix,
            s->block);
    fprintf(s->source, "void page_%s%s(struct page_out *out, const struct page_%s *in)\n{\n    (void)in;\n",
            s->block, suffix, s->block);
}

static void emit_text(struct state *s, const char *from, const char *to)
{
    if (from == to)
        return;
    size_t size = 0;
    fprintf(s->source, "    page_put_raw(out, \"");
    for (const char *c = from; c < to; c++) {
        if (*c == '\n') { /* with what indents the next line */
            fputs("\\n", s->source);
            while (c + 1 < to && (c[1] == ' ' || c[1] == '\n'))
                c++;
        } else if (*c == '"' || *c == '\\') {
            fprintf(s->source, "\\%c", *c);
        } else if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e) {
            fprintf(s->source, "\\%03o", (unsigned char)*c);
        } else {
            fputc(*c, s->source);
        }
        size++;
    }
    fprintf(s->source, "\", %zu);\n", size);
}

static void open_tag(struct state *s)
{
    static const char *const refused[] = {"style", "iframe", "object", "embed", "base", NULL};
    s->at++;
    s->closing = *s->at == '/';
    s->at += s->closing;
    take_name(s, &s->at, s->tag);
    if (is_one_of(s->tag, refused))
        refuse(s, "<%s> is not allowed in a page", s->tag);
    s->in_tag = true;
    s->has_src = s->self_closing = false;
}

static void close_tag(struct state *s)
{
    s->in_tag = false;
    s->at++;
    if (strcmp(s->tag, "script") == 0 && !s->closing && !s->has_src)
        refuse(s, "a <script> without src");
    if (s->closing) {
        if (!s->depth || strcmp(s->open[s->depth - 1], s->tag) != 0)
            refuse(s, "</%s> closes nothing", s->tag);
        s->depth--;
    } else if (!is_void(s->tag) && !s->self_closing) {
        if (s->depth == MAX_DEPTH)
            refuse(s, "too many levels");
        strcpy(s->open[s->depth++], s->tag);
    }
}

static void begin_attribute(struct state *s)
{
    take_name(s, &s->at, s->attribute);
    if (strcasecmp(s->attribute, "style") == 0 || strncasecmp(s->attribute, "on", 2) == 0)
        refuse(s, "attribute '%s' is not allowed", s->attribute);
    if (*s->at != '=')
        return;
    s->at++;
    if (*s->at != '"')
        refuse(s, "the value of '%s' has no double quotes", s->attribute);
    s->value = ++s->at;
    s->in_value = true;
    s->has_src |= strcmp(s->attribute, "src") == 0;
}

/* One character or construct of HTML. */
static void step(struct state *s)
{
    if (s->in_value) {
        s->in_value = *s->at++ != '"';
    } else if (s->in_tag) {
        if (*s->at == '>')
            close_tag(s);
        else if (*s->at == '/' && s->at[1] == '>')
            s->self_closing = true, s->at++;
        else if (isspace((unsigned char)*s->at))
            s->at++;
        else
            begin_attribute(s);
    } else if (*s->at == '<' && strncmp(s->at, "<!doctype html>", 15) == 0) {
        s->at += 15;
    } else if (*s->at == '<') {
        open_tag(s);
    } else {
        s->at++;
    }
}

static void check_place(struct state *s, const struct template_slot *slot)
{
    const bool url = strcmp(slot->type, "url") == 0;
    if (s->in_tag && !s->in_value)
        refuse(s, "slot '%s' stands neither in text nor in a quoted value", slot->name);
    if (s->in_value && !types[type_of(s, slot->type)].in_attribute)
        refuse(s, "slot '%s' of type %s cannot stand in an attribute", slot->name, slot->type);
    const bool address = s->in_value && is_address(s->attribute);
    if (address != url)
        refuse(s, "slot '%s': an address is of type url, and nothing else is", slot->name);
    if (url && (s->value != s->at || strncmp(s->at + 2 + strlen(slot->name), "}}\"", 3) != 0))
        refuse(s, "slot '%s' must be all of its address", slot->name);
    if (!s->in_tag && s->depth && strcmp(s->open[s->depth - 1], "script") == 0)
        refuse(s, "slot '%s' stands in a script", slot->name);
}

static void take_asset(struct state *s)
{
    const char *end = strstr(s->at, "}}");
    s->at += strlen("{{asset ");
    if (!s->in_value || !end)
        refuse(s, "{{asset}} stands in a quoted value");
    fprintf(s->source, "    page_put_asset(out, \"%.*s\");\n", (int)(end - s->at), s->at);
    s->at = end + 2;
}

static void take_body(struct state *s)
{
    if (s->body || s->in_tag)
        refuse(s, "{{body}} stands once, in text");
    s->body = true;
    s->at += strlen("{{body}}");
    fprintf(s->source, "}\n\n");
    begin_function(s, "_end");
}

static void take_slot(struct state *s)
{
    char name[NAME_BYTES];
    const char *at = s->at + 2;
    take_name(s, &at, name);
    struct template_slot *slot = slot_named(s, name);
    if (!slot)
        refuse(s, "slot '%s' is not declared", name);
    check_place(s, slot);
    slot->used = true;
    fprintf(s->source, "    page_put_%s(out, in->%s);\n", slot->type, name);
    s->at = at;
    expect(s, "}}");
}

static void compile_block(struct state *s)
{
    take_declaration(s);
    declare(s);
    const char *end = strstr(s->at, "{{end}}"), *body = strstr(s->at, "{{body}}");
    if (!end)
        refuse(s, "block '%s' has no {{end}}", s->block);
    s->body = s->in_tag = s->in_value = false;
    s->depth = 0;
    begin_function(s, body && body < end ? "_begin" : "");
    while (s->at < end) {
        const char *from = s->at;
        while (s->at < end && strncmp(s->at, "{{", 2) != 0)
            step(s);
        emit_text(s, from, s->at);
        if (s->at >= end)
            break;
        if (strncmp(s->at, "{{asset ", 8) == 0)
            take_asset(s);
        else if (strncmp(s->at, "{{body}}", 8) == 0)
            take_body(s);
        else
            take_slot(s);
    }
    fprintf(s->source, "}\n\n");
    if (s->depth || s->in_tag)
        refuse(s, "block '%s' leaves <%s> open", s->block, s->in_tag ? s->tag : s->open[s->depth - 1]);
    for (unsigned i = 0; i < s->slot_count; i++)
        if (!s->slots[i].used)
            refuse(s, "slot '%s' of block '%s' is not used", s->slots[i].name, s->block);
    s->at = end + strlen("{{end}}");
}

static void compile(struct state *s)
{
    while (isspace((unsigned char)*s->at))
        s->at++;
    while (*s->at) {
        expect(s, "{{");
        if (*s->at == '!') {
            const char *end = strstr(s->at, "}}");
            if (!end)
                refuse(s, "a comment has no end");
            s->at = end + 2;
        } else {
            expect(s, "block ");
            compile_block(s);
        }
        while (isspace((unsigned char)*s->at))
            s->at++;
    }
}

static char *slurp(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, MAX_FILE);
    if (!file || !text || fread(text, 1, MAX_FILE - 1, file) == MAX_FILE - 1) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    struct state s = {0};
    if (argc < 4 || !(s.header = fopen(argv[1], "w")) || !(s.source = fopen(argv[2], "w"))) {
        fprintf(stderr, "usage: template OUT.h OUT.c FILE.html...\n");
        return 2;
    }
    fprintf(
        s.header,
        "/* Made by web/tool/template.c. */\n#ifndef HUB_PAGE_TEMPLATES_H\n#define HUB_PAGE_TEMPLATES_H\n\n"
        "#include \"server/page/out.h\"\n\n");
    fprintf(s.source, "/* Made by web/tool/template.c. */\n#include \"templates.h\"\n\n");
    for (int i = 3; i < argc; i++) {
        s.file = argv[i];
        char *text = slurp(argv[i]);
        s.text = s.at = text;
        compile(&s);
        free(text);
    }
    fprintf(s.header, "\n#endif\n");
    return fclose(s.header) || fclose(s.source);
}
