/**
 * Parameters of routes. One row says all of a parameter that the check, the errors and openapi.json need; a
 * route has a list of the rows that it takes (routes.c). Handlers read a parameter by its name: where
 * assertions are on, only one that their route takes.
 */
#ifndef HUB_HTTP_PARAMETER_H
#define HUB_HTTP_PARAMETER_H

#include "storage/base/buf.h"
#include "storage/base/error.h"

enum hub_parameter_type {
    HUB_PARAM_TEXT,
    HUB_PARAM_TEXTS,  /* may be repeated */
    HUB_PARAM_WHOLE,  /* a whole number from `least` to `most` */
    HUB_PARAM_REAL,   /* a finite number from `least` to `most` */
    HUB_PARAM_FLAG,   /* true, 1 or an empty one; false or 0 */
    HUB_PARAM_WORD,   /* one of `words` */
    HUB_PARAM_LIST,   /* several of `words`, between commas */
    HUB_PARAM_FORM,   /* one of the representations in `forms`; the handler negotiates it */
    HUB_PARAM_OTHERS, /* no parameter: those that are not listed are ignored */
};

struct hub_parameter {
    enum hub_parameter_type type;
    const char *name;
    const char *example; /* of a query: "random=3&seed=1"; of a path: the value */
    const char *help;    /* NULL: openapi.json has it from another route of the same path */
    const char *words;   /* between blanks */
    unsigned forms;      /* enum hub_representation_list */
    int64_t least, most; /* both 0: any; most INT64_MAX: no upper bound */
    const char *preset;  /* the value where it is absent; NULL: none, or one that depends on others */
    const char *schema;  /* further members of its JSON schema */
    const char *was;     /* an older name, which is still taken */
    bool in_path, required, repeats;
};

/** The row of a name in a NULL-terminated list; NULL: the route does not take it. */
const struct hub_parameter *hub_parameter_find(const struct hub_parameter *const *rows, struct hub_view name);
/** It begins with HUB_PARAM_OTHERS. */
bool hub_parameter_ignores_others(const struct hub_parameter *const *rows);
/** The next of the words between blanks in `*rest`, which is moved behind it; empty: there are no more. */
struct hub_view hub_parameter_word(struct hub_view *rest);

#endif
