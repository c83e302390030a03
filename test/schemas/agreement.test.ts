import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases, seedOf } from '../thorough.js';
import { CORPUS, ROOT, dataOf, samplesIn, samplesInDocs, schemaSays, validatorSays } from './judging.js';
import type { Sample } from './judging.js';
import { blankedOf, emptiedOf, mutants } from './mutations.js';
import { WHOLE_FILES } from './whole-files.js';

const examples = samplesIn(resolve(ROOT, 'examples'));
const docs = await samplesInDocs();
const corpus = existsSync(CORPUS) ? samplesIn(CORPUS) : [];
if (corpus.length === 0) console.log('note: there is no corpus beside the project, so its files are skipped');

/** What both say of the same file. */
async function bothSay(
  sample: Sample,
  data = dataOf(sample),
): Promise<{ readonly schema: boolean; readonly validator: boolean; readonly why: string }> {
  const schema = schemaSays(sample.name, data);
  const validator = await validatorSays(sample, schema);
  const why = `${sample.name} ${sample.file}\nschema: ${schema.join('; ')}\nvalidator: ${validator.join('; ')}`;
  return { schema: schema.length === 0, validator: validator.length === 0, why };
}

describe('a JSON Schema and the validator are of one mind', () => {
  test.each([
    ['examples', examples, 40],
    ['docs', docs, 30],
  ] as const)('[XU11] about all files of the %s, which are right', async (_, samples, least) => {
    expect(samples.length).toBeGreaterThan(least);
    for (const sample of samples) {
      const { schema, validator, why } = await bothSay(sample);
      expect({ schema, validator }, why).toEqual({ schema: true, validator: true });
    }
  });

  test.skipIf(corpus.length === 0)('[XU11] about all files of the corpus, right and wrong ones', async () => {
    const counts = { right: 0, wrong: 0 };
    for (const sample of corpus) {
      const { schema, validator, why } = await bothSay(sample);
      expect(schema, why).toBe(validator);
      counts[schema ? 'right' : 'wrong'] += 1;
    }
    expect(counts.right).toBeGreaterThan(20);
  });

  test.each(WHOLE_FILES)('[XU11] about a file with every key: $name', async (sample) => {
    const { schema, validator, why } = await bothSay(sample);
    expect({ schema, validator }, why).toEqual({ schema: true, validator: true });
  });

  test.each(WHOLE_FILES)('[XU11] about an empty text in each place of a file with every key: $name', async (whole) => {
    const all = emptiedOf(whole);
    expect(all.length).toBeGreaterThan(20);
    // All of them with SKEIN_RUNS=1000.
    const every = Math.ceil(all.length / cases(30));
    for (const { sample, data, change } of all.filter((_, at) => at % every === 0)) {
      const { schema, validator, why } = await bothSay(sample, data);
      expect(schema, `${change}\n${why}`).toBe(validator);
    }
  });

  test('[XU11] about a script in which a text is empty, blank, without a value, or in capitals', async () => {
    const script = WHOLE_FILES.find(({ name }) => name === 'script');
    const all = script === undefined ? [] : blankedOf(script);
    expect(all.length).toBeGreaterThan(80);
    for (const { sample, data, change } of all) {
      const { schema, validator, why } = await bothSay(sample, data);
      expect(schema, `${change}\n${why}`).toBe(validator);
    }
  });

  test(
    '[XU11] about files in which a key is dropped or renamed, or a value is of another type',
    { timeout: 300_000 },
    async () => {
      const counts = { right: 0, wrong: 0 };
      const samples = [...WHOLE_FILES, ...WHOLE_FILES, ...examples, ...docs, ...corpus];
      await fc.assert(
        fc.asyncProperty(mutants(samples), async ({ sample, data, change }) => {
          const { schema, validator, why } = await bothSay(sample, data);
          expect(schema, `${change}\n${why}`).toBe(validator);
          counts[schema ? 'right' : 'wrong'] += 1;
        }),
        { numRuns: cases(90), seed: seedOf(31) },
      );
      expect(Math.min(counts.right, counts.wrong)).toBeGreaterThan(25);
    },
  );
});
