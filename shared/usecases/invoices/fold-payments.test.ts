import { expect, test } from 'vitest'
import { openInvoice } from '#shared/domain/invoice/open-invoice.ts'
import { aPaymentMethod, DEADLINE, DUE, MINUTE, T0 } from '#shared/domain/invoice/transition-fixtures.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { observePayments } from './fold-payments.ts'

const lock = aPaymentMethod()
const { state } = openInvoice({ mode: 'test', createdAt: T0, expiresAt: DEADLINE, endsWithQuote: false, lock })
const invoice = { state, terms: { workspaceId: 'shop', fiat: { minor: 100n, currency: 'USD' } } } as Invoice

/** A transfer to the lock's address after the deadline. */
const late = (key: string, amountBase: bigint) =>
  ({
    key,
    version: 1,
    state: 'confirmed',
    kind: 'onchain',
    asset: lock.asset,
    network: lock.network,
    matchKey: lock.matchKey,
    amountBase,
    firstSeenAt: DEADLINE + MINUTE,
    block: null,
  }) as Payment

async function look(payments: readonly Payment[]) {
  let rates = 0
  let workspaces = 0
  const deps = {
    rates: { rateAt: () => Promise.resolve(String(++rates)) },
    workspaces: { findById: () => Promise.resolve(void ++workspaces).then(() => null) },
  }
  const observations = await observePayments(deps, invoice, payments)
  return { rates, workspaces, seen: observations.map((one) => one.rateSeen) }
}

test('a late payment carries the rate at its first sight', async () => {
  expect(await look([late('a', DUE)])).toEqual({ rates: 1, workspaces: 1, seen: ['1'] })
})

// Guarantee: a flood of tiny transfers costs no store reads, at this fold or at any later one.
test('dust is never checked by a rate, so none is read for it', async () => {
  const dust = Array.from({ length: 1_000 }, (_, index) => late(`dust-${index}`, 9n))
  expect(await look(dust)).toMatchObject({ rates: 0, workspaces: 0 })
})

test('the workspace is read once for many late payments', async () => {
  const many = Array.from({ length: 50 }, (_, index) => late(`late-${index}`, DUE))
  expect(await look(many)).toMatchObject({ rates: 50, workspaces: 1 })
})
