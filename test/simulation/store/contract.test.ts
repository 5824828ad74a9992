import { expect, it } from 'vitest'
import { CONTRACT } from './contract.ts'
import { openStage } from './contract-stage.ts'
import { createMemoryStore } from './memory-store.ts'
import { openSimulatedDatabase } from './simulated-database.ts'

it('has at least sixty cases, each with its own name', () => {
  expect(new Set(CONTRACT.map(({ name }) => name)).size).toBeGreaterThanOrEqual(60)
})

it.each(CONTRACT)('$name', async ({ query, gives }) => {
  const db = openSimulatedDatabase(createMemoryStore({ now: Date.now }), async (_operation, run) => run())
  expect(await query(openStage(db).on)).toEqual(gives)
})
