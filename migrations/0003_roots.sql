-- A root is stored by what it is called, as its number changes with the order of --root. What was stored by number is '#number' until
-- the roots are next opened, which says what they are called.
CREATE TABLE named (
    root     TEXT    NOT NULL,
    path     TEXT    NOT NULL,
    size     INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    tag      INTEGER NOT NULL,
    sha256   TEXT    NOT NULL,
    md5      TEXT    NOT NULL,
    crc32c   TEXT    NOT NULL,
    PRIMARY KEY (root, path)
) STRICT, WITHOUT ROWID;
INSERT INTO named SELECT '#' || root, path, size, mtime_ns, tag, sha256, md5, crc32c FROM digests;
DROP TABLE digests;
ALTER TABLE named RENAME TO digests;
