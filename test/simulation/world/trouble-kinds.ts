import type { NetworkId } from '#shared/domain/enumerations.ts'

/** One trouble of the nodes of a chain. A seed has at most one. */
export type Trouble = 'pruned' | 'late slots' | 'still final' | 'wrong time' | 'bombs' | 'none'

/** Which networks have which. Times of blocks are stated by one miner in the Bitcoin family alone: elsewhere by the votes of many. */
export const TROUBLES: readonly (readonly [Trouble, NetworkId])[] = [
  ['pruned', 'bitcoin'],
  ['pruned', 'solana'],
  ['pruned', 'tron'],
  ['late slots', 'solana'],
  ['still final', 'tron'],
  ['wrong time', 'bitcoin'],
  ['none', 'tron'],
  ['late slots', 'solana'],
  ['bombs', 'bitcoin'],
]
