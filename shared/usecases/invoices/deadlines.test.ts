import { expect, it } from 'vitest'
import { MODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { standIn } from '#test/support/stand-in.ts'
import { type DeadlineDeps, dueInvoices } from './deadlines.ts'

const metrics = { count: () => {}, gauge: () => {}, observe: () => {} }
const runtime = { clock: { now: () => 0 }, metrics } as unknown as DeadlineDeps

/** An installation without chains whose deadlines stand in this list, oldest first. */
const depsWith = (due: readonly string[]): DeadlineDeps => ({
  ...runtime,
  cursors: standIn({ list: async () => [], find: async () => null }),
  catalog: standIn({ hasNode: () => true, blockTimeMs: () => 12_000 }),
  invoices: standIn({
    isAnyDue: async () => due.length > 0,
    dueForAction: async (chain, _until, limit, skip = 0) => (chain === 'none' ? due.slice(skip, skip + limit) : []),
  }),
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

// Guarantee: an operator who takes a failing node out of the settings ends no invoice by it.
it('passes no deadline of a live network whose node was taken out of the configuration', async () => {
  const cursor = {
    id: 'live:ethereum',
    mode: 'live',
    height: 7,
    hash: '0x7',
    time: 500,
    headHeight: 7,
    headSeenAt: 600,
  } as ChainCursor
  const requests: (readonly [chain: string, until: number])[] = []
  const deps: DeadlineDeps = {
    ...depsWith([]),
    clock: { now: () => 1_000_000 },
    cursors: standIn({
      list: async () => [cursor, { ...cursor, id: 'test:ethereum', mode: 'test' }],
      find: async () => cursor,
    }),
    catalog: standIn({ hasNode: () => false, blockTimeMs: () => 12_000 }),
    invoices: standIn({
      isAnyDue: async () => true,
      dueForAction: async (chain, until) => {
        requests.push([chain, until])
        return []
      },
    }),
  }
  await dueInvoices(deps)
  expect(new Map(requests).get('live:ethereum')).toBe(500)
  // Invoices of a test network without a node are simulated and wait for nobody.
  expect(new Map(requests).get('test:ethereum')).toBe(1_000_000)
})

/** Whether anything is due at all, as the first question finds it out. */
const EVERY_CHAIN = ['none', ...MODES.flatMap((mode) => NETWORK_IDS.map((network) => `${mode}:${network}`))]

// Guarantee: the question in advance leaves no deadline out: it covers every chain until now, which no position passes.
it('asks once whether anything is due at all', async () => {
  const requests: unknown[] = []
  const deps: DeadlineDeps = {
    ...depsWith(['one']),
    clock: { now: () => 1_000_000 },
    cursors: standIn({ list: () => Promise.reject(new Error('must not be asked for')), find: async () => null }),
    invoices: standIn({
      isAnyDue: async (...question) => {
        requests.push(question)
        return false
      },
      dueForAction: async () => ['must not be asked for'],
    }),
  }
  const turns = new Map([['none', 200]])
  expect(await dueInvoices(deps, turns)).toEqual([])
  expect(requests).toEqual([[EVERY_CHAIN, 1_000_000]])
  expect(turns.size).toBe(0)
})

// Guarantee: a deadline that has passed by the clock and not on its chain costs no question for each chain.
it('asks once more for chains whose position is known, to the latest of them', async () => {
  const requests: (readonly [chains: readonly string[], until: number])[] = []
  const cursor = {
    id: 'live:ethereum',
    mode: 'live',
    height: 7,
    hash: '0x7',
    time: 500,
    headHeight: 7,
    headSeenAt: 600,
  } as ChainCursor
  const deps: DeadlineDeps = {
    ...depsWith(['one']),
    clock: { now: () => 1_000_000 },
    cursors: standIn({ list: async () => [cursor], find: async () => cursor }),
    invoices: standIn({
      isAnyDue: async (chains, until) => {
        requests.push([chains, until])
        return requests.length === 1
      },
      dueForAction: async () => ['must not be asked for'],
    }),
  }
  const turns = new Map([['none', 200]])
  expect(await dueInvoices(deps, turns)).toEqual([])
  expect(requests.slice(1)).toEqual([[['none', 'live:ethereum'], 1_000_000]])
  expect(turns.size).toBe(0)
})
