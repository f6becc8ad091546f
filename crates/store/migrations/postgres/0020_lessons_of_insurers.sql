-- Lessons of two more kinds: who answers for a company, and how a name is written otherwise. An older program reads
-- neither, and is refused here.
ALTER TABLE lesson DROP CONSTRAINT lesson_kind_check;
ALTER TABLE lesson ADD CONSTRAINT lesson_kind_check CHECK (kind = 'intent_example' OR kind = 'label' OR kind = 'spelling' OR kind = 'trusted_sender' OR kind = 'speaker');
