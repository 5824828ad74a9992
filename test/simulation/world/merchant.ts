import { createHash } from 'node:crypto'
import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import type { Prng } from '../kernel/prng.ts'
import { must } from '../kernel/violation.ts'
import type { SimRequest, SimResponse } from '../processes/api.ts'
import { type LostAnswer, sendRequest } from './client.ts'
import { payInvoice } from './payer.ts'
import type { PublicInvoice } from './public-invoice.ts'
import { createReceiver } from './receivers.ts'
import type { Tenant } from './setup.ts'
import type { Sim } from './sim.ts'

const TRIES = 60
/** Nobody waits longer to cancel. */
const MERCHANT_PATIENCE_MS = 3 * 3_600_000
/** Chance that an order is sent again under its key when the invoice is older. */
const REPEATED_LATER = 0.4

/** What one merchant does in one seed: endpoints first, then orders in bursts. Ends when every answer is known. */
export async function runMerchant(sim: Sim, tenant: Tenant, plan: MerchantPlan, random: Prng): Promise<void> {
  await Promise.all(
    plan.endpoints.map((mode, index) => createEndpoint(sim, tenant, mode, random.fork(`endpoint/${index}`))),
  )
  const later = plan.lateEndpoint
  const extra = later === null ? null : addLater(sim, tenant, later, random.fork('late endpoint'))
  await Promise.all(
    plan.orders.map(async (order, index) => {
      await sim.sleep(order.at - sim.scheduler.now, 'order')
      sim.touch()
      await runOrder(sim, tenant, order, random.fork(`order/${index}`))
    }),
  )
  await extra
}

/** One more endpoint while the shop is open already. */
async function addLater(sim: Sim, tenant: Tenant, later: LateEndpoint, random: Prng): Promise<void> {
  await sim.sleep(later.at - sim.scheduler.now, 'another endpoint')
  sim.touch()
  await createEndpoint(sim, tenant, later.mode, random)
}

interface LateEndpoint {
  readonly at: number
  readonly mode: 'live' | 'test' | 'both'
}

export interface Order {
  readonly at: number
  readonly mode: Mode
  /** Null lets the payer choose. */
  readonly asset: AssetId | null
}

export interface MerchantPlan {
  readonly endpoints: readonly ('live' | 'test' | 'both')[]
  readonly orders: readonly Order[]
  readonly lateEndpoint: LateEndpoint | null
}

/** Asks until there is a definite answer, under one idempotency key, with what clients do wrong in between. */
async function requestOnce(
  sim: Sim,
  tenant: Tenant,
  mode: Mode,
  request: Omit<SimRequest, 'apiKey' | 'idempotencyKey'>,
  random: Prng,
  answered: (input: SimRequest, scope: string) => void = () => undefined,
): Promise<SimResponse | LostAnswer> {
  const key = chooseKey(sim, tenant, mode, request.path, random)
  const scope = `${tenant.workspace.id}:${mode}:${request.path}:${key}`
  const keyed = { ...request, apiKey: tenant.keys[mode].apiKey, idempotencyKey: key }
  const known = { body: request.body ?? '', answer: null }
  sim.book.keyed.set(scope, known)
  const { clientFault } = sim.mix
  const send = async (input: SimRequest): Promise<SimResponse | LostAnswer> => {
    const answer = await sendRequest(sim, input, random)
    if (answer !== 'lost') checkAnswer(sim, scope, input, answer)
    return answer
  }
  if (random.chance(clientFault / 2)) {
    sim.fault('F15 parallel')
    await Promise.all(Array.from({ length: 8 }, () => send(keyed)))
  }
  if (random.chance(clientFault / 3)) {
    sim.fault('F15 disconnect')
    void send(keyed)
    await sim.sleep(random.between(0, 40), 'impatient')
  }
  let pauseMs = 300
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const answer = await send(keyed)
    if (isDefinite(answer)) {
      answered(keyed, scope)
      if (random.chance(clientFault / 2)) {
        sim.fault('F15 again')
        await sim.sleep(random.between(0, 60_000), 'again')
        await send(keyed)
      }
      if (random.chance(clientFault / 3) && request.body !== undefined) {
        sim.fault('F15 other body')
        const other = await sendRequest(
          sim,
          { ...keyed, body: request.body.replace('}', ',"description":"other"}') },
          random,
        )
        if (other !== 'lost' && known.answer !== null && isFresh(sim, known.answer)) {
          must(
            other.status >= 400,
            'S16',
            () => `another body under the key of ${request.path} was answered ${other.status}`,
          )
        }
      }
      return answer
    }
    await sim.sleep(pauseMs * (0.5 + random.next()), 'retry')
    pauseMs = Math.min(pauseMs * 2, 60_000)
  }
  must(!sim.healed, 'L4', () => `${TRIES} times no answer to ${request.path} under one key`)
  return 'lost'
}

/**
 * A shop that lost its own record sends an order again under the same key, while the invoice is open or when it is over: the
 * response is the first one, whatever became of the invoice.
 */
async function repeatLater(sim: Sim, input: SimRequest, scope: string, random: Prng): Promise<void> {
  if (!random.chance(REPEATED_LATER)) return
  await sim.sleep(random.between(60_000, random.pick([1_200_000, MERCHANT_PATIENCE_MS])), 'later')
  sim.touch()
  sim.fault('F15 later')
  const answer = await sendRequest(sim, input, random)
  if (answer !== 'lost') checkAnswer(sim, scope, input, answer)
}

/** Usually a new one; some merchants number their orders alike in both modes, and the two have nothing to do with each other. */
function chooseKey(sim: Sim, tenant: Tenant, mode: Mode, path: string, random: Prng): string {
  const place = `${tenant.workspace.id}:${path}`
  const last = sim.book.lastKeys.get(place)
  const shared = last !== undefined && last.mode !== mode && random.chance(0.5) ? last.key : null
  const key = shared ?? Buffer.from(random.bytes(9)).toString('base64url')
  if (shared === null) sim.book.lastKeys.set(place, { key, mode })
  else sim.book.lastKeys.delete(place)
  return key
}

const KEY_LIFE_MS = 86_400_000

function isFresh(sim: Sim, answer: { readonly at: number }): boolean {
  return sim.scheduler.now - answer.at < KEY_LIFE_MS - 3_600_000
}

/** Answers that say what became of the request: not those that ask to try again. */
function isDefinite(answer: SimResponse | LostAnswer): answer is SimResponse {
  if (answer === 'lost' || answer.status >= 500 || answer.status === 429) return false
  return !answer.body.includes('IDEMPOTENCY_IN_PROGRESS')
}

/** S1, S11, S16: acknowledged means stored; one key means one result, byte for byte. */
function checkAnswer(sim: Sim, scope: string, request: SimRequest, answer: SimResponse): void {
  if (!isDefinite(answer)) return
  must(answer.status < 500, 'S11', () => `${request.path} was answered ${answer.status}`)
  const known = sim.book.keyed.get(scope)
  if (known === undefined) return
  const repeats = known.answer !== null && isFresh(sim, known.answer) && request.body === known.body
  const barred = answer.status === 401 || answer.status === 403
  must(
    !repeats || barred || answer.status < 300,
    'S16',
    () => `${scope} succeeded and its repetition was answered ${answer.status}`,
  )
  if (answer.status >= 300) return
  if (known.answer !== null && isFresh(sim, known.answer)) {
    const first = known.answer
    must(first.body === answer.body, 'S16', () => `the replay of ${scope} differs:\n${first.body}\n${answer.body}`)
  }
  const livemode = `"livemode":${scope.split(':')[1] === 'live'}`
  must(answer.body.includes(livemode), 'S7', () => `a key of one mode was answered with the other: ${scope}`)
  known.answer ??= { status: answer.status, body: answer.body, at: sim.scheduler.now }
  const { data } = JSON.parse(answer.body) as {
    data: { id: string; object: string; status: string; updated_at: string }
  }
  if (data.object === 'invoice') {
    const stored = sim.book.states.get(`${data.id} ${Date.parse(data.updated_at)}`)
    must(stored === data.status, 'S11', () => `${request.path} was answered ${data.status}, which was never stored`)
  }
  const collection = { invoice: 'invoices', webhook_endpoint: 'webhook_endpoints' }[data.object]
  if (collection === undefined) return
  const stored = sim.store.collection(collection).find({ _id: data.id }, sim.store.now())
  const deleted = data.object === 'webhook_endpoint' && sim.book.endpoints.get(data.id)?.deletedAt != null
  must(stored.length === 1 || deleted, 'S11', () => `${data.object} ${data.id} was acknowledged and is not stored`)
}

async function createEndpoint(sim: Sim, tenant: Tenant, mode: 'live' | 'test' | 'both', random: Prng): Promise<void> {
  const name = createHash('sha256').update(random.bytes(8)).digest('hex').slice(0, 12)
  const url = `https://${name}.example/hook`
  sim.book.receivers.set(url, createReceiver(sim, url, random.fork('receiver')))
  const events = random.chance(0.8) ? ['*'] : ['invoice.paid', 'invoice.overpaid', 'payment.confirmed']
  const body = JSON.stringify({ url, events, ...(mode === 'both' && { mode: 'both' }) })
  const answer = await requestOnce(
    sim,
    tenant,
    mode === 'test' ? 'test' : 'live',
    { method: 'POST', path: '/webhook-endpoints', body },
    random,
  )
  if (answer === 'lost' || answer.status !== 201) return
  const { data } = JSON.parse(answer.body) as { data: { id: string; secret: string } }
  const endpoint = {
    id: data.id,
    url,
    secret: data.secret,
    workspaceId: tenant.workspace.id,
    mode,
    events,
    createdAt: sim.scheduler.now,
    deletedAt: null,
  }
  sim.book.endpoints.set(data.id, endpoint)
}

async function runOrder(sim: Sim, tenant: Tenant, { mode, asset }: Order, random: Prng): Promise<void> {
  const amount = `${random.between(5, 300)}.${random.between(10, 99)}`
  const expiresIn = random.chance(0.2) ? { expires_in: random.between(300, 7_200) } : {}
  const body = JSON.stringify({ amount, currency: 'USD', ...(asset !== null && { asset }), ...expiresIn })
  let later: Promise<void> = Promise.resolve()
  const request = { method: 'POST', path: '/invoices', body } as const
  const answer = await requestOnce(sim, tenant, mode, request, random, (input, scope) => {
    later = repeatLater(sim, input, scope, random.fork('later'))
  })
  if (answer !== 'lost' && answer.status === 201) {
    const { data } = JSON.parse(answer.body) as { data: PublicInvoice }
    await liveOn(sim, tenant, data, mode, random)
  }
  await later
}

/** What becomes of an invoice: simulated payments, or a payer, a cancellation, or both at the same time. */
async function liveOn(sim: Sim, tenant: Tenant, invoice: PublicInvoice, mode: Mode, random: Prng): Promise<void> {
  const { id } = invoice
  sim.book.invoices.set(id, { id, workspaceId: tenant.workspace.id, mode, amountMinor: invoice.amount.minor })
  if (mode === 'test' && (invoice.crypto === null || random.chance(0.4))) return simulate(sim, tenant, id, random)
  const cancels = random.chance(0.2)
  const paid = random.chance(cancels ? 0.5 : 1) ? payInvoice(sim, tenant, invoice, mode, random.fork('payer')) : null
  if (cancels) await cancel(sim, tenant, invoice, mode, random.fork('cancel'))
  await paid
}

/** Cancels while the payer may be paying, at the deadline, or when the invoice is over. */
async function cancel(sim: Sim, tenant: Tenant, invoice: PublicInvoice, mode: Mode, random: Prng): Promise<void> {
  const { id } = invoice
  const ends = Date.parse(invoice.expires_at) - sim.scheduler.now
  const after = random.pick([
    random.between(0, 700_000),
    ends + random.between(-500, 60_000),
    ends + random.between(0, 3_600_000),
  ])
  await sim.sleep(Math.min(after, MERCHANT_PATIENCE_MS), 'cancel')
  sim.touch()
  const path = `/invoices/${id}/cancel`
  const answer = await requestOnce(sim, tenant, mode, { method: 'POST', path, body: '{}' }, random)
  const lost = answer !== 'lost' && answer.status === 409 && isCancelled(sim, id)
  must(!lost, 'S16', () => `invoice ${id} was cancelled and its cancellation refused`)
}

/** Nobody but this merchant cancels the invoice, so a refusal of the only cancellation means that it took effect unnoticed. */
function isCancelled(sim: Sim, id: string): boolean {
  return sim.store.collection('invoices').find({ _id: id }, sim.store.now())[0]?.['status'] === 'cancelled'
}

async function simulate(sim: Sim, tenant: Tenant, id: string, random: Prng): Promise<void> {
  const scenarios = random.pick([
    ['paid'],
    ['partial', 'paid'],
    ['partial', 'expired'],
    ['overpaid'],
    ['expired'],
    ['partial', 'overpaid'],
  ])
  for (const scenario of scenarios) {
    await sim.sleep(random.between(100, 240_000), 'simulate')
    sim.touch()
    const path = `/test/invoices/${id}/simulate`
    if (scenario !== 'expired') sim.book.played.set(id, (sim.book.played.get(id) ?? 0) + 1)
    await requestOnce(
      sim,
      tenant,
      'test',
      { method: 'POST', path, body: JSON.stringify({ scenario }) },
      random.fork(scenario),
    )
  }
}
