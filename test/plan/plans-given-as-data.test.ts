import { describe, expect, it } from 'vitest';
import { checkPlan } from '../../src/plan/checks.js';
import type { JsonTemplate } from '../../src/lang/values.js';
import type { Plan, PlanNode, Route } from '../../src/plan/plan.js';
import type { Security } from '../../src/plan/security.js';
import type { ToolUse } from '../../src/plan/tool-use.js';

/** A plan that no notation has looked at. */
function planOf(nodes: readonly PlanNode[], more: Partial<Plan> = {}): Plan {
  return {
    format: 1,
    name: 'test',
    inputs: [{ channel: 'task', name: 'task', required: true }],
    channels: [],
    nodes,
    edges: [],
    routes: [],
    ...more,
  };
}

const found = (plan: Plan) => checkPlan(plan).map(({ code, path, message }) => `${code} ${path ?? ''} ${message}`);

const calls = (tool: ToolUse): readonly string[] => found(planOf([{ kind: 'task', id: 'a', tool, output: 'x' }]));

const argv = (...list: readonly JsonTemplate[]): JsonTemplate => ({ object: { argv: { list } } });

describe('tools that steps of a plan call by themselves', () => {
  it('[unknown-tool] [wrong-type] are tools that there are, called with an object', () => {
    expect(calls({ name: 'read_file', input: { value: { path: 'a.txt' } } })).toEqual([]);
    expect(calls({ name: 'read_files', input: { value: { path: 'a.txt' } } })).toContainEqual(
      expect.stringMatching(/^unknown-tool .*"read_files"/),
    );
    expect(calls({ name: 'read_file', input: { value: 'a.txt' } })).toContainEqual(
      expect.stringMatching(/^wrong-type .*is not an object/),
    );
  });

  it('[shell-template] do not run what a value says', () => {
    const task = { channel: 'task' };
    const [sh, c, echo] = [{ value: 'sh' }, { value: '-c' }, { value: 'echo "$1"' }];
    expect(calls({ name: 'shell', input: argv(sh, c, echo, task) })).toEqual([]);
    for (const tool of [
      { name: 'shell', input: argv(task) },
      { name: 'shell', input: argv(sh, c, task) },
      { name: 'shell', input: argv(sh, c, { template: ['echo ', task] }) },
      { name: 'shell', input: { value: { argv: ['sh'] } }, stdin: [task] },
    ])
      expect(calls(tool), JSON.stringify(tool)).toContainEqual(expect.stringMatching(/^shell-template .*reference/));
  });
});

describe('security of plans that are given as data', () => {
  const asks = (id: string, more: object = {}): PlanNode => ({
    kind: 'agent',
    id,
    agent: { name: id, instructions: [], models: ['mock/echo'], tools: [] },
    prompt: ['x'],
    output: id,
    ...more,
  });

  it('[no-scope] says what research is about', () => {
    const research = { mode: 'research' } as Security;
    expect(found(planOf([asks('a')], { security: research }))).toContainEqual(
      expect.stringMatching(/^no-scope security/),
    );
    expect(found(planOf([asks('a', { security: research })]))).toContainEqual(expect.stringMatching(/^no-scope .*"a"/));
  });

  it('[lowered-security] is nowhere lower inside, whether the node or the plan inside says so', () => {
    const [low, high] = [{ mode: 'default' }, { mode: 'paranoid' }] as const;
    const inner = planOf([asks('b')], { inputs: [], security: low });
    const call: PlanNode = { kind: 'call', id: 'c', plan: inner, inputs: {}, output: 'c' };
    expect(found(planOf([call], { security: low }))).toEqual([]);
    expect(found(planOf([call], { security: high }))).toContainEqual(
      expect.stringMatching(/^lowered-security .*what "c" contains/),
    );
    expect(found(planOf([{ ...call, security: high }]))).toContainEqual(
      expect.stringMatching(/^lowered-security .*what "c" contains/),
    );
  });
});

describe('the last node of a plan that is given as data', () => {
  it('[bad-finally] is not where it starts, and no route leads to it or away from it', () => {
    const nodes = ['a', 'last'].map((id): PlanNode => ({ kind: 'task', id, writes: [] }));
    const last = (more: Partial<Plan>) => found(planOf(nodes, { finally: 'last', ...more }));
    const route = (from: string, to: string): Route => ({ from, choose: 'code', targets: [to] });
    expect(last({})).toEqual([]);
    expect(last({ entry: 'last' })).toContainEqual(expect.stringMatching(/^bad-finally entry .*starts with it/));
    expect(last({ routes: [route('last', 'a')] })).toContainEqual(
      expect.stringMatching(/^bad-finally routes\[0\].from .*a route chooses after it/),
    );
    expect(last({ routes: [route('a', 'last')] })).toContainEqual(
      expect.stringMatching(/^bad-finally routes\[0\].*the route after "a" leads to it/),
    );
  });
});
