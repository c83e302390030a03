import { describe, expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { BROKEN, ran } from './loops.js';

const NO = '{"approved": false, "note": "shorter"}';
const YES = '{"approved": true, "note": "fine"}';

/** A draft, a loop of two steps, and what comes behind it; `more` are further keys of the loop, `steps` other steps of it. */
interface Notation {
  readonly loop: (more: string, steps?: string) => string;
  readonly until: string;
  readonly line: (more: string) => string;
  /** A reference to the draft, as a value. */
  readonly draft: string;
}

const PIPELINE: Notation = {
  loop: (more, steps = '') => `agents:
  w: { instruction: You write. }
  c:
    instruction: You judge.
    structured_output: { schema: { type: object, properties: { approved: { type: boolean }, note: { type: string } } } }
workflow:
  - { id: draft, type: agent, name: w, prompt: Write. }
  - id: polish
    type: loop
    ${more}
    steps:
${steps}
      - { id: edit, type: agent, name: w, prompt: "{{ $steps.draft.output }}, {{ $steps.edit.output }}, {{ $steps.review.output.note }}" }
      - { id: review, type: agent, name: c, prompt: "Judge {{ $steps.edit.output }}" }
  - { id: publish, type: agent, name: w, prompt: "{{ $steps.polish.output.approved }} {{ $steps.polish.outputs.edit.output }}" }
`,
  until: '"{{ $steps.review.output.approved }}"',
  line: (more) => `agents: { w: { instruction: You write. } }
workflow:
  - { id: draft, type: agent, name: w, prompt: Write. }
  - id: polish
    type: loop
    until: { line: DONE }
    ${more}
    steps: [{ id: edit, type: agent, name: w, prompt: Edit. }]
  - { id: publish, type: agent, name: w, prompt: "{{ $steps.polish.output }}" }
`,
  draft: '"{{ $steps.draft.output }}"',
};

const DAG: Notation = {
  loop: (more, steps = '') => `name: loops
agents: { w: { inline: { prompt: You write., tools: [] } } }
steps:
  - { id: draft, agent: w, prompt: Write. }
  - id: polish
    type: loop
    depends_on: [draft]
    ${more}
    steps:
${steps}
      - { id: edit, agent: w, prompt: "{{steps.draft.output}}, {{steps.edit.output?}}, {{steps.review.output.note?}}" }
      - { id: review, agent: w, depends_on: [edit], prompt: "Judge {{steps.edit.output}}" }
  - { id: publish, agent: w, depends_on: [polish], prompt: "{{steps.polish.output.approved}} {{steps.polish.outputs.edit.output}}" }
`,
  until: 'steps.review.output.approved',
  line: (more) => `name: lines
agents: { w: { inline: { prompt: You write., tools: [] } } }
steps:
  - { id: draft, agent: w, prompt: Write. }
  - id: polish
    type: loop
    depends_on: [draft]
    until: { line: DONE }
    ${more}
    steps: [{ id: edit, agent: w, prompt: Edit. }]
  - { id: publish, agent: w, depends_on: [polish], prompt: "{{steps.polish.output}}" }
`,
  draft: 'steps.draft.output',
};

describe.each([
  ['pipeline', PIPELINE],
  ['DAG workflow', DAG],
])('[issue 14] a loop of a %s', (_, notation) => {
  const { loop, until, line, draft } = notation;
  const base = `until: ${until}\n    max_rounds: 4`;

  it('runs its steps until something holds, and sees what the round before gave', async () => {
    const { outcome, asked } = await ran(loop(base), { edit: ['one', 'two'], review: [NO, YES] });
    expect(outcome).toBe('succeeded');
    expect(asked).toEqual([
      'draft: Write.',
      'polish#1/edit: ok, , ',
      'polish#1/review: Judge one',
      'polish#2/edit: ok, one, shorter',
      'polish#2/review: Judge two',
      'publish: true two',
    ]);
  });

  it('[addition 9] keeps the round before the one that has the line', async () => {
    const says = { edit: ['one', 'we are not DONE', 'DONE'] };
    const { asked } = await ran(line('max_rounds: 9\n    keep: before'), says);
    expect(asked.at(-1)).toBe('publish: we are not DONE');
    expect((await ran(line('max_rounds: 9'), says)).asked.at(-1)).toBe('publish: DONE');
    expect((await ran(line('max_rounds: 9\n    keep: before'), { edit: ['one\n DONE '] })).asked.at(-1)).toBe(
      'publish: one',
    );
  });

  it('[bad input] fails where the first round is nothing but the line', async () => {
    const { outcome, error } = await ran(line('max_rounds: 9\n    keep: before'), { edit: ['DONE'] });
    expect([outcome, error?.code]).toEqual(['failed', 'SKEIN_MODEL_EMPTY']);
  });

  it('makes as many rounds as a value says, up to its cap', async () => {
    const more = `max_rounds: 5\n    rounds: ${draft}\n    on_limit: continue`;
    const { asked, warnings } = await ran(line(more), { draft: ['2'], edit: ['a', 'b', 'c'] });
    expect(asked.slice(1)).toEqual(['polish#1/edit: Edit.', 'polish#2/edit: Edit.', 'publish: b']);
    expect(warnings.join()).toContain("the loop 'polish' did not end within its 2 rounds of steps.draft.output");
  });

  it.each([
    ['7', 'is 7, more than the cap of 5'],
    ['many', 'is not an integer: "many"'],
    ['0', 'must be > 0, and is 0'],
  ])('[bad input] refuses %s rounds', async (said, message) => {
    const { outcome, error } = await ran(line(`max_rounds: 5\n    rounds: ${draft}`), { draft: [said] });
    expect([outcome, error?.code]).toEqual(['failed', 'SKEIN_INPUT']);
    expect(error?.message).toContain(message);
  });

  it('fails at its limit, in the words of the file; on_limit: continue takes the last round, and the run is degraded', async () => {
    const says = { edit: ['one', 'two', 'three', 'four'], review: [NO] };
    const failed = await ran(loop(base), says);
    expect([failed.outcome, failed.error?.code]).toEqual(['failed', 'SKEIN_MAX_ROUNDS']);
    expect(failed.error?.message).toBe("the loop 'polish' did not end within its 4 rounds");
    expect(failed.error?.hint).toBe('raise max_rounds, or set on_limit to continue');
    const { outcome, asked, census } = await ran(loop(`${base}\n    on_limit: continue`), says);
    expect([outcome, census.succeeded, census.limited]).toEqual(['degraded', 10, 1]);
    expect(asked.at(-1)).toBe('publish: false four');
  });

  it('is resumed in the middle, and pays for no round twice', async () => {
    const store = memoryStore();
    const broken = { edit: ['one', 'two', 'three'], review: [NO, NO, BROKEN] };
    const first = await ran(loop(base), broken, { store });
    expect([first.outcome, first.asked.length]).toEqual(['failed', 7]);
    const { outcome, asked, reused } = await ran(loop(base), { review: [YES] }, { store, resume: first.runId });
    expect([outcome, asked]).toEqual(['succeeded', ['polish#3/review: Judge three', 'publish: true three']]);
    expect(reused).toBe(6);
  });
});
