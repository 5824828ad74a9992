import type { Mutant } from './mutant.ts'

/** Nodes that drop blocks, lag, stand still and misstate times, and transactions made to be a burden. */
export const NODE_MUTANTS: readonly Mutant[] = [
  {
    name: 'skipped-blocks-pass-deadlines',
    file: 'shared/usecases/networks/known-until.ts',
    find: 'const read = Math.min(readUntil(cursor, blockTimeMs), skipped?.since ?? Number.POSITIVE_INFINITY)',
    replace: 'const read = readUntil(cursor, blockTimeMs)',
    what: 'Deadlines pass behind blocks that were skipped, before a person has looked.',
    seed: '73',
  },
  {
    name: 'skipped-money-unnamed',
    file: 'shared/usecases/scanning/skip-blocks.ts',
    find: 'if (isUnread || holdsMore) named.push',
    replace: 'if (isUnread) named.push',
    what: 'What was paid in skipped blocks of an account chain is in no inbox row.',
    seed: '73',
  },
  {
    name: 'skipped-money-uncredited',
    file: 'shared/usecases/scanning/skip-blocks.ts',
    find: 'recordFindings(deps, position, { found, outcomes: [] })',
    replace: 'recordFindings(deps, position, { found: [], outcomes: [] })',
    what: 'What is unspent of skipped blocks is not credited.',
    seed: '194',
  },
  {
    name: 'dropped-block-awaited',
    file: 'shared/chains/families/tron/block-parts.ts',
    find: 'if (number - height < APART_MAX) return',
    replace: 'if (number > 0) return',
    what: 'A block that no node of TRON has any more is awaited for ever.',
    seed: '57',
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
    name: 'old-final-block-unnamed',
    file: 'shared/chains/nodes/final-height.ts',
    find: 'standsAt: (entry) => (strangers.has(entry) ? null : progress.standsAt(entry)),',
    replace: 'standsAt: () => null,',
    what: 'A second node whose final block stands still holds all payments without a word.',
    seed: '49',
  },
  {
    name: 'ages-believed',
    file: 'shared/usecases/payments/record-payments.ts',
    find: 'return Math.min(now, Math.max(mempoolAt, now - Math.max(0, ageMs)))',
    replace: 'return Math.min(now, now - Math.max(0, ageMs))',
    what: 'A node decides since when a payment was there.',
    seed: '22',
  },
  {
    name: 'bomb-counts-once',
    file: 'shared/chains/families/utxo/extract.ts',
    find: '      sum.amountBase += amountBase\n      continue',
    replace: '      continue',
    what: 'Of many small outputs only the first counts.',
    seed: '26',
  },
]
