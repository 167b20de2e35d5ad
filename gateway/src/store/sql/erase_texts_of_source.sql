UPDATE texts
SET body = NULL, erased_us = $1
WHERE body IS NOT NULL
    AND (project, case_id, kind, hash, source, panel) IN (
        SELECT project, case_id, kind, hash, source, panel
        FROM texts
        WHERE project = $2 AND source = $3 AND source <> '' AND body IS NOT NULL
        LIMIT 500
    )
