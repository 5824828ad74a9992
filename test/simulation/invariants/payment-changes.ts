import type { PaymentDocument } from '#shared/db/payments/payment-model.ts'
import type { CursorDocument } from '#shared/db/scanning/cursor-model.ts'
import { must } from '../kernel/violation.ts'
import type { SimBlock, SimChain } from '../world/chain.ts'
import type { Sim } from '../world/sim.ts'

/** S2, S3, S5 and S7 for one write of one payment. */
export function checkPaymentChange(sim: Sim, before: PaymentDocument | null, after: PaymentDocument): void {
  const { key } = after
  if (after.kind === 'onchain') checkOnChain(sim, after)
  if (after.invoiceId !== null) {
    const [invoice] = sim.store.collection('invoices').find({ _id: after.invoiceId }, sim.store.now())
    must(
      invoice?.['mode'] === after.mode,
      'S7',
      () => `payment ${key} of ${after.mode} belongs to an invoice of ${String(invoice?.['mode'])}`,
    )
  }
  if (before === null) {
    mustBeNews(sim, after)
    return
  }
  for (const field of ['key', 'mode', 'network', 'asset', 'matchKey', 'amountBase'] as const) {
    must(before[field] === after[field], 'S3', () => `payment ${key} changed its ${field}`)
  }
  must(
    before.firstSeenAt.getTime() === after.firstSeenAt.getTime(),
    'S3',
    () => `payment ${key} was first seen at another time`,
  )
  const owner = before.invoiceId === null || before.invoiceId === after.invoiceId
  must(owner, 'S2', () => `payment ${key} went from invoice ${before.invoiceId} to ${after.invoiceId}`)
  must(after.scanEpoch >= before.scanEpoch, 'S2', () => `payment ${key} was written by a scanner of an older epoch`)
  const moved =
    before.state !== after.state || before.block?.hash !== after.block?.hash || before.invoiceId !== after.invoiceId
  must(
    !moved || after.version > before.version,
    'S4',
    () => `payment ${key} became ${after.state} without a new version`,
  )
  must(after.version >= before.version, 'S4', () => `payment ${key} lost a version`)
  if (after.state === 'dropped' && before.state !== 'dropped') checkDropped(sim, after)
  if (after.state === 'confirmed' && before.state !== 'confirmed' && after.kind === 'onchain') checkDepth(sim, after)
}

/** No money that was never sent, and none but what was sent. */
function checkOnChain(sim: Sim, payment: PaymentDocument): void {
  const { key, txHash } = payment
  const chain = sim.chains.get(`${payment.mode}:${payment.network}`)
  if (txHash === null) {
    checkIncrease(chain, payment)
    return
  }
  const tx = txHash === null ? undefined : chain?.sent.get(txHash)
  const transfer = tx?.transfers.find((one) => one.key === key)
  must(transfer !== undefined, 'S2', () => `payment ${key} was never sent on ${payment.mode}:${payment.network}`)
  must(
    String(transfer.amountBase) === payment.amountBase,
    'S3',
    () => `payment ${key} has ${payment.amountBase} base units instead of ${transfer.amountBase}`,
  )
  if (payment.block === null) return
  const block = chain?.everMined.get(payment.block.hash)
  const holds = block?.txs.some(({ hash }) => hash === txHash) === true
  must(holds, 'S2', () => `payment ${key} stands in block ${payment.block?.height}, which does not hold it`)
}

/**
 * S3: a payment was not there before the last complete reading of the mempool, whatever its node says. Only its block may say so: blocks that
 * replaced others carry times before their transactions.
 */
function mustBeNews(sim: Sim, { key, mode, network, txHash, firstSeenAt, block, matchKey }: PaymentDocument): void {
  const chain = sim.chains.get(`${mode}:${network}`)
  const tx = chain?.sent.get(txHash ?? '')
  if (chain?.hasMempool !== true || tx === undefined) return
  // What replaces a transaction was there since that one was, as far as it pays no more.
  const amountOf = ({ transfers }: typeof tx): bigint =>
    transfers.reduce((sum, one) => (one.matchKey === matchKey ? sum + one.amountBase : sum), 0n)
  const isReplacement = [...chain.sent.values()].some(
    (other) =>
      other.hash !== tx.hash && other.spends.some((one) => tx.spends.includes(one)) && amountOf(other) >= amountOf(tx),
  )
  const [cursor] = sim.store.collection('chain_cursors').find({ _id: chain.id }, sim.store.now())
  const { mempoolAt, time } = cursor as unknown as Pick<CursorDocument, 'mempoolAt' | 'time'>
  const known = (mempoolAt ?? time).getTime()
  const seen = firstSeenAt.getTime()
  must(
    isReplacement || seen >= Math.min(known, tx.sentAt, block?.time.getTime() ?? known) - 1_000,
    'S3',
    () => `payment ${key} of ${tx.sentAt} was first seen at ${seen}, although the mempool was read until ${known}`,
  )
}

/** S14: nothing is given up while the network still has it, whatever one node has of its mempool. */
function checkDropped(sim: Sim, { key, txHash, mode, network }: PaymentDocument): void {
  const waits = sim.chains.get(`${mode}:${network}`)?.mempool.has(txHash ?? '') === true
  must(!waits, 'S14', () => `payment ${key} was dropped while its transaction waits in the mempool`)
}

/** A balance told of it: its block holds exactly this money for this account, or the blocks that it sums up hold at least as much. */
function checkIncrease(
  chain: SimChain | undefined,
  { key, block, matchKey, amountBase, asset }: PaymentDocument,
): void {
  if (block === null) return
  const since = Number(block.rise?.since.height ?? block.height - 1)
  const blocks: SimBlock[] = []
  for (let at = chain?.everMined.get(block.hash); at !== undefined && at.height > since; ) {
    blocks.push(at)
    at = chain?.everMined.get(at.parentHash)
  }
  const paid = blocks.flatMap(({ txs }) => txs).flatMap(({ transfers }) => transfers)
  const own = paid.filter((one) => one.matchKey === matchKey && one.asset === asset)
  must(own.length > 0, 'S2', () => `payment ${key} stands in block ${block.height}, which pays nobody there`)
  const sum = own.reduce((total, one) => total + one.amountBase, 0n)
  const isRight = blocks.length > 1 ? BigInt(amountBase) <= sum : String(sum) === amountBase
  must(isRight, 'S3', () => `payment ${key} has ${amountBase} base units instead of ${sum}`)
}

/** S5: confirmed means so many blocks of the branch that the cursor committed to. */
function checkDepth(sim: Sim, payment: PaymentDocument): void {
  const { key, block, requiredConfirmations } = payment
  const [found] = sim.store
    .collection('chain_cursors')
    .find({ _id: `${payment.mode}:${payment.network}` }, sim.store.now())
  const cursor = found as unknown as CursorDocument | undefined
  must(block !== null && cursor !== undefined, 'S5', () => `payment ${key} is confirmed in no block`)
  const depth = cursor.height - block.height + 1
  must(
    depth >= requiredConfirmations,
    'S5',
    () => `payment ${key} is confirmed with ${depth} of ${requiredConfirmations} confirmations`,
  )
  const seen = cursor.window.find(([height]) => height === block.height)
  must(
    seen === undefined || seen[1] === block.hash,
    'S5',
    () => `payment ${key} is confirmed in a block that was replaced`,
  )
}

/** Leases and positions of scanners: one holder at a time, epochs only rise. */
export function checkCursorChange(sim: Sim, before: CursorDocument | null, after: CursorDocument): void {
  if (before === null) return
  must(after.leaseEpoch >= before.leaseEpoch, 'S2', () => `the epoch of ${after._id} fell`)
  const { lease } = before
  const taken = after.lease !== null && after.lease.owner !== lease?.owner
  const free = lease === null || lease.until.getTime() <= sim.scheduler.now
  must(!taken || free, 'S2', () => `the lease of ${after._id} was taken from a holder that had it`)
  must(
    !taken || after.leaseEpoch > before.leaseEpoch,
    'S2',
    () => `the lease of ${after._id} changed hands under one epoch`,
  )
}
