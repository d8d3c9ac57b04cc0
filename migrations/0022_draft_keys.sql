-- Two orders of one client for the same draft have one key; two pushes have two, and a draft each.
ALTER TABLE drafts ADD COLUMN key TEXT NOT NULL DEFAULT ''; -- Idempotency-Key of who opened it; '': none
CREATE INDEX drafts_key ON drafts (who, key) WHERE key <> '';
