/** A draft that is reviewed and written again until the review is good. */
export const LOOP = `agents:
  writer: { instruction: You write. }
  critic:
    instruction: You judge.
    structured_output: { name: verdict, schema: { type: object, properties: { ok: { type: boolean } }, required: [ok] } }
  publisher: { instruction: You print. }
workflow:
  max_loop_iterations: 5
  steps:
    - { id: draft, type: agent, name: writer }
    - { id: review, type: agent, name: critic }
    - id: good
      type: condition
      condition: "{{ $steps.review.output.ok }}"
      false: [{ goto: draft }]
    - { id: publish, type: agent, name: publisher }
`;

/** The third draft is good. The answer of one step takes longer than any test, when it is named. */
export function loopScript(slow = ''): string {
  const rule = (step: string, answer: object): string =>
    `  - ${JSON.stringify({ step, answer: step === slow ? { ...answer, delay: '1000s' } : answer })}\n`;
  return `strict: false
rules:
${rule('draft#3', { text: 'Third draft.' })}${rule('draft#2', { text: 'Second draft.' })}${rule('draft', { text: 'First draft.' })}
${rule('review#3', { json: { ok: true } })}${rule('review#2', { json: { ok: false } })}${rule('review', { json: { ok: false } })}
${rule('publish', { text: 'Printed.' })}`;
}

/** What the loop says from its beginning to its end. */
export const LOOP_SAYS = `--- Agent: writer (draft) ---

First draft.

--- Agent: critic (review) ---

{
  "ok": false
}

--- Agent: writer (draft#2) ---

Second draft.

--- Agent: critic (review#2) ---

{
  "ok": false
}

--- Agent: writer (draft#3) ---

Third draft.

--- Agent: critic (review#3) ---

{
  "ok": true
}

--- Agent: publisher (publish) ---

Printed.
`;

/** Two agents at the same time, one of them in a block of its own; then one that gets both. */
export const PARALLEL = `agents:
  generator: { instruction: You write. }
  judge: { instruction: "You choose between {{ $steps.par_gen.outputs.gen_1.output }} and the other one." }
workflow:
  - type: parallel
    id: par_gen
    steps:
      - { id: gen_1, type: agent, name: generator }
      - type: parallel
        id: inner
        steps: [{ id: gen_2, type: agent, name: generator }]
  - { id: last, type: agent, name: judge }
`;

/** An agent that writes a file, which a person must allow. */
export const NOTES = `agents:
  root:
    instruction: You write notes.
    toolsets: [{ type: filesystem }]
`;

export const NOTES_SCRIPT = `rules:
  - agent: root
    answers:
      - text: I write it.
        tools: [{ name: write_file, input: { path: note.txt, content: hello } }]
      - Written.
`;
