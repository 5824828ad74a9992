import type { Database } from '#shared/db/connection/connect.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { pause } from './child.ts'
import { compare, type Load, type Sides, warmUp } from './load.ts'
import type { BenchOptions } from './options.ts'
import { type Rig, type Side, withRig } from './rig.ts'

/** Longer than an insert takes on a busy machine. */
const SETTLE_MS = 500

/**
 * `POST /invoices` against bare `node:http` with one native insert of the same document, on the same stores, interleaved.
 * A: only the API process runs next to the stores. B: relay, invoice worker and dispatcher run as well. Half of the
 * requests carry an Idempotency-Key; every 201 is checked in the store.
 */
export function benchCreateInvoice(options: BenchOptions): Promise<void> {
  return withRig(options, async (rig) => {
    const sides = { api: rig.api, bare: await rig.startBare(await rig.openDatabase()) }
    const load = { ...createLoad(rig), check: await createLedger(sides) }
    await warmUp(sides, load)
    await compare('A, relay stopped', sides, load, options)
    for (const service of ['invoices', 'webhooks'] as const) await rig.startService(service)
    // Otherwise the baseline would be measured while the relay processes the API's backlog.
    const settle = () => untilRelayed(rig.api.db)
    await compare('B, everything running', sides, { ...load, settle }, options)
  })
}

/** Invoices of all keys in turn, every second one with an Idempotency-Key. */
export function createLoad({ keys, body }: Rig): Load {
  return {
    method: 'POST',
    body,
    status: 201,
    next: (turn) => ({
      path: '/api/v1/invoices',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${keys[turn % keys.length]?.apiKey ?? ''}`,
        ...(turn % 2 === 0 && { 'idempotency-key': `bench-${turn}` }),
      },
    }),
  }
}

/**
 * Compares every 201 so far with the invoices in the store. Requests in flight when a measurement ends are stored without
 * being counted, some of them only during the next one when the store is slow; so the sums are compared.
 */
async function createLedger({ api, bare }: Sides): Promise<NonNullable<Load['check']>> {
  const sums = new Map<Side, { stored: number; counted: number; inFlight: number }>()
  for (const side of [api, bare]) sums.set(side, { stored: await untilStable(side), counted: 0, inFlight: 0 })
  return async (side, counted, connections) => {
    const sum = sums.get(side)
    if (sum === undefined) throw new Error('a side that takes no part')
    sum.counted += counted
    sum.inFlight += connections
    const stored = (await untilStable(side)) - sum.stored
    const isRight = stored >= sum.counted && stored <= sum.counted + sum.inFlight
    return isRight ? null : `${sum.counted} times 201 in all, ${stored} stored`
  }
}

/** Resolves when the relay has processed everything. */
async function untilRelayed(db: Database): Promise<void> {
  while ((await db.collection(INVOICES).findOne({ outboxAt: { $exists: true } })) !== null) await pause(250)
}

/** How many invoices the side has stored once no write is in flight. */
async function untilStable({ db }: Side): Promise<number> {
  let last = -1
  for (;;) {
    const count = await db.collection(INVOICES).countDocuments()
    if (count === last) return count
    last = count
    await pause(SETTLE_MS)
  }
}
