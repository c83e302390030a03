import { describe, expect, it } from 'vitest';
import { END, graph, workflowNode, type StepEnd } from '../../src/graph.js';
import { memoryStore } from '../../src/index.js';

/** Books a trip; `broken` names the bookings that fail. The clerk cancels what was booked before the failure. */
const trip = (broken: readonly string[]) => {
  const book = (what: string): string => {
    if (broken.includes(what)) throw new Error(`no ${what}`);
    return `a ${what}`;
  };
  return graph<{ place: string }>()
    .node('flight', ({ place }) => `a flight to ${place}`)
    .node('hotel', ({ flight }) => (flight === '' ? '' : book('hotel')), { onError: { to: 'cancel' } })
    .node('car', ({ hotel }) => (hotel === '' ? '' : book('car')), { onError: { to: 'cancel' } })
    .node('cancel', ({ flight, hotel }, step) => {
      return `${flight} and ${hotel} cancelled: ${step.arrivals.map(({ error }) => error?.message).join()}`;
    })
    .setEntry('flight');
};

describe('a node that takes over for others, and reads what ran before them', () => {
  it.each<[readonly string[], readonly string[], string]>([
    [[], ['flight', 'hotel', 'car'], 'a car'],
    [['hotel'], ['flight', 'cancel'], 'a flight to Rome and undefined cancelled: no hotel'],
    [['car'], ['flight', 'hotel', 'cancel'], 'a flight to Rome and a hotel cancelled: no car'],
  ])('runs only when it takes over: %j', async (broken, nodesRun, answer) => {
    for (const options of [{}, { store: memoryStore() }]) {
      const result = await trip(broken).run({ place: 'Rome' }, options);
      expect(result.error).toBeUndefined();
      expect([result.nodesRun, result.answer]).toEqual([nodesRun, answer]);
      expect(result.outcome).toBe(broken.length === 0 ? 'succeeded' : 'degraded');
    }
  });

  it('does so inside of a map, of another graph, and on a resume', async () => {
    const store = memoryStore();
    const flow = graph<{ places: string[]; place: string }>()
      .map('trips', { over: 'places', item: 'place', projectState: true }, trip(['car']))
      .node('one', workflowNode(trip([]), 'one', { taskParam: 'place', projectState: true }))
      .node('signed', ({ trips, one }, step) => step.ask({ text: JSON.stringify([trips, one]) }))
      .setEntry('trips');
    const first = await flow.run({ places: ['Rome', 'Bari'], place: 'Turin' }, { store });
    const booked = (place: string) => ({ place, flight: `a flight to ${place}`, hotel: 'a hotel' });
    const cancelled = (place: string) => ({
      ...booked(place),
      cancel: `a flight to ${place} and a hotel cancelled: no car`,
    });
    expect(JSON.parse(first.questions[0]?.question ?? '')).toEqual([
      [cancelled('Rome'), cancelled('Bari')],
      { ...booked('Turin'), car: 'a car' },
    ]);
    const second = await flow.run({}, { store, resume: first.runId, answer: async () => 'yes' });
    expect([second.outcome, second.state.signed]).toEqual(['degraded', 'yes']);
  });

  it('does so after the last visit, too', async () => {
    const flow = (enough: number) =>
      graph<{ topic: string; tries?: number }>()
        .node('facts', ({ topic }) => [topic])
        .addNode('draft', ({ tries = 0 }) => ({ tries: tries + 1 }), { maxVisits: 2, onMaxVisits: { to: 'giveUp' } })
        .node('giveUp', ({ facts, tries = 0 }) => `${tries} tries about ${facts.join()}`)
        .addEdge('facts', 'draft')
        .route('draft', ({ tries = 0 }) => (tries < enough ? 'draft' : END), { targets: ['draft', END] })
        .setEntry('facts');
    expect((await flow(2).run({ topic: 'looms' })).nodesRun).toEqual(['facts', 'draft', 'draft']);
    const { nodesRun, state } = await flow(9).run({ topic: 'looms' });
    expect(nodesRun).toEqual(['facts', 'draft', 'draft', 'giveUp']);
    expect(state.giveUp).toBe('2 tries about looms');
  });

  it('follows a success as well if it reads every node for which it takes over, or has an edge', async () => {
    const read = (fails: boolean) =>
      graph()
        .node(
          'page',
          () => {
            if (fails) throw new Error('gone');
            return 'text';
          },
          { onError: { to: 'sum' } },
        )
        .node('sum', ({ page }) => `sum of ${page}`)
        .setEntry('page');
    expect((await read(false).run()).answer).toBe('sum of text');
    expect((await read(true).run()).answer).toBe('sum of undefined');
    const withEdge = graph()
      .node('page', () => 'text', { onError: { to: 'note' } })
      .node('note', () => 'noted')
      .addEdge('page', 'note')
      .setEntry('page');
    expect((await withEdge.run()).nodesRun).toEqual(['page', 'note']);
    const waits = graph()
      .node('links', async () => ['a', 'b'])
      .node('page', () => 'text', { onError: { to: 'sum' } })
      .node('sum', ({ page, links }) => `${page} with ${links.length}`)
      .addEdge('page', 'sum')
      .setEntry('page');
    expect((await waits.run()).answer).toBe('text with 2');
  });

  it('does not follow a success because it reads how the node ended', async () => {
    const flow = (fails: boolean) =>
      graph<{ paid?: StepEnd; noted?: StepEnd }>()
        .node(
          'pay',
          () => {
            if (fails) throw new Error('no money');
            return 'paid';
          },
          { ending: 'paid', onError: { to: 'refund' } },
        )
        .node('note', () => 'noted', { ending: 'noted', onError: { to: 'refund' } })
        .node('refund', ({ paid, noted }) => `${paid?.error?.message} ${noted?.status}`)
        .node('mail', ({ pay, refund }) => `${pay} ${refund}`);
    for (const options of [{}, { store: memoryStore() }]) {
      const good = await flow(false).run({}, options);
      expect([good.nodesRun, good.state.mail, good.outcome]).toEqual([
        ['pay', 'note', 'mail'],
        'paid undefined',
        'succeeded',
      ]);
      const bad = await flow(true).run({}, options);
      expect([bad.state.refund, bad.state.mail]).toEqual(['no money undefined', 'undefined no money undefined']);
    }
  });

  it('can not read what runs beside the node for which it takes over: the hint says what to do', () => {
    const flow = graph()
      .node('flight', () => 'a flight')
      .node('hotel', () => 'a hotel', { onError: { to: 'cancel' } })
      .node('cancel', ({ flight }) => `${flight} cancelled`);
    expect(() => flow.compile()).toThrow('"cancel" reads "flight", and no path leads from "flight" to it');
    expect(() => flow.compile()).toThrow('add an edge from "flight" to "hotel", for which "cancel" takes over');
  });

  it('that leads back to the node that failed runs again each time', async () => {
    let tries = 0;
    const flow = graph<{ topic: string; hint?: string }>()
      .node('facts', ({ topic }) => [topic])
      .addNode(
        'draft',
        () => {
          tries += 1;
          if (tries < 3) throw new Error(`try ${tries}`);
          return {};
        },
        { onError: { to: 'hint' }, maxVisits: 5 },
      )
      .node('hint', ({ facts }, step) => `${facts.join()}: ${step.arrivals[0]?.error?.message}`)
      .addEdge('facts', 'draft')
      .addEdge('hint', 'draft')
      .setEntry('facts');
    const { nodesRun, state, error } = await flow.run({ topic: 'looms' });
    expect(error).toBeUndefined();
    expect(nodesRun).toEqual(['facts', 'hint', 'hint', 'draft']);
    expect(state.hint).toBe('looms: try 2');
  });

  it('that also has an edge runs twice at once, which the error says', async () => {
    const flow = trip(['hotel']).addEdge('flight', 'cancel');
    const { error } = await flow.run({ place: 'Rome' });
    expect(error).toMatchObject({
      code: 'SKEIN_WRITE_CONFLICT',
      message: "'cancel' ran twice at the same time, and both times wrote 'cancel'",
      hint: expect.stringContaining('let one way lead to it') as unknown,
    });
  });
});
