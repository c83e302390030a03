import { describe, expect, test } from 'vitest';
import { checkPlan } from '../../src/plan/checks.js';
import { logs, plan, run, task } from './plans.js';

const LOG = ['log:append', 'answers:add'];

describe('E2: `each`', () => {
  test('a node fires for every live token, and waits for nothing', async () => {
    const meeting = plan({
      nodes: ['a', 'b', task('m', { join: 'each' })],
      edges: ['a>m', 'b>m'],
      channels: LOG,
    });
    expect(checkPlan(meeting)).toEqual([]);
    const { result, started } = await run(meeting, { a: logs('a'), b: logs('b'), m: logs('m') });
    expect(started).toEqual(['a', 'b', 'm', 'm']);
    expect(result.census).toMatchObject({ succeeded: 4, skipped: 0 });
  });

  test('a way out of a loop and the way past its end meet behind it, without a warning, as often as an outer loop comes by', async () => {
    const outer = plan({
      nodes: ['a', 'b', 'c', 'out', task('m', { join: 'each' }), 'end'],
      edges: ['a>b', 'out>m'],
      routes: [
        { from: 'b', choose: 'code', targets: ['out', 'c'] },
        { from: 'c', choose: 'code', targets: ['a', 'm'] },
        { from: 'm', choose: 'code', targets: ['a', 'end'] },
      ],
      entry: 'a',
      channels: LOG,
    });
    // Inside: once round, then past the end; then out of the loop, twice.
    const answers = ['c', 'a', 'c', 'm', 'a', 'out', 'a', 'out', 'end'];
    const next = (): string => answers.shift() ?? 'END';
    const bindings = {
      ...Object.fromEntries(['a', 'b', 'c', 'out', 'm', 'end'].map((id) => [id, logs(id)])),
      ...Object.fromEntries(['b', 'c', 'm'].map((id) => [`route:${id}`, next])),
    };
    const { result, events } = await run(outer, bindings);
    expect(result.state.log).toEqual('a b c a b c m a b out m a b out m end'.split(' '));
    expect(events.filter((event) => event.type === 'run.warning')).toEqual([]);
  });
});
