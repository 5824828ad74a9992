import { OUTBOX_SHARDS } from '#shared/ports/invoices.ts'
import { samplePaymentMethod } from '#test/support/db-samples.ts'
import { changeOf, FUTURE, HOLD, invoiceNamed, PAST } from './contract-samples.ts'
import { pickSome, type StoreQuery, type Turn } from './sequence-turn.ts'

const MODES = ['test', 'live'] as const
const WORKSPACES = ['ws-1', 'ws-2'] as const

const INVOICE_IDS = ['i-1', 'i-2', 'i-3', 'i-4'] as const
const MATCH_KEYS = ['a', 'b', 'c', 'd', 'e'] as const
const claim = (key: string): string => `test:evm:${key}`

function randomPaymentMethods({ random, tick }: Turn) {
  return pickSome(random, MATCH_KEYS)
    .slice(0, 2)
    .map((key) =>
      samplePaymentMethod(key, tick(), {
        ...(random.chance(0.5) && { hold: { ...HOLD, releasedAt: random.chance(0.3) ? tick() : null } }),
        ...(random.chance(0.3) && { reference: `ref-${key}` }),
      }),
    )
}

/** Invoices: inserts, compare-and-set, claims, outbox, lists. */
export const INVOICE_QUERIES: readonly StoreQuery[] = [
  async (turn) => {
    const { on, random, tick } = turn
    const at = tick()
    const invoice = invoiceNamed(random.pick(INVOICE_IDS), {
      workspaceId: random.pick(WORKSPACES),
      number: random.between(1, 4),
      at,
      orderId: random.pick([null, 'order-1']),
      ...(random.chance(0.5) && { idempotencyKey: random.pick(['k-1', 'k-2']) }),
      ...(random.chance(0.5) && { opId: 'op-0' }),
      state: {
        paymentMethods: randomPaymentMethods(turn),
        expiresAt: tick(),
        nextActionAt: random.pick([null, tick()]),
      },
    })
    return on.invoices.insert(invoice)
  },
  async (turn) => {
    const { on, random, tick } = turn
    const id = random.pick(INVOICE_IDS)
    const found = await on.invoices.findById(id)
    if (found === null) return
    const paymentMethods = random.chance(0.5) ? found.state.paymentMethods : randomPaymentMethods(turn)
    const from = found.state.version + random.pick([0, 0, 0, 1])
    const op = random.pick([null, `op-${from}`])
    const change = { from, op, paymentMethods, nextActionAt: random.pick([null, tick()]), expiresAt: tick() }
    const invoice = { ...found, idempotency: null, opId: null }
    return on.invoices.save(changeOf(invoice, { ...change, status: random.pick(['pending', 'paid', 'expired']) }))
  },
  async (turn) => {
    const { on, random, tick } = turn
    const id = random.pick(INVOICE_IDS)
    const found = await on.invoices.findById(id)
    const paymentMethods = (found?.state.paymentMethods ?? []).map((paymentMethod) =>
      paymentMethod.hold === undefined || random.chance(0.5)
        ? paymentMethod
        : { ...paymentMethod, hold: { ...paymentMethod.hold, releasedAt: tick() } },
    )
    return on.invoices.releaseClaims(id, found?.state.version ?? 1, {
      paymentMethods,
      expiresAt: found?.state.expiresAt ?? PAST,
      paidAt: found?.state.paidAt ?? null,
    })
  },
  async ({ on, random, tick }) => {
    const shards = [random.between(0, OUTBOX_SHARDS - 1)]
    return (await on.invoices.outboxBatch(shards, random.between(1, 3), random.pick([null, tick()]))).invoices
  },
  ({ on, random }) =>
    on.invoices.trimOutbox(pickSome(random, INVOICE_IDS).map((id) => ({ id, throughSeq: random.between(0, 4) }))),
  ({ on, random }) => on.invoices.claimsTaken(pickSome(random, MATCH_KEYS).map(claim)),
  ({ on, random }) => on.invoices.priorHolds(pickSome(random, MATCH_KEYS).map(claim), PAST),
  ({ on, random }) => on.invoices.drawsTaken(pickSome(random, MATCH_KEYS).map((key) => `place-${key}`)),
  ({ on, random }) => on.invoices.findByClaims(pickSome(random, MATCH_KEYS).map(claim)),
  ({ on, random }) =>
    on.invoices.findByReferences(
      random.pick(MODES),
      pickSome(random, MATCH_KEYS).map((key) => `ref-${key}`),
    ),
  ({ on, random, tick }) => on.invoices.isAnyDue(pickSome(random, ['none', 'test:ethereum']), tick()),
  ({ on, random, tick }) =>
    on.invoices.dueForAction(
      random.pick(['none', 'test:ethereum']),
      tick(),
      random.between(1, 3),
      random.pick([0, 0, 1]),
    ),
  ({ on, random }) =>
    on.invoices.waitForChain(
      random.pick(INVOICE_IDS),
      random.between(1, 3),
      random.pick(['test:ethereum', 'test:bitcoin']),
    ),
  async ({ on, random }) => {
    const [first = null] = await on.invoices.dueForRelease(FUTURE, null, 1)
    return on.invoices.dueForRelease(FUTURE, first, random.between(1, 3))
  },
  ({ on, random, tick }) =>
    on.invoices.list({
      workspaceId: random.pick(WORKSPACES),
      mode: 'test',
      limit: random.between(1, 4),
      beforeId: random.pick([null, 'i-3']),
      status: random.pick([null, 'new', 'paid']),
      orderId: random.pick([null, 'order-1']),
      createdAfter: random.pick([null, PAST + 3_000]),
      createdBefore: random.pick([null, tick()]),
    }),
  async ({ on, random }) => {
    const [workspaceId, key] = [random.pick(WORKSPACES), random.pick(['k-1', 'k-2'])]
    const found = await on.invoices.findByIdempotencyKey(workspaceId, 'test', key)
    if (found !== null && random.chance(0.5))
      await on.invoices.releaseIdempotencyKey(found.invoice.terms.id, found.idempotency)
  },
  ({ on, random }) => on.invoices.highestNumber(random.pick(WORKSPACES), 'test'),
  ({ on, tick }) => on.invoices.overdueOutboxShards(tick()),
]
