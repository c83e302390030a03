import { classifyStatus } from '../../src/agent/models/http-status.js';
import { readScript } from '../../src/agent/script/read-script.js';
import { foldedPath } from '../../src/agent/tools/compare-paths.js';
import { htmlToText } from '../../src/agent/tools/html-text.js';
import { createRedactor } from '../../src/secrets/redact.js';
import { safeName } from '../../src/audit/safe-name.js';
import { coerceInput } from '../../src/lang/coerce.js';
import { evaluateCondition } from '../../src/lang/condition.js';
import { compileExpression } from '../../src/lang/expression.js';
import { parseJsonText } from '../../src/lang/json-path.js';
import { renderOutputs } from '../../src/lang/outputs-block.js';
import { patternMatcher } from '../../src/lang/pattern/matcher.js';
import { parseTemplate, renderTemplate } from '../../src/lang/template.js';
import { valueText } from '../../src/lang/value-text.js';
import { matchesWildcard } from '../../src/lang/wildcard.js';
import { parseYaml } from '../../src/text/yaml.js';
import { readVerdict } from '../../src/graph/agents/reflection-loop.js';
import { THOROUGH } from '../thorough.js';

/** A text from outside that is made to take for ever, and the function that such texts meet. */
export interface HostileInput {
  readonly name: string;
  /** What came of it in a word or two; errors are thrown. */
  readonly evaluate: () => unknown;
  readonly ends: unknown;
}

/** In tests, where nobody looks at the time, inputs that are not about a limit are a fifth as long as in the bench. */
const SHARE = process.env['VITEST'] === undefined || THOROUGH ? 1 : 0.2;
const many = (count: number): number => Math.ceil(count * SHARE);

const LIST = Array.from({ length: 10_000 }, (_, i) => i);
const TEXT = 'a'.repeat(5_000_000);
const RUN = 'a'.repeat(1_000_000);
const JSON_TEXT = `{"a":1,"b":[${'1,'.repeat(1_500_000)}1]}`;

/** The value, or `refused` for an expression that does not compile. */
function expression(source: string, vars: Readonly<Record<string, unknown>>): () => unknown {
  return () => compileExpression(source, Object.keys(vars)).expression?.evaluate(vars) ?? 'refused';
}

/** How many problems a text has, and the code of the first one. */
function yaml(text: string): () => unknown {
  return () => {
    const { problems } = parseYaml(text, 'flow.yaml');
    return problems[0]?.code ?? 'read';
  };
}

function lines(count: number, line: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => line(at)).join('\n');
}

function levels(line: (level: number) => string): string {
  return ['a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1]', ...Array.from({ length: 11 }, (_, i) => line(i))].join('\n');
}

const EXPRESSIONS: readonly HostileInput[] = [
  {
    name: 'an expression that compares each item with each',
    evaluate: expression('l.all(x, l.all(y, x + y >= 0))', { l: LIST }),
    ends: 'SKEIN_TEMPLATE',
  },
  {
    name: 'an expression at its limit of work',
    evaluate: expression('l.all(x, l.all(y, x <= y || y <= x))', { l: LIST.slice(0, 900) }),
    ends: true,
  },
  {
    name: 'an expression that counts a long text for each item',
    evaluate: expression('l.all(x, size(s) > 0)', { l: LIST, s: TEXT }),
    ends: 'SKEIN_TEMPLATE',
  },
  {
    name: 'an expression that counts a text inside of a list',
    evaluate: expression('l.all(x, m.all(y, size(y) > 0))', { l: LIST, m: [TEXT, 'a'] }),
    ends: 'SKEIN_TEMPLATE',
  },
  {
    name: 'an expression that compares long texts for each item',
    evaluate: expression('l.all(x, s <= t)', { l: LIST, s: TEXT, t: `${TEXT}b` }),
    ends: 'SKEIN_TEMPLATE',
  },
  {
    name: 'an expression whose text grows',
    evaluate: expression(Array.from({ length: 1_000 }, () => 's').join('+'), { s: RUN }),
    ends: 'SKEIN_TEMPLATE',
  },
  {
    name: 'an expression whose text grows for each item',
    evaluate: expression('l.map(x, s + s + s)', { l: LIST, s: RUN }),
    ends: 'SKEIN_TEMPLATE',
  },
  {
    name: 'an expression with a regular expression',
    evaluate: expression('s.matches("(a+)+$")', { s: `${RUN}!` }),
    ends: 'refused',
  },
  {
    name: 'an expression nested deeply',
    evaluate: expression(`${'('.repeat(1_900)}1${')'.repeat(1_900)}`, {}),
    ends: 'refused',
  },
  { name: 'an expression of negations', evaluate: expression(`${'!'.repeat(3_900)}true`, {}), ends: 'refused' },
  {
    name: 'an expression on a value that is nested deeply',
    evaluate: expression('size(o) > 0', { o: JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) }),
    ends: 'SKEIN_TEMPLATE',
  },
  {
    name: 'a JSON pattern of which each item is compared with each',
    evaluate: () => {
      const operand = Array.from({ length: 20_000 }, () => 1);
      const value = [...Array.from({ length: 100_000 }, () => 0), 1];
      return evaluateCondition({ op: 'matches_json', value: { channel: 'a' }, operand }, () => value).holds;
    },
    ends: 'SKEIN_TEMPLATE',
  },
  {
    name: 'an expression that looks into many long texts',
    evaluate: () => {
      const names = LIST.slice(0, 200).map((i) => `v${i}`);
      const vars = Object.fromEntries(names.map((name) => [name, { channel: name }]));
      const all = names.map((name) => `${name}.a == 1`).join(' && ');
      const read = (channel: string): string => `{"a":1,"${channel}":[${'1,'.repeat(500_000)}1]}`;
      return evaluateCondition({ op: 'cel', expression: all, vars }, read).holds;
    },
    ends: 'SKEIN_TEMPLATE',
  },
];

const TEMPLATES: readonly HostileInput[] = [
  { name: 'a template of braces', evaluate: () => parseTemplate('{'.repeat(4_000_000)).length, ends: 1 },
  {
    name: 'a template of references that never end',
    evaluate: () => parseTemplate('{{ '.repeat(many(1_000_000))).length,
    ends: 1,
  },
  { name: 'a template of one long name', evaluate: () => parseTemplate(`{{${'a.'.repeat(2_000_000)}`).length, ends: 1 },
  {
    name: 'a template that names a long text often',
    evaluate: () =>
      renderTemplate(
        LIST.map(() => ({ channel: 'a' })),
        () => TEXT,
      ).length,
    ends: 'SKEIN_TEMPLATE',
  },
  {
    name: 'a template that cuts a long text often',
    evaluate: () =>
      renderTemplate(
        LIST.map(() => ({ channel: 'a', truncate: { strategy: 'chars', limit: 10, keep: 'last' } })),
        () => TEXT,
      ).length,
    ends: 'SKEIN_TEMPLATE',
  },
  {
    name: 'braces in a value',
    evaluate: () => renderTemplate([{ channel: 'a' }], () => '{{a}}'.repeat(500_000)).length,
    ends: 2_500_000,
  },
  {
    name: 'a template that looks into a long text often',
    evaluate: () =>
      renderTemplate(
        LIST.map(() => ({ channel: 'a', path: ['a'] })),
        () => JSON_TEXT,
      ).length,
    ends: 10_000,
  },
  {
    name: 'a template that looks into many long texts',
    evaluate: () =>
      renderTemplate(
        LIST.map((i) => ({ channel: String(i), path: ['a'] })),
        (channel) => `${JSON_TEXT}${' '.repeat(Number(channel))}`,
      ).length,
    ends: 'SKEIN_TEMPLATE',
  },
  ...['\u0301\u0316', '\uFDFA', '\u00B4', '\u200B', '\u00E9\n'].map((mark) => ({
    name: `an output of many characters such as ${JSON.stringify(mark)}`,
    evaluate: () =>
      renderOutputs({ outputs: 'prior' }, [{ channel: 'a', label: 'x' }], () =>
        mark.repeat(many(1_000_000 / mark.length)),
      ).length > many(1_000_000),
    ends: true,
  })),
  {
    name: 'an output of long lines that look like heads',
    evaluate: () =>
      renderOutputs({ outputs: 'prior' }, [{ channel: 'a', label: 'x' }], () =>
        `[${'\uFDFA('.repeat(1_900)})]:\n`.repeat(many(250)),
      ).includes('> ['),
    ends: true,
  },
  {
    name: 'an output of lines that look like heads',
    evaluate: () =>
      renderOutputs({ outputs: 'prior' }, [{ channel: 'a', label: 'x' }], () => `---${')]:\n'.repeat(200_000)}`)
        .length > 800_000,
    ends: true,
  },
];

const FILES: readonly HostileInput[] = [
  {
    name: 'YAML whose aliases multiply',
    evaluate: yaml(levels((i) => `a${i + 1}: &a${i + 1} [${Array.from({ length: 8 }, () => `*a${i}`).join()}]`)),
    ends: 'yaml-limit',
  },
  { name: 'YAML that contains itself', evaluate: yaml('a: &a [*a, *a]'), ends: 'yaml-alias' },
  { name: 'YAML with merge keys', evaluate: yaml(levels((i) => `b${i}:\n  <<: *a0`)), ends: 'yaml-merge' },
  { name: 'YAML of nested lists', evaluate: yaml('- '.repeat(1_000_000)), ends: 'yaml-limit' },
  { name: 'YAML of nested brackets', evaluate: yaml('[{a: '.repeat(500_000)), ends: 'yaml-limit' },
  { name: 'YAML of nested keys', evaluate: yaml('? '.repeat(1_000_000)), ends: 'yaml-limit' },
  { name: 'YAML of colons', evaluate: yaml(': '.repeat(1_900_000)), ends: 'yaml-limit' },
  { name: 'YAML of anchors', evaluate: yaml(`a: ${'&a '.repeat(1_000_000)}`), ends: 'yaml-limit' },
  { name: 'YAML of more keys than a file may have', evaluate: yaml('k: 1\n'.repeat(150_000)), ends: 'yaml-limit' },
  { name: 'YAML with a text of many lines', evaluate: yaml(`a: "${'x\n '.repeat(many(79_000))}"`), ends: 'read' },
  { name: 'YAML with one long text', evaluate: yaml(`a: "${'x '.repeat(500_000)}"`), ends: 'read' },
  { name: 'YAML of blanks', evaluate: yaml(`${' '.repeat(3_900_000)}a`), ends: 'read' },
  { name: 'YAML with a number that is very long', evaluate: yaml(`a: ${'1'.repeat(1_000_000)}x`), ends: 'read' },
  { name: 'YAML of as many keys as a file may have', evaluate: yaml(lines(39_500, (i) => `k${i}: 1`)), ends: 'read' },
  { name: 'YAML of one key again and again', evaluate: yaml('k: 1\n'.repeat(many(39_500))), ends: 'duplicate-key' },
  { name: 'YAML of anchors on items', evaluate: yaml(lines(many(26_000), (i) => `- &a${i} x`)), ends: 'read' },
  {
    name: 'YAML of lines that are indented badly',
    evaluate: yaml(`a:\n${lines(many(39_500), (i) => `${' '.repeat(1 + (i % 2))}k: v`)}`),
    ends: 'yaml-syntax',
  },
  {
    name: 'YAML of lines that are indented by tabs',
    evaluate: yaml('\t- x\n'.repeat(many(39_500))),
    ends: 'yaml-syntax',
  },
  { name: 'YAML of directives', evaluate: yaml(`${'%FOO bar\n'.repeat(many(79_000))}--- a`), ends: 'yaml-syntax' },
  { name: 'YAML of quotes that never end', evaluate: yaml('- "x\n'.repeat(many(30_000))), ends: 'yaml-syntax' },
  { name: 'YAML of comments', evaluate: yaml(`${'# x\n'.repeat(many(79_000))}a: 1`), ends: 'read' },
  {
    name: 'YAML of comments between keys',
    evaluate: yaml(lines(many(26_000), (i) => `# x\nk${i}:\n  # y`)),
    ends: 'read',
  },
  { name: 'YAML of empty lines', evaluate: yaml(`a: 1\n${'\n'.repeat(many(79_000))}b: 1`), ends: 'read' },
  { name: 'YAML of texts in blocks', evaluate: yaml(lines(many(26_000), () => '- |\n  x\n  y')), ends: 'read' },
  { name: 'YAML of empty lists in brackets', evaluate: yaml(`[${'[],'.repeat(many(24_000))}]`), ends: 'read' },
  { name: 'YAML of documents', evaluate: yaml('---\na\n'.repeat(many(30_000))), ends: 'yaml-documents' },
  {
    name: 'a script of lines that are indented by tabs',
    evaluate: () => readScript('\t- x\n'.repeat(many(39_500)), 'a.yaml'),
    ends: 'SKEIN_DEFINITION',
  },
  {
    name: 'a script of many keys',
    evaluate: () =>
      readScript(
        `rules: []\nx: {${LIST.slice(0, many(LIST.length))
          .map((i) => `k${i}: 1`)
          .join(', ')}}`,
        'a.yaml',
      ),
    ends: 'SKEIN_DEFINITION',
  },
  {
    name: 'a script whose aliases multiply',
    evaluate: () =>
      readScript(
        levels((i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`),
        'a.yaml',
      ),
    ends: 'SKEIN_DEFINITION',
  },
];

const ANSWERS: readonly HostileInput[] = [
  {
    name: 'JSON that is nested deeply',
    evaluate: () => parseJsonText('['.repeat(100_000) + ']'.repeat(100_000)),
    ends: undefined,
  },
  {
    name: 'a value that is nested deeply, as text',
    evaluate: () => valueText(JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))),
    ends: 'SKEIN_TEMPLATE',
  },
  {
    name: 'JSON in fences that all break off',
    evaluate: () => parseJsonText(`x\n${'```\n[1,\n```\n'.repeat(300_000)}`),
    ends: undefined,
  },
  { name: 'JSON of one number', evaluate: () => String(parseJsonText('1'.repeat(4_000_000))).length, ends: 4_000_000 },
  { name: 'JSON of one text', evaluate: () => String(parseJsonText(`"${TEXT}"`)).length, ends: TEXT.length },
  {
    name: 'an argument that is nearly a number',
    evaluate: () =>
      coerceInput('t', { properties: { a: { type: 'number' } } }, { a: `${'1'.repeat(1_000_000)}x` })['a'] === 1,
    ends: false,
  },
  {
    name: 'a verdict of asterisks',
    evaluate: () => readVerdict(`x${'*'.repeat(1_000_000)}x`, 'ACCEPT').accepted,
    ends: false,
  },
  {
    name: 'a page of open tags',
    evaluate: () => htmlToText('<'.repeat(many(4_000_000)), 1_000).text.length > 0,
    ends: true,
  },
  {
    name: 'a page of letters between tags',
    evaluate: () => htmlToText('A<B>'.repeat(many(1_000_000)), 1_000).text.length > 0,
    ends: true,
  },
  { name: 'a page of paragraphs', evaluate: () => htmlToText('<p>'.repeat(many(1_300_000)), 1_000).text, ends: '' },
  {
    name: 'an error of a provider',
    evaluate: () => classifyStatus(400, 'model'.repeat(1_000_000)).code,
    ends: 'SKEIN_MODEL_REFUSED',
  },
];

const PATTERNS: readonly HostileInput[] = [
  {
    name: 'a pattern with nested repetitions',
    evaluate: () => patternMatcher('^(a+)+$').test(`${RUN.slice(0, many(RUN.length))}!`),
    ends: false,
  },
  { name: 'a pattern of large repetitions', evaluate: () => patternMatcher('^(?:a?){900}b').test(RUN), ends: false },
  { name: 'a wildcard of many stars', evaluate: () => matchesWildcard(`${'*a'.repeat(1_000)}b`, RUN), ends: false },
  {
    name: 'a wildcard whose rest nearly fits everywhere',
    evaluate: () => matchesWildcard(`*${'a'.repeat(1_000)}b`, RUN),
    ends: 'SKEIN_INPUT',
  },
  { name: 'a path of dots', evaluate: () => foldedPath(`${'. '.repeat(500_000)}x`).length, ends: 1_000_001 },
  {
    name: 'a text of what long secrets begin with',
    evaluate: () => createRedactor([`${RUN.slice(0, 10_000)}b`, `${RUN.slice(0, 9_000)}c`]).text(RUN).length,
    // What stands at the end may be a secret whose last character was cut off.
    ends: RUN.length - 10_000 + '[redacted]'.length,
  },
  {
    name: 'a text that begins like a secret, in pieces',
    evaluate: () => {
      const stream = createRedactor([`${RUN.slice(0, 2_000)}b`]).stream();
      const shown = Array.from({ length: 2_000 }, () => stream.push('aaaaa')).join('');
      return `${shown}${stream.flush()}`.length;
    },
    ends: 10_000 - 2_000 + '[redacted]'.length,
  },
  { name: 'a name of dashes', evaluate: () => safeName(`x${'-.'.repeat(500_000)}x`, 'name').length, ends: 1 },
];

export const HOSTILE_INPUTS: readonly HostileInput[] = [
  ...EXPRESSIONS,
  ...TEMPLATES,
  ...FILES,
  ...ANSWERS,
  ...PATTERNS,
];
