-- differs because the role that works may remove no row of a journal
SELECT kybern_remove_tree($1)
