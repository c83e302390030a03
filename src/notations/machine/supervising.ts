import { present } from '../../base/json.js';
import { meantOrKnown } from '../../base/suggest.js';
import { quoteShort } from '../../lang/value-text.js';
import type { NodeBase, Plan, PlanNode } from '../../plan/plan.js';
import { superviseInside, gateProblem, supervisedUnder, type Said } from '../../plan/inherited-supervision.js';
import type { Supervision } from '../../plan/supervision.js';
import type { Pack, PlacedPack, SuperviseKey } from './pack.js';

interface SaidInPack extends Said, Omit<Supervision, 'by' | 'supervisor'> {}

function saidOf(key: SuperviseKey | undefined): SaidInPack | undefined {
  if (key === undefined) return undefined;
  if (typeof key === 'boolean') return { mode: key ? 'model' : 'nobody' };
  const { human, model, max_reorients: maxReorients, instruction } = key;
  const mode = human === undefined ? undefined : human ? ('human' as const) : ('model' as const);
  return present({ mode, model, maxReorients, instruction: promised(instruction) });
}

/** Returns the instruction. It is literal text, without references. */
function promised(text = ''): Supervision['instruction'] | undefined {
  return text.trim() === '' ? undefined : [text];
}

function dataOf(said: SaidInPack | undefined): Pick<NodeBase, 'supervise' | 'unsupervised'> {
  if (said === undefined) return {};
  const { mode: by = 'model', ...rest } = said;
  return by === 'nobody' ? { unsupervised: true } : { supervise: { ...rest, by } };
}

/** A pack without a workflow has no runtime settings, so its supervision is in its metadata. */
const ofPack = ({ workflow, metadata }: Pack): SuperviseKey | undefined =>
  workflow === undefined ? metadata?.skein?.supervise : workflow.engine?.skein?.supervise;
const ofState = ({ workflow }: Pack, state: string): SuperviseKey | undefined => {
  const states = workflow?.engine?.skein?.states ?? {};
  return Object.hasOwn(states, state) ? states[state]?.supervise : undefined;
};

/** Returns the supervision of a state. An agent defaults to that of the pack; a composition only has that of its state. */
export function stateSupervision(
  pack: Pack,
  state: string,
  kind: PlanNode['kind'],
): Pick<NodeBase, 'supervise' | 'unsupervised'> {
  const own = saidOf(ofState(pack, state));
  const around = saidOf(ofPack(pack));
  if (kind === 'agent' || own?.mode === 'nobody') return dataOf(supervisedUnder(own, around, reported));
  if (kind !== 'call' || own === undefined) return {};
  const { mode: _mode, instruction: _instruction, ...shared } = around ?? {};
  return dataOf({ ...shared, ...own });
}

/** Returns the plan of a composition. Its agents are supervised as the composition says, or else as the pack does. */
export function supervisedComposition(pack: Pack, name: string, plan: Plan): Plan {
  const said = supervisedUnder(
    saidOf(pack.compositions?.[name]?.engine?.skein?.supervise),
    saidOf(ofPack(pack)),
    reported,
  );
  const { supervise, unsupervised } = dataOf(said);
  if (supervise !== undefined) return superviseInside(plan, supervise, { removesGate: reported });
  if (unsupervised === undefined) return plan;
  return { ...plan, nodes: plan.nodes.map((node) => (node.kind === 'agent' ? { ...node, unsupervised } : node)) };
}

/** Ignores removed gates: checking the pack reports them. */
function reported(): void {}

const HINT = 'remove it, or write { "human": true }';

/** Checks the extension `skein` of workflow and compositions. Problem codes: `unknown-state`, `human-gate`, `missing-instruction`. */
export function checkSupervision(placed: PlacedPack): void {
  const { workflow, compositions = {} } = placed.pack;
  for (const [name, { supervise }] of Object.entries(workflow?.engine?.skein?.states ?? {}))
    checkState(name, supervise, placed);
  for (const [name, { engine }] of Object.entries(compositions)) {
    const place = ['compositions', name, 'engine', 'skein', 'supervise'];
    checkGate(`the composition ${quoteShort(name)}`, engine?.skein?.supervise, place, placed);
  }
}

function checkState(name: string, key: SuperviseKey | undefined, placed: PlacedPack): void {
  const { pack, findings, at } = placed;
  const { states = {} } = pack.workflow ?? {};
  const place = ['workflow', 'engine', 'skein', 'states', name];
  const label = `the state ${quoteShort(name)}`;
  if (!Object.hasOwn(states, name)) {
    const message = `workflow.engine.skein.states: ${quoteShort(name)} does not exist in states`;
    findings.error('unknown-state', message, at(...place), meantOrKnown(name, Object.keys(states), 'states'));
    return;
  }
  const said = saidOf(key);
  if (states[name]?.orchestration !== 'composition' || said?.mode === 'nobody') {
    checkGate(label, key, [...place, 'supervise'], placed);
  } else if (said !== undefined && said.instruction === undefined) {
    const message = `supervise of ${label} needs an instruction: a composition has no prompt that says what it promises`;
    findings.error('missing-instruction', message, at(...place, 'supervise'), 'write { "instruction": TEXT }');
  }
}

function checkGate(
  label: string,
  key: SuperviseKey | undefined,
  place: readonly string[],
  { pack, findings, at }: PlacedPack,
): void {
  supervisedUnder(saidOf(key), saidOf(ofPack(pack)), (optsOut) => {
    const { message, hint } = gateProblem(label, optsOut, HINT);
    findings.error('human-gate', message, at(...place), hint);
  });
}
