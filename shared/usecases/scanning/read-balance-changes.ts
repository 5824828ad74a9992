import { inChunks } from '#shared/domain/in-chunks.ts'
import type { BalanceChange, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import type { BalanceLedger } from '#shared/ports/scanning.ts'
import type { BlockChanges } from './settle-increases.ts'

/** Accounts of one request for balances. */
export const READ_ACCOUNTS_MAX = 500
/** Chunks read at the same time. */
const CONCURRENCY = 4

/** Balance changes by block, and the blocks of which no node has both states. */
export interface ReadChanges {
  readonly found: readonly BlockChanges[]
  /** Heights; nothing is known of what reached accounts in them unseen. */
  readonly gone: readonly number[]
}

type Balances = Awaited<ReturnType<BalanceLedger['read']>>

/**
 * Accounts whose coin balance differs between the end of each block and that of its parent, and those that sent something in it. Reads every account at every state once, in chunks:
 * (blocks + 1) × accounts ÷ 500 requests for consecutive blocks. Throws `NodeUnreliable` when a balance is unavailable although its block is there.
 */
export async function readBalanceChanges(
  ledger: BalanceLedger,
  blocks: readonly ScannedBlock[],
  matchKeys: Iterable<string> | AsyncIterable<string>,
): Promise<ReadChanges> {
  const changes = new Map<string, BalanceChange[]>(blocks.map(({ hash }) => [hash, []]))
  const gone = new Set<number>()
  const chunks = inChunks(matchKeys, READ_ACCOUNTS_MAX)
  const work = async (): Promise<void> => {
    for await (const keys of chunks) await readChunk(keys)
  }
  async function readChunk(keys: readonly string[]): Promise<void> {
    let [lastHash, lastBalances]: [string, Balances] = ['', null]
    for (const block of blocks) {
      // What no node has for some accounts it has for none. Nothing was paid in the first block: a chain begins with it.
      if (block.height === 0 || gone.has(block.height)) continue
      const { height, hash, parentHash } = block
      const before: Balances =
        lastHash === parentHash ? lastBalances : await ledger.read(keys, { height: height - 1, hash: parentHash })
      const after: Balances = before === null ? null : await ledger.read(keys, block)
      ;[lastHash, lastBalances] = [hash, after]
      if (before === null || after === null) gone.add(height)
      else changes.get(hash)?.push(...differences(keys, before, after, block.spending))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return {
    found: blocks.map((block) => ({ block, changes: gone.has(block.height) ? [] : (changes.get(block.hash) ?? []) })),
    gone: [...gone].sort((one, other) => one - other),
  }
}

function differences(
  keys: readonly string[],
  before: ReadonlyMap<string, bigint>,
  after: ReadonlyMap<string, bigint>,
  spending: ScannedBlock['spending'],
): readonly BalanceChange[] {
  return keys.flatMap((matchKey) => {
    const [beforeBase, afterBase] = [before.get(matchKey), after.get(matchKey)]
    if (beforeBase === undefined || afterBase === undefined) return []
    // Who sent something may have received as much in the same block.
    const isChanged = beforeBase !== afterBase || spending?.has(matchKey) === true
    return isChanged ? [{ matchKey, beforeBase, afterBase }] : []
  })
}
