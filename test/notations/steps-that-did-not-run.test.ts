import { describe, expect, it } from 'vitest';
import { loadWorkflowText } from 'skein/yaml';
import { dag, pipeline, ran, step } from './loops.js';

/** How a notation writes a step that is skipped, and one after it that reads it. */
interface Written {
  readonly ref: (text: string) => string;
  /** A workflow whose step `x` does not run, and then this step. */
  readonly file: (use: string) => string;
  readonly ask: (prompt: string, more?: string) => string;
}

const X = 'schema: { title: string, all: [string] }';
const agent = (id: string, prompt: string, more = ''): string =>
  `{ id: ${id}, type: agent, name: w, prompt: "${prompt}"${more === '' ? '' : `, ${more}`} }`;
const after = (skipped: string) => (use: string) => pipeline(agent('a', 'a?'), skipped, use);
const NO = '{{ $steps.a.output == "no" }}';

const PIPELINE = {
  ref: (text: string) => text.replaceAll('STEP', '$steps.x'),
  ask: (prompt: string, more?: string) => agent('u', prompt, more),
};
const WAYS: Readonly<Record<string, Written>> = {
  'skipped by when, in a pipeline': { ...PIPELINE, file: after(agent('x', 'x?', `${X}, when: '${NO}'`)) },
  'in a case that is not taken': {
    ...PIPELINE,
    file: after(`{ type: condition, cases: [{ when: '${NO}', steps: [${agent('x', 'x?', X)}] }] }`),
  },
  'skipped by its condition, in a DAG workflow': {
    ref: (text) => text.replaceAll('STEP', 'steps.x'),
    file: (use) =>
      dag(
        step('a', 'a?'),
        step('x', 'x?', `depends_on: [a], ${X}, condition: { step: a, equals: "no" }`),
        use.replace(/^\{ id: u,/, '{ id: u, depends_on: [x],'),
      ),
    ask: (prompt, more) => step('u', prompt, more),
  },
};

describe.each(Object.entries(WAYS))(
  '[addition 5] [addition 6] a step that did not run: %s',
  (name, { ref, file, ask }) => {
    const read = async (use: string) => {
      const end = await ran(file(ref(use)), {});
      return { ...end, u: end.state['steps.u.output'], last: end.asked.at(-1) };
    };
    const isDag = name.includes('DAG');

    it('leaves a gap in texts, with its paths, with and without a question mark', async () => {
      for (const path of ['output', 'output?', 'output.title', 'output.title?']) {
        expect((await read(ask(`got {{ STEP.${path} }}.`))).last, path).toBe('u: got .');
        expect((await read(`{ id: u, type: end, reason: "r {{ STEP.${path} }}." }`)).steps.at(-1)?.reason, path).toBe(
          'r .',
        );
      }
    });

    it('gives no value where a value is only that reference, and the empty text in expressions', async () => {
      const set = (value: string): string => `{ id: u, type: set, values: { v: "${value}", w: 1 } }`;
      for (const path of ['output', 'output?', 'output.title', 'output.title?'])
        expect((await read(set(`{{ STEP.${path} }}`))).u, path).toEqual({ w: 1 });
      expect((await read(set('{{= STEP.output }}'))).u).toEqual({ v: '', w: 1 });
      expect((await read(set('{{= has(STEP.output.title) }}'))).u).toEqual({ v: false, w: 1 });
      const asked = await read(set('{{= STEP.output.title }}'));
      expect([asked.outcome, asked.error?.code]).toEqual(['failed', 'SKEIN_TEMPLATE']);
    });

    it('tells how it ended, and no error', async () => {
      const status = name.includes('case') ? 'not_run' : 'skipped';
      expect((await read(ask('{{ STEP.status }} [{{ STEP.error.message }}]'))).last).toBe(`u: ${status} []`);
    });

    it('has no items to go through with a question mark, and is no list without one', async () => {
      const inner = isDag ? step('m', '{{ item }}') : agent('m', '{{ $item }}');
      const map = (over: string): string => {
        const said = isDag ? over : `"{{ ${over} }}"`;
        return `{ id: u, type: map, over: ${said}, as: item, steps: [${inner}] }`;
      };
      const none = await read(map('STEP.output.all?'));
      expect([none.outcome, none.u]).toEqual(['succeeded', []]);
      const bad = await read(map('STEP.output.all'));
      expect([bad.outcome, bad.error?.code]).toEqual(['failed', 'SKEIN_NOT_A_LIST']);
    });

    it('holds in no condition; one that is only that reference needs a question mark', async () => {
      const when = (text: string): string => (isDag ? `condition: { cel: '${text}' }` : `when: '{{ ${text} }}'`);
      for (const text of ['STEP.output == "ok"', 'has(STEP.output.title)', 'STEP.status == "succeeded"'])
        expect((await read(ask('u?', when(text)))).last, text).toBe('a: a?');
      if (isDag) return;
      expect((await read(ask('u?', when('STEP.output.title?')))).last).toBe('a: a?');
      const bad = await read(ask('u?', when('STEP.output.title')));
      expect([bad.outcome, bad.error?.code]).toEqual(['failed', 'SKEIN_TEMPLATE']);
    });
  },
);

it('[bad-expression] says that a question mark has no place in an expression', async () => {
  for (const text of ['$steps.a.output.v?', '$steps.a.output.v? == 1']) {
    const set = `{ id: b, type: set, values: { w: "{{= ${text} }}" } }`;
    const file = pipeline('{ id: a, type: set, values: { v: 1 } }', set);
    const { problems } = await loadWorkflowText(file, { file: 'w.yaml', cwd: '/' });
    const hint = 'a reference in an expression takes no ?: ask with has(a.b) or a.?b.orValue(...)';
    expect(problems.map((problem) => [problem.code, problem.hint?.slice(0, hint.length)])).toEqual([
      ['bad-expression', hint],
    ]);
  }
});
