// openai for JavaScript: a judge's question in the forms that the SDK offers.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// `import` looks beside this file; `require` also in NODE_PATH.
const require = createRequire(import.meta.url);
const { default: OpenAI } = await import(pathToFileURL(require.resolve('openai')).href);
const CASE = 'Question: What is the capital of France?\nReference: Paris\nSubmission: It is Paris.\n';
const read = {};
const failed = [];

// docs: begin
const judge = new OpenAI();
const completion = await judge.chat.completions.create({
  model: 'panel',
  messages: [{ role: 'user', content: "Is Lima the capital of Peru? Explain, then end with a line 'GRADE: C' or 'GRADE: I'." }],
});
console.log(completion.choices[0].message.content);
// docs: end
// A real model has opinions of its own, and a small one takes its time: the documented example is enough for it.
if (process.env.JUDGES === 'llama') {
  console.log('VERDICT {}');
  process.exit(0);
}

const asked = (question) => [{ role: 'user', content: CASE + question }];
const ask = (further) => judge.chat.completions.create({ model: 'panel', ...further });

function expect(claim, found) {
  if (!claim) throw new Error(`not the verdict of the judges: ${JSON.stringify(found)}`);
  return found;
}

async function step(name, run) {
  try {
    read[name] = await run();
  } catch (error) {
    failed.push(name);
    read[name] = `${error.constructor.name}: ${error.message}`.slice(0, 500);
  }
}

await step('label at the end', async () => {
  const text = completion.choices[0].message.content;
  return expect([...text.matchAll(/GRADE: ([CI])/g)].at(-1)?.[1] === 'C', text);
});
await step('JSON by example', async () => {
  const messages = asked('Answer as JSON {"reason": str, "pass": bool, "score": 0..1}.');
  const answer = await ask({ response_format: { type: 'json_object' }, messages });
  const found = JSON.parse(answer.choices[0].message.content);
  return expect(found.pass === true, found);
});
await step('forced tool', async () => {
  const properties = { reasons: { type: 'string' }, choice: { type: 'string', enum: ['A', 'B'] } };
  const parameters = { type: 'object', properties, required: ['reasons', 'choice'] };
  const answer = await ask({
    messages: asked('(A) the submission is right (B) it is wrong'),
    tools: [{ type: 'function', function: { name: 'select_choice', parameters } }],
    tool_choice: { type: 'function', function: { name: 'select_choice' } },
  });
  const found = JSON.parse(answer.choices[0].message.tool_calls[0].function.arguments);
  return expect(found.choice === 'A', found);
});
await step('stream', async () => {
  let text = '';
  for await (const event of await ask({ stream: true, messages: asked('Is it correct? Answer yes or no.') })) {
    text += event.choices[0]?.delta?.content || '';
  }
  return expect(/^yes$/i.test(text.trim()), text);
});
await step('log-probabilities', async () => {
  const answer = await ask({ logprobs: true, top_logprobs: 3, messages: asked('Is it correct? Answer yes or no.') });
  return answer.choices[0].logprobs.content.at(-1).top_logprobs.map((entry) => entry.token);
});
await step('responses', async () => {
  const answer = await judge.responses.create({ model: 'gpt-5-mini', input: CASE + 'Is it correct? Answer yes or no.' });
  return expect(/^yes$/i.test(answer.output_text.trim()), answer.output_text);
});
if (process.env.JUDGES !== 'direct') {
  await step('decisions', async () => {
    const questions = [
      { type: 'predicate', name: 'right', instructions: 'The submission is right.' },
      { type: 'choice', instructions: 'How is it put?', choices: [{ value: 'good' }, { value: 'bad' }] },
    ];
    const [predicate, choice] = (await judge.decisions.create({ model: 'panel', input: CASE, questions })).answers;
    const total = choice.probabilities.reduce((sum, one) => sum + one.probability, 0);
    return expect(predicate.probability > 0.5 && choice.choice === 'good' && Math.abs(total - 1) < 1e-9, [predicate, choice]);
  });
}
await step('models', async () => (await judge.models.list()).data.map((model) => model.id));

console.log('VERDICT ' + JSON.stringify(read));
if (failed.length) console.log('failed: ' + failed.join(', '));
process.exit(failed.length ? 1 : 0);
