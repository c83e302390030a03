import { describe, expect, it } from 'vitest';
import { agent, tool, toolNode } from '../../src/graph.js';
import { goal } from '../../src/tree.js';
import { thrown } from '../thrown.js';

const SEND = { name: 'send', inputSchema: { type: 'object' }, execute: () => 'sent' };

/** Every place that takes a tool of a program. */
const DOORS: Readonly<Record<string, (given: never) => unknown>> = {
  tool: (given) => tool(given),
  'an agent': (given) => agent({ name: 'clerk', tools: [given] }),
  'a node': (given) => toolNode(given),
  'a step of a tree': (given) => goal('g', 'Do.').customize({ tools: [given] }),
};

describe.each(Object.entries(DOORS))('a tool that is given to %s', (_, take) => {
  const given = (more: object): (() => unknown) => {
    return () => take({ ...SEND, ...more } as never);
  };

  it.each([
    [{ approv: true }, 'the tool "send" has no option "approv"', 'did you mean "approve"?'],
    [{ approve: 'true' }, 'approve of the tool "send" is not valid', 'give true, false or a function of the input'],
    [{ approve: 1 }, 'approve of the tool "send" is not valid', 'give true, false or a function of the input'],
    [{ effect: 'reads' }, 'effect of the tool "send" is not valid', 'give "read", "idempotent", "once"'],
    [{ trust: 'yes' }, 'trust of the tool "send" is not valid', 'give "trusted", "untrusted"'],
    [{ coerce: 'no' }, 'coerce of the tool "send" is not valid', 'give true or false'],
    [{ description: 7 }, 'description of the tool "send" is not valid', 'give text'],
  ])('with %j is refused', (more, message, hint) => {
    const error = thrown(given(more));
    const whole = `error bad-tool: ${message}\n    hint: ${hint}`;
    expect([error.code, error.message]).toEqual(['SKEIN_DEFINITION', whole]);
  });

  it('may leave options out, and may be an instance of a class with fields of its own', () => {
    class Sender {
      readonly name = 'send';
      readonly inputSchema = { type: 'object' };
      readonly approve = undefined;
      constructor(readonly address: string) {}
      execute(): string {
        return this.address;
      }
    }
    expect(() => take(new Sender('desk') as never)).not.toThrow();
    expect(given({ description: undefined, effect: undefined })).not.toThrow();
  });
});
