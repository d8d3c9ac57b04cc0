/**
 * Requests with headers and a body, routed to their handlers as the server does, over the hub of api_kit. An
 * error comes in the shape of the protocol that its address belongs to.
 */
#ifndef HUB_TESTS_WIRE_KIT_H
#define HUB_TESTS_WIRE_KIT_H

#include "tests/support/api_kit.h"

/**
 * The hub, for .init and .fini of a suite: D4RL/door/human-v2 (Minari, 8 episodes, in two namespaces),
 * door-human-v0 (Minari without a namespace, 12 episodes), lab/arm (LeRobot v2.1, 4 episodes) and loose
 * files: notes.txt ("hello", whose digests are known), and in lab/odd "a b+c%.txt" ("plus"), "empty.bin", and
 * one whose name is markup: WIRE_HOSTILE.
 */
void wire_open(void);
void wire_close(void);
#define WIRE_HOSTILE "<b onload='x'>&\"q\".txt"

struct wire_case {
    const char *target; /* path and query */
    unsigned status;
    const char *has;    /* part of the body, or NULL: not looked at */
    const char *header; /* "Name: value" that the answer has, "!Name" that it has not, or NULL */
    const char
        *headers; /* of the request: "Name: value", a line each; NULL: none, of a page Accept: text/html */
    enum hub_method method; /* 0: GET */
    const char *body;       /* of the request, or NULL */
};

/** Ask for each, and expect what it says. */
void wire_expect(const struct wire_case *cases, size_t count);

struct wire_answer {
    unsigned status;
    uint64_t length;      /* Content-Length; of HEAD that of the body which GET sends */
    struct hub_view body; /* ends with a NUL */
};
/** Only what is asked is looked at. The answer lives until the next one. */
struct wire_answer wire_ask(const struct wire_case *request);
/** Of the last answer; NULL: it has none. */
const char *wire_header(const char *name);
/** The good answer to a GET; else the test fails. */
struct hub_view wire_body(const char *target);
/** What stands in the last answer's body between `before` and the next `end`; "" where there is none. */
const char *wire_between(const char *before, const char *end);
/** How often a text stands in a body. */
unsigned wire_count(struct hub_view body, const char *text);

#endif
