/**
 * Files: opening beneath a directory, reading and writing whole files, listing, stamps. All paths of foreign
 * origin go through hub_fs_open_beneath. Functions are safe from any thread.
 */
#ifndef HUB_IO_FS_H
#define HUB_IO_FS_H

#include "storage/base/buf.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>

/**
 * A file's state: stored, compared, and opaque but for size and time. The tag stands for the inode and its
 * change time, and never for the device: device numbers move from one boot to the next.
 */
struct hub_stamp {
    uint64_t size, mtime_ns, tag;
};

bool hub_stamp_equal(const struct hub_stamp *a, const struct hub_stamp *b);
/** Files that the hub itself stored are read-only for all, and sticky: that means nothing for a file
 * (chmod(2)), and no other file has it by chance. Who edits one has to change its mode first, so that it
 * is a file like any other from then on. */
bool hub_stat_is_owned(const struct stat *st);
/** Make a file one of the hub's own; who may read it stays. */
HUB_MUST_USE enum hub_status hub_fs_own(int fd, const char *path, struct hub_error *err);
/** Its tag tells the states of one inode apart by its ctime; of an owned file there is one state, whatever
 * links to it come and go. */
struct hub_stamp hub_stamp_of(const struct stat *st);
uint64_t hub_ctime_ns(const struct stat *st);

/**
 * Files of our own that never change once written: a seal at the end, drawn at random, stands for what is in
 * them. Their stamp is size and seal, so that it survives a copy or a restore from a backup, and tells a file
 * cut short.
 */
enum { HUB_SEAL_BYTES = 16 };
/** Append the seal. */
HUB_MUST_USE enum hub_status hub_fs_seal(int fd, struct hub_stamp *stamp, struct hub_error *err);
/** Of a sealed file; HUB_CHANGED where no seal is at its end. */
HUB_MUST_USE enum hub_status hub_fs_sealed_stamp(int fd, struct hub_stamp *stamp, struct hub_error *err);

/** Segments between '/', none of them empty, "." or "..": so it cannot lead up. */
bool hub_path_plain(struct hub_view path);

/** Options of hub_fs_open_beneath, besides those of open(2). */
enum hub_fs_option {
    HUB_FS_NO_LINKS = 1, /* refuse every symbolic link, also those that stay beneath */
    HUB_FS_WALK = 2, /* open segment by segment even where openat2 exists (tests); implies HUB_FS_NO_LINKS */
};

/**
 * Open a path that must stay beneath a directory, whatever it says and whatever links are on the way: openat2
 * with RESOLVE_BENEATH, else a walk that follows no link.
 *
 * @param directory  open directory
 * @param path       relative, of segments that are neither empty nor "." nor ".."; "" is the directory itself
 * @param flags      as for open(2); O_CLOEXEC is added. O_CREAT makes files with mode 0666 & ~umask
 * @return HUB_DENIED for a path or link that leaves, HUB_NOT_FOUND, HUB_IO ...
 */
HUB_MUST_USE enum hub_status hub_fs_open_beneath(int directory, const char *path, int flags, unsigned options,
                                                 int *fd, struct hub_error *err);

/** pread to the last byte: fewer than `size` only at the end of the file. -1: errno says why. */
ssize_t hub_fs_pread(int fd, void *out, size_t size, uint64_t offset);

/* The functions below take a path relative to an open directory, or any path with AT_FDCWD. They are for
 * paths of our own making: links are followed. */

/** Append a whole file. The buffer's limit is the ceiling: HUB_TOO_BIG over it. */
HUB_MUST_USE enum hub_status hub_fs_read(int directory, const char *path, struct hub_buf *out,
                                         struct hub_error *err);
/** The same from the current offset of a descriptor. */
HUB_MUST_USE enum hub_status hub_fs_read_fd(int fd, struct hub_buf *out, struct hub_error *err);

/** Write all bytes at the current offset. */
HUB_MUST_USE enum hub_status hub_fs_write_fd(int fd, struct hub_view bytes, struct hub_error *err);

/** Replace a file at once: written beside it, synced, renamed over it, and the directory synced. */
HUB_MUST_USE enum hub_status hub_fs_write(int directory, const char *path, struct hub_view bytes,
                                          unsigned mode, struct hub_error *err);
/** The same without a sync: a power cut may leave the old file, the new one, or any part of it. */
HUB_MUST_USE enum hub_status hub_fs_write_unsynced(int directory, const char *path, struct hub_view bytes,
                                                   unsigned mode, struct hub_error *err);

enum { HUB_USER_BYTES = 64 };
/** As whom this program runs, by name or number: for messages about permissions. May ask a directory
 * service. */
void hub_fs_user(char out[HUB_USER_BYTES]);

/** Make a directory and what is missing above it. What is there already is fine if it is a directory. With
 * AT_FDCWD what is made is synced; beneath an open folder that is for whoever made the folder. */
HUB_MUST_USE enum hub_status hub_fs_make_dirs(int directory, const char *path, unsigned mode,
                                              struct hub_error *err);

/** Sync a directory, so that names made or renamed in it last. */
HUB_MUST_USE enum hub_status hub_fs_sync_dir(int directory, const char *path, struct hub_error *err);

/** Remove a file or a whole tree; links are removed, not followed. Nothing there is fine. */
HUB_MUST_USE enum hub_status hub_fs_remove(int directory, const char *path, struct hub_error *err);
/** The same until `stop` is set, from any thread: then HUB_CANCELLED, and a part of it is left. */
HUB_MUST_USE enum hub_status hub_fs_remove_until(int directory, const char *path, const atomic_bool *stop,
                                                 struct hub_error *err);

/** The names in a directory, sorted by bytes, without "." and "..". */
struct hub_names {
    struct hub_name {
        const char *text;
        uint8_t type; /* DT_REG, DT_DIR, DT_LNK, DT_UNKNOWN ... of readdir(3) */
    } * items;
    size_t count;
    char *bytes; /* what the texts borrow */
};

/** HUB_TOO_BIG over `max` names. Dispose the result. */
HUB_MUST_USE enum hub_status hub_fs_list(int directory, const char *path, size_t max, struct hub_names *out,
                                         struct hub_error *err);
void hub_names_dispose(struct hub_names *names);

/** Bytes an unprivileged user may still write to the file system of a path. */
HUB_MUST_USE enum hub_status hub_fs_free_bytes(const char *path, uint64_t *out, struct hub_error *err);

#endif
