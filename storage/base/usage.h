/**
 * What a program takes, as data; from it come its man page and the completion of bash, zsh and fish, so that
 * none of them is written by hand, and options.h reads values by it. A program prints them itself (`PROGRAM
 * --generate man`), the build keeps them and the installation puts them where they are looked for:
 * hub_usage_files in CMakeLists.txt.
 */
#ifndef HUB_BASE_USAGE_H
#define HUB_BASE_USAGE_H

#include "storage/base/buf.h"

/** How the value of an option is read, and what it becomes in the program's struct. */
enum hub_option_kind {
    HUB_OPTION_TEXT = 0, /* const char *, borrowed; without a value: a bool that becomes true */
    HUB_OPTION_NUMBER,   /* uint64_t, as all up to HUB_OPTION_RATE */
    HUB_OPTION_SIZE,     /* bytes, as 50M; powers of 1024 */
    HUB_OPTION_DURATION, /* milliseconds, as 5m; plain: seconds */
    HUB_OPTION_RATE,     /* bytes a second, as 50M; powers of 1000 */
    HUB_OPTION_SWITCH,   /* bool: on or off */
    HUB_OPTION_CHOICE,   /* unsigned: the number of the word in `words` */
    HUB_OPTION_LIST,     /* texts, one each time: the program's own matter, as what follows */
    HUB_OPTION_WORDS,    /* texts between commas */
    HUB_OPTION_HEAD,     /* a text before the last one of a list */
};

struct hub_usage_option {
    char letter;      /* 0: none */
    const char *name; /* without dashes */
    /* "N"; NULL: a switch. DIR in it is completed by directories, FILE and PATH by files */
    const char *value;
    const char *words; /* "ready|broken": what the value may be; NULL: anything */
    const char *help;  /* one sentence, without a full stop */
    enum hub_option_kind kind;
    size_t offset;         /* of the value in the program's struct */
    const char *otherwise; /* the value where none is given, as one would write it; NULL: worked out */
    uint64_t least, most;  /* of a number; 0, 0: any */
};
/* The end of a row: how its value is read into a member of a struct. Rows without an end are texts. */
#define HUB_OPTION_AT(kind, type, member) HUB_OPTION_##kind, offsetof(type, member), NULL, 0, 0

struct hub_usage_command {
    const char *name, *arguments;
    const char *words;                      /* "local|remote": what an argument may be; NULL: anything */
    const char *summary;                    /* one line */
    const char *help;                       /* as in `hub_usage.text`; NULL: none */
    const struct hub_usage_option *options; /* its own */
    size_t option_count;
};

struct hub_usage {
    const char *program, *version;
    unsigned section; /* of the manual: 1, 8 */
    /* `PROGRAM --offer LINE` prints what arguments, and values of options without words, could end the
     * line */
    bool offers;
    const char *summary; /* one line, after "NAME - " */
    /** Paragraphs, an empty line between them; lines that begin with two spaces are shown as they are. */
    const char *text;
    const struct hub_usage_command *commands; /* none: the program takes `arguments` itself */
    size_t command_count;
    const char *arguments;                  /* "PATH"; files are completed */
    const struct hub_usage_option *options; /* of all commands */
    size_t option_count;
    const struct hub_usage_part { /* more sections of the man page */
        const char *title, *text;
    } * parts;
    size_t part_count;
};

/** Append "man", "bash", "zsh" or "fish"; HUB_INVALID for anything else. */
HUB_MUST_USE enum hub_status hub_usage_write(const struct hub_usage *usage, const char *what,
                                             struct hub_buf *out, struct hub_error *err);

#endif
