-- Repos: what is pushed in many commits, of which each is seen at once, whether or not it is a dataset. A line is a sequence of
-- commits, as a branch has one. A file of a line is there from one commit until another: so a commit costs what it changes, and
-- all commits of a line can be read.
CREATE TABLE repos (
    id TEXT PRIMARY KEY, -- what the ids of its datasets begin with, or are
    root TEXT NOT NULL, -- the key of the root where they lie
    path TEXT NOT NULL, -- below the root
    who TEXT NOT NULL,
    made INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE repo_lines (line INTEGER PRIMARY KEY AUTOINCREMENT, repo TEXT NOT NULL) STRICT;
CREATE INDEX repo_lines_repo ON repo_lines (repo);
CREATE TABLE repo_refs (
    repo TEXT NOT NULL,
    kind TEXT NOT NULL, -- branch, tag
    name TEXT NOT NULL,
    line INTEGER NOT NULL, -- that commits to the branch go to; 0: a tag
    pushed TEXT NOT NULL, -- the id of its commit
    PRIMARY KEY (repo, kind, name)) STRICT, WITHOUT ROWID;
CREATE TABLE repo_commits (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    line INTEGER NOT NULL,
    parent TEXT NOT NULL, -- '': the first one
    who TEXT NOT NULL,
    at INTEGER NOT NULL,
    title TEXT NOT NULL,
    message TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting', -- waiting, ready, broken, files, refused, passed
    reason TEXT NOT NULL DEFAULT '', -- of one that is not ready
    kept INTEGER NOT NULL DEFAULT 1) STRICT; -- 0: its files are forgotten
CREATE INDEX repo_commits_line ON repo_commits (line, number);
CREATE INDEX repo_commits_waiting ON repo_commits (number) WHERE state = 'waiting';
CREATE TABLE repo_files (
    line INTEGER NOT NULL,
    path TEXT NOT NULL,
    since INTEGER NOT NULL, -- the number of the commit that put it there
    until INTEGER NOT NULL, -- that of the one that took it away; 9223372036854775807: it is there
    size INTEGER NOT NULL,
    sha256 BLOB NOT NULL,
    sha1 BLOB NOT NULL, -- as a blob of git; empty: not known
    lfs INTEGER NOT NULL, -- 1: clients know it by its SHA-256
    PRIMARY KEY (line, path, since)) STRICT, WITHOUT ROWID;
CREATE INDEX repo_files_object ON repo_files (sha256);
