import type { ChainCursor } from '#shared/ports/cursors.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { BlockRef, LedgerTransfer, SecondFigures, TransferBlock } from '#shared/ports/scanned-blocks.ts'
import type { BalanceLedger, ChainClient } from '#shared/ports/scanning.ts'
import { increaseKey } from '#shared/usecases/payments/balance-increase-keys.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { FoundIncrease } from './balance-sheet.ts'
import type { ScanSource } from './scan-session.ts'

/** How long after an invoice's deadline the coins of its address are expected. */
export const WATCHED_AFTER_END_MS = 24 * 3_600_000

/** Payments that are read at either end of those of one account and amount: a stranger chooses how many there are. */
const NEAR = 32

/** What recording increases needs; a scanner's session has it. */
export interface IncreaseScope {
  readonly deps: Uses<'payments' | 'invoices'>
  readonly source: Pick<ScanSource, 'mode' | 'network'> & { readonly client: Pick<ChainClient, 'balances' | 'blockAt'> }
  readonly cursor: Pick<ChainCursor, 'height' | 'time'>
}

/** A balance increase as a transfer, and its block. */
export interface PlacedIncrease {
  readonly height: number
  readonly transfer: LedgerTransfer
}

/**
 * Gives each increase of an account's coins the lowest free ordinal: one that no payment has, or whose payment is no longer in any block and
 * belongs to an invoice that still expects money at the account, or to nobody where no invoice does. So a payment keeps its key when its block
 * is rebuilt; of more than 64 payments of one amount the first and the last 32 do. Tokens have no increases: their key would be that of as many coins.
 */
export async function placeIncreases(
  scope: IncreaseScope,
  blocks: readonly BlockRef[],
  matchKey: string,
  increases: readonly FoundIncrease[],
): Promise<readonly PlacedIncrease[]> {
  const { deps, source } = scope
  const { balances } = source.client
  if (balances === undefined) throw new TypeError('the network has no balances to read')
  const taken = new Set<string>()
  const placed: PlacedIncrease[] = []
  for (const { height, amountBase, increase, from } of increases) {
    const keyOf = (ordinal: number) => increaseKey(source, matchKey, amountBase, ordinal)
    const { stored, ordinals, end } = await nearEnds(deps, keyOf)
    for (const key of await takenAmong(scope, blocks, matchKey, stored)) taken.add(key)
    const isFree = (ordinal: number): boolean => !taken.has(keyOf(ordinal))
    let ordinal = ordinals.find(isFree) ?? end
    while (!isFree(ordinal)) ordinal += 1
    const key = keyOf(ordinal)
    taken.add(key)
    const to = { matchKey, toAddress: balances.addressOf(matchKey), asset: balances.asset, contract: null, amountBase }
    const unknown = { fromAddress: null, txHash: null, outputIndex: null, ...(from !== undefined && { from }) }
    placed.push({ height, transfer: { key, ...to, ...unknown, increase } })
  }
  return withSecondFigures(balances, blocks, placed)
}

/** The payments of the first ordinals and of the last ones, and the first ordinal behind those that no payment has. */
async function nearEnds({ payments }: IncreaseScope['deps'], keyOf: (ordinal: number) => string) {
  const first = Array.from({ length: NEAR }, (_, ordinal) => ordinal)
  const stored = await payments.findByKeys(first.map(keyOf))
  if (stored.length < NEAR) return { stored, ordinals: first, end: NEAR }
  const has = async (ordinal: number) => (await payments.findByKeys([keyOf(ordinal)])).length > 0
  let [low, high] = [NEAR - 1, 2 * NEAR]
  while (await has(high)) [low, high] = [high, 2 * high]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (await has(middle)) low = middle
    else high = middle
  }
  const last = first.map((ordinal) => high - NEAR + ordinal).filter((ordinal) => ordinal >= NEAR)
  return {
    stored: [...stored, ...(await payments.findByKeys(last.map(keyOf)))],
    ordinals: [...first, ...last],
    end: high,
  }
}

/** Asked at once: when the payment may confirm, other nodes may have dropped the state. */
async function withSecondFigures(
  balances: BalanceLedger,
  blocks: readonly BlockRef[],
  placed: readonly PlacedIncrease[],
): Promise<readonly PlacedIncrease[]> {
  const hashes = new Map(blocks.map(({ height, hash }) => [height, hash]))
  const questions = placed.flatMap(({ height, transfer: { key, matchKey, amountBase, increase } }) => {
    const hash = hashes.get(height)
    return increase === undefined || hash === undefined
      ? []
      : [{ key, matchKey, amountBase, height, hash, ...increase }]
  })
  const found = questions.length === 0 ? new Map<string, SecondFigures>() : await balances.second(questions)
  return placed.map(({ height, transfer }) => {
    const second = found.get(transfer.key)
    if (transfer.increase === undefined || second === undefined) return { height, transfer }
    return { height, transfer: { ...transfer, increase: { ...transfer.increase, second } } }
  })
}

/** The blocks with these increases among their transfers. */
export function withIncreases(
  blocks: readonly TransferBlock[],
  placed: readonly PlacedIncrease[],
): readonly TransferBlock[] {
  return blocks.map((block) => {
    const own = placed.filter(({ height }) => height === block.height)
    return { ...block, transfers: [...block.transfers, ...own.map(({ transfer }) => transfer)] }
  })
}

/** Keys that a new increase cannot have. */
async function takenAmong(
  { deps, source, cursor }: IncreaseScope,
  blocks: readonly BlockRef[],
  matchKey: string,
  stored: readonly Payment[],
): Promise<readonly string[]> {
  const hashes = new Set(blocks.map(({ hash }) => hash))
  const isLive = ({ state, block }: Payment): boolean =>
    block !== null &&
    (state === 'detected' || state === 'confirmed') &&
    (block.height <= cursor.height || hashes.has(block.hash))
  // Almost always: nothing was taken out of the chain.
  if (stored.every(isLive)) return stored.map(({ key }) => key)
  const { mode, network } = source
  const methods = await deps.invoices.watchedMethods(mode, network, cursor.time - WATCHED_AFTER_END_MS)
  const waiting = new Set(methods.filter((one) => one.matchKey === matchKey).map(({ invoiceId }) => invoiceId))
  const isFree = ({ invoiceId }: Payment): boolean => (invoiceId === null ? waiting.size === 0 : waiting.has(invoiceId))
  return stored.filter((payment) => isLive(payment) || !isFree(payment)).map(({ key }) => key)
}
