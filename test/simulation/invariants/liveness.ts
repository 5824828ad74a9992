import type { InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import type { PaymentDocument } from '#shared/db/payments/payment-model.ts'
import { must } from '../kernel/violation.ts'
import type { SimChain, SimTx } from '../world/chain.ts'
import { isInSkippedBlock, isLostBlock, isSkipped, isUnprovable } from '../world/dropped.ts'
import type { Sim } from '../world/sim.ts'
import type { SimTransfer } from '../world/sim-transfer.ts'
import { isInInbox } from '../world/thrifty-due.ts'
import { checkDeliveries, checkKeys, checkMails } from './delivery-liveness.ts'
import type { History } from './history.ts'
import { checkOutcome } from './outcome.ts'
import { reconcile } from './reconciliation.ts'

/** L1–L4 and everything else that must be true once all faults are over and nothing is left to do. */
export function checkLiveness(sim: Sim, history: History): void {
  const invoices = sim.store.documents('invoices') as unknown as readonly InvoiceDocument[]
  const payments = sim.store.documents('payments') as unknown as readonly PaymentDocument[]
  checkTransfers(sim, payments)
  reconcile(sim)
  for (const invoice of invoices) {
    checkLedger(sim, invoice, payments)
    checkOutcome(sim, invoice)
  }
  checkInbox(sim, history)
  checkEvents(sim, history)
  checkDeliveries(sim, history)
  checkMails(sim)
  checkKeys(sim)
}

/** L1, S2, S3: what stands on a chain is stored as it stands there, and nothing else counts. */
function checkTransfers(sim: Sim, payments: readonly PaymentDocument[]): void {
  const byKey = new Map(payments.map((payment) => [payment.key, payment]))
  const increases = payments.filter(
    (payment) => payment.kind === 'onchain' && payment.txHash === null && isLiveState(payment.state),
  )
  for (const chain of sim.chains.values()) {
    for (const tx of chain.sent.values()) {
      const block = chain.blockOf(tx.hash)
      for (const transfer of tx.transfers) {
        const { key } = transfer
        const increase = increases.find((one) => block !== null && tellsOf(one, transfer, block.hash))
        const shown = byKey.get(key)
        must(
          increase === undefined || shown === undefined || !isLiveState(shown.state),
          'S3',
          () => `transfer ${key} counts by its transaction and by a balance`,
        )
        const sum = increases.find((one) => block !== null && sumsUp(one, transfer, block.height))
        const payment = increase ?? shown ?? sum
        // Thrifty scanning reads only what watched tokens and the coin show: other tokens may pass unseen.
        const isShown = transfer.asset !== null || sim.scanPlans.get(chain.id)?.wasThrifty !== true
        const known = sim.book.transfers.get(key)
        const isLeft =
          (payment === undefined || !isLiveState(payment.state)) &&
          (isInInbox(sim, chain, tx.hash, key) || (known !== undefined && isSkipped(sim, chain, known)))
        if (block !== null && isShown && !isLeft && sim.book.transfers.has(key)) {
          must(
            payment !== undefined,
            'L1',
            () => `transfer ${key} in block ${block.height} of ${chain.id} was never seen`,
          )
          must(
            payment.state === 'confirmed' || isUnprovable(chain, block),
            'L1',
            () => `transfer ${key} in block ${block.height} of ${chain.id} is ${payment.state}`,
          )
          must(
            payment === sum ||
              payment.block?.hash === block.hash ||
              (payment.state !== 'confirmed' && isUnprovable(chain, block)),
            'L1',
            () => `transfer ${key} is remembered in another block than it stands in`,
          )
        }
        if (block === null && payment !== undefined) {
          const live = payment.state === 'detected' || payment.state === 'confirmed'
          const spender = chain.lostBranch === null ? spenderOf(chain, tx) : null
          must(
            spender === null || payment.replacedBy === spender || isInSkippedBlock(sim, chain, spender),
            'L1',
            () => `transfer ${key} was replaced by ${spender} and is ${payment.state}`,
          )
          const isLeft = payment.state === 'detected' && payment.block != null && isLostBlock(chain, payment.block)
          must(!live || isLeft, 'S14', () => `transfer ${key} stands nowhere on ${chain.id} and is ${payment.state}`)
        }
      }
    }
  }
}

/** Whether a payment that a balance told of is this transfer in this block. */
function tellsOf(
  { matchKey, asset, amountBase, block }: PaymentDocument,
  transfer: SimTransfer,
  hash: string,
): boolean {
  const isSame =
    matchKey === transfer.matchKey && asset === transfer.asset && amountBase === String(transfer.amountBase)
  return isSame && block?.hash === hash
}

/** Whether balances that lie blocks apart told of a transfer among others. */
function sumsUp(
  { matchKey, asset, amountBase, block }: PaymentDocument,
  transfer: SimTransfer,
  height: number,
): boolean {
  const since = Number(block?.rise?.since.height ?? block?.height)
  const isIn = block !== null && height > since && height <= block.height && block.height - since > 1
  return isIn && matchKey === transfer.matchKey && asset === transfer.asset && BigInt(amountBase) >= transfer.amountBase
}

/** The mined transaction that spends the same coins as this one. */
function spenderOf(chain: SimChain, { hash, spends }: SimTx): string | null {
  for (const other of chain.sent.values()) {
    const rivals = other.hash !== hash && other.spends.some((outpoint) => spends.includes(outpoint))
    if (rivals && chain.blockOf(other.hash) !== null) return other.hash
  }
  return null
}

/** L3: everything that payments say of themselves is in their invoice; that it is so rightly is checked by the books. */
function checkLedger(sim: Sim, invoice: InvoiceDocument, payments: readonly PaymentDocument[]): void {
  const { _id: id } = invoice
  const mine = payments.filter(({ invoiceId }) => invoiceId === id)
  const rows = new Map(invoice.ledger.map((row) => [row.payment, row]))
  for (const { key, state, version, dirtyAt } of mine) {
    const row = rows.get(key)
    must(
      row === undefined || (state === row.state && version === row.version),
      'L3',
      () => `invoice ${id} has ${key} as ${row?.state} (${row?.version}); it is ${state} (${version})`,
    )
    must(dirtyAt === undefined, 'L3', () => `payment ${key} waits to be applied`)
  }
  const simulated = mine.filter(({ kind }) => kind === 'simulated').length
  must(simulated <= (sim.book.played.get(id) ?? 0), 'S16', () => `invoice ${id} was simulated ${simulated} times`)
}

const isLiveState = (state: string): boolean => state === 'detected' || state === 'confirmed'
/** S9, S14: what invoices asked of the inbox is there, and open or closed as they said last. */
function checkInbox(sim: Sim, history: History): void {
  const last = new Map<string, boolean>()
  for (const { invoiceId, entry } of [...history.published.values()].sort((a, b) => a.entry.seq - b.entry.seq)) {
    if (entry.kind !== 'exception' && entry.kind !== 'exception_closed') continue
    last.set(`${entry.type}:${entry.paymentKey ?? invoiceId}`, entry.kind === 'exception')
  }
  for (const [id, open] of last) {
    const [row] = sim.store.collection('exceptions').find({ _id: id }, sim.store.now())
    must(row !== undefined, 'S9', () => `exception ${id} was told and is not in the inbox`)
    must(
      !open || row['closedAt'] === null || sim.book.attached.size > 0,
      'S14',
      () => `exception ${id} is open for its invoice and closed in the inbox`,
    )
    must(open || row['closedAt'] !== null, 'S14', () => `exception ${id} is over and still open in the inbox`)
  }
  for (const chain of sim.chains.values()) checkUnmatched(sim, chain)
}

/** Money of another asset on an invoice's address is in the inbox. */
function checkUnmatched(sim: Sim, chain: SimChain): void {
  for (const known of sim.book.transfers.values()) {
    const { key, txHash, asset, invoiceId, amountBase } = known
    if (chain.blockOf(txHash) === null || isSkipped(sim, chain, known)) continue
    if (asset === null && sim.scanPlans.get(chain.id)?.wasThrifty === true) continue
    const [invoice] = sim.store
      .collection('invoices')
      .find({ _id: invoiceId }, sim.store.now()) as unknown as InvoiceDocument[]
    const paymentMethod = invoice?.paymentMethods.findLast(({ to }) => to === null)
    if (
      paymentMethod === undefined ||
      paymentMethod.asset === asset ||
      paymentMethod.hold?.kind === 'amount' ||
      amountBase < 20_000n
    )
      continue
    const block = chain.blockOf(txHash)
    const transfer = chain.sent.get(txHash)?.transfers.find((one) => one.key === key)
    const payments = sim.store.documents('payments') as unknown as readonly PaymentDocument[]
    const increase = payments.find(
      (one) => transfer !== undefined && one.txHash === null && tellsOf(one, transfer, block?.hash ?? ''),
    )
    const found = sim.store
      .documents('exceptions')
      .some(({ _id: id }) => [key, increase?.key ?? key].some((one) => String(id).includes(one)))
    must(
      found,
      'S14',
      () => `${amountBase} of ${asset ?? 'a foreign token'} came for invoice ${invoiceId} and nobody was told`,
    )
  }
}

/** L2, S9: every event that was told exists, and what was announced is what counts. */
function checkEvents(sim: Sim, history: History): void {
  const announced = new Map<string, number>()
  for (const { entry } of history.published.values()) {
    if (entry.kind !== 'event') continue
    const [event] = sim.store.collection('events').find({ _id: entry.eventId }, sim.store.now())
    must(event !== undefined, 'L2', () => `event ${entry.eventId} (${entry.type}) was never made`)
    if (entry.paymentKey !== null || entry.payment !== null) {
      const name = `${entry.type} ${entry.paymentKey ?? ''}`
      announced.set(name, (announced.get(name) ?? 0) + 1)
    }
  }
  for (const [name, times] of announced) {
    must(times === 1, 'S9', () => `${name} was told ${times} times`)
  }
  for (const invoice of sim.store.documents('invoices') as unknown as readonly InvoiceDocument[]) {
    must(invoice.outboxAt === undefined, 'L3', () => `the outbox of invoice ${invoice._id} waits`)
    for (const row of invoice.ledger) {
      if (!row.counted || !isLiveState(row.state) || row.acceptedBase !== null) continue
      must(announced.has(`payment.detected ${row.payment}`), 'S9', () => `payment ${row.payment} was never announced`)
      must(
        row.state !== 'confirmed' || announced.has(`payment.confirmed ${row.payment}`),
        'S9',
        () => `payment ${row.payment} was never announced as confirmed`,
      )
    }
  }
}
