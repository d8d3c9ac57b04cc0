/** What all drivers share: which failures concern one thing alone, roles by name, counts with their first
 * case, files that cannot be used, facts that are numbers. Single-threaded. */
#ifndef HUB_FORMATS_KIT_H
#define HUB_FORMATS_KIT_H

#include "storage/base/order.h"
#include "storage/formats/source.h"
#include "storage/model/picture.h"
#include "storage/text/json.h"

/** The role that a field's first word says, behind "next": observations/x, next.reward, obs, acts, dones. */
enum hub_role hub_role_of(struct hub_view path);

/** Does a name promise data of its own: "x.h5", "x.npz", "x.parquet"? Then a folder of something else does
 * not take the file along. */
bool hub_names_data(struct hub_view path);

/** What rows of an array are: bools, bytes, a picture (storage/model/picture.h; expected of observations), or
 * numbers. */
enum hub_field_type hub_array_type(const struct hub_variant *variant, struct hub_view path);

/** A parsed value written again: the shortest digits instead of jansson's seventeen. */
void hub_json_parsed(struct hub_json *json, const json_t *value);

/** "demo_12" behind "demo_" -> 12. No sign, no leading zeros, at most 18 digits. */
bool hub_numbered(struct hub_view name, const char *prefix, int64_t *out);

/** A part of a run of so many numbers of episodes, "episodes-002000" of all from 2000 on. `number`: any of
 * them. */
enum { HUB_RUN = 1000 };
HUB_MUST_USE enum hub_status hub_sink_run(struct hub_sink *sink, int64_t number, const uint32_t *files,
                                          uint32_t count, struct hub_error *err);

/** The one of these endings (the last is NULL) that a name of more than that has; NULL: none. */
const char *hub_ending_of(struct hub_view name, const char *const *endings);
/** A claim on single files (format.h): the next at the top of the listing that has one of the endings and
 * `is_mine` is a dataset, named as the file without its ending. The ending "" is any name's. */
int hub_claim_file(struct hub_files *listing, struct hub_claim *claim, const char *const *endings,
                   bool (*is_mine)(struct hub_files *listing, uint32_t number), int confidence);

/** How often something happened, and how it was at first. */
struct hub_tally {
    uint32_t count;
    char first[200];
};
void hub_tally_add(struct hub_tally *tally, const char *fmt, ...) HUB_PRINTF(2, 3);

/** "12 WHAT: how it was at first", under `code`; nothing of none. */
HUB_MUST_USE enum hub_status hub_tally_report(const struct hub_tally *tally, struct hub_sink *sink,
                                              const char *code, struct hub_view path, const char *what,
                                              struct hub_error *err);

/* ---- episodes ---- */

/** One of which no more is known: it is numbered by its place. */
struct hub_episode hub_episode_of(struct hub_view name, uint32_t file, uint64_t steps);
/** Its return, the sum of these rewards. NULL, or NaN among them, as where one is missing: none. */
void hub_episode_sum(struct hub_episode *episode, const double *rewards, uint64_t count);
/** The one split of an episode, ["train"]; nothing where that has no name. Appended. */
HUB_MUST_USE enum hub_status hub_json_one(struct hub_view split, struct hub_buf *out, struct hub_error *err);

/* ---- columns of tables as fields ---- */

/** How so many rows of a field relate to the steps of their episode. */
enum hub_axis hub_axis_of(uint64_t rows, uint64_t steps);

/** Numbers that are pictures are images. */
enum hub_field_type hub_column_type(enum hub_field_type type, const struct hub_variant *variant,
                                    struct hub_view path, bool expected);
/** NULLs that rows of this kind have no value for. */
uint64_t hub_lost_nulls(const struct hub_variant *variant, uint64_t nulls);
/** Tell of them; nothing of none. */
HUB_MUST_USE enum hub_status hub_report_nulls(struct hub_sink *sink, struct hub_view path, uint64_t nulls,
                                              struct hub_error *err);
/** Tell of a column whose name another one before it has. */
HUB_MUST_USE enum hub_status hub_report_repeated(struct hub_sink *sink, struct hub_view path,
                                                 struct hub_error *err);
/** Tell of episodes where a field's rows are not as many as its axis says; nothing of none. `first`: one of
 * them, or "". */
HUB_MUST_USE enum hub_status hub_report_odd(struct hub_sink *sink, struct hub_view path, uint32_t odd,
                                            enum hub_axis axis, const char *first, struct hub_error *err);

/** In how many episodes a field could be read, and why not in the others. */
struct hub_readings {
    uint32_t readable;
    struct hub_tally unreadable;
};
/** Tell of a field that can be read in some episodes only, once all were seen. `of`: what was counted
 * ("episodes"). */
HUB_MUST_USE enum hub_status hub_readings_report(const struct hub_readings *readings, struct hub_sink *sink,
                                                 struct hub_view path, const char *of, struct hub_error *err);

/** A file that its library needs. False in `usable` when it is a Git LFS pointer or may not be read, which is
 * then reported, with "not-loadable" and `consequence`. */
HUB_MUST_USE enum hub_status hub_report_unusable(struct hub_files *files, uint32_t number,
                                                 struct hub_sink *sink, const char *consequence, bool *usable,
                                                 struct hub_error *err);

/** One value of JSON as Python wrote it, parsed; `strict` holds its text then, and its limit is the most it
 * may take. json_decref the result. */
HUB_MUST_USE enum hub_status hub_json_of_python(struct hub_view text, struct hub_buf *strict, json_t **out,
                                                struct hub_error *err);
/** The same of a file of at most 16 MiB, HUB_NOT_FOUND when it is not there. `strict` may be NULL. */
HUB_MUST_USE enum hub_status hub_json_file(struct hub_files *files, const char *path, struct hub_buf *strict,
                                           json_t **out, struct hub_error *err);

/** A file that is an object of JSON as Python wrote it, of at most `limit` bytes; says why it cannot be
 * used, be it not fetched. `strict` holds its text then. */
HUB_MUST_USE enum hub_status hub_json_object_of(struct hub_files *files, uint32_t number, size_t limit,
                                                struct hub_buf *strict, json_t **out, struct hub_error *err);
/** An object of JSON that may stand beside the data; `*out` stays NULL where it does not, and where it
 * cannot be used, which is a problem (bad-metadata). */
HUB_MUST_USE enum hub_status hub_json_beside(struct hub_files *files, struct hub_sink *sink, const char *path,
                                             json_t **out, struct hub_error *err);

/** The text under a key of a JSON object, or of the value itself (`key` NULL); of a list of texts its first,
 * or all of them joined. Appended; nothing where there is none. */
HUB_MUST_USE enum hub_status hub_json_text_of(struct hub_view json, const char *key, bool first,
                                              struct hub_buf *out, struct hub_error *err);

/** A fact that is an object of JSON; nothing where it is none. */
HUB_MUST_USE enum hub_status hub_sink_json(struct hub_sink *sink, const char *key, const json_t *value,
                                           struct hub_error *err);
/** A fact that is a count; a negative one is a problem. */
HUB_MUST_USE enum hub_status hub_sink_count(struct hub_sink *sink, const char *key, int64_t count,
                                            struct hub_error *err);

#endif
