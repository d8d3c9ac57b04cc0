-- What checks find and need: when each digest last agreed with its file; of files that were fetched the CRC-32C of each MiB (big-endian, of
-- those of more than one), so that only what is damaged is fetched again; what a job found, as JSON; and files whose bytes are no longer
-- what they were though nobody changed them, which are not served until they are whole or others.
ALTER TABLE digests ADD COLUMN checked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE origin_files ADD COLUMN pieces BLOB;
ALTER TABLE jobs ADD COLUMN result TEXT NOT NULL DEFAULT '';
CREATE TABLE damaged (
    root     TEXT    NOT NULL,
    path     TEXT    NOT NULL, -- below the root
    dataset  TEXT    NOT NULL, -- the folder it is a file of
    size     INTEGER NOT NULL, -- the stamp it is damaged at
    mtime_ns INTEGER NOT NULL,
    tag      INTEGER NOT NULL,
    found    INTEGER NOT NULL,
    why      TEXT    NOT NULL,
    PRIMARY KEY (root, path)
) STRICT, WITHOUT ROWID;
