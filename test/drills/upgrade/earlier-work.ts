import { setTimeout as delay } from 'node:timers/promises'
import type { Invoice } from '#clients/typescript/src/main.ts'
import { moveDeadline } from '#test/support/world.ts'
import { cancel, type LoadOptions, openInvoice } from '../load.ts'
import type { Merchant } from '../merchants.ts'
import { transfersOf } from '../payers.ts'

const SETTLED_MS = 90_000

/** Payments that are due after the upgrade, for invoices that the earlier release priced. */
export type LaterPayments = () => Promise<void>

/**
 * Lets the earlier release see one invoice in each state: new at the checkout, pending, partly paid, paid, overpaid, cancelled and
 * expired. Gives the payments that are to come after the upgrade.
 */
export async function workBefore(
  options: LoadOptions & { readonly dataDir: string },
  merchant: Merchant,
): Promise<readonly LaterPayments[]> {
  const { pay, dataDir } = options
  const open = async (key: string, plan: Parameters<typeof transfersOf>[0], atCheckout = false) => {
    const invoice = await openInvoice(options, merchant, { key: `before-${key}`, plan, atCheckout })
    if (invoice === null || invoice.crypto === null)
      throw new Error(`the earlier release did not create invoice "${key}"`)
    const { address, amount_base_units: due } = invoice.crypto
    const payments = transfersOf(plan, BigInt(due))
    return { invoice, pays: payments.map((amount) => () => pay(merchant.ledger, invoice.id, address, amount)) }
  }
  const outstanding: LaterPayments[] = []
  const paid = await open('paid', 'exact')
  const over = await open('over', 'over', true)
  for (const send of [...paid.pays, ...over.pays]) await send()
  const partial = await open('partial', 'parts')
  await partial.pays[0]?.()
  outstanding.push(...partial.pays.slice(1))
  const priced = await open('priced', 'exact')
  outstanding.push(...priced.pays)
  await open('unpaid', 'none')
  const cancelled = await open('cancelled', 'cancel')
  await cancel(options, merchant, cancelled.invoice.id)
  const expired = await open('expired', 'expire')
  await moveDeadline(dataDir, expired.invoice.id, new Date(Date.now() - 1_000))
  await untilStatus(merchant, paid.invoice, 'paid')
  await untilStatus(merchant, over.invoice, 'overpaid')
  await untilStatus(merchant, partial.invoice, 'partial')
  await untilStatus(merchant, expired.invoice, 'expired')
  return outstanding
}

async function untilStatus({ client }: Merchant, { id }: Invoice, status: Invoice['status']): Promise<void> {
  for (const until = Date.now() + SETTLED_MS; Date.now() < until; await delay(500)) {
    if ((await client().invoices.get(id)).status === status) return
  }
  throw new Error(`invoice ${id} did not become ${status} under the earlier release`)
}
