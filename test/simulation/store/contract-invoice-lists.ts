import { outboxShardOf } from '#shared/ports/invoices.ts'
import { sampleLock } from '#test/support/db-samples.ts'
import type { ContractCase } from './contract-case.ts'
import { changeOf, FUTURE, HOLD, invoiceNamed, PAST } from './contract-samples.ts'

const lock = (matchKey: string, overrides: Parameters<typeof sampleLock>[2] = {}) =>
  sampleLock(matchKey, PAST, overrides)
const query = { workspaceId: 'ws-1', mode: 'test' as const, limit: 10, beforeId: null, status: null, orderId: null }
const anyTime = { createdAfter: null, createdBefore: null }

/** Invoices: lists, queues of work by time, the outbox. */
export const INVOICE_LIST_CASES: readonly ContractCase[] = [
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
      const waiting = async (from: number | null = null) =>
        (await invoices.outboxBatch([shard], 5, from)).map(({ outbox }) => outbox.map(({ seq }) => seq))
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
