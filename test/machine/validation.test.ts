import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Spec, State } from 'skein/machine';
import { validateSpec } from 'skein/machine';
import { DRAFT, specOf } from './support/machines.js';

/** Problems of a spec whose prompts are called like its states, unless said otherwise: errors and warnings as texts. */
function findings(
  spec: Spec,
  prompts: Iterable<string> = Object.keys(spec.states),
): Record<'errors' | 'warnings', readonly string[]> {
  const { errors, warnings } = validateSpec(spec, prompts);
  return { errors, warnings };
}

function states(more: Record<string, Partial<State>>): Record<string, State> {
  return { a: { on_event: { Go: 'b' } }, b: { terminal: true }, ...more };
}

describe('validateSpec', () => {
  it('[A1] finds nothing in a good spec but its cycle, and gives problems with codes', () => {
    expect(validateSpec(DRAFT, ['draft', 'review', 'done'])).toEqual({
      errors: [],
      warnings: ['workflow contains a cycle: review -> draft'],
      hasErrors: false,
      problems: [
        {
          code: 'cycle',
          severity: 'warning',
          message: 'workflow contains a cycle: review -> draft',
          hint: 'nothing is wrong where this is meant; max_visits and engine.budget bound it',
        },
      ],
    });
  });

  it('[A1] tells a wrong form instead of the rules, and never throws', () => {
    const wrong = { ...DRAFT, engine: { budget: { max_tool_calls: '3' } } } as unknown as Spec;
    const result = validateSpec(wrong, []);
    expect([result.hasErrors, result.errors]).toEqual([
      true,
      ['workflow.engine.budget.max_tool_calls must be a whole number of at least 0, not the text "3"'],
    ]);
    expect(validateSpec(null as unknown as Spec, []).errors).toEqual(['workflow must be an object, not null']);
  });

  it('[R1] version must be 1 or 2', () => {
    expect(findings({ ...specOf(states({})), version: 3 }).errors).toEqual(['workflow.version must be 1 or 2, got 3']);
    expect(findings({ ...specOf(states({})), version: 1 }).errors).toEqual([]);
  });

  it('[R2] states must be there, else nothing more is checked', () => {
    expect(findings({ version: 9, entry: 'x', states: {} })).toEqual({
      errors: ['workflow.version must be 1 or 2, got 9', 'workflow.states must be non-empty'],
      warnings: [],
    });
  });

  it('[R3] entry must be a state', () => {
    const { errors, problems } = validateSpec({ ...DRAFT, entry: 'drafts' }, Object.keys(DRAFT.states));
    expect([errors, problems[0]?.hint]).toEqual([
      ['workflow.entry "drafts" does not reference a key in states'],
      'did you mean "draft"?',
    ]);
  });

  it('[R4] [R5] prompts must exist, of the entry and of all states', () => {
    expect(findings(specOf(states({})), []).errors).toEqual([
      'workflow.states["a"].prompt_task "a" does not reference a valid prompt',
      'workflow.states["b"].prompt_task "b" does not reference a valid prompt',
    ]);
    expect(findings({ ...specOf({ a: {} }), states: { a: {} } }, ['a']).errors).toEqual([
      'workflow.states["a"].prompt_task "" does not reference a valid prompt',
    ]);
  });

  it('[R6] targets of events must be states', () => {
    expect(findings(specOf({ s: { E: 't' } })).errors).toEqual([
      'workflow.states["s"].on_event["E"] target "t" does not exist in states',
    ]);
    expect(findings(specOf({ s: { E: 'toString' } })).errors, 'inherited names are none').toHaveLength(1);
  });

  it('[R7] events should be PascalCase', () => {
    const spec = specOf({ a: { go: 'b', Go: 'b', Go_on: 'b', Go2: 'b' }, b: { terminal: true } });
    expect(findings(spec)).toEqual({
      errors: [],
      warnings: [
        'workflow.states["a"].on_event["go"]: event name should be PascalCase',
        'workflow.states["a"].on_event["Go_on"]: event name should be PascalCase',
      ],
    });
  });

  it('[R8] [R9] persistence and orchestration have certain values', () => {
    const odd = { persistence: 'persistant', orchestration: 'externally' } as unknown as State;
    expect(findings(specOf(states({ b: { ...odd, terminal: true } }))).errors).toEqual([
      'workflow.states["b"].persistence "persistant" is not valid (must be one of "transient", "persistent")',
      'workflow.states["b"].orchestration "externally" is not valid (must be one of "internal", "external", "hybrid", "composition")',
    ]);
  });

  it('[R10] each way back is a cycle, self-loops too; events of a terminal state lead nowhere', () => {
    const spec = specOf({
      a: { B: 'b', A: 'a' },
      b: { C: 'c' },
      c: { A: 'a', B: 'b', D: 'd' },
      d: { terminal: true, on_event: { A: 'a' } },
    });
    expect(findings(spec).warnings).toEqual([
      'workflow.states["d"]: terminal state has on_event transitions (they never fire)',
      'workflow contains a cycle: c -> a',
      'workflow contains a cycle: c -> b',
      'workflow contains a cycle: a -> a',
    ]);
  });

  it('[R10] a chain of 20,000 states and back is walked', () => {
    const all = Array.from({ length: 20_000 }, (_, at): [string, State] => [
      `s${at}`,
      { prompt_task: 'p', on_event: { Go: `s${(at + 1) % 20_000}` } },
    ]);
    const { warnings } = validateSpec({ version: 2, entry: 's0', states: Object.fromEntries(all) }, ['p']);
    expect(warnings).toEqual([
      'workflow contains a cycle: s19999 -> s0',
      'workflow.states: no terminal state can be reached from entry "s0"',
    ]);
  });

  it('[V1] events of a terminal state never fire', () => {
    expect(findings(specOf(states({ b: { terminal: true, on_event: { X: 'a' } } }))).warnings).toEqual([
      'workflow.states["b"]: terminal state has on_event transitions (they never fire)',
    ]);
  });

  it('[V2] redirects must lead to states, and should lead to states without a bound', () => {
    const of = (on_max_visits: string, b: Partial<State>): ReturnType<typeof findings> =>
      findings(specOf({ a: { max_visits: 2, on_max_visits, on_event: { B: 'b' } }, b: { terminal: true, ...b } }));
    expect(of('x', {}).errors).toEqual(['workflow.states["a"].on_max_visits "x" does not exist in states']);
    expect(of('b', { max_visits: 1 })).toEqual({
      errors: [],
      warnings: ['workflow.states["a"].on_max_visits target "b" also has max_visits: potential redirect chain'],
    });
    expect(of('b', {})).toEqual({ errors: [], warnings: [] });
  });

  it('[V5] max_total_visits should allow all visits that reachable states allow', () => {
    const of = (max_total_visits: number): readonly string[] =>
      findings(
        specOf(
          {
            a: { max_visits: 3, on_event: { B: 'b' } },
            b: { max_visits: 2, terminal: true },
            far: { max_visits: 9, terminal: true },
          },
          { engine: { budget: { max_total_visits } } },
        ),
      ).warnings.filter((text) => text.includes('budget'));
    expect([of(4), of(5), of(0)]).toEqual([
      ['workflow.engine.budget.max_total_visits 4 is less than max_visits of the reachable states together (5)'],
      [],
      [],
    ]);
  });

  it('[V7] an end should say so in version 2, unless it has a bound', () => {
    const text =
      'workflow.states["b"]: state has neither on_event nor max_visits (terminal: true says that it is an end)';
    const of = (b: State, version = 2): readonly string[] =>
      findings({ ...specOf({ a: { B: 'b' }, b }), version }).warnings;
    expect([of({}), of({ on_event: {} }), of({ terminal: true }), of({ max_visits: 1 }), of({}, 1)]).toEqual([
      [text],
      [text],
      [],
      [],
      [],
    ]);
  });

  it('[decision 8] a composition state needs a composition and no prompt, others have none', () => {
    const spec: Spec = {
      version: 2,
      entry: 'a',
      states: {
        a: { orchestration: 'composition', on_event: { Go: 'b' } },
        b: { prompt_task: 'b', composition: 'c', terminal: true },
      },
    };
    expect(findings(spec).errors).toEqual([
      'workflow.states["a"]: orchestration composition requires a composition',
      'workflow.states["b"]: composition is only valid with orchestration composition',
    ]);
  });

  it('[decision 8] states out of reach, and ways without an end', () => {
    const spec = specOf({
      a: { max_visits: 2, on_max_visits: 'c', on_event: { B: 'b' } },
      b: { A: 'a' },
      c: { B: 'b' },
      d: {},
    });
    expect(findings(spec).warnings.slice(-2)).toEqual([
      'workflow.states["d"] cannot be reached from entry "a"',
      'workflow.states: no terminal state can be reached from entry "a"',
    ]);
  });

  it('[decision 8] on_max_visits has no effect without max_visits', () => {
    expect(findings(specOf(states({ a: { on_max_visits: 'b', on_event: { B: 'b' } } }))).warnings).toEqual([
      'workflow.states["a"].on_max_visits has no effect without max_visits',
    ]);
  });

  it('[decision 8] an artifact should have one mode and one type', () => {
    const spec = specOf({
      a: { on_event: { B: 'b' }, artifacts: { x: { type: 'text/plain' } } },
      b: { terminal: true, artifacts: { x: { type: 'text/html', mode: 'append' } } },
    });
    const same = 'in state "a": it is the same artifact';
    expect(findings(spec).warnings).toEqual([
      `workflow.states["b"].artifacts["x"].mode is "append", but "replace" ${same}`,
      `workflow.states["b"].artifacts["x"].type is "text/html", but "text/plain" ${same}`,
    ]);
  });

  it('[decision 5] redirects that form a loop are errors, each loop once', () => {
    const on_event = { A: 'a', B: 'b', C: 'c', D: 'd' };
    const spec = specOf({
      a: { on_event, max_visits: 1, on_max_visits: 'b' },
      b: { on_event, max_visits: 1, on_max_visits: 'c' },
      c: { on_event, max_visits: 1, on_max_visits: 'b' },
      d: { on_event, max_visits: 1, on_max_visits: 'd' },
      e: { terminal: true },
    });
    expect(findings(spec).errors).toEqual([
      'workflow.states["b"].on_max_visits closes a loop of redirects: b -> c -> b',
      'workflow.states["d"].on_max_visits redirects to the same state',
    ]);
  });

  it('[17] an unknown bound of the budget is a warning: one of the two schemas allows it', () => {
    const spec = specOf(states({}), { engine: { budget: { max_tool_call: 3 } as object } });
    expect(validateSpec(spec, ['a', 'b'])).toMatchObject({
      errors: [],
      warnings: ['workflow.engine.budget["max_tool_call"] is not a known bound and has no effect'],
      problems: [{ hint: 'did you mean "max_tool_calls"?' }],
    });
  });

  it('[decision 8] the order is that of the file, the same each time', () => {
    const spec = specOf(
      { z: { x: 'gone', Y: 'gone' }, a: { on_max_visits: 'gone' }, m: { y: 'z' } },
      { version: 7, entry: 'q' },
    );
    const first = validateSpec(spec, []);
    expect(validateSpec(structuredClone(spec), [])).toEqual(first);
    expect(first.problems.map(({ code }) => code)).toEqual([
      'unknown-version',
      'unknown-entry',
      'unknown-prompt',
      'unknown-target',
      'event-name',
      'unknown-target',
      'unknown-prompt',
      'unknown-redirect',
      'dead-end',
      'unknown-prompt',
      'event-name',
    ]);
  });

  it('[A1] each code stands in docs/machine.md', () => {
    const source = ['validate', 'validate-paths', 'shapes'].map((name) =>
      readFileSync(resolve(import.meta.dirname, `../../src/machine/pure/${name}.ts`), 'utf8'),
    );
    const codes = source.flatMap((text) =>
      [...text.matchAll(/(?:code: |, )'([a-z]+(?:-[a-z]+)+)'/g)].map(([, code]) => code ?? ''),
    );
    const docs = readFileSync(resolve(import.meta.dirname, '../../docs/machine.md'), 'utf8');
    expect(new Set(codes).size).toBeGreaterThan(18);
    for (const code of [...codes, 'artifact-mode', 'artifact-type']) expect(docs).toContain(`\`${code}\``);
  });
});
