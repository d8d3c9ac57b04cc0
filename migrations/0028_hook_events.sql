-- What the address of --on-publish-url has still to hear, in its order. A publication's row is written with its commit, so that no kill
-- comes between them; a row goes when its event was taken, or was tried too often.
CREATE TABLE hook_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    event TEXT NOT NULL, -- publish, refused, quota
    dataset TEXT NOT NULL,
    draft TEXT NOT NULL,
    pushed TEXT NOT NULL, -- the id of its commit; '': none
    who TEXT NOT NULL,
    reason TEXT NOT NULL,
    files INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0) STRICT;
