-- Datasets that come in: each file of a draft as it is stated and as it came, and what was published. Files lie in the private
-- folder of the root, ROOT/.minari-hub/drafts/ID.
CREATE TABLE drafts (
    id TEXT PRIMARY KEY,
    dataset TEXT NOT NULL, -- the id that it is for
    root TEXT NOT NULL, -- the key of the root where it will lie
    path TEXT NOT NULL, -- below the root
    who TEXT NOT NULL,
    state TEXT NOT NULL, -- open, committing, published, dropped
    made INTEGER NOT NULL,
    touched INTEGER NOT NULL,
    commit_id TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID; -- of one that is published
CREATE INDEX drafts_touched ON drafts (touched);
CREATE TABLE draft_files (
    draft TEXT NOT NULL,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    sha256 BLOB NOT NULL, -- of all of it; empty while it comes
    PRIMARY KEY (draft, path)) STRICT, WITHOUT ROWID;
CREATE INDEX draft_files_folded ON draft_files (draft, lower(path));
CREATE TABLE commits (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    dataset TEXT NOT NULL,
    tree TEXT NOT NULL, -- SHA-256 over the paths, sizes and digests of all files
    parent TEXT NOT NULL, -- '': the first one
    who TEXT NOT NULL,
    at INTEGER NOT NULL,
    message TEXT NOT NULL) STRICT;
CREATE INDEX commits_dataset ON commits (dataset, number);
