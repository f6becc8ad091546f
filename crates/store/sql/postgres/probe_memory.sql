-- The least there is: what needs more goes to the disk.
SELECT set_config('work_mem', '64kB', true)
