import { OUTBOX_SHARDS } from '#shared/usecases/ports/invoices.ts'
import { sampleDelivery, sampleLock, sampleSighting } from '#test/support/db-samples.ts'
import type { Prng } from '../kernel/prng.ts'
import {
  auditNamed,
  changeOf,
  endpointNamed,
  exceptionNamed,
  FUTURE,
  HOLD,
  invoiceNamed,
  LEASE_MS,
  outcomeOf,
  PAST,
} from './contract-samples.ts'
import type { Repositories } from './contract-stage.ts'

/** What a question may draw on. Names come from small sets, so that questions meet each other. */
interface Turn {
  readonly on: Repositories
  readonly random: Prng
  /** A time of its own in the past, later than all before it: no two documents tie when sorted by time. */
  tick(): number
}

type Ask = (turn: Turn) => Promise<unknown>

const MODES = ['test', 'live'] as const
const WORKSPACES = ['ws-1', 'ws-2'] as const

const pickSome = <T>(random: Prng, list: readonly T[]): T[] => list.filter(() => random.chance(0.5))

/** Asks of one area in random order, `length` of them. Errors are answers as well; the stage has written them down. */
export async function runSequence(
  area: keyof typeof AREAS,
  on: Repositories,
  random: Prng,
  length: number,
): Promise<void> {
  let ticks = 0
  const turn: Turn = { on, random, tick: () => PAST + 1_000 * ++ticks }
  for (let step = 0; step < length; step++)
    await random
      .pick<Ask>(AREAS[area])(turn)
      .catch(() => undefined)
}

const INVOICE_IDS = ['i-1', 'i-2', 'i-3', 'i-4'] as const
const MATCH_KEYS = ['a', 'b', 'c', 'd', 'e'] as const
const claim = (key: string): string => `test:evm:${key}`

function randomLocks({ random, tick }: Turn) {
  return pickSome(random, MATCH_KEYS)
    .slice(0, 2)
    .map((key) =>
      sampleLock(key, tick(), {
        ...(random.chance(0.5) && { hold: { ...HOLD, releasedAt: random.chance(0.3) ? tick() : null } }),
        ...(random.chance(0.3) && { reference: `ref-${key}` }),
      }),
    )
}

const invoiceAsks: readonly Ask[] = [
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
      state: { locks: randomLocks(turn), expiresAt: tick(), nextActionAt: random.pick([null, tick()]) },
    })
    return on.invoices.insert(invoice)
  },
  async (turn) => {
    const { on, random, tick } = turn
    const id = random.pick(INVOICE_IDS)
    const found = await on.invoices.findById(id)
    if (found === null) return
    const locks = random.chance(0.5) ? found.state.locks : randomLocks(turn)
    const from = found.state.version + random.pick([0, 0, 0, 1])
    const op = random.pick([null, `op-${from}`])
    const change = { from, op, locks, nextActionAt: random.pick([null, tick()]), expiresAt: tick() }
    const invoice = { ...found, idempotency: null, opId: null }
    return on.invoices.save(changeOf(invoice, { ...change, status: random.pick(['pending', 'paid', 'expired']) }))
  },
  async (turn) => {
    const { on, random, tick } = turn
    const id = random.pick(INVOICE_IDS)
    const found = await on.invoices.findById(id)
    const locks = (found?.state.locks ?? []).map((lock) =>
      lock.hold === undefined || random.chance(0.5) ? lock : { ...lock, hold: { ...lock.hold, releasedAt: tick() } },
    )
    return on.invoices.releaseClaims(id, found?.state.version ?? 1, {
      locks,
      expiresAt: found?.state.expiresAt ?? PAST,
    })
  },
  ({ on, random }) => on.invoices.outboxBatch([random.between(0, OUTBOX_SHARDS - 1)], random.between(1, 3)),
  ({ on, random }) =>
    on.invoices.trimOutbox(pickSome(random, INVOICE_IDS).map((id) => ({ id, throughSeq: random.between(0, 4) }))),
  ({ on, random }) => on.invoices.claimsTaken(pickSome(random, MATCH_KEYS).map(claim)),
  ({ on, random }) => on.invoices.findByClaims(pickSome(random, MATCH_KEYS).map(claim)),
  ({ on, random }) =>
    on.invoices.findByReferences(
      random.pick(MODES),
      pickSome(random, MATCH_KEYS).map((key) => `ref-${key}`),
    ),
  ({ on, random, tick }) =>
    on.invoices.dueForAction(random.pick(['none', 'test:ethereum']), tick(), random.between(1, 3)),
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

const chain = { mode: 'test' as const, network: 'ethereum' as const }

function randomSightings({ random, tick }: Turn) {
  return pickSome(random, ['a', 'b', 'c', 'd', 'e']).map((name) => {
    const height = random.between(98, 103)
    const isStray = name === 'e'
    return sampleSighting(`test:ethereum:${name}:0`, {
      block: random.chance(0.3)
        ? null
        : { height, hash: `h${height}${random.pick(['', '', "'"])}`, time: PAST + height },
      amountBase: random.chance(0.05) ? 7n : 5n,
      needsFinality: name === 'b',
      invoiceId: isStray ? null : `invoice-${name}`,
      workspaceId: isStray ? null : 'ws-1',
      uncountedReason: isStray ? 'unmatched' : null,
      firstSeenAt: tick(),
    })
  })
}

/** Mostly the standing epoch, sometimes a newer one, and once in a while one that is past. */
const epochOf = ({ random }: Turn): number => random.pick([2, 2, 2, 2, 3, 1])

const paymentAsks: readonly Ask[] = [
  (turn) => turn.on.payments.recordSightings(randomSightings(turn), epochOf(turn), turn.tick()),
  (turn) => turn.on.payments.recordSightings(randomSightings(turn), epochOf(turn), turn.tick()),
  (turn) =>
    turn.on.payments.confirmThrough({
      ...chain,
      height: turn.random.between(99, 106),
      finalizedHeight: turn.random.pick([null, 99, 103]),
      except: pickSome(turn.random, ['test:ethereum:a:0']),
      epoch: epochOf(turn),
      at: turn.tick(),
    }),
  (turn) =>
    turn.on.payments.endUnconfirmed({
      ...chain,
      fates: [
        { key: 'test:ethereum:a:0', state: 'replaced' as const, replacedBy: '0xnew' },
        { key: 'test:ethereum:b:0', state: 'dropped' as const },
      ].filter(() => turn.random.chance(0.5)) as never,
      epoch: epochOf(turn),
      at: turn.tick(),
    }),
  (turn) =>
    turn.on.payments.orphanAbove({
      ...chain,
      forkHeight: turn.random.between(98, 102),
      unconfirmedOnly: turn.random.chance(0.5),
      epoch: epochOf(turn),
      at: turn.tick(),
    }),
  (turn) =>
    turn.on.payments.orphanStrangers({
      ...chain,
      confirmedToo: turn.random.chance(0.5),
      blocks: [100, 101].map((height) => ({ height, hash: `h${height}` })),
      epoch: epochOf(turn),
      at: turn.tick(),
    }),
  ({ on, random }) =>
    on.payments.markApplied(
      pickSome(random, ['a', 'b', 'c']).map((name) => ({
        key: `test:ethereum:${name}:0`,
        version: random.between(1, 4),
        counted: true,
        uncountedReason: null,
        late: random.chance(0.5),
      })),
    ),
  ({ on, random, tick }) => on.payments.takeDirtyInvoices({ before: tick(), at: tick(), limit: random.between(1, 3) }),
  ({ on, random }) => on.payments.listByTransaction('test', 'ethereum', random.pick(['a', 'b', 'e'])),
  ({ on }) => on.payments.unconfirmed('test', 'ethereum'),
  ({ on, random }) => on.payments.countInBlocks({ ...chain, from: 99, to: random.between(100, 103) }),
  ({ on, random }) =>
    on.payments.list({
      workspaceId: 'ws-1',
      mode: 'test',
      invoiceId: random.pick([null, 'invoice-a']),
      limit: 3,
      beforeId: null,
    }),
  async ({ on, random, tick }) => {
    const [stray] = await on.payments.listUnheld('test', ['aa'], 1)
    if (stray === undefined) return
    const owner = { invoiceId: 'invoice-a', workspaceId: 'ws-1' }
    await on.payments.attribute({ id: stray.id, version: stray.version + random.pick([0, 1]) }, owner, tick())
  },
]

const DELIVERY_IDS = ['d-1', 'd-2', 'd-3', 'd-4', 'd-5', 'd-6'] as const
const TOKENS = ['t-1', 't-2', 't-3'] as const
const ENDPOINTS = ['endpoint-1', 'endpoint-2'] as const

const deliveryAsks: readonly Ask[] = [
  ({ on, random, tick }) =>
    on.deliveries.insertMany(
      pickSome(random, DELIVERY_IDS).map((id) =>
        sampleDelivery(id, {
          eventId: random.pick(['e-1', 'e-2', 'e-3']),
          endpointId: random.pick(ENDPOINTS),
          mode: random.pick(MODES),
          generation: random.between(0, 2),
          dueAt: random.chance(0.2) ? FUTURE + tick() : tick(),
          createdAt: tick(),
        }),
      ),
    ),
  async ({ on, random }) => {
    const wants = pickSome(random, ENDPOINTS).map((endpointId) => ({ endpointId, limit: random.between(1, 3) }))
    const rows = await on.deliveries.findDue(wants)
    await on.deliveries.claim(rows, random.pick(TOKENS), random.pick([0, LEASE_MS]))
  },
  async ({ on, random, tick }) => {
    const token = random.pick(TOKENS)
    const outcomes = pickSome(random, DELIVERY_IDS).map((id) =>
      outcomeOf(id, token, random.pick(['succeeded', 'retry', 'failed']), random.pick([null, tick(), FUTURE])),
    )
    await on.deliveries.finish(outcomes)
  },
  ({ on, random }) => on.deliveries.release(random.pick(TOKENS)),
  ({ on, random }) =>
    random.chance(0.2) ? on.deliveries.purge(random.pick(ENDPOINTS), random.pick([null, 'live'])) : Promise.resolve(),
  ({ on, random }) => on.deliveries.dueEndpoints(FUTURE, random.between(1, 2)),
  ({ on, random }) => on.deliveries.nextDue(random.pick(ENDPOINTS)),
  ({ on, random }) => on.deliveries.findById(random.pick(DELIVERY_IDS)),
  ({ on, random }) => on.deliveries.highestGeneration(random.pick(['e-1', 'e-2']), random.pick(ENDPOINTS)),
  ({ on, random }) => on.deliveries.listByEvent(random.pick(['e-1', 'e-2'])),
  ({ on, random, tick }) =>
    on.exceptions[random.pick(['open', 'openOnce'] as const)](
      pickSome(random, ['x-1', 'x-2']).map((id) =>
        exceptionNamed(id, { openedAt: tick(), workspaceId: random.pick([null, 'ws-1']) }),
      ),
    ),
  ({ on, random, tick }) => on.exceptions.close(pickSome(random, ['x-1', 'x-2']), tick()),
  ({ on, random, tick }) => on.exceptions.closeAudited('x-1', tick(), auditNamed(`a-${random.between(1, 3)}`)),
  ({ on, random }) => on.exceptions.listOpen(random.pick([null, 'ws-1'])),
  ({ on, random }) =>
    on.endpoints.insert(endpointNamed(random.pick(['w-1', 'w-2']), { mode: random.pick(['test', 'both']) })),
  ({ on, random }) => on.endpoints.restrictToLive(random.pick(['w-1', 'w-2'])),
  ({ on, random }) => on.endpoints.list('ws-1', random.pick([null, 'live', 'test'])),
  ({ on, random }) =>
    on.events.insertMany(
      pickSome(random, ['e-1', 'e-2', 'e-3']).map((id) => ({
        id,
        workspaceId: 'ws-1',
        mode: 'test' as const,
        invoiceId: random.pick([null, 'i-1']),
        seq: random.between(1, 3),
        type: 'invoice.created' as const,
        body: random.bytes(6),
        createdAt: PAST,
      })),
    ),
  ({ on }) => on.events.listByInvoice('i-1'),
]

const OWNERS = ['one', 'two'] as const

const material = {
  id: 'm-1',
  mode: 'test' as const,
  family: 'evm' as const,
  kind: 'xpub' as const,
  fingerprint: 'f',
  sealed: 's',
  sandbox: false,
  nextIndex: 0,
  derivedCount: 0,
  returned: [],
  createdAt: PAST,
}
const cursor = {
  id: 'test:ethereum',
  ...chain,
  height: 5,
  hash: 'h0',
  time: PAST,
  window: [],
  headHeight: 9,
  headSeenAt: PAST,
  finalizedHeight: null,
  status: 'live' as const,
  haltReason: null,
  genesisHash: 'g',
  lease: null,
}

const keeperAsks: readonly Ask[] = [
  ({ on, random }) =>
    on.leases.acquire(random.pick(['work', 'other']), random.pick(OWNERS), random.pick([0, LEASE_MS])),
  ({ on, random }) => on.leases.release('work', random.pick(OWNERS)),
  ({ on }) => on.cursors.create(cursor),
  ({ on, random }) => on.cursors.acquireLease('test', 'ethereum', random.pick(OWNERS), random.pick([0, LEASE_MS])),
  ({ on, random }) => on.cursors.releaseLease('test', 'ethereum', random.pick(OWNERS)),
  async ({ on, random, tick }) => {
    const now = await on.cursors.find('test', 'ethereum')
    const expected = { hash: now?.hash ?? 'h0', epoch: (now?.lease?.epoch ?? 1) - random.pick([0, 0, 1]) }
    const height = random.between(6, 9)
    const next = { height, hash: `h${height}`, window: [[height, `h${height}`]] as const, headSeenAt: tick() }
    await on.cursors.advance(
      'test',
      'ethereum',
      expected,
      random.chance(0.5) ? next : { mempoolAt: tick(), haltReason: 'why' },
    )
  },
  ({ on, random, tick }) =>
    on.idempotency.begin('op', random.pick(['f', 'g']), `r-${random.between(1, 9)}`, tick(), random.pick([0, 60_000])),
  ({ on, random }) => on.idempotency.finish('op', random.between(1, 3), { status: 201, body: '{}' }),
  ({ on, random }) => on.idempotency[random.pick(['release', 'giveUp'] as const)]('op', random.between(1, 3)),
  ({ on }) => on.wallets.upsertMaterial(material),
  ({ on, random }) => on.wallets.reserveIndexes('m-1', random.between(0, 3)),
  ({ on, random }) => on.wallets.returnIndexes('m-1', pickSome(random, [0, 1, 2])),
  ({ on, random }) => {
    const rows = pickSome(random, [0, 1, 2, 3]).map((index) => ({
      ...{
        mode: 'test' as const,
        family: 'evm' as const,
        matchKey: `a${random.between(0, 4)}`,
        address: '0x',
        materialId: 'm-1',
        index,
      },
      watchedOn: pickSome(random, ['polygon', 'base'] as const),
    }))
    return on.wallets.addDerived('m-1', rows, random.between(0, 4))
  },
  ({ on, random }) =>
    on.wallets.addListed(
      'p-1',
      pickSome(random, ['a0', 'a1', 'z']).map((matchKey) => ({
        mode: 'test',
        family: 'evm',
        matchKey,
        address: '0x',
        materialId: 'p-1',
      })),
    ),
  ({ on, random }) =>
    on.wallets.markWatched(
      'test',
      'evm',
      random.pick(['base', 'polygon', 'ethereum']),
      pickSome(random, ['a0', 'a1', 'z']),
    ),
  ({ on, random }) => on.wallets.unmarkedWatches('test', 'evm', random.pick(['base', 'polygon']), 9),
  ({ on, random }) => on.wallets.heldPage('p-1', random.pick([null, 'a0']), 2),
  ({ on }) => on.wallets.watchPage('test', 'evm', 'a0', 3),
]

/** The areas that sequences are drawn from; the questions of one share their documents. */
export const AREAS = {
  invoices: invoiceAsks,
  payments: paymentAsks,
  deliveries: deliveryAsks,
  keepers: keeperAsks,
} as const
