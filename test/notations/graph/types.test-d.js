import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { END, goto, graph, reducers } from 'skein/graph';
describe('a chain', () => {
    test('infers the parameters of each node from the inputs and the nodes before it', () => {
        graph()
            .node('search', ({ query }) => {
            expectTypeOf(query).toEqualTypeOf();
            return [query.length];
        })
            .node('best', async ({ search, query }) => {
            expectTypeOf(search).toEqualTypeOf();
            return { query, first: search[0] ?? 0 };
        })
            .node('report', ({ best }, step) => {
            expectTypeOf(best).toEqualTypeOf();
            expectTypeOf(step.signal).toEqualTypeOf();
            return `${best.first}`;
        })
            .route('report', ({ report }) => {
            expectTypeOf(report).toEqualTypeOf();
            return END;
        })
            .setEntry('search');
    });
    test('gives the state its results, each of which may be absent', async () => {
        const flow = graph()
            .node('search', ({ query }) => [query])
            .node('none', () => null);
        const { state } = await flow.run({ query: 'x' });
        expectTypeOf(state.search).toEqualTypeOf();
        expectTypeOf(state.none).toEqualTypeOf();
    });
    test('takes a default where a value may be absent', () => {
        graph().node('search', ({ query = 'x' }) => {
            expectTypeOf(query).toEqualTypeOf();
            return query;
        });
    });
    test('leaves jumps out of the type of a result', () => {
        graph()
            .node('check', () => (Math.random() > 2 ? goto('end') : 5), { goto: ['end'] })
            .node('end', ({ check }) => expectTypeOf(check).toEqualTypeOf());
    });
    test('a name that is no input and no earlier node must not compile', () => {
        const flow = graph().node('search', ({ query }) => query);
        // @ts-expect-error the node is called search
        flow.node('sum', ({ serach }) => String(serach));
        // @ts-expect-error the input is called query
        graph().node('search', ({ qery }) => String(qery));
        expectTypeOf().returns.toExtend();
    });
    test('a value of another type must not compile', () => {
        const flow = graph().node('search', ({ query }) => [query]);
        // @ts-expect-error a list is no text
        flow.node('sum', ({ search }) => search);
        // @ts-expect-error an input of another type
        void graph().run({ query: 5 });
        // @ts-expect-error an input that nobody declared
        void graph().run({ qery: 'x' });
        expectTypeOf().returns.toExtend();
    });
    test('an option that does not exist must not compile', () => {
        // @ts-expect-error it is timeoutMs
        graph().node('a', () => 1, { timeout: 5 });
        // @ts-expect-error the input is called query
        graph().node('a', () => 1, { inputs: ['qery'] });
        expectTypeOf().returns.toExtend();
    });
});
describe('a declared state', () => {
    test('checks nodes that are added one by one', () => {
        const flow = graph();
        flow.node('docs', ({ query }) => [query]);
        flow.node('answer', async ({ docs }) => docs.join());
        flow.addNode('both', ({ docs }) => ({ answer: docs.join(), query: 'x' }));
        flow.addNode('none', () => null);
        flow.addNode('nothing', () => undefined);
        flow.addNode('side effects', async () => { });
        flow.addNode('sometimes', ({ query }) => (query === '' ? null : { answer: query }));
        flow.addConditionalEdge('docs', ({ docs }) => docs.length > 0, { true: 'answer', false: END });
        expectTypeOf(flow.node('docs', () => [])).toEqualTypeOf();
    });
    test('a node with the name of a key must give what the key holds', () => {
        // @ts-expect-error docs is a list
        graph().node('docs', ({ query }) => query);
        // @ts-expect-error docs is a list, also later
        graph().node('docs', async ({ query }) => query);
        expectTypeOf().returns.toExtend();
    });
    test('an update with another key or another type must not compile', () => {
        // @ts-expect-error the key is called answer
        graph().addNode('a', () => ({ anwser: 'x' }));
        // @ts-expect-error one of the keys does not exist
        graph().addNode('a', () => ({ answer: 'x', anwser: 'x' }));
        // @ts-expect-error nor later
        graph().addNode('a', async () => ({ answer: 'x', anwser: 'x' }));
        // @ts-expect-error the answer is a text
        graph().addNode('a', () => ({ answer: 42 }));
        // @ts-expect-error 42 is no update
        graph().addNode('a', () => 42);
        // @ts-expect-error without a reducer a list is given as a whole
        graph().addNode('a', () => ({ docs: 'x' }));
        // @ts-expect-error a key that does not exist
        graph().addNode('a', () => null, { writes: ['anwser'] });
        // @ts-expect-error a parameter that does not exist
        graph().addNode('a', ({ anwser }) => ({ answer: String(anwser) }));
        expectTypeOf().returns.toExtend();
    });
    test('can not be changed by a node', () => {
        // @ts-expect-error the state is read-only
        graph().addNode('a', (state) => void (state.answer = 'x'));
        expectTypeOf().returns.toExtend();
    });
    test('keys with a reducer take contributions', () => {
        const flow = graph({ reducers: { docs: reducers.append, tags: 'mergeDict' } });
        flow.addNode('one', () => ({ docs: 'a' }));
        flow.addNode('all', () => ({ docs: ['a'] }));
        flow.addNode('tag', () => ({ tags: { a: 1 } }));
        // @ts-expect-error an item of another type
        flow.addNode('wrong', () => ({ docs: 5 }));
        // @ts-expect-error a reducer for a key that does not exist
        graph({ reducers: { dosc: 'append' } });
        expectTypeOf().returns.toExtend();
    });
    test('keys with a reducer can be named, and then only those take contributions', () => {
        const flow = graph({ reducers: { docs: 'append' } });
        flow.addNode('one', () => ({ docs: 'a' }));
        // @ts-expect-error tags has no reducer
        flow.addNode('wrong', () => ({ tags: 'a' }));
        expectTypeOf().returns.toExtend();
    });
    test('any key of any type is fine in an untyped graph', () => {
        graph()
            .addNode('a', ({ whatever }) => ({ other: whatever }))
            .node('b', ({ other }) => other);
        expectTypeOf().returns.toExtend();
    });
});
describe('a state with schemas', () => {
    const schemas = { query: z.string(), docs: z.array(z.string()), count: z.number().optional() };
    test('has the types that the schemas give', () => {
        const flow = graph({ state: schemas, reducers: { docs: 'append' } });
        flow.node('count', ({ query, docs }) => {
            expectTypeOf(query).toEqualTypeOf();
            expectTypeOf(docs).toEqualTypeOf();
            return docs.length;
        });
        flow.addNode('add', () => ({ docs: 'one' }));
        // @ts-expect-error query is a text
        flow.node('query', () => 5);
        // @ts-expect-error the key is called docs
        flow.addNode('a', () => ({ dosc: ['x'] }));
    });
    test('a key without a reducer takes whole values only', () => {
        // @ts-expect-error docs has no reducer
        graph({ state: schemas }).addNode('add', () => ({ docs: 'one' }));
        expectTypeOf().returns.toExtend();
    });
});
