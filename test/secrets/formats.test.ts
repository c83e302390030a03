import { Buffer } from 'node:buffer';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findSecrets } from '../../src/secrets/find-secrets.js';
import { withoutKnown } from '../../src/secrets/formats.js';
import { createRedactor } from '../../src/secrets/redact.js';
import { tell } from '../guard/support/figures.js';
import { ENCODINGS, KEYS } from './keys.js';

const { text, stream } = createRedactor([]);

describe('keys of known services, which nobody named', () => {
  it('are more than 40 kinds', () => expect(Object.keys(KEYS).length).toBeGreaterThanOrEqual(40));

  describe.each(Object.entries(KEYS))('%s', (_, key) => {
    it.each(Object.entries(ENCODINGS))('is hidden in %s form, and what stands around it is not', (_name, encode) => {
      const safe = text(`before "${encode(key)}" after`);
      expect(safe).not.toContain(encode(key));
      expect(safe).not.toContain(key.slice(-12));
      expect(text(JSON.stringify({ args: JSON.stringify({ said: `\n${encode(key)}` }) }))).not.toContain(encode(key));
      expect(safe).toMatch(/^before ".*\[redacted\].*" after$/s);
    });
  });

  it('are all hidden, in every form', () => {
    const forms = Object.values(KEYS).flatMap((key) => Object.values(ENCODINGS).map((encode) => encode(key)));
    const seen = forms.filter((form) => text(`before "${form}" after`).includes(form)).length;
    expect(seen).toBe(0);
    tell({ what: 'keys of known services, in four forms', n: forms.length, forbidden: seen, goal: 'none is shown' });
  });

  it('are hidden whatever the pieces of a stream are', () => {
    const keys = Object.values(KEYS);
    const property = fc.property(fc.constantFrom(...keys), fc.array(fc.nat(300), { maxLength: 8 }), (key, cuts) => {
      const whole = `The key is ${key} and no other one.`;
      const places = [0, ...cuts.filter((at) => at < whole.length).toSorted((a, b) => a - b), whole.length];
      const pieces = stream();
      const shown = places.slice(1).map((end, at) => pieces.push(whole.slice(places[at], end)));
      expect(`${shown.join('')}${pieces.flush()}`).toBe(text(whole));
    });
    fc.assert(property, { numRuns: 300 });
  });

  it.each(Object.entries(KEYS))('%s is hidden wherever one cut falls', (_, key) => {
    const whole = `The key is ${key} and no other one.`;
    for (let at = 1; at < whole.length; at += 1) {
      const pieces = stream();
      expect(`${pieces.push(whole.slice(0, at))}${pieces.push(whole.slice(at))}${pieces.flush()}`).toBe(text(whole));
    }
  });

  it('are not seen in what is like them', () => {
    const honest = [
      'The task-force asks for basic internationalization of disk-based-storage-engines.',
      'commit 3f786850e387550fdab836ed7e6dc881de23001b, sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      'https://example.org/a/very/long/path/that/goes/on/and-on_and-on?with=queries&and=more#fragment-of-it',
      '/usr/lib/node_modules/some-package/dist/esm/internal/operators/mergeMap.js',
      '123e4567-e89b-12d3-a456-426614174000 and user@example.org at 10:30',
      'the bearer of this letter, sk-learn, xoxo, eyJust',
      `${'data '.repeat(50)}VGhpcyBpcyBwbGFpbiB0ZXh0IGluIGJhc2U2NCwgYW5kIG5vdGhpbmcgbW9yZQ==`,
    ];
    for (const line of honest) expect(withoutKnown(line, '*')).toBe(line);
  });

  it('end with the text when a private key is cut off', () => {
    expect(text('key: -----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\nZXktdjEA')).toBe('key: [redacted]');
  });
});

describe('secrets of the project', () => {
  it('stand in its .env files, too; files that show what can be set have none', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skein-env-'));
    await writeFile(
      join(folder, '.env'),
      'SHOP_TOKEN="value of the shop"\nPORT=3000\nDEBUG=true\nDB=postgres://me:hunter2@db/x\n',
    );
    await writeFile(join(folder, '.env.local'), 'SHOP_PASSWORD=root\n');
    await writeFile(join(folder, '.env.example'), 'SHOP_TOKEN=put-yours-here\n');
    const secrets = findSecrets({ env: {}, folder });
    expect(new Set(secrets)).toEqual(new Set(['value of the shop', 'hunter2', 'root']));
    expect(createRedactor(secrets).text('root, rooted: value of the shop')).toBe('[redacted], rooted: [redacted]');
  });

  it('are what variables hold that a tool server gets under a telling name', () => {
    const mcpServers = { db: { command: 'x', env: { DB_PASSWORD: '${OURS}' } } };
    const agent = { name: 'a', instructions: [], models: [], mcpServers };
    const plan = { nodes: [{ id: 'a', kind: 'agent', agent }], inputs: [] };
    expect(findSecrets({ env: { OURS: 'value-of-ours' }, plan: plan as never })).toEqual(['value-of-ours']);
  });

  it('are what a remote server gets in a header, what is named as a secret, and what a tool of a step gets', () => {
    const headers = { 'X-Who': 'app ${OURS}', Accept: 'text/plain' };
    const remote = { url: 'https://me:in-the-address@mcp.example/', headers };
    const own = { command: 'x', env: { SHOP: '${{ secrets.THEIRS }}', MODE: '${MODE}' } };
    const tool = { name: 's/t', input: { value: {} }, env: { DB_PASSWORD: ['${OF_STEPS}'] }, mcpServers: { s: own } };
    const agent = { name: 'a', instructions: [], models: [], mcpServers: { remote } };
    const nodes = [
      { id: 'a', kind: 'agent', agent },
      { id: 'b', kind: 'task', tool },
    ];
    const env = { OURS: 'value-of-ours', THEIRS: 'value-of-theirs', OF_STEPS: 'value-of-steps', MODE: 'production' };
    const found = findSecrets({ env, plan: { nodes, inputs: [] } as never });
    const expected = ['value-of-ours', 'in-the-address', 'value-of-theirs', 'value-of-steps'];
    expect(found.toSorted()).toEqual(expected.toSorted());
  });

  it('of fewer than 8 characters are hidden as words, in each form', () => {
    const short = createRedactor(['pä$s']);
    for (const [name, encode] of Object.entries(ENCODINGS))
      expect(short.text(`is ${encode('pä$s')}.`), `${name}: ${Buffer.from('pä$s').length}`).toBe('is [redacted].');
  });
});
