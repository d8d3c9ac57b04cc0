/**
 * Writing into the catalogue: what the scanner found, and its notes.
 */
#ifndef HUB_CATALOG_WRITE_H
#define HUB_CATALOG_WRITE_H

#include "storage/catalog/fences.h"
#include "storage/catalog/summary.h"
#include "storage/model/findings.h"

struct hub_draft_part {
    const char *name;
    uint64_t signature; /* over the names and stamps of its files, hint and driver version */
    /* NULL: keep the part of this name and signature that is in the index */
    const struct hub_findings *found;
    const char *broken; /* NULL, or why (found is then NULL) */
    const char *side;   /* side data just written, below the state directory, or NULL */
    struct hub_stamp side_stamp;
};
/**
 * The right to publish the next state of a dataset: taken before work on it begins, and lost to whoever takes
 * it later or publishes meanwhile.
 */
struct hub_turn {
    uint64_t expect;  /* serial of the state to be replaced; 0: there is none */
    uint64_t fence;   /* grows with each turn of the dataset */
    uint64_t attempt; /* random: what is published again because the answer was lost counts once */
};
struct hub_draft {
    const char *id, *path, *format, *reason;
    const char *rule; /* of the format's row; NULL: none */
    uint32_t root;
    enum hub_dataset_status status;
    const struct hub_dataset_file *files;
    uint32_t file_count;
    const struct hub_findings *plan; /* facts and problems; NULL: keep what is known */
    const struct hub_draft_part *parts;
    uint32_t part_count;
    const char *revision;
    const char *note; /* NULL, or the key of a note that is put down with it */
    struct hub_view note_value;
    uint64_t seen; /* by which look (fences.h): HUB_CHANGED where the hub changed its place since */
    /* HUB_CHANGED when it was lost; NULL: whatever was there before is replaced */
    const struct hub_turn *turn;
};
/** Of the draft root, id, path and format are used. */
HUB_MUST_USE enum hub_status hub_catalog_take_turn(struct hub_catalog *catalog, const struct hub_draft *draft,
                                                   struct hub_turn *out, struct hub_error *err);
/** Publish one state of a dataset, all of it in one transaction, and a new snapshot with it (coalesced: at
 * most every 200 ms while many are published; hub_catalog_flush forces it). Old parts and their side data go
 * at the first flush after the last reader is done. */
HUB_MUST_USE enum hub_status hub_catalog_publish(struct hub_catalog *catalog, const struct hub_draft *draft,
                                                 struct hub_error *err);
/** Publish several in one transaction: all of them or none, and no snapshot shows some alone. */
HUB_MUST_USE enum hub_status hub_catalog_publish_all(struct hub_catalog *catalog,
                                                     const struct hub_draft *drafts, uint32_t count,
                                                     struct hub_error *err);
/** Keep one inspected part ahead of the publication that will show it (whose draft then has neither `found`
 * nor `broken` for it). Bounds the memory of large datasets; an interrupted inspection goes on where it was.
 * Of the draft root, id, path, format, files and turn are used. */
HUB_MUST_USE enum hub_status hub_catalog_stage(struct hub_catalog *catalog, const struct hub_draft *draft,
                                               const struct hub_draft_part *part, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_catalog_remove(struct hub_catalog *catalog, uint32_t root, const char *id,
                                                struct hub_error *err);
/** True when the part of that name and signature is in the index of this dataset, and all that is kept of it
 * and its side data are whole (so it need not be inspected). */
bool hub_catalog_has_part(struct hub_catalog *catalog, uint32_t root, const char *id, const char *part,
                          uint64_t signature);
/** Called with the id of a dataset of which something in the index is damaged, so that its parts are looked
 * at again; from any thread, and without a call back into the catalogue. NULL: nobody. */
void hub_catalog_on_damage(struct hub_catalog *catalog, void (*on_damage)(void *user, const char *id),
                           void *user);
HUB_MUST_USE enum hub_status hub_catalog_flush(struct hub_catalog *catalog, struct hub_error *err);
/** An index of another format lies beside this one: kept, with its side data, until hub_catalog_complete says
 * that this one has all the datasets. */
bool hub_catalog_has_older(const struct hub_catalog *catalog);
void hub_catalog_complete(struct hub_catalog *catalog);

/** The scanner's own memory between runs: what a directory looked like and who claimed it. Keys and values
 * are opaque; an empty value forgets the key. */
HUB_MUST_USE enum hub_status hub_catalog_note_put(struct hub_catalog *catalog, const char *key,
                                                  struct hub_view value, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_catalog_note_get(struct hub_catalog *catalog, const char *key,
                                                  struct hub_buf *value, struct hub_error *err);
/** Forget those whose key begins with `prefix` and that `keep` does not want. */
HUB_MUST_USE enum hub_status hub_catalog_notes_prune(struct hub_catalog *catalog, const char *prefix,
                                                     bool (*keep)(void *user, const char *key), void *user,
                                                     struct hub_error *err);

#endif
