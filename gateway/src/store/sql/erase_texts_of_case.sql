UPDATE texts
SET body = NULL, erased_us = $1
WHERE body IS NOT NULL
    AND (project, case_id, kind, hash, source, panel) IN (
        SELECT project, case_id, kind, hash, source, panel
        FROM texts
        WHERE project = $2 AND case_id = $3 AND body IS NOT NULL
        ORDER BY project, case_id, kind, hash, source, panel
        LIMIT 500
    )
