/**
 * Random damage: datasets are copied, mutated, inspected through one kept inspector and read as the server
 * reads them. See main.c for what must hold. Everything here may exit with a message: it is a test.
 */
#ifndef HUB_TESTS_DAMAGE_H
#define HUB_TESTS_DAMAGE_H

#include "storage/inspect/inspect.h"
#include "storage/read/read.h"

/** Lies in the hub's neighbourhood, in files and in memory, and must be in no answer. */
#define MARKER "hub-SECRET-15fc!"

/* ---- ranges.c: sets of byte ranges in numbered files ---- */

struct range {
    uint32_t file;
    uint64_t begin, end;
};
struct ranges {
    struct range *items;
    uint32_t count, capacity;
};
void ranges_add(struct ranges *set, uint32_t file, uint64_t begin, uint64_t end);
void ranges_add_all(struct ranges *set, const struct ranges *more);
/** Sort and join: needed before the questions below. */
void ranges_tidy(struct ranges *set);
bool ranges_touch(const struct ranges *tidy, const struct range *range);
bool ranges_cover(const struct ranges *tidy, const struct range *range);
void ranges_dispose(struct ranges *set);
/** The stored bytes of a window. False: some of its rows lie in side data or in the layout, so that where
 * they came from is not known. */
bool ranges_of_window(const struct hub_layout *layout, const struct hub_window *window, struct ranges *out);

/* ---- folder.c: a dataset's files in a folder ---- */

struct folder {
    char path[1024];
    char shown[512]; /* for people: fixture, and the claim's name where a folder holds several datasets */
    char format[64];
    struct hub_job_file *files; /* sorted by path bytes */
    struct hub_buf *bytes;      /* as they were */
    uint32_t count;
};
/** Call `found` for every dataset below a directory, as discovery does: claims top-down, files singly. */
void folder_walk(struct hub_inspector *inspector, const char *path, const char *shown,
                 void (*found)(void *user, const struct folder *folder), void *user);
/** Copy the files (only what is in `from->files`) to another place. */
void folder_copy(const struct folder *from, const char *to, struct folder *out);
/** Put other bytes into one file, with its size in the list; folder_mend puts the old ones back. */
void folder_write(struct folder *folder, uint32_t file, const void *bytes, size_t size);
void folder_mend(struct folder *folder, uint32_t file);
void folder_dispose(struct folder *folder);
enum hub_status folder_open_file(void *user, uint32_t number, int *fd, struct hub_error *err);

/* ---- mutate.c ---- */

struct mutation {
    char text[160]; /* for people */
    uint32_t file;
    uint8_t *bytes; /* the whole file */
    size_t size;
    struct ranges touched; /* of the file as it was; a new size touches its end */
};
/** `raw`, `metadata`: what is aimed at. The same (seed, number) makes the same mutation. */
void mutation_make(const struct folder *folder, const struct ranges *raw, const struct ranges *metadata,
                   uint64_t seed, uint64_t number, struct mutation *out);
void mutation_dispose(struct mutation *mutation);

/* ---- picture.c: what is found in a folder, and all its rows ---- */

/** Rows of one field in one episode. */
struct view {
    const char *part, *field; /* of the findings */
    int64_t episode;
    uint32_t index;
    enum hub_status status;
    struct hub_variant variant;
    uint64_t rows;
    uint32_t crc;
    struct ranges where; /* only with keep_ranges */
    bool addressed;      /* `where` is all of it */
};
struct picture {
    struct hub_findings plan, *parts;
    uint32_t part_count;
    struct view *views; /* sorted by part, field, episode */
    uint32_t view_count, view_capacity;
};
struct counts {
    uint64_t mutations, plans_ok, plans_refused, parts_ok, parts_broken, crashed, stopped, lied, killed,
        timeouts, failed_reads, too_big;
    uint64_t views, served, equal, other, misled, untouched, untouched_equal, encoded;
    uint64_t failures;
};
struct stage {
    struct hub_inspector *inspector;
    struct hub_store *store;
    char root[512], state[512]; /* of the copies; side data is in state */
    struct counts counts;
};
void picture_take(struct stage *stage, const struct folder *folder, bool keep_ranges, struct picture *out);
void picture_dispose(struct picture *picture);
int view_compare(const struct view *a, const struct view *b); /* by key */
/** Something that must not be: counted and told, with what was being done. */
void stage_fail(struct stage *stage, const char *fmt, ...) HUB_PRINTF(2, 3);
extern char now_doing[1024];

/* ---- show.c: representations ---- */

/** Fill memory that is about to be allocated with the marker. */
void memory_poison(size_t size);
/** Does it come back? Not with sanitizers, which keep freed memory away. */
bool memory_poison_works(void);
/** Encode the rows in every way they have. Returns how many there are; `leaks`: the marker was in one. */
unsigned show_rows(enum hub_field_type type, struct hub_rows *rows, bool *leaks);
bool findings_leak(const struct hub_findings *findings);

void write_file(const char *path, const void *bytes, size_t size);
void die(const char *fmt, ...) HUB_PRINTF(1, 2) __attribute__((noreturn));

#endif
