import { benchEngine } from './engine.js';
import { benchManyRuns } from './many-runs.js';
import { benchScheduling } from './scheduling.js';
import { benchStartUp } from './start-up.js';

const missed = [
  ...(await benchEngine()),
  ...(await benchManyRuns()),
  ...(await benchScheduling()),
  ...(await benchStartUp()),
];
console.log(
  missed.length === 0 ? '\nAll goals held.' : `\nGoals missed:\n${missed.map((line) => `  ${line}`).join('\n')}`,
);
