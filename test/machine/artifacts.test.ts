import { describe, expect, it } from 'vitest';
import type { Spec } from 'skein/machine';
import { MachineContext, StateMachine, setArtifactCall } from 'skein/machine';
import { DRAFT, fire, machineOf, specOf } from './support/machines.js';
import { thrown } from '../thrown.js';

const MIB = 1024 * 1024;
const TEXT = { type: 'text/plain' } as const;

/** Two states that share an artifact, one that is added to, and one declared elsewhere alone. */
const SPEC: Spec = specOf({
  a: { on_event: { Go: 'b' }, artifacts: { note: TEXT, log: { ...TEXT, mode: 'append' } } },
  b: { on_event: { Go: 'a' }, artifacts: { note: TEXT, late: { ...TEXT, mode: 'append' } } },
});

describe('artifacts', () => {
  it('[25] belong to the workflow: replaced or added to as declared, without a separator', () => {
    const { machine } = machineOf(SPEC);
    machine.setArtifact('note', 'one');
    machine.setArtifact('log', 'x');
    fire(machine, 'Go');
    machine.setArtifact('note', 'two');
    machine.setArtifact('log', 'y');
    machine.setArtifact('other', 'z');
    machine.setArtifact('other', 'zz');
    expect(machine.artifacts()).toEqual({ note: 'two', log: 'xy', other: 'zz' });
  });

  it('[25] the mode is that of the current state, else of the first state that declares it', () => {
    const { machine } = machineOf(
      specOf({
        a: { Go: 'b' },
        b: { on_event: { Go: 'c' }, artifacts: { log: { ...TEXT, mode: 'append' } } },
        c: { on_event: { Go: 'a' }, artifacts: { log: TEXT } },
      }),
    );
    const set = (): string | undefined => {
      machine.setArtifact('log', 'x');
      return machine.artifacts()['log'];
    };
    expect([set(), set()], 'a does not declare it, b is the first that does').toEqual(['x', 'xx']);
    fire(machine, 'Go', 'Go');
    expect([set(), set()], 'c replaces').toEqual(['x', 'x']);
  });

  it('[26] are kept at each transition once any is set, with the state that was really entered', () => {
    const { machine } = machineOf(
      specOf({ a: { Go: 'b' }, b: { max_visits: 1, on_max_visits: 'c', on_event: { Back: 'a' } }, c: {} }),
    );
    fire(machine, 'Go', 'Back');
    expect(machine.context().artifact_history).toBeUndefined();
    machine.setArtifact('note', 'x');
    fire(machine, 'Go');
    machine.setArtifact('note', 'y');
    expect(machine.context().artifact_history).toMatchObject([
      { from_state: 'a', to_state: 'c', event: 'Go', values: { note: 'x' } },
    ]);
  });

  it('[27] set by a call of the tool apply at once, declared or not', () => {
    const { machine } = machineOf(SPEC);
    expect(setArtifactCall(machine, { name: 'note', value: 'x', more: 1 })).toEqual({
      status: 'artifact_set',
      artifact: 'note',
    });
    expect(setArtifactCall(machine, { name: 'undeclared', value: '' })).toEqual({
      status: 'artifact_set',
      artifact: 'undeclared',
    });
    expect(machine.artifacts()).toEqual({ note: 'x', undeclared: '' });
  });

  it.each<[unknown, string, RegExp]>([
    [{ name: '', value: 'x' }, 'SKEIN_ARTIFACT', /^artifact name is required$/],
    [{ value: 'x' }, 'SKEIN_ARTIFACT', /^artifact name is required$/],
    [{ name: 'note', value: { a: 1 } }, 'SKEIN_ARTIFACT', /^the value of artifact "note" must be a text, not object$/],
    [{ name: 'note' }, 'SKEIN_ARTIFACT', /must be a text, not undefined/],
    ['note', 'SKEIN_TOOL_REFUSED', /^workflow__set_artifact: the arguments must be an object$/],
    [null, 'SKEIN_TOOL_REFUSED', /must be an object/],
  ])('[27] [A2] a wrong call changes nothing: %j', (args, code, message) => {
    const { machine } = machineOf(SPEC);
    const error = thrown(() => setArtifactCall(machine, args));
    expect([error.code, error.message]).toEqual([code, expect.stringMatching(message)]);
    expect(machine.artifacts()).toEqual({});
  });
});

describe('bounds of artifacts', () => {
  it('[decision 2] one value has at most 1 MiB, and an artifact of 10 MB changes nothing', () => {
    const { machine } = machineOf(DRAFT);
    machine.setArtifact('big', 'x'.repeat(MIB));
    const before = machine.context();
    for (const size of [MIB + 1, 10_000_000]) {
      const error = thrown(() => machine.setArtifact('other', 'x'.repeat(size)));
      expect([error.code, error.message]).toEqual([
        'SKEIN_ARTIFACT',
        `artifact "other" would have ${size} bytes; at most 1048576 are allowed`,
      ]);
    }
    expect(machine.context()).toStrictEqual(before);
  });

  it('[decision 2] all values together have at most 8 MiB, their names included', () => {
    const { machine } = machineOf(DRAFT);
    for (let at = 0; at < 7; at++) machine.setArtifact(String(at), 'x'.repeat(MIB));
    machine.setArtifact('7', 'x'.repeat(MIB - 8));
    const error = thrown(() => machine.setArtifact('8', ''));
    expect([error.code, error.message]).toEqual([
      'SKEIN_ARTIFACT',
      'all artifacts together would have 8388609 bytes with "8"; at most 8388608 are allowed',
    ]);
    machine.setArtifact('0', '');
    machine.setArtifact('8', 'y');
    expect(Object.keys(machine.artifacts())).toHaveLength(9);
  });

  it('[decision 2] what is added counts with what was there, in bytes of UTF-8', () => {
    const context = new MachineContext('a', 0, { maxArtifactBytes: 8, maxAllArtifactBytes: 12 });
    context.setArtifact('n', 'äö');
    context.setArtifact('n', '€', 'append');
    expect(thrown(() => context.setArtifact('n', 'ab', 'append')).message).toMatch(/would have 9 bytes; at most 8/);
    context.setArtifact('n', 'a', 'append');
    expect(context.getArtifact('n')).toBe('äö€a');
    expect(thrown(() => context.setArtifact('mm', 'bb')).message).toMatch(/would have 13 bytes with "mm"; at most 12/);
    context.setArtifact('mm', 'b');
  });

  it('[decision 2] halves of a character that meet count as one', () => {
    const context = new MachineContext('a', 0, { maxArtifactBytes: 4 });
    context.setArtifact('n', '\ud83d');
    context.setArtifact('n', '\ude00', 'append');
    expect(Buffer.byteLength(context.getArtifact('n'))).toBe(4);
    expect(thrown(() => context.setArtifact('n', 'x', 'append')).message).toMatch(/would have 5 bytes/);
  });

  it('[decision 2] are options, also of a restored machine, and a context beyond them may shrink', () => {
    const small = { maxArtifactBytes: 3, maxAllArtifactBytes: 8 };
    const machine = new StateMachine(SPEC, small);
    expect(thrown(() => machine.setArtifact('note', 'four')).code).toBe('SKEIN_ARTIFACT');
    const free = new StateMachine(SPEC);
    for (const name of ['log', 'note']) free.setArtifact(name, '12345');
    const restored = StateMachine.restore(SPEC, free.context(), small);
    expect(restored.artifacts()).toEqual({ log: '12345', note: '12345' });
    expect(thrown(() => restored.setArtifact('log', '6')).code).toBe('SKEIN_ARTIFACT');
    restored.setArtifact('note', '1234');
    expect(restored.artifacts()).toEqual({ log: '12345', note: '1234' });
    for (const wrong of [-1, Number.NaN, '5' as unknown as number]) {
      expect(thrown(() => new StateMachine(SPEC, { maxArtifactBytes: wrong })).code).toBe('SKEIN_USAGE');
    }
  });

  it('[decision 2] snapshots hold at most 16 MiB, the oldest go first, and the total stays exact', () => {
    const { machine } = machineOf(specOf({ a: { Go: 'a' } }));
    for (let at = 0; at < 60; at++) {
      machine.setArtifact('n', String(at).padEnd(MIB - 1, '.'));
      fire(machine, 'Go');
    }
    const { artifact_history = [], ...context } = machine.context();
    expect(artifact_history.map(({ values }) => Number.parseInt(values['n'] ?? '', 10))).toEqual(
      Array.from({ length: 16 }, (_, at) => at + 44),
    );
    expect(context.metadata).toEqual({ 'skein.artifact_snapshots': 60 });
    expect(MachineContext.from({ ...context, artifact_history }).snapshotCount()).toBe(60);
  });
});
