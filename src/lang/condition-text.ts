import { refText } from './json-path.js';
import { quoteShort, valueText } from './value-text.js';
import type { Condition, Template } from './values.js';

/**
 * A condition in words, cut and safe to print: `steps.scan.output contains "RUN"`.
 *
 * @example
 * conditionText({ op: 'equals', value: { channel: 'verdict' }, operand: ['yes'] }); // 'verdict is "yes"'
 */
export function conditionText(condition: Condition): string {
  switch (condition.op) {
    case 'contains':
      return `${refText(condition.value)} contains ${quoteShort(templateText(condition.operand))}`;
    case 'not_contains':
      return `${refText(condition.value)} does not contain ${quoteShort(templateText(condition.operand))}`;
    case 'equals':
      return `${refText(condition.value)} is ${quoteShort(templateText(condition.operand))}`;
    case 'matches_json':
      return `${refText(condition.value)} matches ${quoteShort(valueText(condition.operand))}`;
    case 'truthy':
      return `${refText(condition.value)} is true`;
    case 'line':
      return `${refText(condition.value)} has the line ${quoteShort(condition.line)}`;
    case 'cel':
      return quoteShort(condition.expression, 80).slice(1, -1).replaceAll('\\"', '"');
    case 'code':
      return 'a function decides';
  }
}

/**
 * A template as it could have been written: references in double braces, and blocks of outputs or items, which end with an empty line.
 *
 * @example
 * templateText(['Hi ', { channel: 'inputs.name' }]); // 'Hi {{inputs.name}}'
 */
export function templateText(template: Template): string {
  return template.map(pieceText).join('');
}

function pieceText(piece: Template[number]): string {
  if (typeof piece === 'string') return piece;
  if ('outputs' in piece) return '{{prior outputs}}\n\n';
  if ('expression' in piece) return `{{= ${piece.expression} }}`;
  return 'items' in piece ? `{{items of ${refText(piece.items)}}}\n\n` : `{{${refText(piece)}}}`;
}
