-- Another try of a call sends what the first one sent.
ALTER TABLE attempt ADD COLUMN rendered TEXT;
