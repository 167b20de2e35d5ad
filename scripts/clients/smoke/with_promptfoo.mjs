// promptfoo: every assertion that a model judges. The answers come from the echo provider.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const program = join(process.env.NODE_PATH, 'promptfoo', 'dist', 'src', 'entrypoint.js');
const ANSWER = 'The capital of France is Paris.';
const embedding = 'openai:embedding:embedder';
const read = {};
const failed = [];

function evaluate(name, config) {
  const options = ['--no-cache', '--no-write', '--no-table', '--no-progress-bar', '-j', '1'];
  const run = spawnSync(process.execPath, [program, 'eval', '-c', config, '-o', `${name}.json`, ...options], { encoding: 'utf8' });
  if (!existsSync(`${name}.json`)) {
    failed.push(name);
    console.log(run.stdout, run.stderr);
    return;
  }
  const rows = JSON.parse(readFileSync(`${name}.json`)).results.results.filter((row) => !row.promptIdx);
  for (const row of rows) {
    for (const part of row.gradingResult?.componentResults ?? [{ pass: false, reason: row.error }]) {
      const form = `${name}: ${part.assertion?.type ?? row.testCase.description}`;
      read[form] = { pass: part.pass, score: part.score, reason: String(part.reason).slice(0, 200) };
      if (!part.pass) failed.push(form);
    }
  }
  if (!rows.length) failed.push(name);
}

/** A configuration with one test an assertion, so that each is reported by itself. */
function written(name, assertions, further) {
  const query = 'What is the capital of France?';
  const context = 'France is a country in Europe. Its capital is Paris.';
  const tests = assertions.map((assertion) => ({ description: assertion.type, vars: { query, context }, assert: [assertion] }));
  writeFileSync(`${name}.config.json`, JSON.stringify({ prompts: [ANSWER], providers: ['echo'], tests, ...further }));
  return `${name}.config.json`;
}

const graded = { defaultTest: { options: { provider: { text: 'openai:chat:panel', embedding } } } };
const rubric = { type: 'llm-rubric', value: 'The answer names Paris as the capital of France' };
const forms = [
  { type: 'model-graded-closedqa', value: 'The answer names Paris' },
  { type: 'answer-relevance', threshold: 0.1 },
  { type: 'context-faithfulness', threshold: 0.1 },
  { type: 'context-recall', threshold: 0.1, value: ANSWER },
  { type: 'context-relevance', threshold: 0.1 },
];

evaluate('as documented', join(here, 'promptfooconfig.yaml'));
evaluate('forms', written('forms', forms, graded));
// The second answer is there to be worse.
const best = { prompts: [ANSWER, 'The capital of France is Lyon.'], ...graded };
evaluate('best', written('best', [{ type: 'select-best', value: 'the answer that is correct' }], best));
// No grader named at all: promptfoo asks for a model of its own choice.
evaluate('default grader', written('default grader', [rubric], {}));
const byResponses = { defaultTest: { options: { provider: 'openai:responses:panel' } } };
evaluate('responses', written('responses', [rubric], byResponses));

console.log('VERDICT ' + JSON.stringify(read));
if (failed.length) console.log('failed: ' + failed.join(', '));
process.exit(failed.length ? 1 : 0);
