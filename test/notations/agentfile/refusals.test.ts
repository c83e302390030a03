import { describe, expect, it } from 'vitest';
import { agentfile, loadAgentfile, problemsIn, told } from './agentfiles.js';

describe('mistakes in an Agentfile', () => {
  it.each([
    [
      'a keyword in small letters',
      'goal a "A."',
      '2:1 error keyword-case: keywords are written in capitals: "goal" (did you mean GOAL?)',
    ],
    ['a misspelt keyword', 'GAOL a "A."', '2:1 error unknown-statement: "GAOL" is not a keyword (did you mean GOAL?)'],
    [
      'a clause in small letters',
      'AGENT c "C."\nGOAL a "A." using c',
      '3:13 error keyword-case: keywords are written in capitals: "using" (did you mean USING?)',
    ],
    [
      'a misspelt clause',
      'AGENT c "C."\nGOAL a "A." USNG c',
      '3:13 error unknown-statement: "USNG" is not a keyword (did you mean USING?)',
    ],
    [
      'human in small letters',
      'GOAL a "A." SUPERVISED human',
      '2:24 error keyword-case: keywords are written in capitals: "human" (did you mean HUMAN?)',
    ],
    [
      'a line that is nothing',
      'GOAL a "A."\n- one',
      '3:1 error unknown-statement: "-" does not begin a statement (a line begins with one of NAME, INPUT, AGENT, GOAL, CONVERGE, RUN, SUPERVISED, BUDGET, SECURITY)',
    ],
    ['a clause twice', 'GOAL a "A." -> x -> y', '2:18 error duplicate-clause: GOAL has -> twice (keep one of them)'],
    ['two texts', 'GOAL a "A." "B."', '2:13 error duplicate-clause: GOAL has a text or FROM twice (keep one of them)'],
    [
      'a clause of another statement',
      'GOAL a "A." WITHIN 3',
      "2:13 error misplaced-clause: GOAL can't have WITHIN (CONVERGE can have it)",
    ],
    [
      'DEFAULT on a goal',
      'GOAL a "A." DEFAULT 3',
      "2:13 error misplaced-clause: GOAL can't have DEFAULT (INPUT has it)",
    ],
    [
      'a text without quotes',
      'GOAL a Do it now.',
      '2:8 error unexpected: "Do" has no meaning here (put the text between quotes)',
    ],
    [
      'words behind a text',
      'GOAL a "A." and more',
      '2:13 error unexpected: "and" has no meaning here (what may follow is a text, FROM, ->, USING, BUDGET, SECURITY, ENDORSED, SUPERVISED, UNSUPERVISED)',
    ],
    [
      'a text that does not end',
      'GOAL a "A.',
      '2:8 error not-closed: the text that begins here is not closed (put " after it)',
    ],
    [
      'a long text that does not end',
      'GOAL a """A.',
      '2:8 error not-closed: the text that begins here is not closed (put """ after it)',
    ],
    [
      'a text that swallows a goal',
      'GOAL b "B.\nGOAL a "A."',
      '2:8 error not-closed: the text that begins here is not closed (put " after it)',
    ],
    [
      'LOOP',
      'GOAL a "A."\nLOOP l USING a WITHIN 3',
      '3:1 error loop: LOOP is not supported: without it work would be left out (write CONVERGE name "what to refine" USING agents WITHIN number)',
    ],
    [
      'a name that is missing',
      'GOAL a "A."\nAGENT "C."',
      '3:1 error missing-name: AGENT without a name (write AGENT name ...)',
    ],
    [
      'a list that ends with a comma',
      'AGENT c "C."\nGOAL a "A." USING c,',
      '3:21 error missing-name: a name is missing after , (a list of names stands on one line: a, b)',
    ],
    [
      'a comma that is missing',
      'AGENT c "C."\nAGENT d "D."\nGOAL a "A." USING c d',
      '4:21 error unexpected: a comma is missing before "d" (write a, b)',
    ],
    [
      'WITHIN without $',
      'INPUT n\nCONVERGE a "A." WITHIN n',
      '3:24 error missing-value: WITHIN takes a whole number above 0, or $name (did you mean WITHIN $n?)',
    ],
    [
      'WITHIN 0',
      'CONVERGE a "A." WITHIN 0',
      '2:24 error missing-value: WITHIN takes a whole number above 0, or $name (write WITHIN 5 or WITHIN $rounds)',
    ],
    [
      'WITHIN -1',
      'CONVERGE a "A." WITHIN -1',
      '2:24 error missing-value: WITHIN takes a whole number above 0, or $name (write WITHIN 5 or WITHIN $rounds)',
    ],
    [
      'a number and a variable',
      'INPUT n\nCONVERGE a "A." WITHIN 3 $n',
      '3:26 error unexpected: "$n" has no meaning here (what may follow is a text, FROM, ->, USING, WITHIN, BUDGET, SECURITY, ENDORSED, SUPERVISED, UNSUPERVISED)',
    ],
    [
      'no WITHIN',
      'CONVERGE a "A."',
      '2:10 error missing-value: CONVERGE a without WITHIN (write WITHIN 5 or WITHIN $rounds after it)',
    ],
    [
      'FROM without a path',
      'GOAL a FROM',
      '2:12 error missing-value: FROM without a path (write FROM agents/critic.md)',
    ],
    [
      'a path in quotes',
      'GOAL a FROM "a.md"',
      '2:13 error missing-value: FROM takes a path without quotes (write FROM agents/critic.md)',
    ],
    [
      'DEFAULT without a value',
      'INPUT x DEFAULT\nGOAL a "A."',
      '2:16 error missing-value: DEFAULT takes a value, not the end of the line (write INPUT x DEFAULT "value")',
    ],
    [
      'a default of two words',
      'INPUT x DEFAULT two words\nGOAL a "A."',
      '2:21 error unexpected: "words" has no meaning here (put the value between quotes)',
    ],
    [
      'an unknown mode of security',
      'SECURITY paranoic\nGOAL a "A."',
      '2:10 error missing-value: SECURITY takes default, paranoid or research (did you mean "paranoid"?)',
    ],
    [
      'research without a scope',
      'SECURITY research\nGOAL a "A."',
      '2:1 error missing-value: SECURITY research needs a scope (write SECURITY research "what may be investigated")',
    ],
    [
      'SUPERVISED twice',
      'SUPERVISED\nSUPERVISED HUMAN\nGOAL a "A."',
      '3:1 error duplicate-statement: SUPERVISED stands twice (keep one of them)',
    ],
    [
      'a goal twice',
      'GOAL a "A."\nGOAL a "B."',
      '3:6 error duplicate-name: the goal "a" stands twice (rename one of them)',
    ],
    [
      'an agent twice',
      'AGENT c "A."\nAGENT c "B."\nGOAL a "A." USING c',
      '3:7 error duplicate-name: the agent "c" stands twice (rename one of them)',
    ],
    [
      'an unknown agent',
      'AGENT critic "C."\nGOAL a "A." USING critik',
      '3:19 error unknown-name: there is no agent "critik" (did you mean "critic"?)',
    ],
    [
      'a goal in place of an agent',
      'GOAL b "B."\nGOAL a "A." USING b',
      '3:19 error unknown-name: there is no agent "b" (b is a goal: only RUN can use it)',
    ],
    [
      'a RUN without USING',
      'GOAL a "A."\nRUN other',
      '3:5 error missing-value: RUN other without USING (write USING goal, goal)',
    ],
    [
      'a clause without a statement',
      'USING a\nGOAL a "A."',
      '2:1 error unexpected: USING must follow a statement (write it after the statement)',
    ],
    [
      'a name with a dot',
      'GOAL a.b "B."\nGOAL a "A."',
      '2:6 error bad-name: "a.b" is not a valid name of a goal (use letters, digits, _ and -, at most 64, and no - in front)',
    ],
    [
      'a name that is none',
      'GOAL __proto__ "B."\nGOAL a "A."',
      '2:6 error forbidden-name: "__proto__" cannot be used as a name of a goal (choose another name)',
    ],
    [
      'a goal without a text',
      'GOAL a -> x',
      '2:6 error no-description: goal a: description is required (say what is to be done)',
    ],
    [
      'an unknown $name',
      'INPUT topic\nGOAL a "On $topics."',
      '3:6 error unknown-reference: goal a: $topics is not declared as a parameter or upstream output (did you mean "topic"?)',
    ],
    [
      'an input twice',
      'INPUT x\nINPUT x\nGOAL a "A $x."',
      '3:7 error duplicate-parameter: parameter x: declared more than once (take one of them out)',
    ],
  ])('[D3] [addition 6] %s is told with its place and what to do', async (_, lines, problem) => {
    const workflow = await loadAgentfile(agentfile(lines));
    expect(told(workflow)).toContain(problem);
    expect(workflow.plan).toBeUndefined();
  });

  it('[addition 6] all problems are told in one go, each once, in the order of the file', async () => {
    const problems = await problemsIn(`name t
INPUT x DEFAULT
AGENT c FROM missing.md
GOAL a "A $y USING b
GOAL b "B." USING d
CONVERGE e "E."
RUN main USING a, b, e, f
`);
    expect(problems.map((line) => line.slice(0, line.indexOf(': ')))).toEqual([
      '1:1 error keyword-case',
      '2:16 error missing-value',
      '3:14 error file-missing',
      '4:6 error unknown-reference',
      '4:8 error not-closed',
      '5:19 error unknown-name',
      '6:10 error missing-value',
      '7:25 error unknown-name',
    ]);
  });

  it('[D3] [decision 7] UNSUPERVISED below a person is a problem, on a goal and on an agent', async () => {
    const goal = await problemsIn(agentfile('SUPERVISED HUMAN\nGOAL a "A." UNSUPERVISED'));
    expect(goal).toEqual([expect.stringMatching(/^3:6 error human-gate: goal a/)]);
    const agent = await problemsIn(agentfile('AGENT c "C." UNSUPERVISED\nGOAL a "A." USING c SUPERVISED HUMAN'));
    expect(agent).toEqual([
      '2:14 error human-gate: UNSUPERVISED on the agent "c" stands below a person\'s approval (remove it, or SUPERVISED HUMAN above it)',
    ]);
  });

  it('a file without goals, an empty one and one of comments say what is missing', async () => {
    for (const text of ['', '# nothing\n\n', 'NAME t\nINPUT x\n'])
      expect(await problemsIn(text)).toContainEqual(
        expect.stringContaining('error no-goal: the file has no GOAL or CONVERGE'),
      );
  });
});
