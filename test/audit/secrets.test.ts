import { Buffer } from 'node:buffer';
import { readdir } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/secrets/redact.js';
import { findSecrets } from '../../src/secrets/find-secrets.js';
import { ASKED, agentNode, allText, read, readLines, record, tempDir, workflowOf } from './support/folder.js';
import type { Script } from './support/folder.js';

const SECRET = 'pä$s w0rd/+"quoted"&=1';

const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  url: encodeURIComponent,
  form: (text) => new URLSearchParams([['v', text]]).toString().slice(2),
  'lower-case url': (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  hex: (text) => Buffer.from(text).toString('hex'),
  'upper-case hex': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  json: (text) => JSON.stringify(text).slice(1, -1),
};

describe('secrets in texts', () => {
  it.each(Object.entries(ENCODINGS))('are found in %s form', (_, encode) => {
    const { text } = createRedactor([SECRET]);
    expect(text(`a ${encode(SECRET)} b ${encode(SECRET)}`)).toBe('a [redacted] b [redacted]');
  });

  it('are found in base64 of more data, wherever they begin in it', () => {
    const { text } = createRedactor(['hunter2-hunter2']);
    for (const before of ['', 'u', 'us', 'user:', 'someone:']) {
      const header = Buffer.from(`${before}hunter2-hunter2;and more`).toString('base64');
      const safe = text(`Basic ${header}`);
      expect(safe).toContain('[redacted]');
      const rest = safe
        .slice('Basic '.length)
        .split('[redacted]')
        .map((part) => Buffer.from(part, 'base64').toString('latin1'));
      expect(rest.join('')).not.toMatch(/unter|nter2/);
    }
  });

  it('are replaced by the longest of those that begin at a place, and short ones where they stand as a word', () => {
    const { text } = createRedactor(['abcdefgh', 'abcdefghijkl', 'short', '', '       ']);
    expect(text('abcdefghijkl abcdefghij short')).toBe('[redacted] [redacted]ij [redacted]');
    expect(text('abcabcdefgh shorter')).toBe('abc[redacted] shorter');
  });

  it('are found whatever the pieces of a stream are', () => {
    const secrets = ['abababab-abac', 'abac-secret', SECRET];
    const whole = `xab${secrets[0]}ab${secrets[1]}${ENCODINGS['base64']!(SECRET)} abababab-aba`;
    const { text, stream } = createRedactor(secrets);
    const expected = text(whole);
    expect(expected).toContain('[redacted]');
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length)), (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
        const deltas = stream();
        let shown = '';
        for (const [at, from] of places.entries())
          shown += deltas.push(whole.slice(from, places[at + 1] ?? whole.length));
        return shown + deltas.flush() === expected;
      }),
    );
  });

  it('are found in keys, values and numbers of data', () => {
    const { json } = createRedactor(['hunter2-hunter2', '12345678']);
    expect(json({ 'hunter2-hunter2': [{ a: 'x hunter2-hunter2' }], pin: 12_345_678, n: 1 })).toBe(
      '{"[redacted]":[{"a":"x [redacted]"}],"pin":"[redacted]","n":1}',
    );
  });

  it('cost time linear in the text', () => {
    const secrets = Array.from({ length: 40 }, (_, at) => `secret-${'a'.repeat(30)}-${at}`);
    const text = `${`secret-${'a'.repeat(29)}`.repeat(20_000)} and so on`;
    expect(createRedactor(secrets).text(text)).toBe(text);
  });
});

describe('finding secrets', () => {
  it('takes variables that are named or look like secrets', () => {
    const env = {
      OPENAI_API_KEY: 'value-of-openai',
      github_token: 'value-of-github',
      DB_PASSWORD: 'value-of-db',
      STRIPE_KEY: 'value-of-stripe',
      DB_PWD: 'value-of-pwd',
      npm_config__authToken: 'value-of-npm',
      INNOCENT: `ghp_${'a'.repeat(36)}`,
      DATABASE_URL: 'postgres://me:value%2Dof-url@db/x',
      CI_JOB_TOKEN_NAME: 'not-a-secret',
      SHORT_TOKEN: 'abc',
      EMPTY_SECRET: undefined,
    };
    expect(findSecrets({ env })).toEqual([
      'value-of-openai',
      'value-of-github',
      'value-of-db',
      'value-of-stripe',
      'value-of-pwd',
      'value-of-npm',
      env.INNOCENT,
      'value%2Dof-url',
      'value-of-url',
    ]);
  });

  it('leaves alone what a run needs to show', () => {
    const env = {
      PWD: '/home/me/project',
      OLDPWD: '/home/me/project',
      SSH_AUTH_SOCK: '/tmp/ssh-agent/socket',
      GOOGLE_APPLICATION_CREDENTIALS_FILE: '/home/me/key.json',
      PATH: '/usr/bin:/bin',
      LANG: 'en_GB.UTF-8',
      MAX_TOKENS_PER_CALL: '4096',
      HOME_PAGE: 'https://example.org/a@b',
      AUTHOR: 'somebody with a name',
    };
    expect(findSecrets({ env })).toEqual([]);
  });

  it('takes what the plan names, and inputs with telling names', () => {
    const agent = {
      name: 'a',
      instructions: [],
      models: [],
      provider: { type: 'openai', apiKeyEnv: 'OUR_THING' },
      mcpServers: {
        db: { command: 'x', env: { DB_PASSWORD: 'in-the-file', REGION: 'eu-central-1', API_KEY: '${OUR_THING}' } },
        web: { url: 'http://x', headers: { Authorization: 'Bearer abcdefghijk' } },
      },
    };
    const { plan } = workflowOf([agentNode('a', { agent })]);
    const inputs = { api_key: 'input-secret', files: 'src/*.go', keywords: 'looms and yarn', issue_key: 'PROJ-12345' };
    expect(findSecrets({ env: { OUR_THING: 'value-of-ours' }, plan, inputs })).toEqual([
      'input-secret',
      'value-of-ours',
      'in-the-file',
      'Bearer abcdefghijk',
      'abcdefghijk',
    ]);
  });

  it('takes the defaults of inputs with telling names', () => {
    const { plan } = workflowOf([agentNode('a')]);
    if (plan === undefined) throw new Error('the workflow has no plan');
    const inputs = [
      { name: 'api_token', channel: 'token', required: false, default: 'tok-of-the-file' },
      { name: 'topic', channel: 'topic', required: false, default: 'how looms work' },
    ];
    expect(findSecrets({ env: {}, plan: { ...plan, inputs } })).toEqual(['tok-of-the-file']);
  });
});

describe('a run folder', () => {
  it('holds no secret in any file, in no form, also when it came in pieces (decision 8, G11)', async () => {
    const dir = await tempDir();
    const forms = Object.values(ENCODINGS).map((encode) => encode(SECRET));
    const all = forms.join(' | ');
    const script: Script = (_, step) => {
      step.note({ kind: 'prompt', system: all, prompt: all, model: 'm' });
      step.note({ kind: 'model.started', turn: 1, model: 'm' });
      for (const text of all.match(/.{1,3}/gsu) ?? []) step.note({ kind: 'model.delta', text });
      step.note({ kind: 'tool.started', id: '1', tool: 'sh', input: { key: SECRET, deep: { [SECRET]: forms } } });
      step.note({ kind: 'tool.ended', id: '1', tool: 'sh', status: 'ok', output: all });
      step.note({ ...ASKED, kind: 'question', question: all, choices: forms });
      step.note({ kind: 'answer', answer: all });
      step.note({ kind: 'memory', mode: 'append', text: all });
      step.note({ kind: 'warning', code: 'x', message: all });
      const usage = { inputTokens: 0, outputTokens: 0 };
      step.note({ kind: 'model.ended', turn: 1, model: 'm', text: all, usage, toolCalls: 0 });
      if (step.node.id === 'bad') return { type: 'failed', error: { code: 'SKEIN_NETWORK', message: all, hint: all } };
      return { type: 'done', output: { all, forms } };
    };
    const workflow = workflowOf([agentNode('good'), agentNode('bad')], [['good', 'bad']], {
      name: `flow ${Buffer.from(SECRET).toString('hex')}`,
      text: `name: x\nkey: ${SECRET}\n`,
      settings: { memory: { initial: all }, streaming: true },
    });
    const inputs = { topic: all, [SECRET]: [SECRET] };
    const { path, problems } = await record(workflow, script, { dir, secrets: [SECRET], inputs });
    expect(problems).toEqual([]);
    const text = (await allText(path)) + (await readdir(dir)).join();
    const stream = await readLines(path, 'steps/00_good/stream.jsonl');
    // What comes after that is what the step gave, which is not what was said.
    const rewritten = stream.findIndex(({ type }) => type === 'assistant.message_void');
    const said = stream.slice(0, rewritten);
    const deltas = said.filter(({ type }) => type === 'assistant.message_delta').map(({ data }) => data);
    for (const form of forms) {
      expect(text).not.toContain(form);
      expect(deltas.join('')).not.toContain(form);
    }
    expect(deltas.join('')).toBe(forms.map(() => '[redacted]').join(' | '));
    // What stood around the secrets is still there.
    expect(text.split('[redacted]').length).toBeGreaterThan(100);
    expect(await read(path, 'steps/00_good/prompt.md')).toBe(forms.map(() => '[redacted]').join(' | '));
  });
});
