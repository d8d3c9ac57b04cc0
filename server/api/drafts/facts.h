/** All files of a draft, as its publication wants them. */
#ifndef HUB_API_DRAFTS_FACTS_H
#define HUB_API_DRAFTS_FACTS_H

#include "server/api/drafts/draft.h"
#include "storage/drafts/publish.h"
#include "storage/remote/remote.h"

/** Digests of a file beside its SHA-256. */
struct hub_draft_sums {
    bool has_md5, has_crc32c;
    uint8_t md5[HUB_MD5_BYTES], crc32c[4]; /* big-endian */
};

struct hub_draft_facts {
    struct hub_remote_files files; /* sorted by path bytes, with their SHA-256 */
    struct hub_draft_sums *sums;   /* of each of them */
    uint32_t sums_capacity;
    struct hub_remote_files lost;        /* stated to be whole, and not there, or not what they were */
    char tree[2 * HUB_SHA256_BYTES + 1]; /* names them all: hub_content */
    struct hub_commit_changes changes;   /* of the files of the base */
    int64_t episodes;                    /* -1: not known */
};
/** What is stated to be whole has to be there: files that came before the machine was started last are read
 *  again.
 *  @param draft  where they lie, which the caller has alone; NULL: they are in their place
 *  @return HUB_INVALID "draft-refused": a file is not whole, or there is none */
HUB_MUST_USE enum hub_status hub_draft_facts_read(const struct hub_app *app, const struct hub_draft_row *row,
                                                  const struct hub_draft_folder *draft,
                                                  struct hub_draft_facts *out, struct hub_error *err);
/** Drop what was lost of a draft that is open, so that whoever goes on with it sends it again. */
HUB_MUST_USE enum hub_status hub_draft_forget_lost(const struct hub_app *app, const struct hub_draft_row *row,
                                                   const struct hub_draft_folder *draft,
                                                   const struct hub_draft_facts *facts,
                                                   struct hub_error *err);
/** What it changes of the commit that it takes the place of, whose files are in a directory of its root.
 * Where they cannot be read that stays unknown. */
void hub_draft_facts_compare(const struct hub_app *app, const struct hub_draft_row *row,
                             const char *directory, struct hub_draft_facts *facts);
/** Where it goes, by its row, which names the commit. */
struct hub_draft_place hub_draft_place_of(const struct hub_draft_row *row);
/** The commit that publishes it, by its row and its facts, which lend their texts. */
void hub_draft_commit_of(const struct hub_draft_row *row, const struct hub_draft_facts *facts,
                         const char *message, struct hub_commit *out);
void hub_draft_facts_dispose(struct hub_draft_facts *facts);

#endif
