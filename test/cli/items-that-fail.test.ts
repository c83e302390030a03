import { expect, test } from 'vitest';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `agents:
  lister: { instruction: You list., structured_output: { name: list, schema: { type: object, properties: { files: { type: array, items: { type: string } } }, required: [files] } } }
  reader: { instruction: You read. }
  editor: { instruction: You write. }
workflow:
  - { id: list, type: agent, name: lister }
  - id: each
    type: map
    over: "{{ $steps.list.output.files }}"
    as: file
    on_item_error: continue
    steps: [{ id: read, type: agent, name: reader }]
  - { id: end, type: agent, name: editor, prompt: "Read: {{ $steps.each.output }}" }
`;

const SCRIPT = `strict: false
rules:
  - { step: list, answer: { json: { files: [a, b, c] } } }
  - { step: "each[1]/read", answer: { error: { status: 400, message: no luck } } }
  - { step: "each[0]/read", answer: { text: A } }
  - { step: "each[2]/read", answer: { text: C } }
  - { step: end, answer: { text: Done. } }
`;

test('[XP5] an item that fails is left out of the list: in what follows, on stdout, on a resume and in a fork', async () => {
  const cwd = await makeProject({ 'flow.yaml': FLOW, 'script.yaml': SCRIPT });
  const outputs = { each: { output: ['A', 'C'] } };
  const end = await served(['run', 'flow.yaml', '--mock=script.yaml', '--no-audit', '--json'], { cwd });
  expect(end.code).toBe(0);
  expect(documentOf(end)).toMatchObject({ outcome: 'degraded', steps: outputs });
  expect(end.stdout).not.toContain('null,');
  const resumed = await served(['resume', '-1', '--json'], { cwd });
  expect(documentOf(resumed)).toMatchObject({ outcome: 'degraded', steps: outputs });
  const forked = await served(['fork', '-1', '--from', 'end', '--json'], { cwd });
  expect(documentOf(forked)).toMatchObject({ outcome: 'degraded', steps: outputs });
});
