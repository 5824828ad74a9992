import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** A watched receiving address. It is stored before it is issued. */
export interface WatchedAddress {
  readonly mode: Mode
  readonly family: Family
  /** Lower-case hex of the receiving script or address bytes. */
  readonly matchKey: string
  readonly address: string
  readonly materialId: string
  readonly index: number
  /** Networks whose scanner has indexed this address. */
  readonly watchedOn: readonly NetworkId[]
  /** Materials of the pools, or of the single-address wallet, that hold this address; absent for derived ones. */
  readonly heldBy?: readonly string[]
  /** Earliest time at which a pool may offer it, by material; absent = since it was added. */
  readonly offeredFrom?: Readonly<Record<string, Ms>>
}

/** An address in a list that a person enters. `materialId` identifies its kind of use: it is the same for all who use it that way. */
export type ListedAddress = Pick<WatchedAddress, 'mode' | 'family' | 'matchKey' | 'address' | 'materialId'>
