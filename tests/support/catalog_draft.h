/** Drafts for the tests and measurements of the catalogue: hand-made findings with real layouts, and a fresh
 * state directory. */
#ifndef HUB_TESTS_CATALOG_DRAFT_H
#define HUB_TESTS_CATALOG_DRAFT_H

#include "storage/catalog/catalog.h"
#include "storage/catalog/write.h"
#include "tests/support/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct draft_field {
    const char *path;
    enum hub_field_type type;
    uint32_t dim; /* of a row; 0: scalar rows */
};

static inline void draft_die(const char *what, const struct hub_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->detail);
    abort();
}

#define DRAFT_OK(call)                                                                                       \
    do {                                                                                                     \
        struct hub_error err_ = {0}, *err = &err_;                                                           \
        if (call)                                                                                            \
            draft_die(#call, err);                                                                           \
    } while (0)

/** One float32 array in `file`, cut into episodes of `steps` rows. */
static inline void draft_layout(struct hub_found_field *field, uint32_t file, uint32_t dim, uint32_t episodes,
                                uint64_t steps)
{
    struct hub_layout_builder *b = NULL;
    const struct hub_variant variant = {
        .kind = HUB_KIND_FLOAT, .rank = dim > 0, .item_size = 4, .dims = {dim}};
    const uint64_t row = hub_variant_row_bytes(&variant);
    const struct hub_piece piece = {.kind = HUB_PIECE_STRIDED,
                                    .file = file,
                                    .rows = steps * episodes,
                                    .offset = 0,
                                    .row_stride = (int64_t)row,
                                    .geometry = HUB_NONE};
    uint32_t number = 0, array = 0;
    DRAFT_OK(hub_layout_builder_new(64 * MIB, &b, err));
    DRAFT_OK(hub_layout_variant(b, &variant, &number, err));
    DRAFT_OK(hub_layout_array(b, number, &array, err));
    DRAFT_OK(hub_layout_piece(b, &piece, err));
    for (uint32_t i = 0; i < episodes; i++)
        DRAFT_OK(hub_layout_add_window(b, &(struct hub_window){i, array, i * steps, steps}, err));
    DRAFT_OK(hub_layout_finish(b, &field->layout, &field->layout_size, err));
    hub_layout_builder_free(b);
}

/** Findings of a part: numbered episodes first..first+count-1 (first -1: unnumbered), all in `file`. */
static inline struct hub_findings *draft_findings(const struct draft_field *fields, uint32_t field_count,
                                                  uint32_t file, int64_t first, uint32_t count,
                                                  uint64_t steps)
{
    struct hub_findings *found = calloc(1, sizeof *found);
    found->fields = calloc(field_count + 1, sizeof *found->fields);
    found->episodes = calloc(count + 1, sizeof *found->episodes);
    found->field_count = field_count;
    found->episode_count = count;
    for (uint32_t i = 0; i < field_count; i++) {
        found->fields[i] = (struct hub_found_field){.path = strdup(fields[i].path),
                                                    .type = fields[i].type,
                                                    .role = HUB_ROLE_OBSERVATION,
                                                    .axis = HUB_AXIS_STEP};
        draft_layout(&found->fields[i], file, fields[i].dim, count, steps);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct hub_found_episode *e = &found->episodes[i];
        *e = (struct hub_found_episode){.number = first < 0 ? -1 : first + i,
                                        .file = file,
                                        .steps = steps,
                                        .success = -1,
                                        .terminated = -1,
                                        .truncated = -1};
        char *name = NULL;
        if (asprintf(&name, "episode_%lld", first < 0 ? (long long)i : (long long)(first + i)) < 0)
            abort();
        e->name = name;
    }
    return found;
}

static inline void draft_findings_free(struct hub_findings *found)
{
    for (uint32_t i = 0; i < found->field_count; i++) {
        free((void *)found->fields[i].path);
        free(found->fields[i].layout);
    }
    for (uint32_t i = 0; i < found->episode_count; i++) {
        struct hub_found_episode *e = &found->episodes[i];
        const char *const texts[] = {e->name, e->seed, e->task, e->splits, e->attributes, e->statistics};
        for (size_t j = 0; j < HUB_COUNT(texts); j++)
            free((void *)texts[j]);
    }
    free(found->fields);
    free(found->episodes);
    free(found);
}

static inline struct hub_dataset_file draft_file(const char *path, uint64_t size)
{
    return (struct hub_dataset_file){
        path, {.size = size, .mtime_ns = 1700000000000000000U, .tag = 1700000000000000001U}};
}

/** A fresh directory; the caller removes it. */
static inline char *draft_state(void)
{
    char name[] = "/tmp/hub-state-XXXXXX";
    if (!mkdtemp(name))
        abort();
    return strdup(name);
}

#endif
