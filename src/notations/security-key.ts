import { isPlainObject, present, type Json } from '../base/json.js';
import { lacksScope, NO_SCOPE, SECURITY_MODES, type Security, type SecurityMode } from '../plan/security.js';
import { either, map, text, variants, word } from '../text/forms.js';
import { describe, type SourceNode, type SourceScalar } from '../text/nodes.js';
import { readFields, type Fields } from '../text/shape.js';

const MODE = word(
  SECURITY_MODES,
  'default: models look at calls that untrusted text influenced; paranoid: at all calls; research: at all, with work in scope allowed',
  { exact: true, needed: true },
);

const PLAIN = map(
  { mode: MODE, model: text('the model that judges, such as openai/gpt-5-mini; by default that of the agent') },
  '',
);

const RESEARCH = map({ ...PLAIN.keys, scope: text('what may be investigated', { needed: true, pattern: '\\S' }) }, '');

const FORMS = { default: PLAIN, research: RESEARCH, paranoid: PLAIN } as const;

/** The key `security` of a file and of a step. `research` needs a map, because it requires a scope. */
export const SECURITY_KEY = either(
  [text('', { pattern: '^(?:default|paranoid)$', from: 'string' }), variants('mode', FORMS, { exact: true })],
  'models that look at calls of tools before they are made: default, paranoid, or a map; a step may be more careful than what is around it, never less',
);

const HINT = 'write security: paranoid, or a map such as {mode: research, scope: TEXT}';

export interface SecurityDef extends Omit<Security, 'model'> {
  readonly model?: SourceScalar;
}

/** Reads the key `security`. Problem codes: `no-scope`, `missing-mode`, `unknown-value`, and those of the types. */
export function readSecurityKey(fields: Fields): SecurityDef | undefined {
  const node = fields.node('security');
  if (node === undefined) return undefined;
  const called = fields.called('security');
  if (node.kind === 'list' || (node.kind === 'scalar' && typeof node.value !== 'string')) {
    fields.error('wrong-type', 'security', `${called} must be a mode or a map, not ${describe(node)}`, HINT);
    return undefined;
  }
  const keys =
    node.kind === 'map' ? readFields(node, { name: called, form: formOf(node) }, fields.findings) : undefined;
  const mode = keys === undefined ? fields.word('security', MODE) : readMode(keys);
  const model = keys?.given('model');
  const scope = keys?.given('scope')?.text.trim();
  if (mode === undefined) return undefined;
  const said = present({ mode, scope });
  if (lacksScope(said))
    fields.error('no-scope', 'security', `${called}: ${NO_SCOPE}`, 'write {mode: research, scope: TEXT}');
  return { ...said, ...present({ model }) };
}

/** Builds the plan data of the key. `modelOf` resolves the name of a model. */
export function securityFrom(
  def: SecurityDef | undefined,
  modelOf: (model: SourceScalar) => string | undefined = ({ text: name }) => name.trim(),
): Security | undefined {
  if (def === undefined) return undefined;
  const { model, ...said } = def;
  return { ...said, ...present({ model: model && modelOf(model) }) };
}

function formOf(node: SourceNode & { readonly kind: 'map' }): typeof PLAIN | typeof RESEARCH {
  const mode = node.entries.find(({ key }) => key === 'mode')?.value;
  const isPlain = mode?.kind === 'scalar' && (mode.text === 'default' || mode.text === 'paranoid');
  return isPlain ? PLAIN : RESEARCH;
}

function readMode(keys: Fields): SecurityMode | undefined {
  if (!keys.lacks('mode')) return keys.word('mode', MODE);
  keys.error('missing-mode', 'mode', `${keys.name} has no mode`, `write mode: one of ${SECURITY_MODES.join(', ')}`);
  return undefined;
}

/** Returns the plan data of a `security` value in a file that was already checked. */
export function securityOf(written: Json | undefined): Security | undefined {
  const { mode, scope, model } = (isPlainObject(written) ? written : { mode: written }) as Readonly<
    Record<string, unknown>
  >;
  const known = SECURITY_MODES.find((one) => one === mode);
  if (known === undefined) return undefined;
  return present({
    mode: known,
    scope: typeof scope === 'string' ? scope.trim() : undefined,
    model: typeof model === 'string' && model.trim() !== '' ? model.trim() : undefined,
  });
}
