import { describe, expect, it } from 'vitest';
import { answerRun, memoryStore, readRun, run } from 'skein';
import { graph, tool, toolNode } from 'skein/graph';
import type { StoredBatch } from '../../src/journal/store.js';
import { storeWith } from '../engine/recorded/in-process.js';
import { tell } from './support/figures.js';

/** The record of a run with a call that a guard of the program and a person have let pass. */
async function recorded(): Promise<readonly StoredBatch[]> {
  const send = tool({
    name: 'send',
    inputSchema: { type: 'object', properties: { body: { type: 'string' } }, required: ['body'] },
    effect: 'idempotent',
    execute: () => 'sent',
  });
  const flow = graph<{ body: string }>().node('mail', toolNode(send)).setEntry('mail').compile();
  const store = memoryStore();
  const guards = [{ name: 'own', check: () => 'allow' as const }];
  const given = { inputs: { body: 'Hi' }, untrusted: ['body'], guards, store };
  const { runId } = await run(flow, { ...given, runId: 'r' }).result;
  answerRun(store, runId, { value: 'allow' });
  expect((await run(flow, { guards, store, resume: runId }).result).outcome).toBe('succeeded');
  return store.read(runId);
}

/** What is said of a record; undefined: it is taken as it is. Behind its end, a batch that does not fit is cut off, which is said, too. */
const refusal = (batches: readonly StoredBatch[]): unknown => {
  try {
    return readRun(storeWith('r', batches), 'r').cut;
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
};

describe('[G9] the decisions about calls', () => {
  it('stand in the record of the run: what was asked and why, what guards said, what a person answered', async () => {
    const text = (await recorded()).map((batch) => batch.text).join('\n');
    for (const part of [
      '"kind":"guard.decided"',
      '"rule":"undeclared-send"',
      '"kind":"guard.verdict"',
      'mail@ask:guard',
    ])
      expect(text).toContain(part);
  });

  it('are refused when one of them was changed, left out or moved', async () => {
    const batches = await recorded();
    expect(refusal(batches)).toBeUndefined();
    const edits: readonly (readonly [RegExp, string])[] = [
      [/"decision":"ask"/, '"decision":"deny"'],
      [/"rule":"undeclared-send"/, '"rule":"declared-send"'],
      [/"verdict":"allow"/, '"verdict":"deny"'],
      [/"level":"untrusted"/, '"level":"vetted"'],
      [/"value":"allow"/, '"value":"deny"'],
    ];
    const changed = edits.map(([from, to]) => {
      const at = batches.findIndex(({ text }) => from.test(text));
      expect(at, String(from)).toBeGreaterThanOrEqual(0);
      return batches.map((batch, index) => (index === at ? { ...batch, text: batch.text.replace(from, to) } : batch));
    });
    const without = batches
      .slice(1, -1)
      .map((_, at) => batches.filter((__, index) => index !== at + 1).map((batch, seq) => ({ ...batch, seq })));
    const moved = batches.slice(1, -1).map((batch, at) => {
      const other = batches[at + 2];
      return batches.map((one, index) =>
        other === undefined
          ? one
          : index === at + 1
            ? { ...other, seq: one.seq }
            : index === at + 2
              ? { ...batch, seq: one.seq }
              : one,
      );
    });
    const all = [...changed, ...without, ...moved];
    const passed = all.filter((one) => refusal(one) === undefined).length;
    tell({
      what: 'decisions changed, left out or moved in a record',
      n: all.length,
      forbidden: passed,
      goal: 'all refused',
    });
    expect(passed).toBe(0);
  });
});
