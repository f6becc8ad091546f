SELECT kybern_now($1)
