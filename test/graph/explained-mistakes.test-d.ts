import { expectTypeOf, test } from 'vitest';
import { graph, reducers } from 'skein/graph';
import type { Graph } from 'skein/graph';

interface State {
  readonly topic: string;
  readonly log: string[];
}
type Flow = Graph<State>;
type Function = (state: never, step: never) => unknown;

/** Of a call with several forms, compilers explain the last one; `Parameters` takes it too. */
test('a mistake in a node is explained by the form that takes a function', () => {
  expectTypeOf<Parameters<Flow['node']>[1]>().toExtend<Function>();
  expectTypeOf<Parameters<Flow['addNode']>[1]>().toExtend<Function>();
  expectTypeOf<Parameters<Flow['map']>[2]>().toExtend<Function>();
});

test('a map over a key that holds no list says so, with a function and with a workflow', () => {
  const flow = graph<State>();
  expectTypeOf<Parameters<typeof flow.map<'each', 'topic', number, 'item'>>[1]['over']>().not.toBeNever();
  // @ts-expect-error a text is not a list
  flow.map('each', { over: 'topic' }, () => 1);
  // @ts-expect-error a text is not a list of inputs of a workflow either
  flow.map('each', { over: 'topic' }, graph());
  expectTypeOf(graph<State>().map('each', { over: 'log' }, graph()).exits).toEqualTypeOf<string[]>();
});

test('a reducer that does not exist, or is of no key, is a mistake', () => {
  expectTypeOf(reducers.append).toBeFunction();
  // @ts-expect-error a key that the state does not have
  graph<State>({ reducers: { lgo: reducers.append } });
  // @ts-expect-error a reducer that does not exist
  graph<State>({ reducers: { log: 'apend' } });
});

test('keys with a reducer take contributions, and no other keys do', () => {
  const body = (): { log: string } => ({ log: 'one' });
  expectTypeOf(graph<State>({ reducers: { log: 'append' } }).addNode('a', body).exits).toEqualTypeOf<string[]>();
  // @ts-expect-error without a reducer a node gives the whole list
  graph<State>().addNode('a', body);
});
