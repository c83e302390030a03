import { benchAgentfiles } from './agentfiles.js';
import { benchBudget } from './budget.js';
import { benchCommands } from './commands.js';
import { benchConversations } from './conversations.js';
import { benchDurable } from './durable.js';
import { benchEngine, benchRuntime } from './engine.js';
import { benchGraph } from './graph.js';
import { benchGrowth } from './growth.js';
import { benchHostile } from './hostile.js';
import { benchLabels } from './labels.js';
import { benchMachine } from './machine.js';
import { benchManyRuns } from './many-runs.js';
import { benchPackage } from './package.js';
import { benchPipeline } from './pipeline.js';
import { benchResume } from './resume.js';
import { benchScheduling } from './scheduling.js';
import { benchScreen } from './screen.js';
import { benchSets } from './set.js';
import { benchStartUp } from './start-up.js';
import { benchStore } from './store.js';
import { benchSupervision } from './supervision.js';
import { benchThreads } from './threads.js';
import { benchTrees } from './trees.js';

// The concurrent runs come first: they are bound by the collector, and what other jobs leave on the heap would be measured with them.
const missed = [
  ...(await benchManyRuns()),
  ...(await benchDurable()),
  ...benchResume(),
  ...(await benchEngine()),
  ...(await benchLabels()),
  ...(await benchScheduling()),
  ...(await benchPipeline()),
  ...(await benchGraph()),
  ...(await benchStartUp()),
  ...benchPackage(),
  ...(await benchStore()),
  ...(await benchThreads()),
  ...(await benchScreen()),
  ...(await benchGrowth()),
  ...benchHostile(),
  ...benchMachine(),
  ...(await benchBudget()),
  ...(await benchConversations()),
  ...(await benchCommands()),
  ...(await benchSets()),
  ...(await benchSupervision()),
  ...(await benchTrees()),
  ...(await benchAgentfiles()),
];
await benchRuntime();
console.log(
  missed.length === 0 ? '\nAll goals held.' : `\nGoals missed:\n${missed.map((line) => `  ${line}`).join('\n')}`,
);
