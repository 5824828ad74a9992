import { outboxShardOf } from '#shared/usecases/ports/invoices.ts'
import { sampleLock } from '#test/support/db-samples.ts'
import type { ContractCase } from './contract.ts'
import { changeOf, FUTURE, HOLD, invoiceNamed, outcome, PAST } from './contract-samples.ts'

const lock = (matchKey: string, overrides: Parameters<typeof sampleLock>[2] = {}) =>
  sampleLock(matchKey, PAST, overrides)
const query = { workspaceId: 'ws-1', mode: 'test' as const, limit: 10, beforeId: null, status: null, orderId: null }
const anyTime = { createdAfter: null, createdBefore: null }

const INSERTS: readonly ContractCase[] = [
  {
    name: 'an invoice is inserted once; its id refuses another',
    ask: async ({ invoices }) => [
      await invoices.insert(invoiceNamed('i-1')),
      await invoices.insert(invoiceNamed('i-1', { number: 2 })),
      (await invoices.findById('i-1'))?.terms.number,
      await invoices.findById('i-2'),
    ],
    gives: [{ inserted: true }, { inserted: false, conflict: 'id' }, 1, null],
  },
  {
    name: 'a number is taken within its workspace and mode only',
    ask: async ({ invoices }) => [
      await invoices.insert(invoiceNamed('i-1')),
      await invoices.insert(invoiceNamed('i-2')),
      await invoices.insert(invoiceNamed('i-3', { workspaceId: 'ws-2' })),
      await invoices.highestNumber('ws-1', 'test'),
      await invoices.highestNumber('ws-1', 'live'),
    ],
    gives: [{ inserted: true }, { inserted: false, conflict: 'number' }, { inserted: true }, 1, 0],
  },
  {
    name: 'an idempotency key is taken, and invoices without one do not collide',
    ask: async ({ invoices }) => [
      await invoices.insert(invoiceNamed('i-1', { idempotencyKey: 'k' })),
      await invoices.insert(invoiceNamed('i-2', { number: 2, idempotencyKey: 'k' })),
      await invoices.insert(invoiceNamed('i-3', { number: 3 })),
      await invoices.insert(invoiceNamed('i-4', { number: 4 })),
      (await invoices.findByIdempotencyKey('ws-1', 'test', 'k'))?.invoice.terms.id,
      await invoices.findByIdempotencyKey('ws-1', 'live', 'k'),
    ],
    gives: [
      { inserted: true },
      { inserted: false, conflict: 'idempotency_key' },
      { inserted: true },
      { inserted: true },
      'i-1',
      null,
    ],
  },
  {
    name: 'a released idempotency key is free again, but only for who knows when it was taken',
    ask: async ({ invoices }) => {
      const guard = { key: 'k', fingerprint: 'f', requestId: 'r', at: PAST }
      return [
        await invoices.insert(invoiceNamed('i-1', { idempotencyKey: 'k' })),
        await invoices.releaseIdempotencyKey('i-1', { ...guard, at: PAST + 1 }),
        await invoices.releaseIdempotencyKey('i-1', guard),
        await invoices.releaseIdempotencyKey('i-1', guard),
        await invoices.insert(invoiceNamed('i-2', { number: 2, idempotencyKey: 'k' })),
      ]
    },
    gives: [{ inserted: true }, false, true, false, { inserted: true }],
  },
  {
    name: 'each element of the claims is unique; invoices without claims do not collide',
    ask: async ({ invoices }) => [
      await invoices.insert(invoiceNamed('i-1', { state: { locks: [lock('a'), lock('b')] } })),
      await invoices.insert(invoiceNamed('i-2', { number: 2, state: { locks: [lock('c'), lock('b')] } })),
      await invoices.insert(invoiceNamed('i-3', { number: 3, state: { locks: [lock('c')] } })),
      [...(await invoices.claimsTaken(['test:evm:a', 'test:evm:c', 'test:evm:d']))],
      (await invoices.findByClaims(['test:evm:b', 'test:evm:c'])).map(({ invoiceId }) => invoiceId).sort(),
    ],
    gives: [
      { inserted: true },
      { inserted: false, conflict: 'claims' },
      { inserted: true },
      ['test:evm:a', 'test:evm:c'],
      ['i-1', 'i-3'],
    ],
  },
  {
    name: 'of several refusing indexes the id is named first, then they are in the order of their creation',
    ask: async ({ invoices }) => {
      await invoices.insert(invoiceNamed('i-1', { idempotencyKey: 'k', state: { locks: [lock('a')] } }))
      const again = { idempotencyKey: 'k', state: { locks: [lock('a')] } }
      return [
        await invoices.insert(invoiceNamed('i-1', again)),
        await invoices.insert(invoiceNamed('i-2', again)),
        await invoices.insert(invoiceNamed('i-2', { ...again, number: 2 })),
      ]
    },
    gives: ['id', 'number', 'idempotency_key'].map((conflict) => ({ inserted: false, conflict })),
  },
  {
    name: 'a group of inserts is judged one by one',
    ask: async ({ grouped, invoices }) => {
      const all = ['i-1', 'i-2', 'i-3'].map((id, index) => invoiceNamed(id, { number: [1, 1, 2][index] ?? 0 }))
      const done = await Promise.all(all.map((invoice) => grouped.insert(invoice)))
      return [done, await invoices.countCreatedSince('ws-1', 'test', PAST)]
    },
    gives: [[{ inserted: true }, { inserted: false, conflict: 'number' }, { inserted: true }], 2],
  },
  {
    name: 'grouped reads answer each asker alone',
    ask: async ({ grouped, invoices }) => {
      await invoices.insert(invoiceNamed('i-1'))
      await invoices.insert(invoiceNamed('i-2', { workspaceId: 'ws-2' }))
      const found = await Promise.all([
        grouped.find('ws-1', 'test', 'i-1'),
        grouped.find('ws-1', 'test', 'i-2'),
        grouped.find('ws-2', 'test', 'i-2'),
        grouped.find('ws-2', 'live', 'i-2'),
      ])
      return found.map((invoice) => invoice?.terms.id ?? null)
    },
    gives: ['i-1', null, 'i-2', null],
  },
]

const CHANGES: readonly ContractCase[] = [
  {
    name: 'a compare-and-set is won by one of two',
    ask: async ({ invoices }) => {
      const invoice = invoiceNamed('i-1')
      await invoices.insert(invoice)
      const won = await invoices.save(changeOf(invoice, { status: 'cancelled' }))
      const lost = await invoices.save(changeOf(invoice, { status: 'expired' }))
      const absent = await invoices.save(changeOf(invoiceNamed('i-2')))
      const now = await invoices.findById('i-1')
      return [won, lost, absent, now?.state.status, now?.state.version, now?.outbox.map(({ seq }) => seq)]
    },
    gives: [true, false, false, 'cancelled', 2, [1, 2]],
  },
  {
    name: 'the last eight operations are remembered',
    ask: async ({ invoices }) => {
      const invoice = invoiceNamed('i-1', { opId: 'op-1' })
      await invoices.insert(invoice)
      for (let from = 1; from <= 9; from++) await invoices.save(changeOf(invoice, { from, op: `op-${from + 1}` }))
      return (await invoices.findById('i-1'))?.lastOps.map(({ opId, seq }) => `${opId} ${seq}`)
    },
    gives: [3, 4, 5, 6, 7, 8, 9, 10].map((seq) => `op-${seq} ${seq}`),
  },
  {
    name: 'an action time that is gone leaves the queue of actions',
    ask: async ({ invoices }) => {
      const invoice = invoiceNamed('i-1', { state: { nextActionAt: PAST } })
      await invoices.insert(invoice)
      const before = await invoices.dueForAction('none', PAST, 5)
      const early = await invoices.dueForAction('none', PAST - 1, 5)
      await invoices.save(changeOf(invoice, { nextActionAt: null }))
      return [before, early, await invoices.dueForAction('none', FUTURE, 5)]
    },
    gives: [['i-1'], [], []],
  },
  {
    name: 'a lock adds its claim to those of before, and a claim of another refuses the whole change',
    ask: async ({ invoices }) => {
      const mine = invoiceNamed('i-1', { state: { locks: [lock('a')] } })
      await invoices.insert(mine)
      await invoices.insert(invoiceNamed('i-2', { number: 2, state: { locks: [lock('b')] } }))
      const taken = await outcome(invoices.save(changeOf(mine, { locks: [lock('a'), lock('b')] })))
      const version = (await invoices.findById('i-1'))?.state.version
      const moved = await invoices.save(changeOf(mine, { locks: [lock('c')] }))
      return [taken, version, moved, [...(await invoices.claimsTaken(['test:evm:a', 'test:evm:c']))]]
    },
    gives: ['ClaimTaken', 1, true, ['test:evm:a', 'test:evm:c']],
  },
  {
    name: 'released claims are free again',
    ask: async ({ invoices }) => {
      const held = invoiceNamed('i-1', { state: { expiresAt: PAST, locks: [lock('a', { hold: HOLD })] } })
      await invoices.insert(held)
      const due = await invoices.dueForRelease(FUTURE, null, 5)
      const freed = { expiresAt: PAST, locks: [lock('a', { hold: { ...HOLD, releasedAt: PAST } })] }
      return [
        due.length,
        await invoices.releaseClaims('i-1', 7, freed),
        await invoices.releaseClaims('i-1', 1, freed),
        await invoices.dueForRelease(FUTURE, null, 5),
        await invoices.insert(invoiceNamed('i-2', { number: 2, state: { locks: [lock('a')] } })),
        (await invoices.findById('i-1'))?.state.version,
      ]
    },
    gives: [1, false, true, [], { inserted: true }, 2],
  },
  {
    name: 'a claim with live money is told from one without',
    ask: async ({ invoices }) => {
      const row = {
        payment: 'p',
        version: 1,
        state: 'detected' as const,
        amountBase: 5n,
        firstSeenAt: PAST,
        counted: true,
      }
      const rest = { uncountedReason: null, acceptedBase: null, late: false, rateSeen: null, eligible: true }
      const flags = { simulated: false, detected: true, confirmed: false, lateAnnounced: false }
      const ledger = [{ ...row, ...rest, ...flags }]
      await invoices.insert(invoiceNamed('i-1', { state: { locks: [lock('a')], ledger } }))
      const simulated = ledger.map((one) => ({ ...one, simulated: true }))
      await invoices.insert(invoiceNamed('i-2', { number: 2, state: { locks: [lock('b')], ledger: simulated } }))
      const gone = [...simulated, ...ledger.map((one) => ({ ...one, state: 'orphaned' as const }))]
      await invoices.insert(invoiceNamed('i-3', { number: 3, state: { locks: [lock('c')], ledger: gone } }))
      return [...(await invoices.claimsPaid(['test:evm:a', 'test:evm:b', 'test:evm:c']))]
    },
    gives: ['test:evm:a'],
  },
  {
    name: 'a reference inside a lock finds its invoice',
    ask: async ({ invoices }) => {
      await invoices.insert(invoiceNamed('i-1', { state: { locks: [lock('a'), lock('b', { reference: 'ref-1' })] } }))
      await invoices.insert(invoiceNamed('i-2', { number: 2, state: { locks: [lock('c', { reference: 'ref-2' })] } }))
      const holders = await invoices.findByReferences('test', ['ref-1', 'ref-3'])
      return [holders.map(({ invoiceId }) => invoiceId), await invoices.findByReferences('live', ['ref-1'])]
    },
    gives: [['i-1'], []],
  },
]

const LISTS: readonly ContractCase[] = [
  {
    name: 'a list goes from the newest id to the oldest and continues below a cursor',
    ask: async ({ invoices }) => {
      for (const [index, id] of ['i-1', 'i-2', 'i-3'].entries())
        await invoices.insert(invoiceNamed(id, { number: index }))
      await invoices.insert(invoiceNamed('i-4', { workspaceId: 'ws-2' }))
      const ids = async (more: object) =>
        (await invoices.list({ ...query, ...anyTime, ...more })).map(({ terms }) => terms.id)
      return [await ids({}), await ids({ limit: 2 }), await ids({ beforeId: 'i-2' }), await ids({ mode: 'live' })]
    },
    gives: [['i-3', 'i-2', 'i-1'], ['i-3', 'i-2'], ['i-1'], []],
  },
  {
    name: 'a list is narrowed by status, by order and by time of creation',
    ask: async ({ invoices }) => {
      const id = (at: number, last: string) =>
        `${at
          .toString(16)
          .padStart(12, '0')
          .replace(/(.{8})/, '$1-')}-7000-8000-${last}`
      for (const [index, at] of [PAST, PAST + 10, PAST + 20].entries()) {
        const orderId = index === 1 ? 'order-1' : null
        const status = index === 2 ? ('paid' as const) : ('new' as const)
        await invoices.insert(invoiceNamed(id(at, `${index}`), { number: index, at, orderId, state: { status } }))
      }
      const numbers = async (more: object) =>
        (await invoices.list({ ...query, ...anyTime, ...more })).map(({ terms }) => terms.number)
      return [
        await numbers({ status: 'paid' }),
        await numbers({ orderId: 'order-1' }),
        await numbers({ createdAfter: PAST }),
        await numbers({ createdAfter: PAST, createdBefore: PAST + 20 }),
        await invoices.countCreatedSince('ws-1', 'test', PAST + 10),
      ]
    },
    gives: [[2], [1], [2, 1], [1], 2],
  },
  {
    name: 'an outbox is read by shard, oldest first, and trimmed without a change of version',
    ask: async ({ invoices }) => {
      const invoice = invoiceNamed('i-1')
      await invoices.insert(invoice)
      await invoices.save(changeOf(invoice))
      const shard = outboxShardOf('i-1')
      const waiting = async () =>
        (await invoices.outboxBatch([shard], 5)).map(({ outbox }) => outbox.map(({ seq }) => seq))
      const all = await waiting()
      await invoices.trimOutbox([{ id: 'i-1', throughSeq: 1 }])
      const rest = await waiting()
      const overdue = [await invoices.overdueOutboxShards(PAST + 1), await invoices.overdueOutboxShards(PAST + 2)]
      await invoices.trimOutbox([
        { id: 'i-1', throughSeq: 2 },
        { id: 'i-1', throughSeq: 1 },
        { id: 'absent', throughSeq: 2 },
      ])
      const after = await invoices.findById('i-1')
      return [all, rest, overdue, await waiting(), after?.state.version, await invoices.overdueOutboxShards(FUTURE)]
    },
    gives: [[[1, 2]], [[2]], [[], [outboxShardOf('i-1')]], [], 2, []],
  },
  {
    name: 'the end of a hold is walked by time and id',
    ask: async ({ invoices }) => {
      for (const [index, expiresAt] of [PAST, PAST, PAST + 5].entries()) {
        const state = { expiresAt, locks: [lock(`${index}`, { hold: HOLD })] }
        await invoices.insert(invoiceNamed(`i-${index}`, { number: index, state }))
      }
      const first = await invoices.dueForRelease(FUTURE, null, 1)
      const second = await invoices.dueForRelease(FUTURE, first[0] ?? null, 1)
      const last = await invoices.dueForRelease(FUTURE, second[0] ?? null, 5)
      const walked = [first, second, last].map((page) => page.map(({ invoiceId }) => invoiceId))
      return [walked, await invoices.dueForRelease(PAST, null, 5)]
    },
    gives: [[['i-0'], ['i-1'], ['i-2']], []],
  },
]

/** Invoices: inserts and their refusals, compare-and-set, claims, lists, outbox. */
export const INVOICE_CASES: readonly ContractCase[] = [...INSERTS, ...CHANGES, ...LISTS]
