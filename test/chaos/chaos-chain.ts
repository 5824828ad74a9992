import type { AssetId, Family, NetworkId } from '#shared/domain/enumerations.ts'

/** Somebody who can be paid. */
export interface Receiver {
  readonly matchKey: string
  readonly address: string
}

/** A real chain as the sequences drive it. */
export interface ChaosChain {
  readonly url: string
  readonly network: NetworkId
  readonly family: Family
  /** Assets that its payments move; invoices ask for the first. */
  readonly assets: readonly AssetId[]
  /** Everything that so many payments of one sequence need, in blocks that no reorganisation of it reaches. */
  prepare(payments: number): Promise<void>
  pay(to: readonly Receiver[], amountBase: bigint, asset: number): Promise<void>
  mine(blocks: number): Promise<void>
  /** Replaces blocks by others that hold some of their transactions. */
  reorg(depth: number, keep: number): Promise<void>
  /** Replaces an unconfirmed transaction, where that can be done. */
  replace(pays: 'same' | 'other'): Promise<void>
  /** Base units that a receiver holds by the chain's own books, unconfirmed ones included; null where nobody can be asked. */
  holdings(receiver: Receiver): Promise<bigint | null>
  stop(): Promise<void>
}
