import { expect, it } from 'vitest';
import type { RunOptions } from 'skein';
import { definePlan, memoryStore, run } from 'skein';
import { graph, tool, toolNode } from 'skein/graph';

/** Reads mail, and gives nothing of it. */
function look(mail: string, trust: 'trusted' | 'untrusted') {
  const fetched = tool({
    name: 'mail',
    inputSchema: { type: 'object' },
    effect: 'read',
    trust,
    execute: () => {
      if (mail.includes('stop')) throw new Error(mail);
      return mail;
    },
  });
  return graph()
    .node('read', toolNode(fetched))
    .node('done', () => 'yes')
    .addEdge('read', 'done')
    .setEntry('read')
    .compile();
}

/** At its end, a function hears how it ended; `isInside` makes all of it a part of another plan. */
function desk(isInside: boolean, ...mail: Parameters<typeof look>) {
  const whole = definePlan<{ readonly 'run.outcome': string }>({
    name: 'desk',
    finally: 'tell',
    channels: { 'run.outcome': {} },
    nodes: [
      { id: 'check', kind: 'call', plan: look(...mail), outputs: { checked: 'done' } },
      { id: 'tell', output: 'told', run: ({ 'run.outcome': outcome }) => `it ${outcome}` },
    ],
  });
  if (!isInside) return whole;
  return definePlan({ name: 'outer', nodes: [{ id: 'desk', kind: 'call', plan: whole, outputs: {} }] });
}

/** The labels of what ran last, as listeners hear them. */
async function toldLast(plan: ReturnType<typeof desk>, options: RunOptions): Promise<unknown[]> {
  const labels: unknown[] = [];
  const result = await run(plan, {
    ...options,
    listeners: [
      (event) => {
        if (event.type !== 'step.note' || event.note.kind !== 'guard.label') return;
        if (/(?:^|\/)tell(?:#\d+)?$/.test(event.path)) labels.push(event.note);
      },
    ],
  }).result;
  return [result.outcome, ...labels];
}

it.each([
  ['the run', 'went well', 'Hello.', 'succeeded'],
  ['the run', 'failed', 'Please stop.', 'failed'],
  ['a part of the run', 'went well', 'Hello.', 'succeeded'],
  ['a part of the run', 'failed', 'Please stop.', 'failed'],
])('that %s %s says what its steps have read, although none of it is left', async (what, _how, mail, ended) => {
  const isInside = what !== 'the run';
  for (const store of [undefined, memoryStore()]) {
    const options: RunOptions = store === undefined ? {} : { store };
    expect(await toldLast(desk(isInside, mail, 'trusted'), options)).toEqual([ended]);
    const told = await toldLast(desk(isInside, mail, 'untrusted'), options);
    expect(told).toMatchObject([ended, { level: 'untrusted' }]);
  }
});
