import { expect, test } from 'vitest'
import type { MarketRate } from '#shared/domain/books/movements.ts'
import { openInvoice } from '#shared/domain/invoice/open-invoice.ts'
import { aPaymentMethod, aQuote, DEADLINE, DUE, MINUTE, T0 } from '#shared/domain/invoice/transition-story.fixture.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { Devices } from '#shared/usecases/uses.ts'
import { standIn } from '#test/support/stand-in.ts'
import { observePayments } from './fold-payments.ts'

const paymentMethod = aPaymentMethod()
const { state } = openInvoice({ mode: 'test', createdAt: T0, expiresAt: DEADLINE, endsWithQuote: false, paymentMethod })
const invoice = { state, terms: { workspaceId: 'shop', fiat: { minor: 100n, currency: 'USD' } } } as Invoice

const market = (fiatPerAsset: string): MarketRate => ({ fiatPerAsset, decimals: 6, at: 1, sources: [], fxSources: [] })

/** A transfer to the payment method's address after the deadline. */
const late = (key: string, amountBase: bigint) =>
  ({
    key,
    version: 1,
    state: 'confirmed',
    kind: 'onchain',
    asset: paymentMethod.asset,
    network: paymentMethod.network,
    matchKey: paymentMethod.matchKey,
    amountBase,
    firstSeenAt: DEADLINE + MINUTE,
    block: null,
  }) as Payment

async function look(payments: readonly Payment[], of: Invoice = invoice) {
  let rates = 0
  const deps = { rates: standIn<Devices['rates']>({ rateAt: () => Promise.resolve(market(String(++rates))) }) }
  const observations = await observePayments(deps, of, payments)
  return { rates, seen: observations.map((one) => one.rateSeen) }
}

test('a late payment carries the rate at its first sight', async () => {
  expect(await look([late('a', DUE)])).toEqual({ rates: 1, seen: ['1'] })
})

// Guarantee: a miner who sets his clock back, or a node that misstates since when it has a payment, changes no price. Found by the simulation.
test('a payment is never seen before its address was offered, unless others had that address before', async () => {
  const early = { ...late('a', DUE), firstSeenAt: T0 - 60 * MINUTE }
  expect(await look([early])).toEqual({ rates: 0, seen: [null] })
  const hold = { kind: 'address' as const, quarantineMs: 0, heldMs: 0, releasedAt: null }
  const pooled = { ...invoice, state: { ...state, paymentMethods: [{ ...paymentMethod, hold }] } }
  expect(await look([early], pooled)).toEqual({ rates: 1, seen: ['1'] })
})

// Guarantee: a flood of tiny transfers costs no store reads, at this fold or at any later one.
test('dust is never checked by a rate, so none is read for it', async () => {
  const dust = Array.from({ length: 1_000 }, (_, index) => late(`dust-${index}`, 9n))
  expect(await look(dust)).toMatchObject({ rates: 0 })
})

const HOUR = 60 * MINUTE
const provenanceOf = (spreadBps: number, arsSeries: 'crypto' | 'official') => ({
  ...{ snapshotAt: T0, sources: [], fxSources: [], spreadBps, arsSeries },
})

/** Two quotes with their own settings; the market pays 1 peso, and 4 % less in the official series. */
async function lookBetweenQuotes(first: ReturnType<typeof provenanceOf>, second: ReturnType<typeof provenanceOf>) {
  const quotes = [
    aQuote({ provenance: first }),
    aQuote({ provenance: second, quotedAt: T0 + HOUR, expiresAt: T0 + HOUR + 20 * MINUTE }),
  ]
  const method = aPaymentMethod({ quotes })
  const input = {
    mode: 'test',
    createdAt: T0,
    expiresAt: T0 + 4 * HOUR,
    endsWithQuote: false,
    paymentMethod: method,
  } as const
  const terms = { ...invoice.terms, fiat: { minor: 100n, currency: 'ARS' as const } }
  const requests: string[] = []
  const rateAt = (request: { readonly arsSeries: string }): Promise<MarketRate> => {
    requests.push(request.arsSeries)
    return Promise.resolve(market(request.arsSeries === 'crypto' ? '1' : '0.96'))
  }
  const at = { ...invoice, terms, state: openInvoice(input).state }
  const [one] = await observePayments({ rates: standIn({ rateAt }) }, at, [late('between', DUE)])
  return { requests, rateSeen: one?.rateSeen }
}

// Guarantee: a setting changed after the price was given, or a later quote, never makes a payment of that price look better or worse.
test.each([
  ['a spread that came later', provenanceOf(0, 'crypto'), provenanceOf(300, 'crypto'), ['crypto'], '1'],
  ['a spread that was dropped', provenanceOf(300, 'crypto'), provenanceOf(0, 'crypto'), ['crypto'], '0.97'],
  ['another peso', provenanceOf(0, 'official'), provenanceOf(0, 'crypto'), ['official'], '0.96'],
] as const)(
  'money between two quotes is compared by the settings of the first: %s',
  async (_, first, second, ...seen) => {
    const [requests, rateSeen] = seen
    expect(await lookBetweenQuotes(first, second)).toEqual({ requests, rateSeen })
  },
)
