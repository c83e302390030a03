import { quoteShort } from '../../lang/value-text.js';
import type { Findings } from '../../text/findings.js';
import { entryOf, type SourceMap, type SourceNode, type SourceScalar } from '../../text/nodes.js';
import { readFields, type Fields } from '../../text/shape.js';
import { readAgents } from './agents/read-agents.js';
import { readLast } from './last-steps.js';
import type { AgentDef, AgentStep, PipelineDef } from './definition.js';
import { readSupported } from '../../text/unsupported.js';
import { isMisnamedPipeline } from '../looks-like.js';
import { readBudgetKey } from '../budget-key.js';
import { readSecurityKey } from '../security-key.js';
import { readDeclarations } from '../declarations-key.js';
import { readSupervise } from '../supervise-key.js';
import { readInputs } from '../inputs-key.js';
import { readValues } from '../values-key.js';
import { DEFAULT_LOOPS, FILE, OUTPUT, readContext, WORKFLOW } from './keys.js';
import { NO_POLICIES, SHAPE, readLoops } from './read-policies.js';
import { readBlock } from './read-steps.js';
import { PROMPT } from './references.js';

const FIRST_STEP = 'add a step: - {type: agent, name: AGENT}';

/**
 * Reads a whole pipeline file. Returns undefined if the file is something else.
 * Problem codes: `not-a-pipeline`, `no-steps`, and those of the sections.
 */
export function readPipeline(root: SourceNode, name: string, findings: Findings): PipelineDef | undefined {
  const misnamed = root.kind === 'map' && isMisnamedPipeline(root) ? entryOf(root, 'steps') : undefined;
  if (misnamed !== undefined) {
    const message = 'the steps of this pipeline are under "steps"';
    findings.error('unknown-key', message, misnamed.at, 'did you mean "workflow"?');
    return undefined;
  }
  if (root.kind !== 'map' || !isPipeline(root)) {
    const hint = 'a pipeline has the keys agents and workflow';
    const what = root.kind === 'list' ? 'a list' : root.kind === 'map' ? 'of another kind' : 'a plain text';
    findings.error('not-a-pipeline', `this is not a pipeline: the file is ${what}`, root.at, hint);
    return undefined;
  }
  const fields = readSupported(root, '', FILE, findings);
  if (fields === undefined) return undefined;
  checkVersion(fields, findings);
  const { agents, models, servers, permissions } = readAgents(fields);
  const supervise = readSupervise(fields);
  const workflow = readWorkflow(fields, agents, findings);
  const inputs = readOwnInputs(fields);
  const about = fields.node('metadata');
  const description = about === undefined ? undefined : entryOf(about, 'description')?.value;
  return {
    name,
    description: description?.kind === 'scalar' && description.text !== '' ? description.text : undefined,
    agents,
    models,
    servers,
    permissions,
    supervise,
    budget: readBudgetKey(fields, 'file'),
    security: readSecurityKey(fields),
    declared: readDeclarations(fields, [PROMPT, ...inputs.map(({ name: input }) => input)]),
    inputs,
    values: readValues(fields.section('output', OUTPUT)),
    ...workflow,
    steps: [...workflow.steps, ...readLast(fields, workflow.steps)],
    at: root.at,
  };
}

/** Reads the file's own inputs. Every pipeline also has the input `prompt`. */
function readOwnInputs(root: Fields): PipelineDef['inputs'] {
  const inputs = readInputs(root);
  const taken = inputs.find(({ name }) => name === PROMPT);
  if (taken !== undefined)
    root.findings.error('bad-name', 'every pipeline has the input "prompt"', taken.at, 'give yours another name');
  return inputs.filter((input) => input !== taken);
}

/** The newest version of cagent's format whose keys are known. */
const NEWEST_VERSION = 12;

function checkVersion(root: Fields, findings: Findings): void {
  const written = root.scalar('version');
  const text = written?.text.trim().replace(/^v/i, '');
  if (written === undefined || text === '' || (/^\d{1,2}$/.test(text ?? '') && Number(text) <= NEWEST_VERSION)) return;
  const message = `version of the file is ${quoteShort(written.text)}; known are 1 to ${NEWEST_VERSION}`;
  findings.error('unknown-value', message, written.at, 'write version: "4", or remove the key');
}

function isPipeline(root: SourceMap): boolean {
  if (entryOf(root, 'workflow') !== undefined) return true;
  return entryOf(root, 'agents') !== undefined && entryOf(root, 'steps') === undefined;
}

type Steps = Pick<PipelineDef, 'steps' | 'maxLoopIterations' | 'context'>;

function readWorkflow(root: Fields, agents: ReadonlyMap<string, AgentDef>, findings: Findings): Steps {
  const none: Steps = { steps: [], maxLoopIterations: DEFAULT_LOOPS, context: undefined };
  if (!root.names('workflow')) return { ...none, steps: singleStep(root, agents, findings) };
  const node = root.node('workflow');
  if (node?.kind === 'list') return { ...none, steps: readSteps(node, findings) };
  if (node === undefined) {
    findings.error('no-steps', 'workflow: no steps configured', root.placeOf('workflow'), FIRST_STEP);
    return none;
  }
  if (node.kind !== 'map' || node.entries.every(({ key }) => !Object.hasOwn(WORKFLOW.keys, key))) {
    findings.error('wrong-type', `workflow: ${SHAPE}`, node.at, 'begin each step with "- type: agent"');
    return none;
  }
  const fields = readFields(node, { name: 'workflow', form: WORKFLOW }, findings);
  if (fields === undefined) return none;
  return {
    steps: readSteps(fields.node('steps'), findings, fields),
    maxLoopIterations: readLoops(fields) ?? DEFAULT_LOOPS,
    context: readContext(fields),
  };
}

function readSteps(node: SourceNode | undefined, findings: Findings, workflow?: Fields): PipelineDef['steps'] {
  if (node === undefined || (node.kind === 'list' && node.items.length === 0)) {
    const at = node?.at ?? workflow?.placeOf('steps');
    findings.error('no-steps', 'workflow: no steps configured', at, FIRST_STEP);
    return [];
  }
  if (node.kind === 'list') return readBlock(node, { path: 'steps', depth: 0 }, findings);
  findings.error('wrong-type', `workflow: ${SHAPE}`, node.at, 'begin each step with "- type: agent"');
  return [];
}

/** Builds the only step of a file without a workflow: the agent `root`, or else the first one. */
function singleStep(root: Fields, agents: ReadonlyMap<string, AgentDef>, findings: Findings): readonly AgentStep[] {
  const [first] = agents.keys();
  const name = agents.has('root') ? 'root' : first;
  const at = name === undefined ? root.at : (agents.get(name)?.at ?? root.at);
  if (name === undefined) {
    // An unreadable section has its own problems.
    const given = root.node('agents');
    const isBlank = given === undefined || (given.kind === 'scalar' && given.text.trim() === '');
    const isEmpty = isBlank || root.entries('agents')?.length === 0;
    if (isEmpty)
      findings.error('no-steps', 'the file has neither a workflow nor agents', root.placeOf('agents'), FIRST_STEP);
    return [];
  }
  const agent: SourceScalar = { kind: 'scalar', value: name, text: name, at, range: [0, 0] };
  const label = `agent ${quoteShort(name)}`;
  const bare = {
    ...NO_POLICIES,
    prompt: undefined,
    context: undefined,
    schema: undefined,
    choose: [],
    conversation: undefined,
  };
  return [{ type: 'agent', id: 'step_1', idAt: at, at, label, agent, ...bare }];
}
