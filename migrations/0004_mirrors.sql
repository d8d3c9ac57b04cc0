-- What is mirrored from where, work that outlives the program, and what came from where. A rule's spec never holds a secret: of a
-- token the path of its file. Times are milliseconds since 1970 on this database's clock.
CREATE TABLE rules (
    name      TEXT    PRIMARY KEY,
    source    TEXT    NOT NULL, -- 'command' or 'file': who made it
    spec      TEXT    NOT NULL, -- JSON
    paused    INTEGER NOT NULL DEFAULT 0,
    made      INTEGER NOT NULL,
    due       INTEGER NOT NULL, -- the next pass
    begun     INTEGER NOT NULL DEFAULT 0,
    synced    INTEGER NOT NULL DEFAULT 0, -- when the last pass began of which nothing failed
    datasets  INTEGER NOT NULL DEFAULT 0, -- that the last pass found upstream
    transfers INTEGER NOT NULL DEFAULT 0,
    bytes     INTEGER NOT NULL DEFAULT 0,
    failures  INTEGER NOT NULL DEFAULT 0,
    error     TEXT    NOT NULL DEFAULT '' -- why the last pass failed
) STRICT, WITHOUT ROWID;

-- A lease is of an owner (a start of a program) until a time; its fence grows each time the job is taken, and is checked where the
-- work takes effect.
CREATE TABLE jobs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT    NOT NULL,
    target      TEXT    NOT NULL,
    rule        TEXT    NOT NULL, -- that asked for it, or ''
    payload     TEXT    NOT NULL, -- JSON
    state       TEXT    NOT NULL, -- waiting, running, done, failed
    priority    INTEGER NOT NULL,
    run_at      INTEGER NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 0,
    attempt     INTEGER NOT NULL DEFAULT 0, -- random: names the try
    owner       TEXT    NOT NULL DEFAULT '',
    fence       INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER NOT NULL DEFAULT 0,
    done        INTEGER NOT NULL DEFAULT 0,
    total       INTEGER NOT NULL DEFAULT 0,
    started     INTEGER NOT NULL DEFAULT 0,
    finished    INTEGER NOT NULL DEFAULT 0,
    error       TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX jobs_open ON jobs (kind, target) WHERE state IN ('waiting', 'running');
CREATE INDEX jobs_due ON jobs (priority, run_at) WHERE state = 'waiting';
CREATE INDEX jobs_of_rule ON jobs (rule, state);

-- Of each dataset that was mirrored: from where, and what changed there under the same id.
CREATE TABLE origins (
    root      TEXT    NOT NULL,
    path      TEXT    NOT NULL, -- below the root
    rule      TEXT    NOT NULL,
    remote    TEXT    NOT NULL,
    remote_id TEXT    NOT NULL,
    revision  TEXT    NOT NULL, -- upstream's
    synced    INTEGER NOT NULL, -- when it was last found to be the same, or made so
    seen      INTEGER NOT NULL, -- when it was last listed
    changed   INTEGER NOT NULL DEFAULT 0,
    was       TEXT    NOT NULL DEFAULT '', -- the revision before
    added     INTEGER NOT NULL DEFAULT 0, -- files, by the last change
    replaced  INTEGER NOT NULL DEFAULT 0,
    removed   INTEGER NOT NULL DEFAULT 0,
    gone      INTEGER NOT NULL DEFAULT 0, -- since when it is no more upstream
    PRIMARY KEY (root, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX origins_of_rule ON origins (rule, remote_id);
CREATE TABLE origin_files (
    root       TEXT    NOT NULL,
    dataset    TEXT    NOT NULL,
    path       TEXT    NOT NULL,
    size       INTEGER NOT NULL,
    modified   INTEGER NOT NULL, -- of the copy, ns
    generation INTEGER NOT NULL,
    etag       TEXT    NOT NULL,
    sha256     BLOB    NOT NULL, -- of the copy
    other      INTEGER NOT NULL, -- which digest `sum` is
    sum        BLOB    NOT NULL, -- as the remote states it
    PRIMARY KEY (root, dataset, path)
) STRICT, WITHOUT ROWID;
