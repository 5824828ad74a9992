import { base58 } from '@scure/base'
import type { AssetId } from '#shared/domain/enumerations.ts'
import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable, type WatchIndex } from '#shared/ports/scanning.ts'
import type { TokenBalance, Transaction } from './wire.ts'

/** The SPL Token program. Token-2022 mints belong to another program and are different tokens, whatever their name. */
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

/** Most accounts stored as possible references; a transaction of version 1 names at most 64 keys. */
const REFERENCES_MAX = 64

/** Meaning of a mint: an asset, or null for a token that is recorded and never credited. Null decimals are not checked. */
export interface KnownMint {
  readonly asset: AssetId | null
  readonly decimals: number | null
}

/** Settings for reading the transactions of a block. */
export interface ExtractOptions {
  /** `<mode>:<network>`. */
  readonly keyPrefix: string
  readonly nativeAsset: AssetId
  readonly mints: ReadonlyMap<string, KnownMint>
}

/**
 * Gains of watched owners in each successful transaction of a block, from balances before and after, so that no
 * program and no instruction has to be interpreted: coins per account, tokens per owner and mint over all their token
 * accounts. Only gains count; the fee is added back for its payer, and the holdings of an owner's token account at its
 * closing were the owner's before. Throws `NodeUnreliable` on balances that
 * contradict each other or lost digits, when a watched owner is concerned.
 */
export function transfersOf(
  options: ExtractOptions,
  transactions: readonly Transaction[],
  watches: WatchIndex,
): readonly RawTransfer[] {
  const ids = new Set<string>()
  return transactions.flatMap((entry) => {
    const txHash = idOf(entry)
    if (ids.has(txHash)) throw new NodeUnreliable(`transaction ${txHash} stands twice in its block`)
    ids.add(txHash)
    checkShape(entry)
    if (entry.meta.err !== null) return []
    return [...coinGains(options, entry, watches), ...tokenGains(options, entry, watches)]
  })
}

/** The match key of an account: its 32 bytes in lower-case hex. Throws `NodeUnreliable` when these are not 32 bytes. */
export function matchKeyOf(account: string): string {
  let bytes: Uint8Array | null
  try {
    bytes = base58.decode(account)
  } catch {
    bytes = null
  }
  if (bytes?.length !== 32) throw new NodeUnreliable('the node names an account that is no key of Solana')
  return Buffer.from(bytes).toString('hex')
}

function coinGains(options: ExtractOptions, entry: Transaction, watches: WatchIndex): readonly RawTransfer[] {
  const { accountKeys } = entry.transaction
  const found: RawTransfer[] = []
  for (const [index, { pubkey }] of accountKeys.entries()) {
    if (!mayGain(entry, index)) continue
    const matchKey = matchKeyOf(pubkey)
    if (!watches.has(matchKey)) continue
    const closed = closedAccountsOf(entry, pubkey)
    const returned = closed.reduce((sum, at) => sum + exact(entry.meta.preBalances[at]), 0n)
    const amountBase = coinDelta(entry, index) - returned
    if (amountBase <= 0n) continue
    const payers = accountKeys.flatMap((key, at) => (losesCoins(entry, at) && !closed.includes(at) ? [key.pubkey] : []))
    const fromAddress = only(payers)
    const asset = options.nativeAsset
    found.push(
      transfer(options, entry, { matchKey, toAddress: pubkey, fromAddress, asset, contract: null, amountBase }),
    )
  }
  return found
}

/**
 * Token accounts of an owner that the transaction closed: the program pays out all lamports, rent and wrapped SOL alike
 * (SPL Token, `CloseAccount`), also when another program calls it. They go to the owner unless the owner chose another receiver.
 * An account of another owner that is closed in this owner's favour is a payment by that other owner.
 */
function closedAccountsOf({ meta, transaction }: Transaction, owner: string): readonly number[] {
  const isClosed = ({ accountIndex: at }: TokenBalance) =>
    (meta.preBalances[at] ?? 0) > 0 && meta.postBalances[at] === 0
  return meta.preTokenBalances.filter(isClosed).flatMap((balance) => {
    if (balance.owner === undefined) {
      throw new NodeUnreliable(`the node gives no owner of an account that ${transaction.signatures[0]} closed`)
    }
    return balance.owner === owner ? [balance.accountIndex] : []
  })
}

/** Most accounts keep or lose their balance: decoding a key is only needed for the others. */
function mayGain({ meta }: Transaction, index: number): boolean {
  const pre = meta.preBalances[index] ?? 0
  const post = (meta.postBalances[index] ?? 0) + (index === 0 ? meta.fee : 0)
  return post > pre || !Number.isSafeInteger(pre)
}

/** The gain of an account from the transaction itself, without the fee. */
function coinDelta({ meta }: Transaction, index: number): bigint {
  const [pre, post] = [meta.preBalances[index], meta.postBalances[index]]
  const gained = exact(post) - exact(pre)
  return index === 0 ? gained + exact(meta.fee) : gained
}

function losesCoins({ meta }: Transaction, index: number): boolean {
  const [pre, post] = [meta.preBalances[index] ?? 0, meta.postBalances[index] ?? 0]
  return post - pre + (index === 0 ? meta.fee : 0) < 0
}

function exact(lamports: number | undefined): bigint {
  if (lamports === undefined || !Number.isSafeInteger(lamports)) {
    throw new NodeUnreliable(`a balance of ${lamports} lamports is not exact in a JSON number`)
  }
  return BigInt(lamports)
}

function tokenGains(options: ExtractOptions, entry: Transaction, watches: WatchIndex): readonly RawTransfer[] {
  const { preTokenBalances, postTokenBalances } = entry.meta
  const ours = ({ mint }: TokenBalance) => options.mints.has(mint)
  const gains = gainsByMint(preTokenBalances.filter(ours), postTokenBalances.filter(ours))
  return [...gains].flatMap(([mint, byOwner]) => {
    const known = options.mints.get(mint)
    if (known === undefined) return []
    return [...byOwner].flatMap(([owner, amountBase]) => {
      if (amountBase <= 0n) return []
      const matchKey = matchKeyOf(owner)
      if (!watches.has(matchKey)) return []
      const balances = postTokenBalances.filter((balance) => balance.mint === mint && balance.owner === owner)
      checkMint(mint, known, balances)
      const payers = [...byOwner].flatMap(([other, delta]) => (delta < 0n ? [other] : []))
      return transfer(options, entry, {
        matchKey,
        toAddress: owner,
        fromAddress: only(payers),
        asset: known.asset,
        contract: mint,
        amountBase,
      })
    })
  })
}

/** Mint → owner → gain. A token account that did not exist before had a balance of zero. */
function gainsByMint(
  before: readonly TokenBalance[],
  after: readonly TokenBalance[],
): ReadonlyMap<string, ReadonlyMap<string, bigint>> {
  const gains = new Map<string, Map<string, bigint>>()
  const add = (sign: bigint) => (balance: TokenBalance) => {
    const { mint, owner, uiTokenAmount } = balance
    if (owner === undefined) throw new NodeUnreliable(`the node gives no owner of a balance of ${mint}`)
    const byOwner = gains.get(mint) ?? new Map<string, bigint>()
    gains.set(mint, byOwner.set(owner, (byOwner.get(owner) ?? 0n) + sign * BigInt(uiTokenAmount.amount)))
  }
  before.forEach(add(-1n))
  after.forEach(add(1n))
  return gains
}

function checkMint(mint: string, { decimals }: KnownMint, balances: readonly TokenBalance[]): void {
  for (const { programId, uiTokenAmount } of balances) {
    if (programId !== TOKEN_PROGRAM) throw new NodeUnreliable(`the node gives ${mint} another token program`)
    if (decimals !== null && uiTokenAmount.decimals !== decimals) {
      throw new NodeUnreliable(`the node gives ${mint} ${uiTokenAmount.decimals} decimals instead of ${decimals}`)
    }
  }
}

type Gain = Pick<RawTransfer, 'matchKey' | 'toAddress' | 'fromAddress' | 'asset' | 'contract' | 'amountBase'>

function transfer({ keyPrefix }: ExtractOptions, entry: Transaction, gain: Gain): RawTransfer {
  const txHash = idOf(entry)
  return {
    ...gain,
    key: `${keyPrefix}:${txHash}:${gain.toAddress}:${gain.contract ?? 'SOL'}`,
    txHash,
    outputIndex: null,
    references: referencesOf(entry).filter((key) => key !== gain.matchKey),
  }
}

/** Accounts that were only listed: wallets add the references of Solana Pay as read-only keys that sign nothing. */
function referencesOf({ transaction }: Transaction): readonly string[] {
  return transaction.accountKeys
    .filter((key) => !key.signer && !key.writable && key.source !== 'lookupTable')
    .slice(0, REFERENCES_MAX)
    .map(({ pubkey }) => matchKeyOf(pubkey))
}

function checkShape(entry: Transaction): void {
  const { accountKeys } = entry.transaction
  const { preBalances, postBalances, preTokenBalances, postTokenBalances } = entry.meta
  if (preBalances.length !== accountKeys.length || postBalances.length !== accountKeys.length) {
    throw new NodeUnreliable(`transaction ${idOf(entry)} has not as many balances as accounts`)
  }
  for (const balances of [preTokenBalances, postTokenBalances]) {
    const accounts = new Set(balances.map(({ accountIndex }) => accountIndex))
    if (accounts.size !== balances.length || balances.some(({ accountIndex }) => accountIndex >= accountKeys.length)) {
      throw new NodeUnreliable(`transaction ${idOf(entry)} has token balances of no account, or twice of one`)
    }
  }
}

function idOf({ transaction }: Transaction): string {
  return transaction.signatures[0] ?? ''
}

/** The payer is only named when it is unambiguous. */
function only(payers: readonly string[]): string | null {
  return payers.length === 1 ? (payers[0] ?? null) : null
}
