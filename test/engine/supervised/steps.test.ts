import { describe, expect, it } from 'vitest';
import { startRun } from '../../../src/engine/run.js';
import { plan, task } from '../plans.js';
import { ScriptedPhases } from './scripted-phases.js';

const SUPERVISE = { by: 'model', instruction: ['Write about ', { channel: 'topic' }] } as const;

describe('[decision 7] a supervised step', () => {
  it('says what it promises, is judged, and counts when it is accepted', async () => {
    const phases = new ScriptedPhases(() => 'ok');
    const bindings = { w: () => ({ text: 'a' }) };
    const one = plan({ nodes: [task('w', { supervise: SUPERVISE })], channels: ['topic'] });
    const { result } = startRun(one, { bindings, phases, inputs: { topic: 'looms' } });
    expect(await result).toMatchObject({ outcome: 'succeeded', state: { text: 'a' } });
    expect(phases.calls).toEqual(['w@commit', 'w@supervise']);
  });

  it('[S7] a correction begins the next attempt, and the latest alone counts', async () => {
    const phases = new ScriptedPhases(({ corrections }) => ['fix: shorter', 'fix: no, longer'][corrections] ?? 'ok');
    let bodies = 0;
    const bindings = { w: () => ({ text: String((bodies += 1)) }) };
    const one = plan({ nodes: [task('w', { supervise: SUPERVISE })], channels: ['topic'] });
    const { result } = startRun(one, { bindings, phases, inputs: { topic: 'looms' } });
    expect(await result).toMatchObject({ outcome: 'succeeded', state: { text: '3' }, census: { succeeded: 1 } });
    expect(phases.calls).toEqual(['w@commit', 'w@supervise', 'w~2@supervise', 'w~3@supervise']);
    expect(phases.judged.map(({ correction }) => correction)).toEqual([undefined, 'shorter', 'no, longer']);
  });
});
