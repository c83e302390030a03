import { describe, expect, it } from 'vitest';
import { SkeinError } from '../../../src/base/errors.js';
import type { Store } from '../../../src/journal/store.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { doneKeys, prefixesOf, storeWith } from '../recorded/in-process.js';
import { caseOf, KINDS } from './cases.js';
import type { Feature, Kind } from './cases.js';
import { runOn } from './on-store.js';
import { ScriptedPhases } from './scripted-phases.js';

/** A world in which each piece of work, each phase and each answer is counted. */
function counted(kind: Kind, feature: Feature, supervised = true, version = '') {
  const done: string[] = [];
  const one = caseOf(kind, feature, supervised, (place, correction) => {
    done.push(`${place} ${correction ?? 'first'}`);
    return correction === undefined ? 'first' : `after ${correction}`;
  });
  const phases = new ScriptedPhases(({ corrections }) => (corrections === 0 ? 'ask' : 'ok'), version);
  const answers: string[] = [];
  const answer = (_question: unknown, address: string): Promise<string> => {
    answers.push(address);
    return Promise.resolve('revise: shorter');
  };
  const on = (store: Store, options: Parameters<typeof runOn>[3] = {}) =>
    runOn(store, one, phases, { answer, ...options });
  return { on, done, answers, phases };
}

describe('[decision 7] a supervised run survives the end of its process', () => {
  it.each(KINDS)('%s: killed after each record, it has done everything once', async (kind) => {
    const store = memoryStore();
    const whole = counted(kind, 'settled join');
    const { result: wanted } = await whole.on(store);
    expect(wanted.outcome).toBe('succeeded');
    const items = kind === 'map item' ? 2 : 1;
    expect(whole.answers.length).toBe(items);
    const prefixes = prefixesOf('r', store.read('r'));
    expect(prefixes.length).toBeGreaterThan(8);
    for (const prefix of prefixes) {
      const recorded = doneKeys(prefix.lines);
      const copy = storeWith('r', prefix.batches, store);
      const again = counted(kind, 'settled join');
      const { result } = await again.on(copy, { resume: 'r' });
      expect({ at: prefix.name, outcome: result.outcome, state: result.state }).toEqual({
        at: prefix.name,
        outcome: 'succeeded',
        state: wanted.state,
      });
      // What is recorded is not done again, and nothing is done twice.
      const phases = again.phases.calls;
      expect(phases.filter((key) => recorded.includes(key))).toEqual([]);
      expect(new Set(phases).size).toBe(phases.length);
      const bodies = recorded.filter((key) => /^b[^@]*$/.test(key) && !key.endsWith('/n'));
      const models = recorded.filter((key) => key.endsWith('@model'));
      expect([prefix.name, again.done.length]).toEqual([
        prefix.name,
        whole.done.length - bodies.length - models.length,
      ]);
      const answered = recorded.filter((key) => key.endsWith('@human'));
      expect([prefix.name, again.answers.length]).toEqual([prefix.name, items - answered.length]);
    }
  });

  it.each(KINDS)('%s: a fork does nothing again', async (kind) => {
    const store = memoryStore();
    const { result: wanted } = await counted(kind, 'plain').on(store);
    const fork = counted(kind, 'plain');
    const { result } = await fork.on(store, { runId: 'f', fork: { run: 'r' } });
    expect([result.outcome, result.state]).toEqual(['succeeded', wanted.state]);
    expect([fork.done, fork.phases.calls, fork.answers]).toEqual([[], [], []]);
  });

  it.each(KINDS)('[addition 1] %s: switching supervision on and off does no work again', async (kind) => {
    const store = memoryStore();
    const off = counted(kind, 'plain', false);
    await off.on(store);
    const on = counted(kind, 'plain');
    on.phases.accepts = true;
    const { result } = await on.on(store, { runId: 'on', fork: { run: 'r' } });
    expect([result.outcome, on.done]).toEqual(['succeeded', []]);
    expect(on.phases.calls.length).toBe(kind === 'map item' ? 4 : 2);
    const again = counted(kind, 'plain', false);
    const { result: last } = await again.on(store, { runId: 'off', fork: { run: 'on' } });
    expect([last.state, again.done]).toEqual([result.state, []]);
  });

  it.each(KINDS)(
    '[addition 1] %s: another supervisor judges again, and no finished work is done again',
    async (kind) => {
      const store = memoryStore();
      await counted(kind, 'plain').on(store);
      const other = counted(kind, 'plain', true, '2');
      const { result } = await other.on(store, { runId: 'f', fork: { run: 'r' } });
      expect([result.outcome, other.done]).toEqual(['succeeded', []]);
      expect(other.phases.calls.some((key) => key.includes('@commit'))).toBe(false);
      expect(other.phases.calls.length).toBe(kind === 'map item' ? 4 : 2);
    },
  );

  it.each(KINDS)('%s: a rejection stays one when the run is resumed, and nobody is asked again', async (kind) => {
    const store = memoryStore();
    const first = counted(kind, 'plain');
    const reject = () => Promise.resolve('reject');
    const { result } = await first.on(store, { answer: reject });
    expect(result).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_REJECTED' } });
    const again = counted(kind, 'plain');
    const { result: resumed } = await again.on(store, { resume: 'r' });
    expect(resumed).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_REJECTED' } });
    expect(again.answers.filter((address) => !address.includes('[1]'))).toEqual([]);
  });

  it('a fork from a supervised step does all of it again: work, phases and answers', async () => {
    const store = memoryStore();
    const whole = counted('agent', 'plain');
    await whole.on(store);
    const fork = counted('agent', 'plain');
    const { result } = await fork.on(store, { runId: 'f', fork: { run: 'r', from: 'b' } });
    expect([result.outcome, fork.done, fork.answers]).toEqual(['succeeded', whole.done, whole.answers]);
    expect(fork.phases.calls).toEqual(whole.phases.calls);
  });

  it('a question that nobody answers pauses the step, its work stays, and nothing behind it runs', async () => {
    const store = memoryStore();
    const nobody = () => Promise.reject(new SkeinError('SKEIN_QUESTION', 'no one can answer'));
    const first = counted('call', 'plain');
    const { result, events } = await first.on(store, { answer: nobody });
    expect([result.outcome, result.questions.map(({ key }) => key)]).toEqual(['paused', ['b@human']]);
    expect(events.some((event) => event.type === 'step.started' && event.node === 'z')).toBe(false);
    expect(result.state['out']).toBeUndefined();
    const second = counted('call', 'plain');
    const { result: last } = await second.on(store, { resume: 'r' });
    expect([last.outcome, second.done, second.answers]).toEqual(['succeeded', ['w0 shorter'], ['b@human']]);
  });
});
