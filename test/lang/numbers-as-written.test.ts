import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { run } from 'skein';
import { loadPipelineText } from 'skein/yaml';
import { parseJson } from '../../src/base/json.js';
import { parseJsonText } from '../../src/lang/json-path.js';
import { cases } from '../thorough.js';

const ID = '9007199254740993';

describe('a whole number that would be rounded is a text with its digits', () => {
  it('in JSON', () => {
    expect(parseJson(`{"id": ${ID}, "ids": [-${ID}, 1${'0'.repeat(400)}], "text": "\\\\\\"${ID}"}`)).toEqual({
      id: ID,
      ids: [`-${ID}`, `1${'0'.repeat(400)}`],
      text: `\\"${ID}`,
    });
    expect(parseJsonText(`\`\`\`json\n[${ID}]\n\`\`\``)).toEqual([ID]);
  });

  it('in JSON of any form', () => {
    const digits = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
    const beside = fc.jsonValue();
    fc.assert(
      fc.property(digits, beside, (whole, value) => {
        const read = parseJson(`[${whole}, ${JSON.stringify(value)}]`) as [number | string, unknown];
        expect(read[1]).toEqual(JSON.parse(JSON.stringify(value)));
        const [first] = read;
        const isKept =
          typeof first === 'string'
            ? first === String(whole)
            : BigInt(first) === whole || String(first) === String(whole);
        expect(isKept).toBe(true);
      }),
      { numRuns: cases(500) },
    );
  });

  it('in what a file gives to a step, and in answers that references look into', async () => {
    const workflow = await loadPipelineText(
      [
        'agents: { a: { instruction: Answer. } }',
        'workflow:',
        `  - { id: values, type: set, values: { id: ${ID}, list: [${ID}, 7] } }`,
        `  - { id: found, type: agent, name: a, prompt: '{"id": ${ID}, "n": 7}', context: none }`,
        '  - { id: use, type: set, values: { id: "{{ $steps.found.output.id }}", n: "{{ $steps.found.output.n }}" } }',
        'output: { values: { given: "{{ $steps.values.output }}", found: "{{ $steps.use.output }}" } }',
      ].join('\n'),
      { cwd: '.' },
    );
    const { result } = await run(workflow, { models: { env: {}, mock: true } }).result;
    expect(result).toEqual({ given: { id: ID, list: [ID, 7] }, found: { id: ID, n: 7 } });
  });
});

it('a number that JavaScript writes is read as that number', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(parseJson(JSON.stringify([value]))).toEqual(JSON.parse(JSON.stringify([value])));
    }),
    { numRuns: cases(500) },
  );
  const text = '[18446744073709552000, 9007199254740992, 1e21, 0.1234567890123456789]';
  expect(parseJson(text)).toEqual(JSON.parse(text));
});

it('an input that is a number is refused, with what to do', async () => {
  const workflow = await loadPipelineText(
    'inputs: { id: { type: number } }\nagents: { a: { instruction: Answer. } }\nworkflow: [{ type: agent, name: a }]',
    { cwd: '.' },
  );
  expect(() => run(workflow, { inputs: { id: ID }, models: { env: {}, mock: true } })).toThrow(
    /which would be rounded/,
  );
});
