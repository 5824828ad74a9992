import type { SimBlock, SimChain, SimTx } from '../world/chain.ts'

/** What one node shows of its chain at a moment. */
export interface NodeView {
  /** Newest block, as a place in the chain. */
  readonly head: number
  /** Newest final block. */
  readonly final: number
  /** A block with its contents; `gone` when the node has dropped them, null when it has none there. */
  block(index: number): SimBlock | 'gone' | null
  /** Whether the list of the node has a block that it has. */
  lists(index: number): boolean
}

/** What a node of a family answers, or how it refuses. */
export type WireForm = (chain: SimChain, view: NodeView, call: WireCall) => WireAnswer

/** One call: the method or path, and what was sent. */
export interface WireCall {
  readonly method: string
  readonly body: unknown
}

/** An answer to one POST. */
export interface WireAnswer {
  readonly status: number
  readonly body: string
}

/** A block and its transaction. */
export interface PlacedTransaction {
  readonly block: SimBlock
  readonly tx: SimTx
}

/** Where a node has a transaction; null where it has none, or dropped it. */
export function placeOf(view: NodeView, hash: string): PlacedTransaction | null {
  for (let at = view.head; at >= 0; at -= 1) {
    const block = view.block(at)
    if (block === null || block === 'gone') continue
    const tx = block.txs.find((one) => one.hash === hash)
    if (tx !== undefined) return { block, tx }
  }
  return null
}

/** Base units of an asset that an owner has by the blocks up to a place: nothing leaves accounts of these chains, whatever nodes dropped. */
export function heldAt(chain: SimChain, index: number, matchKey: string, asset: string): bigint {
  return chain.blocks
    .slice(0, index + 1)
    .flatMap(({ txs }) => txs)
    .flatMap(({ payouts }) => payouts)
    .filter((one) => one.matchKey === matchKey && one.asset === asset)
    .reduce((sum, { amountBase }) => sum + amountBase, 0n)
}
