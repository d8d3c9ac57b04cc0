-- What quotas count: the bytes that are stated of an open draft, kept up by triggers, and those of datasets that drafts published.
ALTER TABLE drafts ADD COLUMN stated INTEGER NOT NULL DEFAULT 0;
UPDATE drafts SET stated = coalesce((SELECT sum(size) FROM draft_files WHERE draft = drafts.id), 0);
CREATE TRIGGER draft_files_stated AFTER INSERT ON draft_files BEGIN
    UPDATE drafts SET stated = stated + NEW.size WHERE id = NEW.draft; END;
CREATE TRIGGER draft_files_restated AFTER UPDATE OF size ON draft_files BEGIN
    UPDATE drafts SET stated = stated - OLD.size + NEW.size WHERE id = NEW.draft; END;
CREATE TRIGGER draft_files_dropped AFTER DELETE ON draft_files BEGIN
    UPDATE drafts SET stated = stated - OLD.size WHERE id = OLD.draft; END;
CREATE TABLE holdings (
    dataset TEXT PRIMARY KEY,
    root TEXT NOT NULL, -- the key of the root where it lies
    path TEXT NOT NULL, -- below the root
    bytes INTEGER NOT NULL,
    gone INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID; -- 1: nothing was there when it was last looked for
INSERT OR REPLACE INTO holdings (dataset, root, path, bytes)
    SELECT dataset, root, path, stated FROM drafts WHERE state = 'published';
