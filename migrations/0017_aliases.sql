-- Datasets that were renamed: their former ids, and files that are still to be moved for it.
CREATE TABLE aliases (
    id TEXT PRIMARY KEY, -- the former one
    dataset TEXT NOT NULL,
    at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_dataset ON aliases (dataset);
CREATE TABLE moves (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    dataset TEXT NOT NULL, -- its new id
    root TEXT NOT NULL, -- its key
    path_from TEXT NOT NULL, -- below the root
    path_to TEXT NOT NULL) STRICT;
