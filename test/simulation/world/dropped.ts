import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { CursorDocument } from '#shared/db/scanning/cursor-model.ts'
import { parseUnits } from '#shared/domain/money/money.ts'
import { must } from '../kernel/violation.ts'
import type { KnownTransfer } from './book.ts'
import type { SimBlock, SimChain } from './chain.ts'
import type { Sim } from './sim.ts'
import { isStored } from './thrifty-due.ts'

/** What is at most this much is not searched among unspent outputs. */
const DUST = parseUnits(ASSETS.btc_bitcoin.dust, ASSETS.btc_bitcoin.decimals)

/** Whether a transfer lies in blocks that were skipped because no node had them, and is left to a person: what is still unspent is found. */
export function isSkipped(sim: Sim, chain: SimChain, { txHash, key, invoiceId }: KnownTransfer): boolean {
  const block = chain.blockOf(txHash)
  if (block === null || isStored(sim, chain, txHash, key)) return false
  // Dust of one transaction is one transfer, and may be more than dust together.
  const outputs = chain.sent.get(txHash)?.payouts ?? []
  if (chain.hasMempool && outputs.some(({ amountBase }) => amountBase > DUST)) return false
  if (isInSkippedBlock(sim, chain, txHash)) return true
  // Its block replaced one below the skipped blocks, which no node has either: a balance tells of it.
  const height = chain.heightOf(block)
  return (
    isUnprovable(chain, block) &&
    skippedRanges(sim, chain).some(({ from, text }) => height < from && text.includes(invoiceId))
  )
}

/** Whether a transaction lies in blocks that were skipped: what it spent is not known either. */
export function isInSkippedBlock(sim: Sim, chain: SimChain, txHash: string): boolean {
  const block = chain.blockOf(txHash)
  if (block === null) return false
  const height = chain.heightOf(block)
  return skippedRanges(sim, chain).some(({ from, to }) => height >= from && height <= to)
}

/** Whether a payment in a block cannot be confirmed by a second node any more: none has the block. Invoices that wait for it get into the inbox. */
export const isUnprovable = (chain: SimChain, { height }: Pick<SimBlock, 'height'>): boolean =>
  !chain.hasMempool && height < chain.conditions.keptFrom

/** The same for the block of a stored payment, whose height is that of its network. */
export function isLostBlock(chain: SimChain, { height }: { readonly height: number }): boolean {
  const block = [...chain.everMined.values()].find((one) => chain.heightOf(one) === height)
  return block !== undefined && isUnprovable(chain, block)
}

/** Ranges of heights whose skipping is in the inbox. */
function skippedRanges(
  sim: Sim,
  chain: SimChain,
): readonly { readonly from: number; readonly to: number; readonly text: string }[] {
  const id = `unexplained_balance:${chain.id}:skipped:`
  return sim.store.documents('exceptions').flatMap((row) => {
    const name = String(row['_id'])
    if (!name.startsWith(id)) return []
    const [from = 0, to = 0] = name.slice(id.length).split(':').map(Number)
    return [{ from, to, text: String(row['detail']) }]
  })
}

/** S14: before anybody lets deadlines pass, what was paid in skipped blocks and is not stored is in the inbox, by its invoice. */
export function mustBeNamed(sim: Sim, chain: SimChain, { skipped }: CursorDocument): void {
  if (skipped == null) return
  const ranges = skippedRanges(sim, chain)
  if (ranges.length === 0) return
  for (const transfer of sim.book.transfers.values()) {
    if (chain.hasMempool || !isSkipped(sim, chain, transfer)) continue
    const isNamed = ranges.some(({ text }) => text.includes(transfer.invoiceId))
    must(
      isNamed,
      'S14',
      () =>
        `${transfer.amountBase} of ${transfer.asset} for invoice ${transfer.invoiceId} lies in skipped blocks, and nobody was told`,
    )
  }
}
