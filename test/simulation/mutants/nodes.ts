import type { Mutant } from './mutant.ts'

/** Nodes that drop blocks, lag, stand still and misstate times, and transactions made to be a burden. */
export const NODE_MUTANTS: readonly Mutant[] = [
  {
    name: 'skipped-blocks-pass-deadlines',
    file: 'shared/usecases/networks/known-until.ts',
    find: 'const read = Math.min(readUntil(cursor, blockTimeMs), skipped?.since ?? Number.POSITIVE_INFINITY)',
    replace: 'const read = readUntil(cursor, blockTimeMs)',
    what: 'Deadlines pass behind blocks that were skipped, before a person has looked.',
  },
  {
    name: 'skipped-money-unnamed',
    file: 'shared/usecases/scanning/skip-blocks.ts',
    find: 'if (isUnread || holdsMore) named.push',
    replace: 'if (isUnread) named.push',
    what: 'What was paid in skipped blocks of an account chain is in no inbox row.',
  },
  {
    name: 'skipped-money-uncredited',
    file: 'shared/usecases/scanning/skip-blocks.ts',
    find: 'recordFindings(deps, position, { found, outcomes: [] })',
    replace: 'recordFindings(deps, position, { found: [], outcomes: [] })',
    what: 'What is unspent of skipped blocks is not credited.',
  },
  {
    name: 'dropped-block-awaited',
    file: 'shared/chains/families/tron/block-parts.ts',
    find: 'if (number - height < APART_MAX) return',
    replace: 'if (number > 0) return',
    what: 'A block that no node of TRON has any more is awaited for ever.',
  },
  {
    name: 'released-during-the-search',
    file: 'shared/usecases/networks/release-deadlines.ts',
    find: "some(({ kind }) => kind === 'skip')) throw searching(network)",
    replace: "some(({ kind }) => kind === 'skip')) network.trim()",
    what: 'Deadlines are released while the search of skipped blocks runs, whose result is lost then.',
    seed: '120',
  },
  {
    name: 'list-of-slots-believed',
    file: 'shared/chains/families/solana/read-blocks.ts',
    find: '    if (header.parentSlot > (before?.slot ?? from - 1)) return blocks.slice(0, index)\n    if (before === undefined) continue\n    if (header',
    replace: '    if (before === undefined) continue\n    if (header.parentSlot < before.slot && header',
    what: 'A block of Solana that the node does not list yet is passed.',
  },
  {
    name: 'old-final-block-unnamed',
    file: 'shared/chains/nodes/final-height.ts',
    find: 'standsAt: (entry) => (strangers.has(entry) ? null : progress.standsAt(entry)),',
    replace: 'standsAt: () => null,',
    what: 'A second node whose final block stands still holds all payments without a word.',
  },
  {
    name: 'future-time-believed',
    file: 'shared/usecases/scanning/scan-tick.ts',
    find: 'mempoolAt: Math.min(mempoolAt, head.askedAt),',
    replace: 'mempoolAt,',
    what: 'The time of a block in the future passes for a reading of the mempool.',
  },
  {
    name: 'ages-believed',
    file: 'shared/usecases/payments/record-payments.ts',
    find: 'return Math.min(now, Math.max(mempoolAt, now - Math.max(0, ageMs)))',
    replace: 'return Math.min(now, now - Math.max(0, ageMs))',
    what: 'A node decides since when a payment was there.',
  },
  {
    name: 'bomb-counts-once',
    file: 'shared/chains/families/utxo/extract.ts',
    find: '      sum.amountBase += amountBase\n      continue',
    replace: '      continue',
    what: 'Of many small outputs only the first counts.',
  },
  {
    name: 'fork-forgets-the-mempool',
    file: 'shared/usecases/scanning/scan-reorg.ts',
    find: 'Math.min(mempoolAt, time, (seenAt ?? time) - 1)',
    replace: 'Math.min(mempoolAt, time)',
    what: 'An invoice expires between the replacement of its block and the next reading of the mempool.',
    seed: '30',
  },
]
