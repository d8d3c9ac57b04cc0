-- A stamp no longer holds the device: its number moves from one boot to the next, and every digest was lost with it. The tag
-- stands for inode and change time: ctime_ns xor (the inode with its halves exchanged), as hub_stamp_of says. SQLite has no xor,
-- but (a | b) - (a & b) is one.
CREATE TABLE stamped (
    root     INTEGER NOT NULL,
    path     TEXT    NOT NULL,
    size     INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    tag      INTEGER NOT NULL,
    sha256   TEXT    NOT NULL,
    md5      TEXT    NOT NULL,
    crc32c   TEXT    NOT NULL,
    PRIMARY KEY (root, path)
) STRICT, WITHOUT ROWID;
INSERT INTO stamped
    SELECT root, path, size, mtime_ns, (ctime_ns | swapped) - (ctime_ns & swapped), sha256, md5, crc32c
    FROM (SELECT *, (inode << 32) | ((inode >> 32) & 4294967295) AS swapped FROM digests);
DROP TABLE digests;
ALTER TABLE stamped RENAME TO digests;
