SELECT project, base_url, dialect, model, model_replied, learned, updated_us
FROM model_facts
WHERE project = $1
ORDER BY base_url, dialect, model
LIMIT 1000
