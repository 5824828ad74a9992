import type { SuccessfulTransaction } from '#shared/chains/families/tron/check-block.ts'
import { extractTransfers } from '#shared/chains/families/tron/extract.ts'
import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import type { WatchIndex } from '#shared/ports/scanning.ts'
import { CALL_PAYER } from './call-move-key.ts'
import type { SimTx } from './chain.ts'

/** Notes of records, in hex: a call that pays, and one that nodes keep with `saveFeaturedInternalTx` only. */
const CALL = Buffer.from('call').toString('hex')
const REWARD = Buffer.from('withdrawReward').toString('hex')

/**
 * What the product's extraction finds in a transaction whose coins a contract sends, as a node shows it. A `featured` node
 * keeps a record more in front of each that pays.
 */
export function extractCallMoves(
  { hash, transfers }: SimTx,
  keyPrefix: string,
  watches: WatchIndex,
  featured: boolean,
): readonly RawTransfer[] {
  const [first] = transfers
  if (first === undefined || first.asset === null) return []
  const record = { caller_address: `41${CALL_PAYER}`, callValueInfo: [{ callValue: 0n, tokenId: '' }], rejected: false }
  const records = transfers.flatMap(({ matchKey, amountBase }) => [
    ...(featured ? [{ ...record, note: REWARD }] : []),
    {
      ...{ ...record, note: CALL, transferTo_address: `41${matchKey}` },
      callValueInfo: [{ callValue: amountBase, tokenId: '' }],
    },
  ])
  const info = { id: hash, blockNumber: 0, blockTimeStamp: 0, receipt: {}, log: [], internal_transactions: records }
  const transaction: SuccessfulTransaction = { id: hash, contracts: [], info }
  const found = extractTransfers(transaction, { keyPrefix, nativeAsset: first.asset, tokens: new Map(), watches })
  return found.map((transfer) => ({ ...transfer, fromAddress: null }))
}
