SELECT c.position, c.case_id, t.encoding, t.body
FROM run_cases c
LEFT JOIN texts t
    ON t.project = c.project AND t.case_id = c.case_id AND t.kind = 'case' AND t.hash = c.text_hash
        AND t.source = c.source AND t.panel = $3
WHERE c.project = $1 AND c.run = $2 AND c.shard = 0 AND c.position > $4
ORDER BY c.position
LIMIT $5
