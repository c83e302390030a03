import { run } from 'skein';
import { describe, expect, test } from 'vitest';
import { loadExample, runExample } from './support/run-example.js';

const ROWS = '[{"page": 1, "text": "looms"}, {"page": 1, "text": "mills"}, {"page": 2, "text": "ovens"}]';

describe('research-with-a-list', () => {
  test('leaves out the question without an answer, and says what is not sure', async () => {
    const { result } = await runExample('research-with-a-list', { inputs: { topic: 'looms' } });
    expect([result.outcome, result.result]).toEqual([
      'degraded',
      {
        report: 'Looms are old and make ten rows a minute.',
        doubts: 'Who built the first one is not known.',
        answered: '2 of 3',
      },
    ]);
  });

  test('has no doubts where all is sure', async () => {
    const inputs = { topic: 'looms', depth: 'quick' };
    const { result } = await runExample('research-with-a-list', { script: 'script-other.yaml', inputs });
    expect(result.outcome).toBe('succeeded');
    expect(result.result).toMatchObject({ report: 'Looms are fast and dear.', answered: '2 of 2' });
  });
});

describe('form-by-questions', () => {
  test.each([
    ['script.yaml', { approved: true, order: { for: 'the library', count: 12, total: 480, large: false } }],
    [
      'script-other.yaml',
      {
        approved: false,
        reason: 'The theatre has 40 seats.',
        order: { for: 'the theatre', count: 60, total: 3600, large: true },
      },
    ],
  ])('%s', async (script, values) => {
    const { result } = await runExample('form-by-questions', { script });
    expect([result.outcome, result.result]).toMatchObject(['succeeded', values]);
  });
});

describe('typed-inputs', () => {
  test('takes the first page, with a cover', async () => {
    const { result } = await runExample('typed-inputs', { inputs: { rows: ROWS } });
    expect([result.outcome, result.result]).toEqual([
      'succeeded',
      { title: '- MACHINES -', rows: ['looms', 'mills'], others: 1, cover: 'A book of machines.' },
    ]);
  });

  test('takes the second page, as a draft', async () => {
    const inputs = { rows: ROWS, page: '2', draft: 'true' };
    const { result } = await runExample('typed-inputs', { script: 'script-other.yaml', inputs });
    expect([result.outcome, result.result]).toMatchObject([
      'succeeded',
      { title: '- KITCHENS -', rows: ['ovens'], others: 2 },
    ]);
  });

  test('refuses a page that there is not', async () => {
    const workflow = await loadExample('typed-inputs');
    const ran = async () => run(workflow, { inputs: { rows: '[]', page: '3' } }).result;
    await expect(ran()).rejects.toThrow(/page/);
  });
});
