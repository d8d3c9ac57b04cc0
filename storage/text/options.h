/** Options of programs: a word is found in a table of hub_usage_option rows, and its value is read by the
 * row's type and bounds. Nothing here is kept; texts are borrowed. */
#ifndef HUB_TEXT_OPTIONS_H
#define HUB_TEXT_OPTIONS_H

#include "storage/base/usage.h"

struct hub_options {
    const struct hub_usage_option *rows;
    size_t count;
};
#define HUB_OPTIONS(rows) ((struct hub_options){(rows), HUB_COUNT(rows)})

/** The row that "--name", "--name=value", "-x" or "-xvalue" names, or NULL. `value` becomes the value in the
 * same word, or NULL. */
const struct hub_usage_option *hub_option_find(struct hub_options options, const char *word,
                                               const char **value);
/** The row of this name, or NULL. */
const struct hub_usage_option *hub_option_named(struct hub_options options, struct hub_view name);
/** The name that was probably meant by "--nmae", "nmae" or "--nmae=value"; NULL: none is near. */
const char *hub_option_nearest(struct hub_options options, const char *word);
/** HUB_INVALID: "unknown option --nmae", with the nearest name. */
enum hub_status hub_option_unknown(struct hub_options options, const char *word, struct hub_error *err);

/** Read `text` into the member of the struct at `base`. HUB_INVALID says which option it is about. */
HUB_MUST_USE enum hub_status hub_option_set(const struct hub_usage_option *option, const char *text,
                                            void *base, struct hub_error *err);
/** HUB_INVALID: what is wrong with the value. */
enum hub_status hub_option_wrong(const struct hub_usage_option *option, const char *text, const char *what,
                                 struct hub_error *err);
/** "on", "true", "yes", "1" or their opposites. False: neither. */
bool hub_option_switch(const char *text, bool *out);

enum { HUB_OPTION_CHARS = 64 };
/** The value of a number, switch or choice as hub_option_set reads it. */
void hub_option_show(const struct hub_usage_option *option, const void *base, char out[HUB_OPTION_CHARS]);

#endif
