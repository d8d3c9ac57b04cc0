/**
 * Handlers of the API called directly, without HTTP: a hub over a small root of its own, and tables of
 * requests with what must come of them.
 */
#ifndef HUB_TESTS_API_KIT_H
#define HUB_TESTS_API_KIT_H

#include "server/api/app.h"

/** The hub: door-human-v0 (12 episodes), cut-v0 (broken: its file is cut short) and the loose file notes.txt,
 * all inspected. For .init and .fini of a suite. */
void api_kit_open(void);
/** The same over what `fill` puts into an empty root. */
void api_kit_open_with(void (*fill)(const char *directory));
void api_kit_close(void);
struct hub_app *api_kit_app(void);

/** From now on these rules, lines of "WHO LEVEL PREFIX", decide. None: everybody may read everything. */
void api_kit_rules(const char *const *lines, size_t count);
/** Who asks from now on: by the name of a token; NULL: anybody. */
void api_kit_ask_as(const char *token);

struct api_case {
    const char *target; /* path and query */
    unsigned status;
    const char *problem;    /* name of an error, or NULL: what the body holds */
    const char *body;       /* part of the body, or of the error's text; NULL: not looked at */
    const char *header;     /* "Name: value" that the answer has, or NULL */
    enum hub_method method; /* 0: GET */
};

/** Ask for each and expect what it says; where the answer is an error there is no body. */
void api_kit_expect(const struct api_case *cases, size_t count);
/** The body of a good answer, or "" (and the test fails). Lives until the next call. */
struct hub_view api_kit_body(const char *target);
/** Ask for what nobody waits for any more, and expect that it is not made. */
void api_kit_expect_given_up(const char *target);

#endif
