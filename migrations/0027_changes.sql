-- What each commit changed of the files of the one before it, and how many episodes it has. -1: not known, as of commits that came
-- before these columns.
ALTER TABLE commits ADD COLUMN added INTEGER NOT NULL DEFAULT -1; -- files
ALTER TABLE commits ADD COLUMN changed INTEGER NOT NULL DEFAULT -1;
ALTER TABLE commits ADD COLUMN removed INTEGER NOT NULL DEFAULT -1;
ALTER TABLE commits ADD COLUMN episodes INTEGER NOT NULL DEFAULT -1;
