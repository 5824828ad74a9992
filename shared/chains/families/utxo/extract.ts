import type { AssetId } from '#shared/domain/enumerations.ts'
import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import type { WatchIndex } from '#shared/ports/scanning.ts'
import type { OutputChainRules } from '../../definitions/chain.ts'
import { hashText } from './double-sha256.ts'
import { outpointText } from './outpoint.ts'
import type { ParsedTransaction } from './parse-transaction.ts'
import type { UnspentOutput } from './unspent-reads.ts'

/** Input outpoints stored of one transaction; a payer with more inputs is still tracked by these. */
const SPENDS_MAX = 500
/**
 * Outputs of one transaction to one script that are separate transfers: what follows is one transfer with their sum, and so is dust, which
 * a stranger can send by the thousand. Part of the meaning of transfer keys: another number would contradict stored payments.
 */
const OUTPUTS_MAX = 16
/** Blocks until an output that leaves Litecoin's extension block can be spent (Litecoin Core, `PEGOUT_MATURITY`). */
const PEG_OUT_MATURITY = 6
/** Output script of the transaction that carries the extension block's balance: OP_8 and 32 bytes (LIP 2). */
const HOG_ADDRESS = /^5820[0-9a-f]{64}$/

/** Settings for finding transfers: the same for all of a network in a mode. */
export interface ExtractScope {
  /** `<mode>:<network>`. */
  readonly keyPrefix: string
  readonly asset: AssetId
  /** Outputs of at most this are summed per transaction and script. */
  readonly dustBase: bigint
  readonly rules: Pick<OutputChainRules, 'coinbaseMaturity' | 'mweb'>
  /** Address text of an output script. */
  readonly printAddress: (script: string) => string
}

/** Addresses and outpoints to search for in blocks. */
export interface BlockQuestion {
  readonly scope: ExtractScope
  readonly watches: WatchIndex
  /** Outpoints by their hex on the wire. */
  readonly outpoints: ReadonlyMap<string, string>
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

/**
 * Transfers of one transaction to watched scripts: one for each output, but at most one for all dust and everything after the 16th output to a
 * script, under the key of the first of them. `minConfirmations` is null when they can be spent at once.
 */
export function transactionTransfers(
  { keyPrefix, asset, dustBase, printAddress }: ExtractScope,
  { hash, inputs, outputs }: ParsedTransaction,
  watches: WatchIndex,
  minConfirmations: number | null,
): readonly RawTransfer[] {
  const found: RawTransfer[] = []
  const own = new Map<string, number>()
  const sums = new Map<string, RawTransfer & { amountBase: bigint }>()
  // One list for all of them: its length times the number of outputs is a stranger's choice.
  let spends: readonly string[] | null = null
  for (const [outputIndex, { amountBase, script }] of outputs.entries()) {
    if (amountBase === 0n || !watches.has(script)) continue
    const before = own.get(script) ?? 0
    const isSummed = amountBase <= dustBase || before >= OUTPUTS_MAX
    const sum = sums.get(script)
    if (isSummed && sum !== undefined) {
      sum.amountBase += amountBase
      continue
    }
    const txHash = hashText(hash)
    spends ??= inputs.slice(0, SPENDS_MAX).map(outpointText)
    const transfer = {
      key: `${keyPrefix}:${txHash}:${outputIndex}`,
      matchKey: script,
      toAddress: printAddress(script),
      fromAddress: null,
      asset,
      contract: null,
      amountBase,
      txHash,
      outputIndex,
      spends,
      ...(minConfirmations === null ? {} : { minConfirmations }),
    }
    found.push(transfer)
    if (isSummed) sums.set(script, transfer)
    else own.set(script, before + 1)
  }
  return found
}

/**
 * Unspent outputs as the transfers that their block would show. Dust, and outputs of a transaction with more than 16 to one script, are left out: a
 * block shows them under the key of the first of them, which may be spent.
 */
export function unspentTransfers(
  { keyPrefix, asset, dustBase, printAddress, rules }: ExtractScope,
  outputs: readonly UnspentOutput[],
): readonly RawTransfer[] {
  const counts = new Map<string, number>()
  const nameOf = ({ txid, script }: UnspentOutput) => `${txid} ${script}`
  for (const output of outputs) counts.set(nameOf(output), (counts.get(nameOf(output)) ?? 0) + 1)
  return outputs
    .filter((output) => output.amountBase > dustBase && (counts.get(nameOf(output)) ?? 0) <= OUTPUTS_MAX)
    .map(({ txid, vout, script, amountBase, isCoinbase }) => ({
      key: `${keyPrefix}:${txid}:${vout}`,
      matchKey: script,
      toAddress: printAddress(script),
      fromAddress: null,
      asset,
      contract: null,
      amountBase,
      txHash: txid,
      outputIndex: vout,
      spends: [],
      ...(isCoinbase && { minConfirmations: rules.coinbaseMaturity }),
    }))
}

/** Which of the requested outpoints (by their hex on the wire) these transactions spend, and the id of the spender. */
export function spendersAmong(
  transactions: readonly ParsedTransaction[],
  outpoints: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const spent = new Map<string, string>()
  if (outpoints.size === 0) return spent
  for (const { hash, inputs } of transactions) {
    for (const input of inputs) {
      const outpoint = outpoints.get(input.toString('hex'))
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
