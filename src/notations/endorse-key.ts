import { word } from '../text/forms.js';

/** The key `endorse` of a step. */
export const ENDORSE = word(
  ['person', 'schema'],
  'who makes vetted what the step gives although an untrusted text had a say in it: a person who sees it, or its schema, of booleans, bounded numbers and enums alone',
);
