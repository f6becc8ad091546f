-- differs because SQLite's disk is this program's, which looks at it itself; the least memory there is sends what needs more
-- to the disk
SELECT set_config('work_mem', '64kB', true)
