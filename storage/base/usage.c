/* Man pages and completions from the tables of a program: see usage.h. Whatever fails while appending is kept
 * in the buffer's first error, so that the writers read as what they write. */
#include "storage/base/usage.h"

#include <ctype.h>
#include <stdio.h>

struct usage_writer {
    const struct hub_usage *usage;
    struct hub_buf *out;
    struct hub_error *err;
    enum hub_status status;
    char ident[64]; /* the program's name as a shell function may be called */
};

static void put(struct usage_writer *w, const char *fmt, ...) HUB_PRINTF(2, 3);
static void put(struct usage_writer *w, const char *fmt, ...)
{
    char text[4096];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!w->status)
        w->status = n < 0 || n >= (int)sizeof text
                        ? hub_fail(w->err, HUB_TOO_BIG, "a line of a manual is longer than %zu", sizeof text)
                        : hub_buf_add(w->out, text, (size_t)n, w->err);
}

static void put_view(struct usage_writer *w, struct hub_view text)
{
    if (!w->status)
        w->status = hub_buf_add_view(w->out, text, w->err);
}

/* The words of "a|b|c". */
static void put_words(struct usage_writer *w, const char *words, const char *between)
{
    for (const char *at = words; at && *at;) {
        const size_t n = strcspn(at, "|");
        put(w, "%s%.*s", at == words ? "" : between, (int)n, at);
        at += n + (at[n] == '|');
    }
}

static bool takes_folder(const struct hub_usage_option *o)
{
    return o->value && strstr(o->value, "DIR");
}

static bool takes_file(const struct hub_usage_option *o)
{
    return o->value && (strstr(o->value, "FILE") || strstr(o->value, "PATH"));
}

/* ---- man ---- */

static void roff_line(struct usage_writer *w, struct hub_view line)
{
    if (line.size && (line.data[0] == '.' || line.data[0] == '\''))
        put(w, "\\&");
    for (size_t i = 0; i < line.size; i++) {
        const char c = line.data[i];
        if (c == '\\')
            put(w, "\\e");
        else if (c == '-')
            put(w, "\\-");
        else if (c == '~' || c == '^' || c == '`' || c == '\'')
            put(w, "\\(%s", c == '~' ? "ti" : c == '^' ? "ha" : c == '`' ? "ga" : "aq");
        else
            put_view(w, (struct hub_view){&line.data[i], 1});
    }
}

static void roff(struct usage_writer *w, const char *text)
{
    roff_line(w, hub_view_of(text));
}

static void roff_text(struct usage_writer *w, const char *text)
{
    bool literal = false, began = false;
    for (const char *at = text; at && *at;) {
        const struct hub_view line = {at, strcspn(at, "\n")};
        const bool example = hub_view_starts(line, "  ");
        at += line.size + (at[line.size] == '\n');
        if (!line.size && (literal || !began))
            continue;
        if (!line.size) {
            put(w, ".PP\n");
            continue;
        }
        if (example != literal)
            put(w, example ? ".PP\n.RS 2\n.nf\n" : ".fi\n.RE\n.PP\n");
        literal = example;
        began = true;
        roff_line(w, example ? (struct hub_view){line.data + 2, line.size - 2} : line);
        put(w, "\n");
    }
    if (literal)
        put(w, ".fi\n.RE\n");
}

static void man_options(struct usage_writer *w, const struct hub_usage_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct hub_usage_option *o = &options[i];
        put(w, ".TP\n");
        if (o->letter)
            put(w, "\\fB\\-%c\\fR, ", o->letter);
        put(w, "\\fB\\-\\-");
        roff(w, o->name);
        put(w, "\\fR");
        if (o->value && *o->value) {
            put(w, " \\fI");
            roff(w, o->value);
            put(w, "\\fR");
        }
        put(w, "\n");
        roff(w, o->help);
        if (o->words) {
            put(w, ": ");
            put_words(w, o->words, ", ");
        }
        put(w, "\n");
    }
}

static void man_command(struct usage_writer *w, const struct hub_usage_command *c)
{
    put(w, ".SS \"");
    roff(w, c->name);
    if (c->arguments && *c->arguments) {
        put(w, " ");
        roff(w, c->arguments);
    }
    put(w, "\"\n");
    roff(w, c->summary);
    put(w, "\n.PP\n");
    roff_text(w, c->help);
    man_options(w, c->options, c->option_count);
}

static void write_man(struct usage_writer *w)
{
    const struct hub_usage *u = w->usage;
    put(w, ".TH \"");
    for (const char *c = u->program; *c; c++)
        put(w, *c == '-' ? "\\-" : "%c", toupper((unsigned char)*c));
    put(w, "\" \"%u\" \"\" \"%s %s\"\n.nh\n.ad l\n.SH NAME\n", u->section, u->program, u->version);
    roff(w, u->program);
    put(w, " \\- ");
    roff(w, u->summary);
    put(w, "\n.SH SYNOPSIS\n\\fB");
    roff(w, u->program);
    if (u->command_count)
        put(w, "\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n.SH DESCRIPTION\n");
    else
        put(w, "\\fR [\\fIOPTION\\fR...] \\fI%s\\fR\n.SH DESCRIPTION\n", u->arguments);
    roff_text(w, u->text);
    if (u->command_count)
        put(w, ".SH COMMANDS\n");
    for (size_t i = 0; i < u->command_count; i++)
        man_command(w, &u->commands[i]);
    put(w, ".SH OPTIONS\n");
    man_options(w, u->options, u->option_count);
    for (size_t i = 0; i < u->part_count; i++) {
        put(w, ".SH \"");
        roff(w, u->parts[i].title);
        put(w, "\"\n");
        roff_text(w, u->parts[i].text);
    }
}

/* ---- bash ---- */

static void bash_pattern(struct usage_writer *w, const struct hub_usage_option *o)
{
    put(w, "    --%s%s", o->name, o->letter ? " | " : "");
    if (o->letter)
        put(w, "-%c", o->letter);
    put(w, ") ");
}

/* No compgen -W: that would run what stands in $(...) in a name. */
#define BASH_OFFER                                                                                           \
    "mapfile -t COMPREPLY < <(\"${COMP_WORDS[0]}\" --offer \"${COMP_LINE:0:COMP_POINT}\" 2>/dev/null)"

static void bash_values(struct usage_writer *w, const struct hub_usage_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct hub_usage_option *o = &options[i];
        if (!o->value || !*o->value)
            continue;
        bash_pattern(w, o);
        if (o->words) {
            put(w, "COMPREPLY=($(compgen -W '");
            put_words(w, o->words, " ");
            put(w, "' -- \"$word\")); ");
        } else if (takes_folder(o) || takes_file(o)) {
            put(w, "compopt -o filenames; COMPREPLY=($(compgen -%c -- \"$word\")); ",
                takes_folder(o) ? 'd' : 'f');
        } else if (w->usage->offers) {
            put(w, BASH_OFFER "; ");
        }
        put(w, "return ;;\n");
    }
}

static void bash_names(struct usage_writer *w, const struct hub_usage_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put(w, " --%s", options[i].name);
        if (options[i].letter)
            put(w, " -%c", options[i].letter);
    }
}

/* What an option's value is depends on the command, so the words before the cursor are looked at in turn. */
static void bash_commands(struct usage_writer *w)
{
    const struct hub_usage *u = w->usage;
    put(w, "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        case ${COMP_WORDS[i]} in");
    for (size_t i = 0; i < u->command_count; i++)
        put(w, "%s%s", i ? " | " : " ", u->commands[i].name);
    put(w, ") command=${COMP_WORDS[i]}; break ;;\n        esac\n    done\n    case $command in\n");
    for (size_t i = 0; i < u->command_count; i++) {
        const struct hub_usage_command *c = &u->commands[i];
        put(w, "    %s) options='", c->name);
        bash_names(w, c->options, c->option_count);
        put(w, "' words='");
        put_words(w, c->words, " ");
        put(w, "'\n    case $before in\n");
        bash_values(w, c->options, c->option_count);
        put(w, "    esac ;;\n");
    }
    put(w, "    '') words='");
    for (size_t i = 0; i < u->command_count; i++)
        put(w, "%s%s", i ? " " : "", u->commands[i].name);
    put(w, "' ;;\n    esac\n");
}

static void write_bash(struct usage_writer *w)
{
    const struct hub_usage *u = w->usage;
    put(w,
        "# bash completion of %s\n"
        "_%s() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= options= "
        "words= i\n"
        "    if [[ $word == = ]]; then word=\n"
        "    elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
        "    COMPREPLY=()\n",
        u->program, w->ident);
    if (u->command_count)
        bash_commands(w);
    put(w, "    case $before in\n");
    bash_values(w, u->options, u->option_count);
    put(w, "    esac\n    [[ $word == -* ]] && words=\"$options");
    bash_names(w, u->options, u->option_count);
    put(w, "\"\n");
    if (u->offers)
        put(w, "    if [[ $command && -z $words ]]; then " BASH_OFFER "; return; fi\n");
    put(w,
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
        "}\n"
        "complete -o default -F _%s %s\n",
        w->ident, u->program);
}

/* ---- zsh ---- */

/* Inside '[...]' in single quotes. */
static void zsh_text(struct usage_writer *w, const char *text, bool colons)
{
    for (; *text; text++) {
        if (*text == '\'')
            put(w, "'\\''");
        else if (strchr("[]\\", *text) || (colons && *text == ':'))
            put(w, "\\%c", *text);
        else
            put_view(w, (struct hub_view){text, 1});
    }
}

static void zsh_options(struct usage_writer *w, const struct hub_usage_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct hub_usage_option *o = &options[i];
        const bool value = o->value && *o->value;
        put(w, " \\\n            ");
        if (o->letter)
            put(w, "'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter, value ? "+" : "", o->name,
                value ? "=" : "");
        else
            put(w, "'--%s%s[", o->name, value ? "=" : "");
        zsh_text(w, o->help, false);
        put(w, "]");
        if (value) {
            put(w, ":");
            zsh_text(w, o->value, true);
            put(w, ":");
            if (o->words) {
                put(w, "(");
                put_words(w, o->words, " ");
                put(w, ")");
            } else if (takes_folder(o) || takes_file(o)) {
                put(w, takes_folder(o) ? "_files -/" : "_files");
            } else if (w->usage->offers) {
                put(w, "_%s_offer", w->ident);
            }
        }
        put(w, "'");
    }
}

static void zsh_commands(struct usage_writer *w)
{
    const struct hub_usage *u = w->usage;
    put(w, "    local context state state_descr line\n"
           "    typeset -A opt_args\n"
           "    local -a commands\n"
           "    commands=(");
    for (size_t i = 0; i < u->command_count; i++) {
        put(w, "\n        '%s:", u->commands[i].name);
        zsh_text(w, u->commands[i].summary, false);
        put(w, "'");
    }
    put(w, ")\n    _arguments -C");
    zsh_options(w, u->options, u->option_count);
    put(w, " \\\n            '1:command:->command' '*::argument:->argument'\n"
           "    case $state in\n"
           "    command) _describe command commands ;;\n"
           "    argument)\n"
           "        case $words[1] in\n");
    for (size_t i = 0; i < u->command_count; i++) {
        const struct hub_usage_command *c = &u->commands[i];
        put(w, "        %s) _arguments", c->name);
        zsh_options(w, c->options, c->option_count);
        zsh_options(w, u->options, u->option_count);
        put(w, " \\\n            '*:argument:");
        if (c->words) {
            put(w, "(");
            put_words(w, c->words, " ");
            put(w, ")");
        } else if (u->offers) {
            put(w, "_%s_offer", w->ident);
        } else {
            put(w, "_default");
        }
        put(w, "' ;;\n");
    }
    put(w, "        esac ;;\n    esac\n");
}

static void write_zsh(struct usage_writer *w)
{
    const struct hub_usage *u = w->usage;
    put(w, "#compdef %s\n", u->program);
    if (u->offers) /* in the words the command comes first, without the program */
        put(w,
            "_%s_offer() {\n"
            "    local -a offered\n"
            "    offered=(${(f)\"$(%s --offer \"%s ${(j: :)words[1,CURRENT]}\" 2>/dev/null)\"})\n"
            "    (( $#offered )) && compadd -- $offered || _default\n"
            "}\n",
            w->ident, u->program, u->program);
    put(w, "_%s() {\n", w->ident);
    if (u->command_count) {
        zsh_commands(w);
    } else {
        put(w, "    _arguments");
        zsh_options(w, u->options, u->option_count);
        put(w, " \\\n            '*:argument:_files'\n");
    }
    put(w, "}\n_%s \"$@\"\n", w->ident);
}

/* ---- fish ---- */

static void fish_text(struct usage_writer *w, const char *text)
{
    put(w, "'");
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            put(w, "\\");
        put_view(w, (struct hub_view){text, 1});
    }
    put(w, "'");
}

static void fish_options(struct usage_writer *w, const struct hub_usage_option *options, size_t count,
                         const char *command)
{
    for (size_t i = 0; i < count; i++) {
        const struct hub_usage_option *o = &options[i];
        put(w, "complete -c %s", w->usage->program);
        if (command)
            put(w, " -n '__fish_seen_subcommand_from %s'", command);
        put(w, " -l %s", o->name);
        if (o->letter)
            put(w, " -s %c", o->letter);
        if (o->words) {
            put(w, " -x -a '");
            put_words(w, o->words, " ");
            put(w, "'");
        } else if (takes_folder(o)) {
            put(w, " -x -a '(__fish_complete_directories)'");
        } else if (takes_file(o)) {
            put(w, " -r -F");
        } else if (o->value && *o->value) {
            put(w, " -x");
            if (w->usage->offers)
                put(w, " -a '(%s --offer (commandline -cp) 2>/dev/null)'", w->usage->program);
        }
        put(w, " -d ");
        fish_text(w, o->help);
        put(w, "\n");
    }
}

static void write_fish(struct usage_writer *w)
{
    const struct hub_usage *u = w->usage;
    put(w, "# fish completion of %s\n", u->program);
    for (size_t i = 0; i < u->command_count; i++) {
        const struct hub_usage_command *c = &u->commands[i];
        put(w, "complete -c %s -f -n __fish_use_subcommand -a %s -d ", u->program, c->name);
        fish_text(w, c->summary);
        put(w, "\n");
        if (c->words) {
            put(w, "complete -c %s -f -n '__fish_seen_subcommand_from %s' -a '", u->program, c->name);
            put_words(w, c->words, " ");
            put(w, "'\n");
        } else if (u->offers) {
            put(w,
                "complete -c %s -n '__fish_seen_subcommand_from %s' -a '(%s --offer (commandline -cp) "
                "2>/dev/null)'\n",
                u->program, c->name, u->program);
        }
        fish_options(w, c->options, c->option_count, c->name);
    }
    fish_options(w, u->options, u->option_count, NULL);
}

/* ---- */

enum hub_status hub_usage_write(const struct hub_usage *usage, const char *what, struct hub_buf *out,
                                struct hub_error *err)
{
    static const struct {
        const char *name;
        void (*write)(struct usage_writer *w);
    } kinds[] = {{"man", write_man}, {"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
    struct usage_writer w = {.usage = usage, .out = out, .err = err};
    snprintf(w.ident, sizeof w.ident, "%s", usage->program);
    for (char *c = w.ident; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    for (size_t i = 0; i < HUB_COUNT(kinds); i++)
        if (strcmp(what, kinds[i].name) == 0) {
            kinds[i].write(&w);
            return w.status;
        }
    return hub_fail(err, HUB_INVALID, "\"%.40s\" is not one of man, bash, zsh and fish", what);
}
