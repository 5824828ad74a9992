import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { decide, type OrderState } from '#clients/typescript/src/decide.ts'
import { pendingInvoice } from '#shared/contracts/openapi/examples/invoice.ts'
import { INVOICE_STATUSES } from '#shared/domain/enumerations.ts'

const DATA = JSON.parse(readFileSync(join(import.meta.dirname, '../../clients/conformance/fulfilment.json'), 'utf8'))
const DUE = BigInt(pendingInvoice.crypto?.amount_base_units ?? 0)

/** An invoice with this status that received half, all or twice of its price. */
const invoiceOf = (status: string, halves: bigint) => ({
  ...pendingInvoice,
  status,
  received: { amount: '0', amount_base_units: '0', confirmed_base_units: String((DUE * halves) / 2n) },
})

describe.each(Object.keys(DATA.orders) as OrderState[])('an order that is %s', (order) => {
  it.each(INVOICE_STATUSES)('and an invoice that is %s: as the table says', (status) => {
    const [condition] =
      Object.entries(DATA.invoices as Record<string, string[]>).find(([, all]) => all.includes(status)) ?? []
    const [action, next, returns] = DATA.rows[order][condition ?? '']
    for (const halves of [0n, 1n, 2n, 4n]) {
      const confirmed = (DUE * halves) / 2n
      const excess = status === 'overpaid' && confirmed > DUE ? confirmed - DUE : 0n
      const toReturnBase = { nothing: 0n, excess, all: confirmed }[returns as 'all']
      expect(decide(order, invoiceOf(status, halves))).toEqual({ action, order: next, toReturnBase })
    }
  })

  it('does nothing about a status of a later server', () => {
    expect(decide(order, invoiceOf('disputed', 2n))).toEqual({ action: 'none', order, toReturnBase: 0n })
  })
})

// Guarantee: the table ships only what is paid and was not ended otherwise, and never twice.
it('ships in two cells', () => {
  const shipping = Object.keys(DATA.orders).flatMap((order) =>
    INVOICE_STATUSES.filter((status) => /ship$/.test(decide(order as OrderState, invoiceOf(status, 2n)).action)).map(
      (status) => `${order} ${status}`,
    ),
  )
  expect(shipping).toEqual(['open paid', 'open overpaid', 'released paid', 'released overpaid'])
})
