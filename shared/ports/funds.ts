import type { AssetId } from '#shared/domain/enumerations.ts'

/** An asset at one address. Amounts are base units; null means that a node gave no clear response, never that there is nothing. */
export interface AssetFunds {
  readonly asset: AssetId
  readonly balanceBase: bigint | null
  /**
   * Cost of moving all of it in one transaction at the present fee, base units of the network's coin; includes `topUpBase`. An
   * estimate for people. Null when it is unknown, and where there is nothing to move.
   */
  readonly feeBase: bigint | null
  /** The part of `feeBase` that pays for sending coins to the address first, because it holds too few for the fee. */
  readonly topUpBase: bigint
}

/** A figure that a cost was computed from, such as the gas price; `value` is a whole number of `unit`. */
export interface FeeFact {
  readonly name: 'gas_price' | 'transfer_gas' | 'energy_price' | 'bandwidth_price' | 'fee_rate' | 'signature_fee'
  readonly value: bigint
  readonly unit: 'wei' | 'gas' | 'sun' | 'base units per kvB' | 'lamports'
}

/** Present costs of moving what one invoice usually leaves at an address. */
export interface MoveFees {
  /** Base units of the network's coin by asset; null when it is unknown. */
  readonly perAsset: ReadonlyMap<AssetId, bigint | null>
  readonly facts: readonly FeeFact[]
}

/** Balances at addresses and what the read of them showed. */
export interface FundsReading {
  /** Block of the reading; null where a node does not state it. */
  readonly height: number | null
  /** By match key. An address that is missing was not read: everything at it is unknown. */
  readonly funds: ReadonlyMap<string, readonly AssetFunds[]>
  readonly facts: readonly FeeFact[]
}

/** Reads balances and fees from a network's nodes, for people and never for crediting. It needs no key and sends nothing. */
export interface FundsReader {
  /**
   * Balances of at most `FUNDS_PAGE` addresses in the network's coin and its accepted tokens, by at most `FUNDS_CALLS_MAX` calls.
   * Throws `NodeUnreliable` when no node responds or the node is still syncing, RangeError for more addresses.
   */
  read(
    addresses: readonly { readonly address: string; readonly matchKey: string }[],
    limits: { readonly timeoutMs: number },
  ): Promise<FundsReading>
  /** Costs of moving, without any address. Throws `NodeUnreliable`. */
  fees(): Promise<MoveFees>
}

/** Most addresses of one reading. */
export const FUNDS_PAGE = 20
/** Most calls to nodes for one reading, those that identify a node included. */
export const FUNDS_CALLS_MAX = 100
