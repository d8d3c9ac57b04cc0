-- Drafts that take the place of a dataset, and where the files of a commit lie: those of the newest one of a dataset in its
-- place, those of an earlier one, while they are kept, in ROOT/.minari-hub/kept/PATH@ID.
ALTER TABLE drafts ADD COLUMN base TEXT NOT NULL DEFAULT ''; -- the commit that it takes the place of; '': nothing is there
ALTER TABLE commits ADD COLUMN kind TEXT NOT NULL DEFAULT 'publish'; -- publish, delete
ALTER TABLE commits ADD COLUMN root TEXT NOT NULL DEFAULT ''; -- its key
ALTER TABLE commits ADD COLUMN path TEXT NOT NULL DEFAULT ''; -- below the root
ALTER TABLE commits ADD COLUMN files INTEGER NOT NULL DEFAULT 0;
ALTER TABLE commits ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE commits ADD COLUMN ended INTEGER NOT NULL DEFAULT 0; -- when it left its place; 0: it has not
ALTER TABLE commits ADD COLUMN kept INTEGER NOT NULL DEFAULT 0; -- 1: its files lie in "kept"
UPDATE commits SET root = coalesce((SELECT root FROM drafts WHERE commit_id = commits.id), ''),
    path = coalesce((SELECT path FROM drafts WHERE commit_id = commits.id), dataset);
