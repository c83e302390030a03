// chat.ts
import { graph } from 'skein/graph';

export default graph<{ say: string; heard: string[] }>({ name: 'chat', inputs: ['say'], reducers: { heard: 'append' } })
  .addNode('listen', ({ say }) => ({ heard: say }))
  .node('answer', ({ heard }) => `You said: ${heard.join(', ')}.`)
  .addEdge('listen', 'answer')
  .setEntry('listen');
