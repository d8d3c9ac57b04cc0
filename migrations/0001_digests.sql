-- Digests that were verified or computed, each with the stamp of the file at that moment: worth keeping across rescans, because
-- hashing a lab's disks takes hours. A root is named by its number in the configuration; the stamp guards against a renumbering.
CREATE TABLE digests (
    root     INTEGER NOT NULL,
    path     TEXT    NOT NULL,
    device   INTEGER NOT NULL,
    inode    INTEGER NOT NULL,
    size     INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    sha256   TEXT    NOT NULL,
    md5      TEXT    NOT NULL,
    crc32c   TEXT    NOT NULL,
    PRIMARY KEY (root, path)
) STRICT, WITHOUT ROWID;
