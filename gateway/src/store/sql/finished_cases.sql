SELECT v.case_id, v.case_hash
FROM verdicts v
WHERE v.project = $1 AND v.run = $2 AND v.case_id > $3
    AND NOT EXISTS (
        SELECT 1 FROM verdicts newer
        WHERE newer.project = v.project AND newer.run = v.run AND newer.case_id = v.case_id
            AND newer.revision > v.revision
    )
ORDER BY v.case_id
LIMIT $4
