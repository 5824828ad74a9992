import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { type ExtractScope, transactionTransfers, unspentTransfers } from '#shared/chains/families/utxo/extract.ts'
import { RpcFailure } from '#shared/chains/nodes/rpc-failure.ts'
import { parseUnits } from '#shared/domain/money/money.ts'
import type { RawTransfer, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { BlockUnreadable, type WatchIndex } from '#shared/ports/scanning.ts'
import type { SimBlock, SimChain, SimTx } from './chain.ts'

/** Bytes of the script of a match key: this simulation's addresses are scripts of 20 bytes. */
const scopeOf = ({ network }: SimChain): ExtractScope => ({
  keyPrefix: network,
  asset: 'btc_bitcoin',
  dustBase: parseUnits(ASSETS.btc_bitcoin.dust, ASSETS.btc_bitcoin.decimals),
  rules: { coinbaseMaturity: 100, mweb: false },
  printAddress: (script) => `0x${script}`,
})

/** What the product makes of the outputs of a transaction. */
export function outputTransfers(chain: SimChain, tx: SimTx, watches: WatchIndex): readonly RawTransfer[] {
  const outputs = tx.payouts.map(({ matchKey, amountBase }) => ({ amountBase, script: matchKey }))
  const hash = Buffer.from(tx.hash, 'hex').reverse()
  const found = transactionTransfers(scopeOf(chain), { hash, hashedBytes: 0, inputs: [], outputs }, watches, null)
  return found.map((transfer) => ({ ...transfer, spends: tx.spends }))
}

/** What is unspent of a block, as the product reads it: all of it, since nobody here spends. */
export function unspentBlock(chain: SimChain, block: SimBlock, scripts: readonly string[]): ScannedBlock[] {
  const wanted = new Set(scripts)
  const { height, hash, parentHash, time } = block
  const outputs = block.txs.flatMap((tx) =>
    tx.payouts.flatMap(({ matchKey: script, amountBase }, vout) =>
      wanted.has(script) ? { txid: tx.hash, vout, script, amountBase, height, isCoinbase: false } : [],
    ),
  )
  if (outputs.length === 0) return []
  return [{ height, hash, parentHash, time, transfers: unspentTransfers(scopeOf(chain), outputs) }]
}

/** How Bitcoin Core refuses a block that it has pruned. */
export function prunedBlock({ height, hash }: SimBlock): BlockUnreadable {
  const cause = new RpcFailure('pruned', 'Block not available (pruned data)', { method: 'getblock' })
  return new BlockUnreadable({ height, hash, method: 'getblock', reason: cause.message }, cause)
}
