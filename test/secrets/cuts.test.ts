import { describe, expect, it } from 'vitest';
import { tell } from '../guard/support/figures.js';
import { createRedactor } from '../../src/secrets/redact.js';
import { ENCODINGS, KEYS } from './keys.js';

/** Not in one piece, so that no scanner takes it for a key. */
const PRIVATE_KEY = ['PRIVATE', 'KEY'].join(' ');
const TOKEN = 'Qw8RtYuI9pAsDfG3hJkLzXc5VbNm2QwErT7yUiOp';
const MARKS = [
  '',
  '…',
  ' …',
  '...',
  ' ... [truncated: 900 chars total]',
  '\n\n... [truncated]',
  ' [...] more',
  '" is no date',
];
const { text, stream, json } = createRedactor([TOKEN]);

/** The longest piece of a secret in a text. */
function longestPiece(shown: string, secret: string): number {
  let most = 0;
  for (let from = 0; from < secret.length; from += 1)
    while (shown.includes(secret.slice(from, from + most + 1)) && from + most < secret.length) most += 1;
  return most;
}

/** Keys without a beginning of their own: cut, they are like digests, numbers and addresses. */
const LIKE_OTHERS = new Set(['mailchimp', 'telegram', 'terraform', 'discord webhook', 'airtable']);

describe('a secret that was cut', () => {
  it.each(Object.entries(ENCODINGS))(
    'shows less than half of itself in %s form, whatever marks the cut',
    (_, encode) => {
      const whole = encode(TOKEN);
      for (const mark of MARKS)
        for (let at = 1; at < whole.length; at += 1) {
          const left = text(`asked: ${whole.slice(0, at)}${mark}`);
          expect(longestPiece(left, whole)).toBeLessThan(16);
          expect(left.endsWith(mark)).toBe(true);
        }
    },
  );

  it('shows less than half of its end, anywhere', () => {
    for (let at = 1; at < TOKEN.length; at += 1) {
      const left = text(`Again ${TOKEN.slice(at)} and more`);
      expect(longestPiece(left, TOKEN)).toBeLessThan(16);
      expect(left).toMatch(/^Again .* and more$/);
    }
    expect(text(`x${TOKEN.slice(3)}${TOKEN}${TOKEN.slice(20)}y`)).toBe('x[redacted][redacted][redacted]y');
  });

  it('is hidden in keys and values of data, and at the end of a stream', () => {
    const cut = TOKEN.slice(0, 30);
    expect(json({ [cut]: [`see ${cut}`] })).toBe('{"[redacted]":["see [redacted]"]}');
    const pieces = stream();
    expect(Array.from(`see ${cut}`, (char) => pieces.push(char)).join('') + pieces.flush()).toBe('see [redacted]');
  });

  it('leaves words alone that go on, and what paths and addresses have in common', () => {
    const { text: shown } = createRedactor([
      'correct horse battery',
      '/home/someone/work/key.pem',
      'https://example.org/a/b',
    ]);
    for (const line of [
      'correct horses run',
      'in "/home/someone/work"',
      'see https://example.org',
      'a battery',
      '/x/work/key.pem',
    ])
      expect(shown(line)).toBe(line);
    expect(shown('said: correct horse ba')).toBe('said: [redacted]');
  });

  it('is found among keys of known services by how it begins', () => {
    const seen: string[] = [];
    let n = 0;
    for (const [name, key] of Object.entries(KEYS)) {
      if (LIKE_OTHERS.has(name) || key.includes('\n')) continue;
      for (const mark of MARKS) {
        n += 1;
        const cut = key.slice(0, Math.floor(key.length * 0.8));
        const left = text(`asked: ${cut}${mark}`);
        if (longestPiece(left, key) > key.length / 2) seen.push(`${name}: ${left}`);
      }
    }
    expect(seen).toEqual([]);
    tell({ what: 'keys of known services, cut', n, forbidden: seen.length, goal: 'less than half is shown' });
  });

  it('is the end of a private key, too', () => {
    const lines = Array.from({ length: 5 }, (_, at) => `MIIEpAIBAAKCAQEAx7Yz${at}QwErTyUiOpAsDfGhJkLzXc`);
    const end = `${lines.join('\n')}\nAb3=\n-----END RSA ${PRIVATE_KEY}-----`;
    expect(text(`the rest:\n${end}\nmore`)).toBe('the rest:\n[redacted]\nmore');
    expect(text(JSON.stringify({ rest: `[...] ${end}` }))).toBe('{"rest":"[...] [redacted]"}');
  });

  it('costs time linear in the text', () => {
    for (const word of ['a', 'sk-1-', 'https://a:b', `-----END ${PRIVATE_KEY}-----`, `${TOKEN.slice(0, 39)}_`]) {
      const long = `${word.repeat(Math.ceil(400_000 / word.length))} and so on`;
      expect(text(long).endsWith(' and so on')).toBe(true);
    }
  });

  it('is not seen in what is like it', () => {
    const honest = [
      'See the class sk-button-primary-large…',
      'npm_config_registry',
      'commit 3f786850e387550fdab836ed7e6dc881de23001b',
      '"eyJhbGciOiJIUzI1NiJ9"',
      'pattern2matching3words',
      'https://user',
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUg...',
      'http://localhost:8080',
    ];
    for (const line of honest) expect(text(line)).toBe(line);
  });
});
