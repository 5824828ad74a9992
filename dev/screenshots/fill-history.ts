import { randomBytes } from 'node:crypto'
import type { Database } from '#shared/db/connection/connect.ts'
import { uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { INVOICES, type InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import { createRollups, ROLLUPS_FACT } from '#shared/db/reports/rollups.ts'
import type { AssetId, Mode } from '#shared/domain/enumerations.ts'

const DAY_MS = 86_400_000
const DAYS = 28
const FIRST_NUMBER = 3_800
const COINS: readonly (readonly [symbol: string, asset: AssetId])[] = [
  ['USDT', 'usdt_ethereum'],
  ['USDT', 'usdt_ethereum'],
  ['BTC', 'btc_bitcoin'],
  ['ETH', 'eth_ethereum'],
]

/**
 * Copies a paid invoice into the four preceding weeks, in both modes, so that charts have data. No event is created for it, and a second
 * run adds nothing.
 */
export async function fillHistory(db: Database, templateId: string): Promise<void> {
  const invoices = db.collection(INVOICES)
  const template = await invoices.findOne({ _id: templateId })
  if (template === null) throw new Error('the template is gone')
  const {
    claims: _claims,
    outboxAt: _outbox,
    nextActionAt: _action,
    releaseAt: _release,
    idem: _idem,
    ...kept
  } = template
  const now = Date.now()
  for (const mode of ['test', 'live'] as const) {
    const { workspaceId } = template
    if ((await invoices.findOne({ workspaceId, mode, number: FIRST_NUMBER })) !== null) continue
    const copies: InvoiceDocument[] = []
    for (let day = DAYS; day >= 1; day--) {
      // Busy and quiet days, the same in every run.
      const count = 5 + ((day * 7) % 9) + (day < 14 ? 3 : 0)
      for (let index = 0; index < count; index++) {
        copies.push(copyOf(kept, mode, now - day * DAY_MS + index * 2_400_000, copies.length))
      }
    }
    await invoices.insertMany(copies)
  }
  // No figure is counted again for invoices of earlier days: nobody makes them but this.
  await db.collection(INSTALLATION).deleteOne({ _id: ROLLUPS_FACT })
  await createRollups(db).catchUp(now)
}

function copyOf(template: Omit<InvoiceDocument, 'claims'>, mode: Mode, at: number, index: number): InvoiceDocument {
  const [symbol, asset] = COINS[index % COINS.length] ?? ['USDT', 'usdt_ethereum']
  const status = index % 11 === 3 ? 'expired' : index % 17 === 5 ? 'cancelled' : index % 23 === 7 ? 'overpaid' : 'paid'
  const isPaid = status === 'paid' || status === 'overpaid'
  const chosen = at + 40_000
  const paidAt = isPaid ? new Date(chosen + 150_000 + ((index * 37) % 200) * 1_000) : null
  return {
    ...template,
    _id: `${uuidLowerBound(at).slice(0, 14)}7${randomBytes(2).toString('hex').slice(1)}-8${randomBytes(2).toString('hex').slice(1)}-${randomBytes(6).toString('hex')}`,
    mode,
    number: FIRST_NUMBER + index,
    orderId: `CL-${20_000 + index}`,
    status,
    fiat: { minor: String(4_500 + ((index * 1_931) % 21_000)), currency: 'USD' },
    paymentMethods:
      status === 'cancelled'
        ? []
        : template.paymentMethods.map((paymentMethod) => ({ ...paymentMethod, symbol, asset, from: new Date(chosen) })),
    ledger: isPaid ? template.ledger : [],
    createdAt: new Date(at),
    updatedAt: paidAt ?? new Date(at + DAY_MS / 2),
    expiresAt: new Date(chosen + 1_200_000),
    paidAt,
    outbox: [],
    lastOps: [],
    exceptions: [],
  }
}
