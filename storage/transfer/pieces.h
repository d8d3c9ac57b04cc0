/** What the files of a download share while its bytes come: its requests and the files that they are for. */
#ifndef HUB_TRANSFER_PIECES_H
#define HUB_TRANSFER_PIECES_H

#include "storage/transfer/download.h"
#include "storage/transfer/hash_pipeline.h"

/* One request under way. */
struct hub_piece_request {
    struct hub_fetch fetch;
    struct hub_pieces *run;
    struct hub_buf url;
    uint32_t file, segment, end; /* the next segment to be complete, and where they end */
    uint32_t crc;                /* CRC-32C of the received bytes of the segment */
    uint32_t sum;                /* of the received bytes of the current piece */
    struct hub_buf gathered;     /* received bytes that are not written yet, for few large writes */
    bool whole;                  /* the file in one answer */
    bool cut;                    /* it ends before what was asked for: somebody waits for something else */
    bool used;
};

/* A file being worked on. */
struct hub_piece_file {
    uint32_t file;
    int fd; /* -1: the slot is free */
    unsigned in_flight;
    uint32_t cursor; /* all segments before it are taken */
    bool whole;      /* the server does not do ranges: everything in one answer */
    bool whole_asked;
    bool small;
    bool later;     /* it gets no SHA-256 here; its sums are made of the pieces as they come */
    bool closing;   /* all of it is there, and being hashed */
    uint64_t here;  /* bytes of it that count as done */
    uint64_t front; /* all bytes before it are there; of a small one, and hashed */
    struct hub_hashed_file trailed; /* of a small one only its hasher */
    char etag[160];
};

struct hub_pieces {
    struct hub_download *download;
    struct hub_hash_pipeline *trail;
    struct hub_piece_request pieces[HUB_MAX_CONNECTIONS];
    struct hub_piece_file open[HUB_MAX_CONNECTIONS + 1];
    uint32_t next_file; /* all before it are finished or open */
    bool *begun;        /* files that were opened, some before it was their turn */
};

/* ---- files: pieces_file.c ---- */

/** The file that is open under a number, or NULL. */
struct hub_piece_file *hub_piece_file_find(struct hub_pieces *run, uint32_t file);
/** A slot for another file. Where all are taken by files that are only hashed, one of them is awaited; NULL:
 * there is none. */
struct hub_piece_file *hub_piece_file_room(struct hub_pieces *run);
HUB_MUST_USE enum hub_status hub_piece_file_begin(struct hub_pieces *run, uint32_t file,
                                                  struct hub_piece_file *slot, struct hub_error *err);
/** All of the file comes again: forget what came. */
HUB_MUST_USE enum hub_status hub_piece_file_restart(struct hub_pieces *run, struct hub_piece_file *file,
                                                    struct hub_error *err);
/** Nothing of a file is of use. */
HUB_MUST_USE enum hub_status hub_piece_file_forget(const struct hub_download *download, uint32_t file,
                                                   struct hub_error *err);
/** Bytes are written where the front of the file is. */
HUB_MUST_USE enum hub_status hub_piece_file_advance(struct hub_pieces *run, struct hub_piece_file *file,
                                                    struct hub_view bytes, struct hub_error *err);
/** Hash what came ahead of the front, as far as nothing is missing before it. */
HUB_MUST_USE enum hub_status hub_piece_file_catch_up(struct hub_pieces *run, struct hub_piece_file *file,
                                                     struct hub_error *err);
HUB_MUST_USE enum hub_status hub_piece_file_close(struct hub_pieces *run, struct hub_piece_file *file,
                                                  struct hub_error *err);
void hub_piece_file_release(struct hub_piece_file *file);
/** The sums of a file are there: for the hash pipeline. */
void hub_piece_file_whole(void *user, uint32_t file);

/* ---- answers: pieces_answer.c ---- */

HUB_MUST_USE enum hub_status hub_piece_head(struct hub_fetch *fetch, const struct hub_answer *answer,
                                            struct hub_error *err);
HUB_MUST_USE enum hub_status hub_piece_body(struct hub_fetch *fetch, struct hub_view bytes,
                                            struct hub_error *err);
HUB_MUST_USE enum hub_status hub_piece_finished(struct hub_fetch *fetch, enum hub_status status,
                                                struct hub_error *err);

/* ---- requests: pieces.c ---- */

/** As many as there may be, each for what is missing. */
HUB_MUST_USE enum hub_status hub_pieces_ask(struct hub_pieces *run, struct hub_error *err);

#endif
