import { agent, agentNode, agentTeam, graph, tool } from 'skein/graph';

/** The pipeline that the lead may use: a graph as a member of a team. */
const research = graph<{ task: string }>({ name: 'research' })
  .node('words', ({ task }) => task.split(/\s+/).filter((word) => word.length > 3))
  .node('report', ({ words }) => `Looked up: ${words.join(', ')}.`)
  .setEntry('words');

const wordCount = tool({
  name: 'word_count',
  description: 'Counts the words of a text.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  effect: 'read',
  execute: ({ text }) => String(text).trim().split(/\s+/).length,
});

const lead = agent({
  name: 'lead',
  instructions: 'You compare things. Look them up first, and count the words of your answer before you give it.',
  tools: [wordCount],
});

const team = agentTeam({
  supervisor: lead,
  workers: [
    { name: 'research_workflow', description: 'Looks things up, in several steps.', agent: research.asAgent() },
  ],
});

export default graph<{ task: string }>({ name: 'graph-team' })
  .node('answer', agentNode(team))
  .node('approved', ({ answer }, step) => step.ask({ text: `${answer}\n\nPublish it?`, choices: ['yes', 'no'] }))
  .node('result', ({ answer, approved }) => (approved === 'yes' ? answer : 'Nothing was published.'))
  .setEntry('answer');
