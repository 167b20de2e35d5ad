INSERT INTO model_facts (project, base_url, dialect, model, model_replied, learned, updated_us)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (project, base_url, dialect, model)
DO UPDATE SET
    model_replied = excluded.model_replied,
    learned = excluded.learned,
    updated_us = excluded.updated_us
