import { expect, inject } from 'vitest'
import type { Paymesh } from '#clients/typescript/src/main.ts'
import { moveDeadline } from './world.ts'

const HOUR_MS = 3_600_000
const PATIENCE = { timeout: 60_000 }

/** An invoice of the shared installation with an exception: an expired one that was partly paid, or an overpaid one. */
export async function exceptionalInvoice(
  shop: Paymesh,
  scenario: 'partial' | 'overpaid',
): Promise<{ readonly id: string; readonly number: number }> {
  const { id, number } = await shop.invoices.create({ amount: '40.00', currency: 'USD', asset: 'usdt_ethereum' })
  await shop.invoices.simulate(id, scenario)
  const status = async () => (await shop.invoices.get(id)).status
  await expect.poll(status, PATIENCE).toBe(scenario)
  if (scenario === 'overpaid') return { id, number }
  await moveDeadline(inject('stackDataDir'), id, new Date(Date.now() - 3 * HOUR_MS))
  await expect.poll(status, PATIENCE).not.toMatch(/pending|confirming/)
  return { id, number }
}
