import { sampleObservation } from '#test/support/db-samples.ts'
import type { ContractCase } from './contract-case.ts'
import { outcome, PAST } from './contract-samples.ts'
import type { Repositories } from './contract-stage.ts'

const chain = { mode: 'test' as const, network: 'ethereum' as const }
const block = (height: number, hash = `h${height}`) => ({ height, hash, time: PAST + height })
const keys = (rows: readonly { key: string }[]) => rows.map(({ key }) => key).sort()
const observation = (key: string, overrides: Parameters<typeof sampleObservation>[1] = {}) =>
  sampleObservation(`test:ethereum:${key}`, { firstSeenAt: PAST, ...overrides })
const at = PAST + 500

/** The row of a key as far as cases care. */
async function row({ payments }: Repositories, key: string) {
  const [found] = await payments.listByTransaction('test', 'ethereum', key)
  return found && [found.state, found.version, found.block?.height ?? null, found.confirmAt, found.dirtyAt !== null]
}

const cursor = (window: readonly (readonly [number, string])[]) => ({
  id: 'test:ethereum',
  ...chain,
  height: 100,
  hash: 'h100',
  time: PAST,
  window,
  headHeight: 110,
  headSeenAt: PAST,
  finalizedHeight: null,
  status: 'live' as const,
  haltReason: null,
  genesisHash: 'genesis',
  lease: null,
})

const OBSERVATIONS: readonly ContractCase[] = [
  {
    name: 'an observation is stored once, moves with its block, and repeats are no change',
    query: async (on) => {
      const seen = [observation('a:0', { block: null }), observation('b:0', { block: block(100) })]
      const first = await on.payments.recordObservations(seen, 1, PAST)
      const again = await on.payments.recordObservations(seen, 1, at)
      const mined = await on.payments.recordObservations([observation('a:0', { block: block(101) })], 1, at)
      const mempool = await on.payments.recordObservations([observation('a:0', { block: null })], 1, at)
      return [keys(first).length, again, keys(mined), mempool, await row(on, 'a'), await row(on, 'b')]
    },
    gives: [2, [], ['test:ethereum:a:0'], [], ['detected', 2, 101, 103, true], ['detected', 1, 100, 102, true]],
  },
  {
    name: 'a newer holder fences an older one, also on payments of one batch',
    query: async (on) => [
      (await on.payments.recordObservations([observation('a:0')], 2, PAST)).length,
      await outcome(on.payments.recordObservations([observation('a:0', { block: block(101) })], 1, at)),
      await outcome(on.payments.recordObservations([observation('b:0'), observation('a:0')], 1, at)),
      await row(on, 'a'),
      await row(on, 'b'),
      (await on.payments.recordObservations([observation('a:0', { block: block(101) })], 3, at)).length,
    ],
    gives: [1, 'ScannerFenced', 'ScannerFenced', ['detected', 1, 100, 102, true], ['detected', 1, 100, 102, true], 1],
  },
  {
    name: 'money of no invoice has nobody to apply it',
    query: async (on) => {
      await on.payments.recordObservations([observation('a:0', { invoiceId: null, workspaceId: null })], 1, PAST)
      return [await row(on, 'a'), await on.payments.takeDirtyInvoices({ before: at, at, limit: 5 })]
    },
    gives: [['detected', 1, 100, 102, false], []],
  },
  {
    name: 'another amount in another block is another payment; in the same block it is a lie',
    query: async (on) => {
      await on.payments.recordObservations([observation('a:0', { amountBase: 5n })], 1, PAST)
      const lie = await outcome(on.payments.recordObservations([observation('a:0', { amountBase: 7n })], 1, at))
      const moved = await on.payments.recordObservations(
        [observation('a:0', { amountBase: 7n, block: block(101) })],
        1,
        at,
      )
      const stored = await on.payments.listByTransaction('test', 'ethereum', 'a')
      return [lie, moved.length, stored.map(({ key, state, amountBase }) => `${key} ${state} ${amountBase}`)]
    },
    gives: ['NodeUnreliable', 2, ['test:ethereum:a:0 orphaned 5', 'test:ethereum:a:0:7 detected 7']],
  },
]

const MOVES: readonly ContractCase[] = [
  {
    name: 'payments confirm at their depth, and those that must be final wait for it',
    query: async (on) => {
      const final = observation('b:0', { needsFinality: true })
      await on.payments.recordObservations(
        [observation('a:0'), final, observation('c:0', { block: block(105) })],
        1,
        PAST,
      )
      const scope = { ...chain, height: 102, epoch: 1, at }
      const due = await on.payments.dueForConfirmation({ ...scope, finalizedHeight: null })
      const early = await on.payments.confirmThrough({ ...scope, height: 101, finalizedHeight: null })
      const done = await on.payments.confirmThrough({ ...scope, finalizedHeight: 99 })
      const rest = await on.payments.confirmThrough({ ...scope, finalizedHeight: 100 })
      return [keys(due), early, keys(done), keys(rest), await row(on, 'a'), await row(on, 'c')]
    },
    gives: [
      ['test:ethereum:a:0'],
      [],
      ['test:ethereum:a:0'],
      ['test:ethereum:b:0'],
      ['confirmed', 2, 100, 102, true],
      ['detected', 1, 105, 107, true],
    ],
  },
  {
    name: 'exceptions wait, and a payment of a block that the cursor does not know is orphaned instead',
    query: async (on) => {
      await on.cursors.create(cursor([[100, 'other']]))
      await on.payments.recordObservations(
        [observation('a:0'), observation('b:0', { block: block(99) }), observation('c:0')],
        1,
        PAST,
      )
      const except = ['test:ethereum:c:0']
      const moved = await on.payments.confirmThrough({
        ...chain,
        height: 102,
        finalizedHeight: null,
        except,
        epoch: 1,
        at,
      })
      return [keys(moved), await row(on, 'a'), await row(on, 'b'), await row(on, 'c')]
    },
    gives: [
      ['test:ethereum:a:0', 'test:ethereum:b:0'],
      ['orphaned', 2, null, null, true],
      ['confirmed', 2, 99, 101, true],
      ['detected', 1, 100, 102, true],
    ],
  },
  {
    name: 'unconfirmed payments end as replaced or dropped, and come back with a block',
    query: async (on) => {
      const waiting = ['a:0', 'b:0', 'c:0'].map((key) => observation(key, { block: null }))
      await on.payments.recordObservations(waiting, 1, PAST)
      const outcomes = [
        { key: 'test:ethereum:a:0', state: 'replaced' as const, replacedBy: '0xnew' },
        { key: 'test:ethereum:b:0', state: 'dropped' as const },
      ]
      const ended = await on.payments.endUnconfirmed({ ...chain, outcomes, epoch: 1, at })
      const left = await on.payments.unconfirmed('test', 'ethereum')
      await on.payments.recordObservations([observation('a:0', { block: block(101) })], 1, at)
      return [
        ended.map(({ key, state, replacedBy }) => `${key} ${state} ${replacedBy}`).sort(),
        keys(left),
        await row(on, 'a'),
      ]
    },
    gives: [
      ['test:ethereum:a:0 replaced 0xnew', 'test:ethereum:b:0 dropped null'],
      ['test:ethereum:c:0'],
      ['detected', 3, 101, 103, true],
    ],
  },
  {
    name: 'a fork orphans what stands above it, confirmed or not',
    query: async (on) => {
      const all = [99, 100, 101].map((height) => observation(`p${height}:0`, { block: block(height) }))
      await on.payments.recordObservations(all, 1, PAST)
      await on.payments.confirmThrough({ ...chain, height: 102, finalizedHeight: null, epoch: 1, at })
      const young = await on.payments.orphanAbove({ ...chain, forkHeight: 98, unconfirmedOnly: true, epoch: 1, at })
      const above = await on.payments.orphanAbove({ ...chain, forkHeight: 99, epoch: 1, at })
      const fenced = await outcome(on.payments.orphanAbove({ ...chain, forkHeight: 98, epoch: 0, at }))
      return [keys(young), keys(above), fenced, await row(on, 'p99'), await row(on, 'p100')]
    },
    gives: [
      ['test:ethereum:p101:0'],
      ['test:ethereum:p100:0'],
      'ScannerFenced',
      ['confirmed', 2, 99, 101, true],
      ['orphaned', 3, null, null, true],
    ],
  },
  {
    name: 'strangers to the scanned blocks are orphaned',
    query: async (on) => {
      const known = observation('a:0', { block: block(100) })
      await on.payments.recordObservations([known, observation('b:0', { block: block(100, 'fork') })], 1, PAST)
      const moved = await on.payments.orphanMissing({ ...chain, blocks: [block(100), block(101)], epoch: 1, at })
      const none = await on.payments.orphanMissing({ ...chain, blocks: [], epoch: 1, at })
      return [keys(moved), none, await row(on, 'a'), await row(on, 'b')]
    },
    gives: [['test:ethereum:b:0'], [], ['detected', 1, 100, 102, true], ['orphaned', 2, null, null, true]],
  },
]

const APPLIED: readonly ContractCase[] = [
  {
    name: 'an applied version is not dirty any more; an older version says nothing',
    query: async (on) => {
      await on.payments.recordObservations([observation('a:0')], 1, PAST)
      const apply = (version: number) =>
        on.payments.markApplied([
          { key: 'test:ethereum:a:0', version, counted: true, uncountedReason: null, late: false, place: 'in' },
          { key: 'absent', version, counted: true, uncountedReason: null, late: false, place: 'in' },
        ])
      await apply(7)
      const still = await row(on, 'a')
      await apply(1)
      return [still, await row(on, 'a'), (await on.payments.listByInvoice('invoice-1')).map(({ counted }) => counted)]
    },
    gives: [['detected', 1, 100, 102, true], ['detected', 1, 100, 102, false], [true]],
  },
  {
    name: 'waiting invoices are named in turn',
    query: async ({ payments }) => {
      await payments.recordObservations([observation('a:0', { invoiceId: 'i-1' })], 1, PAST)
      await payments.recordObservations([observation('b:0', { invoiceId: 'i-2' })], 1, PAST + 10)
      const take = (before: number, now: number) => payments.takeDirtyInvoices({ before, at: now, limit: 1 })
      return [
        await take(PAST - 1, at),
        await take(at, at),
        await take(at, at + 1),
        await take(at, at + 2),
        await take(at, at + 3),
      ]
    },
    gives: [[], ['i-1'], ['i-2'], ['i-1'], []],
  },
  {
    name: 'a simulated payment is inserted once',
    query: async ({ payments }) => {
      const [seen] = await payments.recordObservations([observation('a:0')], 1, PAST)
      if (seen === undefined) return 'nothing'
      const made = { ...seen, id: 'p-1', key: 'simulated:1', kind: 'simulated' as const, dirtyAt: null }
      return [await payments.insertSimulated(made), await payments.insertSimulated({ ...made, id: 'p-2' })]
    },
    gives: ['inserted', 'exists'],
  },
  {
    name: 'a payment of no invoice is given to one once',
    query: async ({ payments }) => {
      const unmatched = observation('a:0', { invoiceId: null, workspaceId: null, uncountedReason: 'unmatched' })
      const [seen] = await payments.recordObservations([unmatched], 1, PAST)
      await payments.confirmThrough({ ...chain, height: 102, finalizedHeight: null, epoch: 1, at })
      const owner = { invoiceId: 'i-1', workspaceId: 'ws-1' }
      const id = seen?.id ?? ''
      const unheld = (await payments.listUnheld('test', ['aa', 'bb'], 5)).length
      return [
        unheld,
        await payments.attribute({ id, version: 1 }, owner, at),
        await payments.attribute({ id, version: 2 }, owner, at),
        await payments.attribute({ id, version: 3 }, owner, at),
        [...(await payments.attributedAmong(['test:ethereum:a:0', 'other']))],
        (await payments.listUnheld('test', ['aa'], 5)).length,
      ]
    },
    gives: [1, false, true, false, ['test:ethereum:a:0'], 0],
  },
  {
    name: 'lists have every payment of an invoice, and blocks are counted by state',
    query: async ({ payments }) => {
      const reasons = [null, 'late', 'unmatched', 'wrong_asset'] as const
      const seen = reasons.map((uncountedReason, index) => observation(`p${index}:0`, { uncountedReason }))
      await payments.recordObservations(seen, 1, PAST)
      await payments.confirmThrough({
        ...chain,
        height: 102,
        finalizedHeight: null,
        except: ['test:ethereum:p0:0'],
        epoch: 1,
        at,
      })
      const list = { workspaceId: 'ws-1', mode: 'test' as const, invoiceId: 'invoice-1', limit: 9, beforeId: null }
      const page = await payments.list(list)
      const next = await payments.list({ ...list, invoiceId: null, beforeId: page[0]?.id ?? null })
      return [keys(page), keys(next), await payments.countInBlocks({ ...chain, from: 100, to: 100 })]
    },
    gives: [firstOf(4), firstOf(3), { live: 4, confirmed: 3 }],
  },
]

/** Transfer keys of the first observations. */
function firstOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `test:ethereum:p${index}:0`)
}

/** Payments: fenced observations, what a chain does to them, and how they are applied. */
export const PAYMENT_CASES: readonly ContractCase[] = [...OBSERVATIONS, ...MOVES, ...APPLIED]
