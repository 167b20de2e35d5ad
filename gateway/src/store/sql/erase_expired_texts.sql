UPDATE texts
SET body = NULL, erased_us = $1
WHERE body IS NOT NULL
    AND (project, case_id, kind, hash, source, panel) IN (
        SELECT project, case_id, kind, hash, source, panel
        FROM texts
        WHERE retained_until_us < $1 AND retained_until_us < 9223372036854775807 AND body IS NOT NULL
        ORDER BY retained_until_us, project, case_id, kind, hash, source, panel
        LIMIT 500
    )
