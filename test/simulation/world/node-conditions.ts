/** What is wrong with the nodes of one chain, besides single answers. */
export interface NodeConditions {
  /** Until when none of them answers. */
  awayUntil: number
  /** They have no contents of blocks below this place in the chain. */
  keptFrom: number
  /** The second node's final block stands still at this place since a time; null while it follows. */
  stands: { readonly at: number; readonly since: number } | null
  /** By how much the newest blocks say to be later than they are, milliseconds. */
  aheadMs: number
  /** So many of the newest blocks cannot be had yet, and so many are not listed. */
  late: { readonly blocks: number; readonly listed: number }
  /** Ranges of blocks that were gone before the scanner had read them; a scanner that was not there reads on behind them. */
  readonly dropped: { readonly from: number; readonly to: number }[]
}

/** Nodes in good order. */
export const createNodeConditions = (): NodeConditions => ({
  awayUntil: 0,
  keptFrom: 0,
  stands: null,
  aheadMs: 0,
  late: { blocks: 0, listed: 0 },
  dropped: [],
})

/** Mends what lasts; what is gone stays gone. */
export function mendNodes(conditions: NodeConditions): void {
  conditions.awayUntil = 0
  conditions.stands = null
  conditions.aheadMs = 0
  conditions.late = { blocks: 0, listed: 0 }
}
