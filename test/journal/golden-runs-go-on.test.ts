import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { answerRun } from '../../src/journal/answering.js';
import { replay } from '../../src/journal/replay.js';
import { readStored } from '../../src/journal/stored.js';
import { memoryStore } from '../../src/stores/memory.js';
import type { Plan } from '../../src/plan/plan.js';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { goldenNames, readGolden } from './golden-file.js';
import { REAL_RUNS, recordReal, writeNotes } from './real-runs.js';
import { versionInTheMaking } from './write-golden.js';

const recorded = goldenNames().filter(({ name }) => name.startsWith('run-'));

function folder(): string {
  const cwd = mkdtempSync(join(tmpdir(), 'skein-golden-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  return cwd;
}

/** What a version of Skein has recorded, with the plan that it had, as this version goes on with it. */
async function goOn(version: string, name: string, answer?: string) {
  const { runId, batches } = readGolden(version, name);
  const store = storeWith(runId, batches);
  const plan = readStored(store, replay(runId, batches).current.plan) as Plan;
  const asked: string[] = [];
  if (answer !== undefined) answerRun(store, runId, { value: answer });
  // There are no notes: a tool call that was made again would say so.
  const result = await recordReal({ plan }, { store, resume: runId, cwd: folder(), asked });
  return { result, asked };
}

describe('a run that a version of Skein has recorded', () => {
  test('there are some of this version', () => {
    const names = recorded.filter(({ version }) => version === versionInTheMaking()).map(({ name }) => name);
    expect(names.toSorted()).toEqual(REAL_RUNS.map(({ name }) => name).toSorted());
  });

  test.each(recorded.filter(({ name }) => name.startsWith('run-of-')))(
    '$version: $name gives its results again, and nothing is done',
    async ({ version, name }) => {
      const { result, asked } = await goOn(version, name);
      expect([result.outcome, result.error, asked, result.ran]).toEqual(['succeeded', undefined, [], 0]);
      expect(result.reused).toBeGreaterThan(2);
      expect(JSON.stringify(result.state)).toContain('said by ');
    },
  );

  test.each(recorded.filter(({ name }) => name.startsWith('run-that-waits')))(
    '$version: $name goes on with an answer, from where it was',
    async ({ version, name }) => {
      const waiting = await goOn(version, name);
      expect([waiting.result.outcome, waiting.asked]).toEqual(['paused', []]);
      const { result, asked } = await goOn(version, name, 'hand');
      expect([result.outcome, asked]).toEqual(['succeeded', ['gate 2', 'text 1']]);
      expect(result.state['steps.text.output']).toBe('said by text');
    },
  );

  test.each(recorded)('$version: $name goes on from any of its beginnings', async ({ version, name }) => {
    const { runId, batches } = readGolden(version, name);
    const plan = readStored(memoryStore(), replay(runId, batches).current.plan) as Plan;
    const expected = (await goOn(version, name)).result;
    const cwd = folder();
    await writeNotes(cwd);
    for (const prefix of prefixesOf(runId, batches)) {
      const result = await recordReal(
        { plan },
        { store: storeWith(runId, prefix.batches), resume: runId, cwd, asked: [] },
      );
      expect([prefix.name, result.outcome, result.state]).toEqual([prefix.name, expected.outcome, expected.state]);
    }
  });
});

test.each(REAL_RUNS)(
  '$name: an agent and its tools are asked once, also today',
  async ({ workflow, runId, inputs }) => {
    const [store, cwd, asked] = [memoryStore(), folder(), [] as string[]];
    await writeNotes(cwd);
    const first = await recordReal(await workflow(), { store, runId, inputs, cwd, asked });
    const before = asked.length;
    const again = await recordReal(await workflow(), { store, resume: runId, cwd, asked });
    expect(before).toBeGreaterThan(2);
    expect([again.outcome, again.state, asked.length]).toEqual([first.outcome, first.state, before]);
  },
);
