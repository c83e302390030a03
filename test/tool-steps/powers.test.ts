import { describe, expect, it } from 'vitest';
import { estimateCalls } from '../../src/plan/envelope.js';
import { powersOf } from '../../src/plan/powers.js';
import { NOTATIONS, loadSteps } from './support/both.js';

const HEAD = 'mcps: { tickets: { command: node, args: [server.mjs], env: { TOKEN: "${TICKETS_TOKEN}" } } }\n';

describe.each(NOTATIONS)('what steps without a model can do, in a %s', (notation) => {
  it('is listed before anything runs: commands as they are written, servers, addresses, files and calls', async () => {
    const ref = notation === 'dag' ? '{{ inputs.x }}' : '{{ $prompt }}';
    const steps = `
  - { id: tests, run: [npm, test, "--", "${ref}"], env: { A: "\${CI_TOKEN}" }, sandbox: offline }
  - { id: find, tool: tickets/find, input: { text: "${ref}" } }
  - { id: page, tool: fetch, input: { url: "https://example.org/${ref}" } }
  - { id: note, tool: write_file, input: { path: report.md, content: "${ref}" } }
  - { id: look, tool: glob, input: { pattern: "*.ts" } }
`;
    const head = notation === 'dag' ? `${HEAD}inputs: { x: { default: y } }\n` : HEAD;
    const { workflow } = await loadSteps(notation, steps, { head });
    const { plan } = workflow;
    if (plan === undefined) throw new Error(JSON.stringify(workflow.problems));
    const shown = notation === 'dag' ? '{{inputs.x}}' : '{{prompt}}';
    expect(powersOf(plan).map(({ kind, what, why, variables }) => [kind, what, why, variables])).toEqual([
      ['starts', `npm test -- ${shown}`, 'step tests', ['CI_TOKEN']],
      ['starts', 'node server.mjs', 'MCP server tickets of step find', ['TICKETS_TOKEN']],
      ['allows', 'tickets/find', 'call of step find', []],
      ['reaches', `https://example.org/${shown}`, 'step page', []],
      ['writes', 'report.md', 'step note', []],
    ]);
    expect(estimateCalls(plan)).toEqual({
      modelCalls: { typical: 0, worst: 0 },
      toolCalls: { typical: 5, worst: 5 },
    });
  });
});
