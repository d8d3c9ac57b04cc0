-- What each root held when it was last looked through, so that a mount point without its file system is not taken for a root whose
-- datasets were all deleted.
CREATE TABLE roots (
    root     TEXT    PRIMARY KEY,
    datasets INTEGER NOT NULL, -- 0 also where the admin says that they are gone
    device   INTEGER NOT NULL, -- of its file system then; 0: not known
    marked   INTEGER NOT NULL  -- the hub's own folder was in it
) STRICT, WITHOUT ROWID;
INSERT INTO roots SELECT root, count(*), 0, 1 FROM origins GROUP BY root;
