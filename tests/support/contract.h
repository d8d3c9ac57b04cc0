/**
 * What the contract tests of drivers share: they open a fixture by name and find its parts, fields, rows and
 * problems, or the test fails. Each check asserts, and its message names the set and the field or problem.
 * `d` is what contract_open or contract_try opened; paths of fields are those of its first part.
 */
#ifndef HUB_TESTS_CONTRACT_H
#define HUB_TESTS_CONTRACT_H

#include "tests/support/rows.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

/**
 * Open a dataset that `format` claims and whose parts can all be read: a folder, or a file alone. `name` is a
 * printf format of a path below tests/fixtures, or of an absolute one. inspected_close the result:
 *     HUB_CLEANUP(inspected_close) struct inspected d = contract_open("aloha", "aloha/%s", c->set);
 */
__attribute__((format(printf, 2, 3))) struct inspected contract_open(const char *format, const char *name,
                                                                     ...);
/** Open what may be refused, and return the status of the plan; `d` is closed by the caller in any case. */
__attribute__((format(printf, 3, 4))) HUB_MUST_USE enum hub_status
contract_try(struct inspected *d, struct hub_error *err, const char *name, ...);

/** A part, which is readable and has this many episodes and fields. */
const struct hub_findings *contract_part(const struct inspected *d, uint32_t part, uint32_t episodes,
                                         uint32_t fields);
/** A field, which is there. */
const struct hub_found_field *contract_field(const struct inspected *d, const char *path);
/** The layout of a field, which is there; it borrows from `d`. */
struct hub_layout contract_layout(const struct inspected *d, const char *path);

/** The rows of a readable field in an episode. hub_rows_dispose the result. */
struct hub_rows contract_read(const struct inspected *d, const char *path, uint32_t episode);
/** The value at a place among all values of the rows, in C order; not of varying length. */
double contract_number(const struct hub_rows *rows, uint64_t place);
/** The bytes of a row; of a string of fixed length its text. */
struct hub_view contract_row(const struct hub_rows *rows, uint64_t row);
/** The values are 0, 1, 2 ... in C order. */
void contract_check_counting(const struct inspected *d, const char *path, const struct hub_rows *rows);

/** A field as a table of cases states it. Arrays: Criterion runs cases in another process. */
struct contract_field_case {
    char set[48], path[64];
    enum hub_field_type type;
    enum hub_role role;
    enum hub_axis axis;
    char shape[20]; /* of a row: "float32 2x3", "uint8", "var text"; "": not checked */
    uint64_t rows;  /* of the first episode; 0: not checked */
};
/** The field is there, can be read, and is as stated. */
void contract_check_field(const struct inspected *d, const struct contract_field_case *wanted);
/** Its rows are pictures of this layout (storage/model/picture.h); "": they are none. */
void contract_check_picture(const struct inspected *d, const char *path, const char *layout, uint32_t frames,
                            uint32_t channels);

/** The text of a fact ("" if there is none) is this. */
void contract_check_fact(const struct inspected *d, const char *key, const char *wanted);
/** The text, which was found in the set, is this; NULL is "". */
void contract_check_text(const struct inspected *d, const char *text, const char *wanted);
/** The words are part of the text, which was found in the set. */
void contract_check_says(const struct inspected *d, const char *text, const char *words);

/** How many problems the plan and all parts have. */
uint32_t contract_problems(const struct inspected *d);
/** There is a problem with each of these codes, separated by blanks; "": there is no problem at all. */
void contract_check_problems(const struct inspected *d, const char *codes);

#endif
