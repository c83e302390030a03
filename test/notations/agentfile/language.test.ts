import { describe, expect, it } from 'vitest';
import { planOf } from '../project.js';
import { agentfile, agentsIn, loadAgentfile, problemsIn, stepsOf, told } from './agentfiles.js';

const WHOLE = `# A review of code.
SUPERVISED
NAME review   # the name
INPUT path
INPUT depth DEFAULT "deep"
INPUT rounds DEFAULT 3
AGENT critic "You criticise $path." -> issues, severity REQUIRES "fast" SUPERVISED
GOAL read "Read $path at $depth level."
GOAL judge "Judge it." -> verdict USING critic UNSUPERVISED
CONVERGE polish """
Polish it,
  line by line: "quoted", $verdict.
""" -> text USING critic WITHIN $rounds
CONVERGE end "Finish." WITHIN 5
RUN first USING read, judge
RUN second USING polish, end SUPERVISED
`;
const CONFIG = { 'agent.toml': '[profiles.fast]\nmodel = "openai/gpt-5-mini"\n' };

describe('the language', () => {
  it('[D1] [E2] every statement with all its clauses loads', async () => {
    const workflow = await loadAgentfile(WHOLE, CONFIG);
    expect(told(workflow)).toEqual([
      '7:73 warning no-effect: SUPERVISED on the agent "critic" has no effect: agents are supervised as their goal is (write it after the goal)',
    ]);
    const plan = planOf(workflow);
    expect(plan).toMatchObject({ name: 'review', notation: 'agentfile' });
    expect(plan.inputs).toMatchObject([
      { name: 'path', required: true },
      { name: 'depth', required: false, default: 'deep' },
      { name: 'rounds', default: '3' },
    ]);
    expect(plan.nodes.map(({ id, kind }) => `${id} ${kind}`)).toEqual([
      'read agent',
      'judge call',
      'polish loop',
      'end loop',
    ]);
    expect(plan.nodes.map(({ supervise }) => supervise?.by)).toEqual(['model', undefined, 'model', 'model']);
    expect(plan.nodes[3]).toMatchObject({ maxRounds: 5 });
    expect(agentsIn(workflow)['judge/critic']?.models).toEqual(['openai/gpt-5-mini']);
  });

  it('[D2] texts: escapes in "...", none in """...""", where one line end on each side is left out', async () => {
    const workflow = await loadAgentfile(
      agentfile(String.raw`GOAL a "tab\tnew\nline \\ \"q\" \x"` + '\nGOAL b """\nraw \\n "text"\n"""', 'a, b'),
    );
    const texts = JSON.stringify(planOf(workflow).nodes);
    expect(texts).toContain(JSON.stringify('tab\tnew\nline \\ &quot;q&quot; \\x').slice(1, -1));
    expect(texts).toContain(JSON.stringify('raw \\n &quot;text&quot;').slice(1, -1));
  });

  it('[D1] names hold letters, digits, _ and -, and -> stands close to them', async () => {
    const workflow = await loadAgentfile(agentfile('GOAL a-1->x,y\n  Do it.', 'a-1'));
    expect(stepsOf(workflow)).toEqual(['a-1']);
    expect(planOf(workflow).channels.map(({ name }) => name)).toEqual(expect.arrayContaining(['a-1', 'x', 'y']));
  });

  it('[addition 6] a goal in two RUNs runs twice, the second time with an id of its own and the same channel', async () => {
    const workflow = await loadAgentfile(
      'NAME t\nGOAL a "A." -> x\nGOAL b "B."\nRUN one USING a, b\nRUN two USING a\n',
    );
    expect(told(workflow)).toEqual([]);
    expect(stepsOf(workflow)).toEqual(['a', 'b', 'a.2']);
    expect(planOf(workflow).channels.filter(({ name }) => name === 'a')).toHaveLength(1);
  });

  it('[D2] lines may end with CR LF, and a file may begin with a byte order mark', async () => {
    const workflow = await loadAgentfile(`\uFEFF${agentfile('GOAL a """\none\ntwo\n"""')}`.replaceAll('\n', '\r\n'));
    expect(told(workflow)).toEqual([]);
    expect(JSON.stringify(planOf(workflow).nodes)).toContain(String.raw`one\ntwo`);
  });

  it('[decision 10] DEFAULT "" makes an input optional', async () => {
    const { inputs } = planOf(await loadAgentfile(agentfile('INPUT x DEFAULT ""\nGOAL a "A $x."')));
    expect(inputs).toMatchObject([{ name: 'x', required: false, default: '' }]);
  });
});

describe('what real files hold', () => {
  it.each([
    [
      'no RUN',
      'NAME t\nGOAL a "A."\nGOAL b "B."\n',
      ['a', 'b'],
      '1:6 warning no-run: no RUN: all goals run in the order of the file (write RUN main USING a, b)',
    ],
    [
      'another order of clauses',
      agentfile('AGENT c "C."\nGOAL a USING c SUPERVISED HUMAN -> x "A."'),
      ['a'],
      '3:33 warning clause-order: -> usually stands before USING (GOAL name "..." -> field, field USING name, name BUDGET 0.50, 20-calls SECURITY paranoid or SECURITY research "scope" ENDORSED SUPERVISED or SUPERVISED HUMAN)',
    ],
    [
      'a text over several lines',
      agentfile('GOAL a "One,\ntwo \\"three\\"\nfour."'),
      ['a'],
      '2:8 warning spread-text: the text that begins in line 2 spans several lines (put """ before and after it)',
    ],
    [
      'INPUT x="v"',
      agentfile('INPUT x="v"\nGOAL a "A $x."'),
      ['a'],
      '2:8 warning clause-order: = is read as DEFAULT (write INPUT x DEFAULT "value")',
    ],
    [
      'a goal without a name',
      'NAME t\nGOAL goal-1 "B."\nGOAL "A."\n',
      ['goal-1', 'goal-2'],
      '3:1 warning unnamed-goal: GOAL has no name and is called goal-2 (write GOAL name "...")',
    ],
    [
      'a text on indented lines',
      agentfile('GOAL a -> x\n  Do this,\n\n    and that.\n  # not this'),
      ['a'],
      '3:3 warning missing-quotes: the indented lines are read as the text of GOAL (put the text between """ and """)',
    ],
    [
      'WORKFLOW for NAME',
      'WORKFLOW old\nGOAL a "A."\nRUN r USING a\n',
      ['a'],
      '1:1 warning stale-statement: WORKFLOW is read as NAME (write NAME)',
    ],
    [
      'neither NAME nor WORKFLOW',
      'GOAL a "A."\nRUN r USING a\n',
      ['a'],
      '1:1 warning no-name: the file has no NAME and is called Agentfile (write NAME my-workflow)',
    ],
    [
      'VERSION',
      agentfile('VERSION 1.2 x\nGOAL a "A."'),
      ['a'],
      '2:1 warning stale-statement: VERSION means nothing and is ignored (remove it)',
    ],
    [
      'THEN',
      agentfile('GOAL a "A."\nGOAL b "B."', 'a THEN b'),
      ['a', 'b'],
      '4:18 warning clause-order: THEN is read as a comma (write a comma)',
    ],
    [
      '{{x}}',
      agentfile('INPUT x\nGOAL a "A {{x}} $x."'),
      ['a'],
      '3:8 warning old-reference: {{x}} stays as it is written (did you mean $x?)',
    ],
    [
      'a clause on a line of its own',
      agentfile('AGENT c "C."\nGOAL a "A."\n  USING c'),
      ['a'],
      '4:3 warning continued-line: this line is read as part of GOAL a above (write a statement on one line)',
    ],
    [
      'SUPERVISED behind an unfinished statement',
      agentfile('CONVERGE a "A."\nSUPERVISED HUMAN\nWITHIN 3'),
      ['a'],
      '3:1 warning continued-line: this line is read as part of CONVERGE a above (write a statement on one line)',
    ],
    [
      'a text on the next line',
      agentfile('GOAL a\n"A."'),
      ['a'],
      '3:1 warning continued-line: this line is read as part of GOAL a above (write a statement on one line)',
    ],
    [
      'a text below INPUT',
      agentfile('INPUT x\n  What it is about.\nGOAL a "A $x."'),
      ['a'],
      '3:3 warning continued-line: the text below INPUT is not used (write it as a comment: # ...)',
    ],
    [
      'a goal that no RUN names',
      agentfile('GOAL a "A."\nGOAL b "B."'),
      ['a'],
      '3:6 warning not-run: no RUN names GOAL b: it does not run (add it to the USING of a RUN)',
    ],
    [
      'a goal with the name of an input',
      agentfile('INPUT a\nGOAL a "A $a."'),
      ['a'],
      '3:6 warning shadowed-input: goal a has the name of a parameter: after it, $a is what it gave (rename one of them)',
    ],
  ])('[addition 6] %s is taken, with a warning', async (_, text, steps, warning) => {
    const workflow = await loadAgentfile(text);
    expect(told(workflow)).toContain(warning);
    expect(workflow.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(stepsOf(workflow)).toEqual(steps);
  });

  it('[addition 6] tolerated texts mean what was written', async () => {
    const prompts = async (text: string) => JSON.stringify(planOf(await loadAgentfile(text)).nodes);
    expect(await prompts(agentfile('GOAL a "One,\ntwo \\"three\\"\nfour."'))).toContain(
      String.raw`One,\ntwo &quot;three&quot;\nfour.`,
    );
    expect(await prompts(agentfile('GOAL a -> x\n  Do this,\n\n    and that.\n'))).toContain(
      String.raw`Do this,\n\n  and that.`,
    );
    expect(await prompts(agentfile('INPUT x\nGOAL a "A {{x}}."'))).toContain('A {{x}}.');
  });

  it('[addition 6] [D6] supervision in front of other clauses means the same as behind them', async () => {
    const one = await loadAgentfile(agentfile('AGENT c "C."\nGOAL a "A." SUPERVISED HUMAN -> x USING c'));
    const two = await loadAgentfile(agentfile('AGENT c "C."\nGOAL a "A." -> x USING c SUPERVISED HUMAN'));
    const bare = (value: unknown): string =>
      JSON.stringify(value, (key, inner: unknown) => (key === 'at' ? undefined : inner));
    expect(bare(planOf(one))).toBe(bare(planOf(two)));
  });

  it('[addition 6] SUPERVISED alone on an indented line below a finished goal is for the whole file, and says so', async () => {
    const workflow = await loadAgentfile(agentfile('GOAL a "A."\n  SUPERVISED HUMAN\nGOAL b "B."', 'a, b'));
    expect(told(workflow)).toEqual([
      '3:3 warning continued-line: SUPERVISED on its own line applies to the whole file (write it after GOAL to apply it to that alone)',
    ]);
    expect(planOf(workflow).nodes.map(({ supervise }) => supervise?.by)).toEqual(['human', 'human']);
  });

  it('[addition 7] texts that name tools which do not exist are warned of', async () => {
    const problems = await problemsIn(
      agentfile(
        'GOAL a "Use web_search and spawn_agent. Use recall; remember (the word) is fine. memory_write too."\nGOAL b "Recall what you know."',
        'a, b',
      ),
    );
    expect(problems).toEqual([
      '2:8 warning missing-tool: the text names web_search, spawn_agent, recall, memory_write, which Skein does not have (the model is not offered it; write what to do without it)',
    ]);
  });
});
