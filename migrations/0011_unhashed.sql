-- What came with another digest of its remote's is hashed later: until then its SHA-256 is empty, and this finds it.
CREATE INDEX digests_unhashed ON digests (root, path) WHERE sha256 = '';
