import { expect, it } from 'vitest'
import { CONTRACT } from './contract.ts'
import { openStage } from './contract-stage.ts'
import { createMemoryStore } from './memory-store.ts'
import { openSimulatedDatabase } from './simulated-database.ts'

it('has at least sixty cases, each with a name of its own', () => {
  expect(new Set(CONTRACT.map(({ name }) => name)).size).toBeGreaterThanOrEqual(60)
})

it.each(CONTRACT)('$name', async ({ ask, gives }) => {
  const db = openSimulatedDatabase(createMemoryStore({ now: Date.now }), async (_operation, run) => run())
  expect(await ask(openStage(db).on)).toEqual(gives)
})
