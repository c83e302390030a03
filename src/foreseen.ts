/** What the command line says of the guard before a run: only those who ask for it load it. */
export { foreseenQuestions, ruleOfTwo } from './guard/foresee.js';
export type { ForeseenCalls, ForeseenQuestions } from './guard/foresee.js';
