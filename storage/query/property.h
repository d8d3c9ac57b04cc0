/**
 * Properties of episodes: one row for each name that a question may use. `where`, `sort` and `columns`, the
 * statistics, the findings, the page, the description of the API and the help of the command line read the
 * row, so that a new metric is a row here and a fold in storage/measure.
 *
 * A row whose name comes at run time is the one of its kind: ATTRIBUTE has its name in hub_property.of.
 */
#ifndef HUB_QUERY_PROPERTY_H
#define HUB_QUERY_PROPERTY_H

#include "storage/query/value.h"

/** How far the measuring of a part is. */
enum hub_measured { HUB_MEASURED_NOTHING = 0, HUB_MEASURED_REWARDS, HUB_MEASURED_FIELDS, HUB_MEASURED_ALL };

/** What all values of a property are; a truth is the number 0 or 1. */
enum hub_property_type {
    HUB_PROPERTY_INT,
    HUB_PROPERTY_REAL,
    HUB_PROPERTY_TRUTH,
    HUB_PROPERTY_TEXT,
    HUB_PROPERTY_TEXTS, /* a set: = contains, != lacks */
    HUB_PROPERTY_ANY
};

/** Where the value comes from first. What is measured stands in wherever this has none. */
enum hub_property_source {
    HUB_FROM_DIRECTORY, /* in memory with the dataset */
    HUB_FROM_COLUMN,    /* a column of the index */
    HUB_FROM_ROW,       /* the episode's row, of which a column is made when it is first needed */
    HUB_FROM_MEASURE    /* it is measured */
};

/* KNOWN(KIND, word, type, source, how far it has to be measured, unit, meaning) */
#define HUB_KNOWN_PROPERTIES(KNOWN)                                                                          \
    KNOWN(NUMBER, "number", INT, DIRECTORY, NOTHING, "", "Its number.")                                      \
    KNOWN(NAME, "name", TEXT, ROW, NOTHING, "", "Its name, where the format has one.")                       \
    KNOWN(STEPS, "steps", INT, DIRECTORY, NOTHING, "steps", "Its length.")                                   \
    KNOWN(SEED, "seed", INT, COLUMN, NOTHING, "", "The seed of its reset.")                                  \
    KNOWN(RETURN, "return", REAL, COLUMN, REWARDS, "", "The sum of its rewards.")                            \
    KNOWN(SUCCESS, "success", TRUTH, COLUMN, NOTHING, "", "Whether it succeeded.")                           \
    KNOWN(TASK, "task", TEXTS, COLUMN, NOTHING, "", "Its tasks: texts, or numbers in the list of tasks.")    \
    KNOWN(SPLIT, "split", TEXTS, COLUMN, NOTHING, "", "The splits it is in.")                                \
    KNOWN(TERMINATED, "terminated", TRUTH, COLUMN, NOTHING, "", "Whether it ended in a final state.")        \
    KNOWN(TRUNCATED, "truncated", TRUTH, COLUMN, NOTHING, "", "Whether it was cut off.")                     \
    KNOWN(SCORE, "score", REAL, MEASURE, REWARDS, "",                                                        \
          "The return between the dataset's `ref_min_score` and `ref_max_score`.")

/* METRIC(KIND, word, type, how far, unit, above what it is odd, HUB_ODD_LONG or HUB_ODD_OUTSIDE the
 * quartiles, role of the field it is about, title of the odd ones, meaning) */
#define HUB_METRIC_PROPERTIES(METRIC)                                                                        \
    METRIC(NONFINITE, "nonfinite", INT, FIELDS, "values", 0, "", "NaN or infinite values",                   \
           "Number of NaN and infinite values in an episode.")                                               \
    METRIC(FROZEN, "frozen", REAL, ALL, "", HUB_ODD_LONG, "action", "Actions stand still",                   \
           "Longest run of equal actions, as a share of the episode.")                                       \
    METRIC(STILL, "still", REAL, ALL, "", HUB_ODD_OUTSIDE, "action", "Moves unusually little or much",       \
           "Share of steps whose action hardly changes: an outlier in this dataset.")                        \
    METRIC(JERK, "jerk", REAL, ALL, "", HUB_ODD_OUTSIDE, "action", "Unusually rough or smooth actions",      \
           "95th percentile of the second difference of the actions: an outlier in this dataset.")           \
    METRIC(SATURATED, "saturated", REAL, ALL, "", HUB_ODD_OUTSIDE, "action", "Actions at their bounds",      \
           "Share of steps with an action at a bound of its space: an outlier in this dataset.")             \
    METRIC(GAP, "gap", REAL, FIELDS, "frames", 1.5, "", "Gaps in time",                                      \
           "Largest distance of two timestamps, in frames; 1: no frame is lost.")                            \
    METRIC(VIDEO_FRAMES, "video_frames", INT, FIELDS, "frames", 0, "", "Videos and steps differ",            \
           "The video has too few or too many frames.")                                                      \
    METRIC(OFFSET, "offset", REAL, ALL, "", HUB_ODD_OUTSIDE, "action", "Action and state differ at rest",    \
           "Mean distance on still rows: an outlier in this dataset, as after a drift of calibration.")      \
    METRIC(UNENDED, "unended", TRUTH, FIELDS, "", 0, "done", "Neither terminated nor truncated",             \
           "The last step is neither terminated nor truncated.")                                             \
    METRIC(FLAT_REWARD, "flat_reward", TRUTH, REWARDS, "", 0, "reward", "The reward never changes",          \
           "1: all rewards of the episode are equal.")

/* OF_FIELD(KIND, word, type, source, how far, meaning): of all values of a field, as the format's own
 * statistics state it, else as it is measured; or of one row, which is read when it is first asked for */
#define HUB_FIELD_PROPERTIES(OF_FIELD)                                                                       \
    OF_FIELD(SUM, "sum", ANY, ROW, FIELDS, "Sum of all values of the field.")                                \
    OF_FIELD(MEAN, "mean", REAL, ROW, FIELDS, "Mean of all values of the field.")                            \
    OF_FIELD(STD, "std", REAL, ROW, FIELDS, "Standard deviation of all values of the field.")                \
    OF_FIELD(MIN, "min", ANY, ROW, FIELDS, "The smallest value of the field.")                               \
    OF_FIELD(MAX, "max", ANY, ROW, FIELDS, "The largest value of the field.")                                \
    OF_FIELD(FIRST, "first", ANY, MEASURE, REWARDS,                                                          \
             "The field's first row; `[2]` behind it: the third number of that row.")                        \
    OF_FIELD(LAST, "last", ANY, MEASURE, REWARDS,                                                            \
             "The field's last row; `[2]` behind it: the third number of that row.")

/** Of these lists: the words, each with a comma behind, as one literal. */
#define HUB_PROPERTY_COMMA(KIND, word, ...) word ", "
#define HUB_PROPERTY_OF_FIELD_COMMA(KIND, word, ...) word "(\"FIELD\"), "

#define HUB_PROPERTY_KIND(KIND, ...) HUB_PROPERTY_##KIND,
enum hub_property_kind {
    HUB_KNOWN_PROPERTIES(HUB_PROPERTY_KIND)  /* what is known of every dataset's episodes */
    HUB_METRIC_PROPERTIES(HUB_PROPERTY_KIND) /* what is measured, as storage/measure defines it */
    HUB_FIELD_PROPERTIES(HUB_PROPERTY_KIND)  /* of a field */
    HUB_PROPERTY_ATTRIBUTE,
    HUB_PROPERTY_STEP_FIELD, /* of steps, not of episodes: a number of a field's row */
    HUB_PROPERTY_COUNT
};

/** Metrics by number, from 0 in the order of their kinds. */
#define HUB_METRIC_NUMBER(KIND, ...) HUB_METRIC_##KIND,
enum hub_metric { HUB_METRIC_PROPERTIES(HUB_METRIC_NUMBER) HUB_METRIC_COUNT };

struct hub_property_row {
    const char *word, *unit, *meaning;
    enum hub_property_type type;
    enum hub_property_source source;
    /* how far a part has to be measured for it; HUB_MEASURED_NOTHING: it is not measured */
    enum hub_measured how_far;
    bool is_metric, of_field;
};
extern const struct hub_property_row hub_property_rows[HUB_PROPERTY_COUNT];
static inline const struct hub_property_row *hub_property_row(enum hub_property_kind kind)
{
    return &hub_property_rows[kind];
}
/** It is of one row: a number of it may be named. */
static inline bool hub_property_is_of_row(enum hub_property_kind kind)
{
    return kind == HUB_PROPERTY_FIRST || kind == HUB_PROPERTY_LAST;
}
/** The row of a metric. */
static inline const struct hub_property_row *hub_metric_row(unsigned metric)
{
    return hub_property_row((enum hub_property_kind)(HUB_PROPERTY_NONFINITE + metric));
}
/** The word of a name: "return", "mean". */
static inline const char *hub_property_word(enum hub_property_kind kind)
{
    return hub_property_row(kind)->word;
}
/** The kind of a word. False: there is no such word. */
bool hub_property_find(struct hub_view word, enum hub_property_kind *out);
/** One number of each episode, of which a distribution makes sense. */
bool hub_property_is_series(enum hub_property_kind kind);
/** The words of all such, with a comma and a space between them. */
HUB_MUST_USE enum hub_status hub_property_series(struct hub_buf *out, struct hub_error *err);

/** What is asked of an episode. */
struct hub_property {
    enum hub_property_kind kind;
    struct hub_view of; /* the field or the attribute; else empty */
    bool of_row;        /* of a row: only this number of it */
    uint32_t component;
    uint32_t index; /* among the names of fields and attributes that were parsed with it */
};
/** They ask for the same, whatever their indexes. */
bool hub_property_same(const struct hub_property *a, const struct hub_property *b);
/** The word of its column: "jerk", "last[2]". */
enum { HUB_PROPERTY_COLUMN = 32 };
void hub_property_column(const struct hub_property *name, char out[HUB_PROPERTY_COLUMN]);
/** As it is spelt in a question: steps, mean("rewards"), "level". */
HUB_MUST_USE enum hub_status hub_property_spell(const struct hub_property *name, struct hub_buf *out,
                                                struct hub_error *err);

/* ---- odd episodes ---- */

/** Which episodes a rule finds: outside of the quartiles by more than k times their distance, on either side;
 * the one that is lowest or highest, whatever it is; those above a limit; those of which a share goes on for
 * long. */
enum hub_odd { HUB_ODD_OUTSIDE_QUARTILES, HUB_ODD_LOWEST, HUB_ODD_HIGHEST, HUB_ODD_ABOVE, HUB_ODD_LASTING };
#define HUB_ODD_OUTSIDE (-1) /* instead of a limit */
#define HUB_ODD_LONG (-2)
/** Long: a second, or this share of the episode, if it is so many steps. */
#define HUB_ODD_LONG_S 1.0
#define HUB_ODD_LONG_SHARE 0.05
enum { HUB_ODD_LONG_STEPS = 5 };

struct hub_odd_rule {
    const char *name;
    enum hub_property_kind of;
    enum hub_odd test;
    double limit;
    const char *role; /* of the field it is about; "": of none */
    const char *title, *meaning;
};
enum { HUB_ODD_RULES = 6 + HUB_METRIC_COUNT };
/** The rules of what is known, and one for each metric: extremes first, then limits, then what is outside. */
const struct hub_odd_rule *hub_odd_rule(unsigned i);

#endif
