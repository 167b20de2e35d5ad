SELECT
    j.id, j.project, j.run, j.case_id, j.case_hash, j.judge, j.criterion, j.ord, j.sample, j.revision,
    j.replaces, j.source, j.origin_id, j.call_id, j.mode, j.panel_version, j.judge_fingerprint,
    j.template_hash, j.rubric_hash, j.model_replied, j.system_fingerprint, j.outcome, j.class, j.rating,
    j.reply_hash, j.prompt_hash, j.repaired, j.attempts, j.prompt_tokens, j.completion_tokens,
    j.cached_tokens, j.reasoning_tokens, j.cost_microusd, j.latency_us, j.cache_key, j.created_us
FROM judgments j
WHERE j.project = $1 AND j.run = $2 AND j.case_id = $3
    AND NOT EXISTS (
        SELECT 1 FROM judgments newer
        WHERE newer.project = j.project AND newer.run = j.run AND newer.case_id = j.case_id
            AND newer.judge = j.judge AND newer.criterion = j.criterion AND newer.ord = j.ord
            AND newer.sample = j.sample AND newer.revision > j.revision
    )
ORDER BY j.judge, j.criterion, j.ord, j.sample
LIMIT 10000
