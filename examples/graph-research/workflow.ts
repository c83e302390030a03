import { graph } from 'skein/graph';

/** What there is to be found, in place of a network. */
const ENCYCLOPEDIA: Readonly<Record<string, string>> = {
  looms: 'A loom holds the warp under tension, so that the weft can be woven through it.',
  mills: 'A mill grinds grain between two stones.',
};
const NOTES: Readonly<Record<string, readonly string[]>> = {
  looms: ['Jacquard looms read punched cards.', 'The warp was weighted with stones before there were frames.'],
};

/** Two searches side by side, a check of each note, and a summary; or a way out when nothing is found. */
export default graph<{ query: string }>({ name: 'graph-research' })
  .node('encyclopedia', ({ query }) => ENCYCLOPEDIA[query.toLowerCase()] ?? '')
  .node('notes', async ({ query }) => NOTES[query.toLowerCase()] ?? [])
  .node('found', ({ encyclopedia, notes }) => [encyclopedia, ...notes].filter((text) => text !== ''))
  .route('found', ({ found }) => (found.length > 0 ? 'facts' : 'nothing'), { targets: ['facts', 'nothing'] })
  .map('facts', { over: 'found', item: 'text', concurrency: 2, maxItems: 20 }, ({ text }) => `- ${text}`)
  .node('summary', ({ query, facts }) => `${query}, ${facts.length} facts:\n${facts.join('\n')}`)
  .node('nothing', ({ query }) => `nothing is known of ${query}`)
  .setEntry('encyclopedia')
  .setExit('summary')
  .setExit('nothing');
