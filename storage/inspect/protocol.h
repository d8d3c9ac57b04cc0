/**
 * Frames between the hub and an inspector child, over a stream socket. A frame is a 32-bit word (bytes of
 * payload, bit 31: the message goes on in the next frame), a type byte and the payload; a frame is at most 1
 * MiB, a message at most 8 MiB. Integers are little-endian, texts stand behind a 32-bit length. The child
 * asks (OPEN, SIDE) and waits for one FD answer; all else only flows from child to hub and may be batched.
 */
#ifndef HUB_INSPECT_PROTOCOL_H
#define HUB_INSPECT_PROTOCOL_H

#include "storage/base/cursor.h"

#include <sys/types.h>

enum {
    HUB_MAX_FRAME = 1024 * 1024 - 5, /* payload */
    HUB_MAX_MESSAGE = 8 * 1024 * 1024,
    HUB_MAX_OPEN = 64, /* files a child may hold open */
    HUB_MAX_JOB_FILES = 16 * 1000 * 1000,
    HUB_MAX_NOTE = 4096,  /* a part's hint */
    HUB_MAX_SHORT = 1024, /* names, seeds, cameras, one-line details */
    HUB_MAX_TASK = 64 * 1024,
    HUB_MAX_CLAIMS = 200 * 1000,     /* of one listing */
    HUB_MAX_JOB_CLAIMS = 256 * 1024, /* of a job: small listings share one */
};

enum hub_job_kind { HUB_JOB_CLAIM = 1, HUB_JOB_PLAN, HUB_JOB_INSPECT };
#define HUB_HINT_FILES "files" /* hint of a claim: directories were declined, bid on their files alone */

enum hub_frame_type {
    /* hub to child: the job, then answers */
    /* u8 kind, text format, part, hint, u32 files, u32 part files, u8 side allowed, u64 side budget */
    HUB_FRAME_JOB = 1,
    HUB_FRAME_FILES,      /* (u8 directory, u64 size, text path)... the next files */
    HUB_FRAME_PART_FILES, /* u32... the next numbers, ascending; of a claim: the first entries of listings */
    HUB_FRAME_GO,         /* nothing: the job is complete */
    HUB_FRAME_FD,         /* u8 status, text detail; a descriptor travels along when the status is HUB_OK */

    /* child to hub */
    HUB_FRAME_OPEN = 32, /* u32 file */
    HUB_FRAME_CLOSE,     /* u32 file */
    HUB_FRAME_SIDE,      /* nothing */
    HUB_FRAME_CLAIM,     /* u8 confidence, text format, name, u32 listing, u32 count, u32... */
    HUB_FRAME_FACT,      /* text key, text */
    HUB_FRAME_PART,      /* text name, text hint, u32 count, u32... */
    HUB_FRAME_PROBLEM,   /* text code, path, detail */
    HUB_FRAME_FIELD,     /* text path, u8 type, role, axis: numbered in order */
    HUB_FRAME_EPISODE,   /* see sink.c:put_episode */
    HUB_FRAME_MEDIA,     /* see sink.c:hub_sink_media */
    HUB_FRAME_LAYOUT,    /* u32 field, u64 bytes: that many follow in LAYOUT_DATA */
    HUB_FRAME_LAYOUT_DATA,
    HUB_FRAME_VIDEO, /* u32 file, text table: storage/model/video.h */
    HUB_FRAME_END,   /* u8 status, text problem, detail: the last one */

    /* worker to hub, one packet on the control socket at its start */
    HUB_FRAME_FORMAT = 64, /* text name, u32 count, text... name patterns,
                              u32 count, text... asides */
};

/** A message while it is written. Appending to a failed writer does nothing; hub_frame_end tells. */
struct hub_frame_writer {
    struct hub_buf body, out; /* `out`: finished frames, to be sent and emptied by the owner */
    uint8_t type;
    bool failed;
};

void hub_frame_writer_init(struct hub_frame_writer *w, size_t out_limit);
void hub_frame_writer_dispose(struct hub_frame_writer *w);
void hub_frame_begin(struct hub_frame_writer *w, enum hub_frame_type type);
void hub_frame_u8(struct hub_frame_writer *w, uint8_t value);
void hub_frame_u32(struct hub_frame_writer *w, uint32_t value);
void hub_frame_u64(struct hub_frame_writer *w, uint64_t value);
void hub_frame_f64(struct hub_frame_writer *w, double value);
void hub_frame_bytes(struct hub_frame_writer *w, const void *data, size_t size);
void hub_frame_text(struct hub_frame_writer *w, struct hub_view text);
HUB_MUST_USE enum hub_status hub_frame_end(struct hub_frame_writer *w, struct hub_error *err);

/** A complete message. Its bytes live until the next call on the reader. */
struct hub_frame {
    uint8_t type;
    const uint8_t *data;
    size_t size;
};

struct hub_frame_reader {
    struct hub_buf in, message;
    size_t at;      /* first byte of `in` not yet taken */
    uint8_t joined; /* type of the message in `message`, or 0 */
};

void hub_frame_reader_init(struct hub_frame_reader *r);
void hub_frame_reader_dispose(struct hub_frame_reader *r);
/** Where to receive to; `size` is at least 64 KiB. */
HUB_MUST_USE enum hub_status hub_frame_room(struct hub_frame_reader *r, void **data, size_t *size,
                                            struct hub_error *err);
void hub_frame_filled(struct hub_frame_reader *r, size_t size);
/** The next message; `frame->type` is 0 when more bytes are needed. HUB_CORRUPT: too long, or two messages
 * interleaved. */
HUB_MUST_USE enum hub_status hub_frame_next(struct hub_frame_reader *r, struct hub_frame *frame,
                                            struct hub_error *err);

static inline double hub_cursor_f64(struct hub_cursor *c)
{
    const uint64_t bits = hub_cursor_u64(c);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- descriptors, which travel along with bytes ---- */

enum { HUB_MAX_PASSED = 2 };
/** sendmsg, again after a signal; `count` up to HUB_MAX_PASSED, 0: none. */
ssize_t hub_send_fds(int sock, const void *data, size_t size, int flags, const int *fds, unsigned count);
/** recvmsg, again after a signal. Exactly `count` descriptors came along and are the caller's; else all are
 * -1 and what came is closed. */
ssize_t hub_receive_fds(int sock, void *data, size_t size, int flags, int *fds, unsigned count);

/* ---- worker control ----
 * One SEQPACKET message a job, with the child's socket and the job's status socket. */

struct hub_job_order {
    uint32_t magic; /* HUB_ORDER_MAGIC */
    uint32_t cpu_s;
    uint64_t memory_bytes, side_budget;
    uint32_t wall_ms;
    uint8_t unsafe, no_landlock, zero[2];
};
#define HUB_ORDER_MAGIC 0x32424a48u /* "HJB2" */
#define HUB_CONTROL_FD 3            /* of a worker */

/** On the status socket: one of these from the worker when the child was reaped; any byte from the hub, or
 * its closing, kills. */
struct hub_job_exit {
    int32_t status; /* as of waitpid */
    uint32_t cpu_ms;
};

#endif
