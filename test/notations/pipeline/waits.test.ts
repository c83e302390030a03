import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../src/testing/index.js';
import { agents, loadText, runPipeline } from './run-pipeline.js';

const NAMES = agents('a');
const file = (wait: string, prompt = 'Go.'): string =>
  `${NAMES}workflow:\n  - { id: w, type: wait, ${wait} }\n  - { id: after, type: agent, name: a, prompt: "${prompt}" }\n`;

/** Lets everything run that can. */
async function rest(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('[addition 8] [G9] wait in pipelines', () => {
  it('for: the next step runs when the time has passed, not before', async () => {
    const clock = new FakeClock();
    const asked: string[] = [];
    const running = runPipeline(
      file('for: 30s'),
      (step) => {
        asked.push(step);
        return 'text';
      },
      { clock },
    );
    while (clock.waiting === 0) await rest();
    clock.advance(29_999);
    await rest();
    expect(asked).toEqual([]);
    clock.advance(1);
    expect([(await running).outcome, asked]).toEqual(['succeeded', ['after']]);
  });

  it('a wait is a node of the plan, with what it waits for', async () => {
    const { plan } = await loadText(file('event: paid, for: 90', 'Paid: {{ $steps.w.output }}'));
    expect(plan?.nodes[0]).toMatchObject({ kind: 'wait', event: 'paid', ms: 90_000, output: 'steps.w.output' });
  });

  it.each([
    ['on_error: fail', 'missing-wait'],
    ['for: soon', 'bad-duration'],
    ['for: 0', 'bad-duration'],
    ['event: " "', 'bad-name'],
    ['event: [a]', 'wrong-type'],
    ['for: 3s, until: 4', 'unknown-key'],
  ])('%s is %s', async (keys, code) => {
    const { problems } = await loadText(file(keys));
    expect(problems.map((problem) => problem.code)).toEqual([code]);
  });

  it('time that passes has no output', async () => {
    const { problems } = await loadText(file('for: 3s', '{{ $steps.w.output }}'));
    expect(problems.map(({ code }) => code)).toEqual(['missing-output']);
  });
});
