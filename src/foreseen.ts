/** What the command line reports about the guard before a run. Only commands that report it load this module. */
export { foreseenQuestions, ruleOfTwo } from './guard/foresee.js';
export type { ForeseenCalls, ForeseenQuestions } from './guard/foresee.js';
