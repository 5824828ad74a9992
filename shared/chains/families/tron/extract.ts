import type { AssetId } from '#shared/domain/enumerations.ts'
import { callMoveStem } from '#shared/domain/payment/call-move-keys.ts'
import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable, type WatchIndex } from '#shared/ports/scanning.ts'
import { formatAccount } from './address.ts'
import type { SuccessfulTransaction } from './check-block.ts'
import { accountPattern, type InternalTransaction, type Log, transferContractSchema } from './wire.ts'

/** keccak256("Transfer(address,address,uint256)"), TRC-20 as EIP-20. */
const TRANSFER_TOPIC = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** Digits of one 32-byte word. */
const WORD_DIGITS = 64
/** Digits of 20 account bytes. */
const ACCOUNT_DIGITS = 40

/**
 * Notes, in hex, of internal transactions that move coins: "call" and "suicide". The others carry a value without
 * paying it: "delegateResourceOf…" names the stake that is lent, "freezeFor…" the one that is locked.
 */
const PAYING_NOTES: ReadonlySet<string> = new Set([hexOf('call'), hexOf('suicide')])

/** Meaning of the contracts of TRON: 20 bytes in hex → asset, or null for a sibling that is never credited. */
export type TokenTable = ReadonlyMap<string, AssetId | null>

/** Settings of extraction besides the block. */
export interface ExtractContext {
  /** `<mode>:tron`. */
  readonly keyPrefix: string
  readonly nativeAsset: AssetId
  readonly tokens: TokenTable
  readonly watches: WatchIndex
}

/** Money that a transaction moved, to anybody. */
export interface Move {
  /**
   * Position among the parts of the transaction that every node returns, the same wherever it is mined. Null for coins inside
   * calls: which of those a node records depends on its configuration.
   */
  readonly part: string | null
  readonly from: string | null
  readonly to: string
  readonly asset: AssetId | null
  readonly contract: string | null
  readonly value: bigint
}

/** Transfers to watched addresses made by a successful transaction. Throws as `movesOf` does. */
export const extractTransfers = (transaction: SuccessfulTransaction, context: ExtractContext): readonly RawTransfer[] =>
  transfersAmong(transaction.id, movesOf(transaction, context), context)

/**
 * What a successful transaction moved: coins sent directly, tokens by the logs of known contracts, and coins that contracts send in calls inside
 * it, where the node records those. Value 0 moves nothing, and neither does a transfer of an account to itself.
 * Throws `NodeUnreliable` when a coin transfer cannot be read.
 */
export function movesOf(
  transaction: SuccessfulTransaction,
  { nativeAsset, tokens }: Pick<ExtractContext, 'nativeAsset' | 'tokens'>,
): readonly Move[] {
  const moves = [
    ...coinMoves(transaction, nativeAsset),
    ...tokenMoves(transaction.info.log, tokens),
    ...internalMoves(transaction.info.internal_transactions, nativeAsset),
  ]
  return moves.filter(({ from, to, value }) => value > 0n && from !== to)
}

/** Those of a transaction's moves that go to watched addresses, as transfers. */
export function transfersAmong(id: string, moves: readonly Move[], context: ExtractContext): readonly RawTransfer[] {
  const keyOf = createKeys(`${context.keyPrefix}:${id}`)
  return moves
    .filter(({ to }) => context.watches.has(to))
    .map(({ part, from, to, asset, contract, value }) => {
      const parties = { toAddress: formatAccount(to), fromAddress: from === null ? null : formatAccount(from) }
      return {
        key: keyOf(part, { ...parties, amountBase: value }),
        matchKey: to,
        ...parties,
        asset,
        contract: contract === null ? null : formatAccount(contract),
        amountBase: value,
        txHash: id,
        outputIndex: null,
      }
    })
}

/** Coins inside calls are numbered among equal ones that pay, so that records without payment change no key. */
function createKeys(transaction: string) {
  const counts = new Map<string, number>()
  return (part: string | null, move: Parameters<typeof callMoveStem>[1]): string => {
    if (part !== null) return `${transaction}:${part}`
    const stem = callMoveStem(transaction, move)
    const ordinal = counts.get(stem) ?? 0
    counts.set(stem, ordinal + 1)
    return `${stem}:${ordinal}`
  }
}

function coinMoves({ id, contracts }: SuccessfulTransaction, asset: AssetId): readonly Move[] {
  return contracts.flatMap(({ type, parameter }, index) => {
    if (type !== 'TransferContract') return []
    const parsed = transferContractSchema.safeParse(parameter.value)
    if (!parsed.success) throw new NodeUnreliable(`transaction ${id}: malformed transfer`, { cause: parsed.error })
    const { owner_address: from, to_address: to, amount } = parsed.data
    return {
      part: `c${index}`,
      from: from.slice(-ACCOUNT_DIGITS),
      to: to.slice(-ACCOUNT_DIGITS),
      asset,
      contract: null,
      value: amount,
    }
  })
}

/** A log with four topics is an EIP-721 transfer, and data of another length than one word is not an amount. */
function tokenMoves(logs: readonly Log[], tokens: TokenTable): readonly Move[] {
  return logs.flatMap(({ address, topics, data }, index) => {
    const contract = address.slice(-ACCOUNT_DIGITS)
    const asset = tokens.get(contract)
    const [topic, from, to] = topics
    if (asset === undefined || topic !== TRANSFER_TOPIC || from === undefined || to === undefined) return []
    if (topics.length !== 3 || data.length !== WORD_DIGITS) return []
    return {
      part: `l${index}`,
      from: from.slice(-ACCOUNT_DIGITS),
      to: to.slice(-ACCOUNT_DIGITS),
      asset,
      contract,
      value: BigInt(`0x${data}`),
    }
  })
}

function internalMoves(transactions: readonly InternalTransaction[], asset: AssetId): readonly Move[] {
  return transactions.flatMap(({ caller_address: from, transferTo_address: to, callValueInfo, note, rejected }) => {
    if (rejected || !PAYING_NOTES.has(note) || to === undefined || !accountPattern.test(to)) return []
    // Values with a token id are TRC-10 tokens.
    const value = callValueInfo.reduce((sum, { callValue, tokenId }) => (tokenId === '' ? sum + callValue : sum), 0n)
    const sender = from !== undefined && accountPattern.test(from) ? from.slice(-ACCOUNT_DIGITS) : null
    return { part: null, from: sender, to: to.slice(-ACCOUNT_DIGITS), asset, contract: null, value }
  })
}

function hexOf(text: string): string {
  return Buffer.from(text, 'ascii').toString('hex')
}
