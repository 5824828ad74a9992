import { setTimeout as delay } from 'node:timers/promises'
import { createPaymesh, type Paymesh, PaymeshApiError } from '#clients/typescript/src/main.ts'
import { payLocally } from '#dev/local-chain/pay-locally.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { type Ledger, PLANS, type Plan } from './ledger.ts'

const ASSET = 'usdt_ethereum'
/** Longer than any run, so that deadlines do not affect the expected result. */
const EXPIRES_IN_S = 86_400
const ATTEMPT_MS = 5_000
const PAUSE_MS = 500
/** Temporary refusals. */
const LATER = new Set(['RATE_LIMITED', 'IDEMPOTENCY_IN_PROGRESS', 'RATES_UNAVAILABLE', 'INTERNAL_ERROR'])
/** Of ten invoices, how many follow each plan; none expires, as no run takes that long. */
const WEIGHTS: Readonly<Record<Plan, number>> = { exact: 5, parts: 2, over: 1, cancel: 1, none: 1, expire: 0 }
const DECK = PLANS.flatMap((plan) => Array.from({ length: WEIGHTS[plan] }, () => plan))

export interface MerchantOptions {
  readonly apiUrl: string
  /** Several, because each may send two requests a second at most. */
  readonly apiKeys: readonly string[]
  readonly rpcUrl: string
  readonly ledger: Ledger
  readonly perSecond: number
  /** From 0 to below 1. */
  readonly random: () => number
}

/** Merchants who create invoices, payers who pay them. */
export interface Merchant {
  /** Opens no more invoices; resolves when every started one is answered, paid or cancelled as planned. */
  finish(): Promise<void>
  /** Milliseconds that each create took from the first attempt to its final response. */
  readonly waits: readonly number[]
}

/**
 * Creates invoices at an even pace. Each intent is recorded before the first request, and is repeated under its key
 * until the response is final, whatever happens in between.
 */
export function startMerchant(options: MerchantOptions): Merchant {
  const clients = options.apiKeys.map((apiKey) =>
    createPaymesh({ apiKey, baseUrl: options.apiUrl, maxRetries: 0, timeoutMs: ATTEMPT_MS }),
  )
  const waits: number[] = []
  const work = new Set<Promise<void>>()
  const payer = createPayer(options)
  const failures: unknown[] = []
  let count = 0
  const timer = setInterval(() => {
    count += 1
    const client = clients[count % clients.length]
    const plan = DECK[Math.floor(options.random() * DECK.length)] ?? 'exact'
    if (client === undefined) return
    const one: Promise<void> = serve({ ...options, payer, waits }, client, { key: `chaos-${count}`, plan })
      .catch((error: unknown) => void failures.push(error))
      .finally(() => work.delete(one))
    work.add(one)
  }, 1_000 / options.perSecond)
  return {
    waits,
    finish: async () => {
      clearInterval(timer)
      await Promise.all(work)
      if (failures.length > 0) throw new AggregateError(failures, 'the load itself failed')
    },
  }
}

type Pay = (to: string, amountBase: bigint) => Promise<string>

/** The node assigns nonces to its only payer, so transactions are sent one after the other. */
function createPayer({ rpcUrl }: MerchantOptions): Pay {
  const { contract } = ASSETS[ASSET]
  let last: Promise<unknown> = Promise.resolve()
  return (to, amountBase) => {
    const sent = last.then(async () => (await payLocally({ rpcUrl, asset: ASSET, contract, to, amountBase })).txHash)
    last = sent.catch(() => undefined)
    return sent
  }
}

interface Load extends MerchantOptions {
  readonly payer: Pay
  readonly waits: number[]
}

async function serve(
  options: Load,
  client: Paymesh,
  one: { readonly key: string; readonly plan: Plan },
): Promise<void> {
  const { ledger, random } = options
  const { key, plan } = one
  const amount = (1 + Math.floor(random() * 10_000) / 100).toFixed(2)
  const startedAt = Date.now()
  ledger.write({ kind: 'intent', key, amount, plan, at: startedAt })
  const body = { amount, currency: 'USD', asset: ASSET, expires_in: EXPIRES_IN_S } as const
  const answer = await untilDefinitive(() => client.invoices.create(body, { idempotencyKey: key }))
  options.waits.push(Date.now() - startedAt)
  if (typeof answer === 'string') {
    ledger.write({ kind: 'refused', key, code: answer, at: Date.now() })
    return
  }
  const { id: invoiceId, crypto } = answer
  if (crypto === null) throw new Error(`invoice ${invoiceId} has no asset`)
  const due = BigInt(crypto.amount_base_units)
  ledger.write({ kind: 'created', key, invoiceId, dueBase: String(due), at: Date.now() })
  await delay(random() * 4_000)
  if (plan === 'cancel') {
    const cancelled = await untilDefinitive(() =>
      client.invoices.cancel(invoiceId, { idempotencyKey: `${key}-cancel` }),
    )
    if (typeof cancelled !== 'string') ledger.write({ kind: 'cancelled', invoiceId, at: Date.now() })
    return
  }
  for (const amountBase of transfersOf(plan, due)) {
    const txHash = await options.payer(crypto.address, amountBase)
    ledger.write({ kind: 'transfer', invoiceId, txHash, amountBase: String(amountBase), at: Date.now() })
    await delay(random() * 3_000)
  }
}

function transfersOf(plan: Plan, due: bigint): readonly bigint[] {
  if (plan === 'exact') return [due]
  if (plan === 'parts') return [due / 3n, due - due / 3n]
  return plan === 'over' ? [due * 2n] : []
}

/** The resource, or the code of a final refusal. */
async function untilDefinitive<T>(attempt: () => Promise<T>): Promise<T | string> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (error instanceof PaymeshApiError && error.status < 500 && !LATER.has(error.code)) return error.code
      await delay(PAUSE_MS)
    }
  }
}
