import type { AssetId } from '#shared/domain/enumerations.ts'
import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import type { WatchIndex } from '#shared/ports/scanning.ts'
import type { OutputChainRules } from '../../definitions/chain.ts'
import { hashText } from './double-sha256.ts'
import { outpointText } from './outpoint.ts'
import type { ParsedTransaction } from './parse-transaction.ts'

/** Input outpoints stored of one transaction; a payer with more inputs is still tracked by these. */
const SPENDS_MAX = 500
/** Blocks until an output that leaves Litecoin's extension block can be spent (Litecoin Core, `PEGOUT_MATURITY`). */
const PEG_OUT_MATURITY = 6
/** Output script of the transaction that carries the extension block's balance: OP_8 and 32 bytes (LIP 2). */
const HOG_ADDRESS = /^5820[0-9a-f]{64}$/

/** Settings for finding transfers: the same for all of a network in a mode. */
export interface ExtractScope {
  /** `<mode>:<network>`. */
  readonly keyPrefix: string
  readonly asset: AssetId
  readonly rules: Pick<OutputChainRules, 'coinbaseMaturity' | 'mweb'>
  /** Address text of an output script. */
  readonly printAddress: (script: string) => string
}

/** Addresses and outpoints to search for in blocks. */
export interface BlockQuestion {
  readonly scope: ExtractScope
  readonly watches: WatchIndex
  /** Outpoints by their hex on the wire. */
  readonly asked: ReadonlyMap<string, string>
}

/** Outputs of a block's transactions to watched scripts, in order. */
export function blockTransfers(
  scope: ExtractScope,
  transactions: readonly ParsedTransaction[],
  watches: WatchIndex,
): readonly RawTransfer[] {
  return transactions.flatMap((transaction, position) =>
    minedTransfers(scope, transaction, { position, last: transactions.length - 1 }, watches),
  )
}

/** Outputs to watched scripts of the transaction at a position of its block: some positions require more confirmations. */
export function minedTransfers(
  scope: ExtractScope,
  transaction: ParsedTransaction,
  { position, last }: { readonly position: number; readonly last: number },
  watches: WatchIndex,
): readonly RawTransfer[] {
  const minConfirmations = maturityOf(scope, transaction, position === 0, position === last)
  return transactionTransfers(scope, transaction, watches, minConfirmations)
}

/** Outputs of one transaction to watched scripts; `minConfirmations` null when they can be spent at once. */
export function transactionTransfers(
  { keyPrefix, asset, printAddress }: ExtractScope,
  { hash, inputs, outputs }: ParsedTransaction,
  watches: WatchIndex,
  minConfirmations: number | null,
): readonly RawTransfer[] {
  const found: RawTransfer[] = []
  for (const [outputIndex, { amountBase, script }] of outputs.entries()) {
    if (amountBase === 0n || !watches.has(script)) continue
    const txHash = hashText(hash)
    found.push({
      key: `${keyPrefix}:${txHash}:${outputIndex}`,
      matchKey: script,
      toAddress: printAddress(script),
      fromAddress: null,
      asset,
      contract: null,
      amountBase,
      txHash,
      outputIndex,
      spends: inputs.slice(0, SPENDS_MAX).map(outpointText),
      ...(minConfirmations === null ? {} : { minConfirmations }),
    })
  }
  return found
}

/** Which of the requested outpoints (by their hex on the wire) these transactions spend, and the id of the spender. */
export function spendersAmong(
  transactions: readonly ParsedTransaction[],
  asked: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const spent = new Map<string, string>()
  if (asked.size === 0) return spent
  for (const { hash, inputs } of transactions) {
    for (const input of inputs) {
      const outpoint = asked.get(input.toString('hex'))
      if (outpoint !== undefined) spent.set(outpoint, hashText(hash))
    }
  }
  return spent
}

function maturityOf(
  { rules }: ExtractScope,
  { outputs }: ParsedTransaction,
  first: boolean,
  last: boolean,
): number | null {
  if (first) return rules.coinbaseMaturity
  return rules.mweb && last && HOG_ADDRESS.test(outputs[0]?.script ?? '') ? PEG_OUT_MATURITY : null
}
