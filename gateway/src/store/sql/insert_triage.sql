INSERT INTO triage (
    id, project, verdict_id, run, case_id, case_hash, panel, panel_version, rubric_hash, mode, status,
    severity, reasons, disagreement_ppm, nearness_ppm, slots, practice, inclusion_ppb, created_us
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
ON CONFLICT DO NOTHING
