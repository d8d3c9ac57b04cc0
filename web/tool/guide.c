/* The compiler of the guide, run at build time: hub_guide OUT.c FILE.md...
 *
 * Each file of web/guide becomes a row of guide_pages (server/page/guide.h), cut into sections at its
 * headings, in the order of the arguments. Markdown is read by md4c, with tables and without raw HTML: what
 * looks like a tag is text. A section's anchor is its heading as GitHub spells anchors, so that links work in
 * both places. Links lead to NAME.md#anchor, #anchor, https:// or http://hub:8080/..., which is this hub.
 * Refused are links to pages and sections that are not there, two equal anchors in a page, pictures,
 * entities, and languages of code that tests do not know. */
#include "guide_text.h"

#include <md4c.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PAGES = 32, MAX_SECTIONS = 128, MAX_LINKS = 1024, MAX_FILE = 1 << 20 };

struct section {
    struct text anchor, title, html, words;
};

struct guide_section_page {
    const char *file;
    struct text name, lead;
    struct section sections[MAX_SECTIONS];
    unsigned count;
};

struct guide_link {
    const struct guide_section_page *from;
    struct text page, anchor; /* anchor: may be empty */
};

static struct guide_section_page pages[MAX_PAGES];
static unsigned page_count;
static struct guide_link links[MAX_LINKS];
static unsigned link_count;

/* of the page that is being read */
static struct {
    struct guide_section_page *page;
    struct section *section;
    struct text code, language;
    bool in_heading, in_code, had_lead, in_lead;
} at;

static _Noreturn void __attribute__((format(printf, 2, 3)))
refuse(const struct guide_section_page *page, const char *fmt, ...)
{
    const char *where = page->count && page->sections[page->count - 1].title.data
                            ? page->sections[page->count - 1].title.data
                            : "the beginning";
    fprintf(stderr, "%s: %s: ", page->file, where);
    va_list args;
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static void put(const char *html)
{
    text_put(&at.section->html, html);
}

/* ---- headings ---- */

static void begin_section(void)
{
    if (at.page->count == MAX_SECTIONS)
        refuse(at.page, "more than %d sections", MAX_SECTIONS);
    at.section = &at.page->sections[at.page->count++];
    at.in_heading = true;
}

static const struct section *section_named(const struct guide_section_page *page, const char *anchor)
{
    for (unsigned i = 0; i < page->count; i++)
        if (text_is(&page->sections[i].anchor, anchor))
            return &page->sections[i];
    return NULL;
}

static void end_heading(unsigned level)
{
    struct section *section = at.section;
    struct text anchor = {0}, inner = section->html;
    char tag[128];
    if ((level == 1) != (at.page->count == 1))
        refuse(at.page, "a page has one heading of the first level, at its top");
    if (level > 3)
        refuse(at.page, "a heading of level %u: a page has three", level);
    text_anchor(&anchor, &section->title);
    if (!anchor.size || anchor.size > 80 || section_named(at.page, anchor.data))
        refuse(at.page, "the anchor '%s' is empty, too long, or there already", anchor.data);
    section->anchor = anchor;
    section->html = (struct text){0};
    snprintf(tag, sizeof tag, "<h%u id=\"%s\">", level, anchor.data);
    put(tag);
    text_add(&section->html, inner.data, inner.size);
    snprintf(tag, sizeof tag, "</h%u>\n", level);
    put(tag);
    free(inner.data);
    at.in_heading = false;
}

/* ---- code ---- */

static void put_pre(const char *begin, const char *code, size_t size)
{
    while (size && code[size - 1] == '\n')
        size--;
    put(begin);
    text_escape(&at.section->html, code, size);
    put("</code></pre>\n");
}

#define PRE_COPIED "<pre class=\"copy\" tabindex=\"0\"><code>"
#define PRE_SHOWN "<pre tabindex=\"0\"><code>"

/* Lines "$ command", each with lines "> more" behind a backslash, and what they print. A command is copied
 * without its prompt. */
static void put_console(void)
{
    const char *line = at.code.data;
    while (*line) {
        struct text command = {0}, output = {0};
        if (strncmp(line, "$ ", 2) != 0)
            refuse(at.page, "a console begins with '$ '");
        for (bool goes_on = true; goes_on; line += strcspn(line, "\n") + 1) {
            const size_t size = strcspn(line, "\n");
            text_add(&command, line + 2, size - 2 + 1);
            goes_on = size && line[size - 1] == '\\' && strncmp(line + size + 1, "> ", 2) == 0;
        }
        for (; *line && strncmp(line, "$ ", 2) != 0; line += strcspn(line, "\n") + 1)
            text_add(&output, line, strcspn(line, "\n") + 1);
        put_pre(PRE_COPIED, command.data, command.size);
        if (output.size)
            put_pre(PRE_SHOWN, output.data, output.size);
        free(command.data);
        free(output.data);
    }
}

static void end_code(void)
{
    static const char *const known[] = {"sh",        "python", "c",    "cmake", "nginx",
                                        "caddyfile", "ini",    "json", NULL};
    bool is_known = !at.language.size;
    for (unsigned i = 0; known[i]; i++)
        is_known |= text_is(&at.language, known[i]);
    text_add(&at.section->words, at.code.data, at.code.size);
    if (text_is(&at.language, "console"))
        put_console();
    else if (!is_known)
        refuse(at.page, "code in '%s', a language that the tests do not support", at.language.data);
    else
        put_pre(at.language.size ? PRE_COPIED : PRE_SHOWN, at.code.data, at.code.size);
    at.in_code = false;
}

static void begin_code(const MD_BLOCK_CODE_DETAIL *code)
{
    at.code.size = at.language.size = 0;
    text_put(&at.code, "");
    text_add(&at.language, code->lang.text, code->lang.size);
    at.in_code = true;
}

/* ---- blocks ---- */

static void begin_table(void)
{
    put("<div class=\"wide\" tabindex=\"0\"><table><caption class=\"visually-hidden\">");
    text_escape(&at.section->html, at.section->title.data, at.section->title.size);
    put("</caption>");
}

static void begin_paragraph(void)
{
    at.in_lead = !at.had_lead;
    put(at.in_lead ? "<p class=\"lead\">" : "<p>");
    at.had_lead = true;
}

static const char *tag_of(MD_BLOCKTYPE type)
{
    static const char *const tags[] = {
        [MD_BLOCK_QUOTE] = "blockquote",
        [MD_BLOCK_UL] = "ul",
        [MD_BLOCK_OL] = "ol",
        [MD_BLOCK_LI] = "li",
        [MD_BLOCK_THEAD] = "thead",
        [MD_BLOCK_TBODY] = "tbody",
        [MD_BLOCK_TR] = "tr",
        [MD_BLOCK_TD] = "td",
    };
    if ((size_t)type >= sizeof tags / sizeof *tags || !tags[type])
        refuse(at.page, "a block of type %d", (int)type);
    return tags[type];
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *none)
{
    (void)none;
    if (type == MD_BLOCK_DOC)
        return 0;
    if (type == MD_BLOCK_H) {
        begin_section();
        return 0;
    }
    if (!at.section)
        refuse(at.page, "text before the heading of the page");
    if (type == MD_BLOCK_CODE)
        begin_code(detail);
    else if (type == MD_BLOCK_TABLE)
        begin_table();
    else if (type == MD_BLOCK_TH)
        put("<th scope=\"col\">");
    else if (type == MD_BLOCK_P)
        begin_paragraph();
    else {
        put("<");
        put(tag_of(type));
        put(">");
    }
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *none)
{
    (void)none;
    if (type == MD_BLOCK_DOC)
        return 0;
    if (type == MD_BLOCK_H)
        end_heading(((const MD_BLOCK_H_DETAIL *)detail)->level);
    else if (type == MD_BLOCK_CODE)
        end_code();
    else if (type == MD_BLOCK_TABLE)
        put("</table></div>\n");
    else if (type == MD_BLOCK_TH)
        put("</th>");
    else if (type == MD_BLOCK_P)
        put("</p>\n");
    else {
        put("</");
        put(tag_of(type));
        put(type == MD_BLOCK_TD ? ">" : ">\n");
    }
    at.in_lead &= type != MD_BLOCK_P;
    text_put(&at.section->words, "\n");
    return 0;
}

/* ---- spans ---- */

/* NAME.md#anchor or #anchor: remembered, as the page may not have been read yet. */
static void put_inner_link(const char *target)
{
    const size_t size = strcspn(target, "#");
    struct text name = {0};
    text_add(&name, target, size > 3 && strncmp(target + size - 3, ".md", 3) == 0 ? size - 3 : 0);
    if (!name.size && size)
        refuse(at.page, "a link to '%s', which is neither a page of the guide nor an address", target);
    if (link_count == MAX_LINKS)
        refuse(at.page, "more than %d links", MAX_LINKS);
    struct guide_link *link = &links[link_count++];
    link->from = at.page;
    text_put(&link->page, name.size ? name.data : at.page->name.data);
    text_put(&link->anchor, target[size] ? target + size + 1 : "");
    put("<a href=\"");
    if (name.size) {
        put("/~guide/");
        put(name.data);
    }
    text_escape(&at.section->html, target + size, strlen(target + size));
    put("\">");
    free(name.data);
}

static void put_link(const MD_SPAN_A_DETAIL *a)
{
    static const char hub[] = "http://hub:8080/";
    struct text target = {0};
    text_add(&target, a->href.text, a->href.size);
    const bool away = strncmp(target.data, "https://", 8) == 0;
    const bool here = strncmp(target.data, hub, strlen(hub)) == 0;
    if (away || here) {
        put(away ? "<a rel=\"noopener noreferrer\" href=\"" : "<a href=\"");
        const char *shown = here ? target.data + strlen(hub) - 1 : target.data;
        text_escape(&at.section->html, shown, strlen(shown));
        put("\">");
    } else {
        put_inner_link(target.data);
    }
    free(target.data);
}

static int enter_span(MD_SPANTYPE type, void *detail, void *none)
{
    (void)none;
    if (type == MD_SPAN_A)
        put_link(detail);
    else if (type == MD_SPAN_CODE)
        put("<code>");
    else if (type == MD_SPAN_EM)
        put("<em>");
    else if (type == MD_SPAN_STRONG)
        put("<strong>");
    else
        refuse(at.page, "a picture, or a span of type %d", (int)type);
    return 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *none)
{
    (void)detail;
    (void)none;
    put(type == MD_SPAN_A      ? "</a>"
        : type == MD_SPAN_CODE ? "</code>"
        : type == MD_SPAN_EM   ? "</em>"
                               : "</strong>");
    return 0;
}

static int take_text(MD_TEXTTYPE type, const MD_CHAR *data, MD_SIZE size, void *none)
{
    (void)none;
    if (type == MD_TEXT_ENTITY || type == MD_TEXT_HTML || type == MD_TEXT_NULLCHAR)
        refuse(at.page, "'%.*s': write the character itself", (int)size, data);
    if (type == MD_TEXT_BR || type == MD_TEXT_SOFTBR) {
        put(type == MD_TEXT_BR ? "<br>\n" : "\n");
        data = " ";
        size = 1;
    } else if (at.in_code) {
        text_add(&at.code, data, size);
        return 0;
    } else {
        text_escape(&at.section->html, data, size);
    }
    text_add(at.in_heading ? &at.section->title : &at.section->words, data, size);
    if (at.in_lead)
        text_add(&at.page->lead, data, size);
    return 0;
}

/* ---- files ---- */

static void read_page(const char *path)
{
    static const MD_PARSER parser = {
        0,           MD_FLAG_TABLES | MD_FLAG_NOHTML | MD_FLAG_NOINDENTEDCODEBLOCKS,
        enter_block, leave_block,
        enter_span,  leave_span,
        take_text,   NULL,
        NULL};
    FILE *file = fopen(path, "rb");
    char *text = malloc(MAX_FILE);
    if (page_count == MAX_PAGES || !file || !text) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    const size_t size = fread(text, 1, MAX_FILE, file);
    fclose(file);
    at.page = &pages[page_count++];
    at.section = NULL;
    at.had_lead = false;
    at.page->file = path;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    text_add(&at.page->name, name, strcspn(name, "."));
    if (size == MAX_FILE || md_parse(text, (MD_SIZE)size, &parser, NULL) || !at.page->lead.size)
        refuse(at.page,
               "not a page of the guide: a heading, a paragraph that says what it is about, sections");
    free(text);
}

static void check_links(void)
{
    for (unsigned l = 0; l < link_count; l++) {
        const struct guide_section_page *to = NULL;
        for (unsigned i = 0; i < page_count; i++)
            if (strcmp(pages[i].name.data, links[l].page.data) == 0)
                to = &pages[i];
        if (!to || (links[l].anchor.size && !section_named(to, links[l].anchor.data))) {
            fprintf(stderr, "%s: a link to %s.md#%s, which does not exist\n", links[l].from->file,
                    links[l].page.data, links[l].anchor.data);
            exit(1);
        }
    }
}

static void write_string(FILE *out, const struct text *text)
{
    fputs("{\"", out);
    for (size_t i = 0; i < text->size; i++) {
        const unsigned char c = (unsigned char)text->data[i];
        if (c == '\n')
            fputs("\\n\"\n\"", out);
        else if (c == '"' || c == '\\' || c == '?' || c < 0x20 || c > 0x7e)
            fprintf(out, "\\%03o", c);
        else
            fputc(c, out);
    }
    fprintf(out, "\", %zu}", text->size);
}

static void write_page(FILE *out, unsigned number)
{
    const struct guide_section_page *page = &pages[number];
    fprintf(out, "static const struct guide_section sections_%u[] = {\n", number);
    for (unsigned i = 0; i < page->count; i++) {
        const struct text *parts[] = {&page->sections[i].anchor, &page->sections[i].title,
                                      &page->sections[i].html, &page->sections[i].words};
        fputs("{", out);
        for (unsigned p = 0; p < sizeof parts / sizeof *parts; p++) {
            fputs(p ? ",\n" : "", out);
            write_string(out, parts[p]);
        }
        fputs("},\n", out);
    }
    fputs("};\n", out);
}

static void write_pages(FILE *out)
{
    fputs("/* Made by web/tool/guide.c. */\n#include \"server/page/guide.h\"\n\n", out);
    for (unsigned i = 0; i < page_count; i++)
        write_page(out, i);
    fputs("const struct guide_page guide_pages[] = {\n", out);
    for (unsigned i = 0; i < page_count; i++) {
        fputs("{", out);
        write_string(out, &pages[i].name);
        fputs(", ", out);
        write_string(out, &pages[i].lead);
        fprintf(out, ", sections_%u, %u},\n", i, pages[i].count);
    }
    fprintf(out, "};\nconst unsigned guide_page_count = %u;\n", page_count);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: hub_guide OUT.c FILE.md...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        read_page(argv[i]);
    check_links();
    FILE *out = fopen(argv[1], "w");
    if (!out) {
        perror(argv[1]);
        return 1;
    }
    write_pages(out);
    return fclose(out) != 0;
}
