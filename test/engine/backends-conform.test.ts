import { answerRun } from '../../src/journal/answering.js';
import { inMemory } from '../../src/runtime/backends/backend.js';
import { recordedIn } from '../../src/runtime/backends/recorded.js';
import { STORES } from '../stores/support/stores.js';
import { backendsConform } from './backend-conformance.js';

backendsConform([
  { name: 'in memory', make: () => Promise.resolve({ backend: inMemory }) },
  ...STORES.map(({ name, open }) => ({
    name: `recorded, store: ${name}`,
    make: async () => {
      const store = await open();
      const answer = (runId: string, value: unknown): void => void answerRun(store, runId, { value });
      return { backend: recordedIn(store), answer };
    },
  })),
]);
