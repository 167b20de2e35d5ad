INSERT INTO texts (
    project, case_id, kind, hash, source, panel, encoding, body, recorded_us, retained_until_us
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (project, case_id, kind, hash, source, panel) DO UPDATE SET
    encoding = excluded.encoding,
    body = excluded.body,
    recorded_us = excluded.recorded_us,
    retained_until_us = CASE
        WHEN texts.body IS NOT NULL AND texts.retained_until_us > excluded.retained_until_us
        THEN texts.retained_until_us
        ELSE excluded.retained_until_us
    END
WHERE texts.body IS NULL OR texts.retained_until_us < excluded.retained_until_us
