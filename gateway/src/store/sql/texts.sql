SELECT project, case_id, kind, hash, source, panel, encoding, body, recorded_us, retained_until_us, erased_us
FROM texts
WHERE project = $1 AND case_id = $2 AND hash IN ($3)
ORDER BY kind, hash, source, panel
LIMIT 10000
