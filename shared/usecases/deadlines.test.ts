import { expect, it } from 'vitest'
import { type DeadlineDeps, dueInvoices } from './deadlines.ts'

const metrics = { count: () => {}, gauge: () => {}, observe: () => {} }
const ambient = { clock: { now: () => 0 }, metrics } as unknown as DeadlineDeps

/** An installation without chains whose deadlines stand in this list, oldest first. */
const depsWith = (due: readonly string[]): DeadlineDeps => ({
  ...ambient,
  cursors: { list: async () => [], find: async () => null },
  catalog: { hasNode: () => true, blockTimeMs: () => 12_000 },
  invoices: {
    dueForAction: async (chain, _until, limit, skip = 0) => (chain === 'none' ? due.slice(skip, skip + limit) : []),
  },
})

// Guarantee: invoices that cannot be advanced, however many, hold up no deadline behind them.
it('names every due invoice in turn', async () => {
  const stuck = Array.from({ length: 400 }, (_, index) => `stuck-${index}`)
  const deps = depsWith([...stuck, 'behind'])
  const turns = new Map<string, number>()
  const sweeps = [await dueInvoices(deps, turns), await dueInvoices(deps, turns), await dueInvoices(deps, turns)]
  expect(sweeps).toEqual([stuck.slice(0, 200), stuck.slice(200), ['behind']])
  expect(await dueInvoices(deps, turns)).toEqual(sweeps[0])
})

it('names the oldest ones each time while they are fewer than one sweep takes', async () => {
  const turns = new Map<string, number>()
  expect(await dueInvoices(depsWith(['one', 'two']), turns)).toEqual(['one', 'two'])
  expect(await dueInvoices(depsWith(['two', 'three']), turns)).toEqual(['two', 'three'])
})
