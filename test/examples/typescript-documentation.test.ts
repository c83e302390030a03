import { describe, expect, test } from 'vitest';
import { promisedOutput, runSnippet } from './support/run-snippet.js';
import { docSnippets } from './support/snippets.js';

/** Their snippets need no files that are not there. Those about LangGraph.js and those of the README have tests of their own. */
const FILES = /^docs\/(?:coming-from-mastra|graph|library|machine|reference|supervision|testing|tree)\.md:/;
const SNIPPETS = (await docSnippets()).filter(({ place, language }) => language === 'ts' && FILES.test(place));

describe('TypeScript in the documentation', () => {
  test.each(SNIPPETS)('$place prints what its comments say', async ({ text }) => {
    expect(promisedOutput(text), 'a snippet that shows nothing proves nothing').not.toEqual([]);
    expect(await runSnippet(text)).toEqual(promisedOutput(text));
  });

  test('is in each of the files', () => {
    const files = new Set(SNIPPETS.map(({ place }) => place.replace(/:\d+$/, '')));
    expect([...files].toSorted()).toEqual([
      'docs/coming-from-mastra.md',
      'docs/graph.md',
      'docs/library.md',
      'docs/machine.md',
      'docs/reference.md',
      'docs/supervision.md',
      'docs/testing.md',
      'docs/tree.md',
    ]);
  });
});

test('what a snippet promises is read from the comments behind and below console.log', () => {
  const text = "console.log(1); // one\nconsole.log(2);\n// two\n// three\n\n// no output\nf({ a: 'b' }); // four\n";
  expect(promisedOutput(text)).toEqual(['one', 'two', 'three']);
});
