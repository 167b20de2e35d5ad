-- How many cases wait is read at each scrape of the metrics: from this index alone, never from the whole queue.
CREATE INDEX triage_waiting ON triage (status, project);
