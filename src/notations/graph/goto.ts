export { goto } from '../../plan/goto.js';
export type { Goto } from '../../plan/goto.js';
