SELECT project, CAST(COUNT(*) AS BIGINT) AS open_cases
FROM triage
WHERE status IN ('open', 'adjudication')
GROUP BY project
ORDER BY project
LIMIT 1000
