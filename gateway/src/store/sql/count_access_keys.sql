SELECT COUNT(*) AS key_total FROM access_keys WHERE id > ''
