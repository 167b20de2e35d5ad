SELECT case_id
FROM judgments
WHERE project = $1 AND run = $2 AND case_id > $3
GROUP BY case_id
ORDER BY case_id
LIMIT $4
