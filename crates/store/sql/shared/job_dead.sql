SELECT count(*) FROM job WHERE status = 'dead'
