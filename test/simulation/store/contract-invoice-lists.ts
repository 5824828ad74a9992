import { outboxShardOf } from '#shared/ports/invoices.ts'
import { samplePaymentMethod } from '#test/support/db-samples.ts'
import type { ContractCase } from './contract-case.ts'
import { changeOf, FUTURE, HOLD, invoiceNamed, PAST } from './contract-samples.ts'

const paymentMethod = (matchKey: string, overrides: Parameters<typeof samplePaymentMethod>[2] = {}) =>
  samplePaymentMethod(matchKey, PAST, overrides)
const query = { workspaceId: 'ws-1', mode: 'test' as const, limit: 10, beforeId: null, status: null, orderId: null }
const anyTime = { createdAfter: null, createdBefore: null }

/** Invoices: lists, queues of work by time, the outbox. */
export const INVOICE_LIST_CASES: readonly ContractCase[] = [
  {
    name: 'a list goes from the newest id to the oldest and continues below a cursor',
    query: async ({ invoices }) => {
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
    query: async ({ invoices }) => {
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
      ]
    },
    gives: [[2], [1], [2, 1], [1]],
  },
  {
    name: 'a month is counted from its invoices, and from a stored count once many are behind it',
    query: async ({ invoices, counts }) => {
      const hour = 3_600_000
      const noon = Date.UTC(2026, 0, 20, 12)
      const id = (at: number, index: number) =>
        `${at
          .toString(16)
          .padStart(12, '0')
          .replace(/(.{8})/, '$1-')}-7000-8000-${index.toString(16).padStart(12, '0')}`
      const create = async (first: number, count: number, at: number) => {
        for (let index = first; index < first + count; index += 1) {
          await invoices.insert(invoiceNamed(id(at, index), { number: index, at }))
        }
      }
      const count = (at: number) => counts.inMonth({ workspaceId: 'ws-1', mode: 'test', at }, 0)
      await create(1, 210, noon - hour)
      const first = [await count(noon), await count(noon)]
      await create(211, 3, noon)
      const second = await count(noon + 1)
      await create(214, 1, noon - 2 * hour)
      const missed = await count(noon + 1)
      return [first, second, missed, await counts.repair(noon + hour), await count(noon + hour)].flat()
    },
    gives: [
      ...[210, 210, 213, 213].map((all) => ({ all, byLinks: 0 })),
      { workspaceId: 'ws-1', mode: 'test', month: '2026-01', stored: 210, right: 211 },
      { all: 214, byLinks: 0 },
    ],
  },
  {
    name: 'an outbox is read by shard, oldest first, and trimmed without a change of version',
    query: async ({ invoices }) => {
      const invoice = invoiceNamed('i-1')
      await invoices.insert(invoice)
      await invoices.save(changeOf(invoice))
      const shard = outboxShardOf('i-1')
      const waiting = async (from: number | null = null) =>
        (await invoices.outboxBatch([shard], 5, from)).invoices.map(({ outbox }) => outbox.map(({ seq }) => seq))
      const all = await waiting()
      await invoices.trimOutbox([{ id: 'i-1', throughSeq: 1 }])
      const rest = await waiting()
      const since = [await waiting(PAST + 2), await waiting(PAST + 3)]
      const overdue = [await invoices.overdueOutboxShards(PAST + 1), await invoices.overdueOutboxShards(PAST + 2)]
      await invoices.trimOutbox([
        { id: 'i-1', throughSeq: 2 },
        { id: 'i-1', throughSeq: 1 },
        { id: 'absent', throughSeq: 2 },
      ])
      const after = await invoices.findById('i-1')
      return [
        all,
        rest,
        since,
        overdue,
        await waiting(),
        after?.state.version,
        await invoices.overdueOutboxShards(FUTURE),
      ]
    },
    gives: [[[1, 2]], [[2]], [[[2]], []], [[], [outboxShardOf('i-1')]], [], 2, []],
  },
  {
    name: 'the end of a hold is walked by time and id',
    query: async ({ invoices }) => {
      for (const [index, expiresAt] of [PAST, PAST, PAST + 5].entries()) {
        const state = { expiresAt, paymentMethods: [paymentMethod(`${index}`, { hold: HOLD })] }
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
  {
    name: 'payment methods of a network are read with their holds, whatever the status of their invoice, until its deadline',
    query: async ({ invoices }) => {
      for (const [index, expiresAt] of [PAST, FUTURE].entries()) {
        const methods = [paymentMethod(`${index}`), paymentMethod(`listed-${index}`, { hold: HOLD })]
        const state = { status: 'confirming', expiresAt, paymentMethods: methods } as const
        await invoices.insert(invoiceNamed(`i-${index}`, { number: index, state }))
      }
      const read = await invoices.watchedMethods('test', 'ethereum', PAST)
      return read.map(({ since, ...method }) => [method, since > 0])
    },
    gives: ['1', 'listed-1'].map((matchKey) => {
      const status = { isOpen: true, isUnpaid: false, isListed: matchKey !== '1' }
      return [{ invoiceId: 'i-1', matchKey, expiresAt: FUTURE, ...status }, true]
    }),
  },
  {
    name: 'payment methods of open invoices are counted by asset, the nearest deadlines first, up to a limit',
    query: async ({ invoices }) => {
      const open = (id: string, number: number, asset: 'usdt_ethereum' | 'eth_ethereum', expiresAt: number) =>
        invoices.insert(
          invoiceNamed(id, {
            number,
            state: { status: 'pending', expiresAt, paymentMethods: [paymentMethod(id, { asset })] },
          }),
        )
      await open('i-1', 1, 'usdt_ethereum', FUTURE + 2)
      await open('i-2', 2, 'eth_ethereum', FUTURE)
      await open('i-3', 3, 'eth_ethereum', FUTURE + 1)
      await open('i-4', 4, 'eth_ethereum', PAST)
      await invoices.save(changeOf(invoiceNamed('i-3'), { status: 'cancelled' }))
      const counted = async (limit: number) => {
        const { byAsset, ...rest } = await invoices.countOpenMethods('test', 'ethereum', PAST, limit)
        return [[...byAsset].sort(), rest.nextDeadline === FUTURE, rest.isComplete]
      }
      return [await counted(10), await counted(1), await invoices.countOpenMethods('live', 'ethereum', PAST, 10)]
    },
    gives: [
      [
        [
          ['eth_ethereum', 1],
          ['usdt_ethereum', 1],
        ],
        true,
        true,
      ],
      [[['eth_ethereum', 1]], true, false],
      { byAsset: new Map(), nextDeadline: null, isComplete: true },
    ],
  },
]
