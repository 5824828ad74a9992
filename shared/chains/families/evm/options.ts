import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import type { ChainDefinition, CoinLedger } from '../../definitions/chain.ts'

/** An accepted token of the network in the client's mode. */
export interface EvmToken {
  readonly asset: AssetId
  readonly contract: string
  readonly decimals: number
}

/** How a client detects native transfers inside contract calls. */
export interface InternalMoves {
  readonly ledger: CoinLedger
  /** True: nothing is scanned without it. False: traces are used where a node offers them. */
  readonly required: boolean
}

/** Settings of a client; a further EVM network is another definition here, and nothing else. */
export interface EvmClientOptions {
  readonly chain: ChainDefinition
  readonly mode: Mode
  readonly rpcUrls: readonly string[]
  readonly chainId: number
  /** The native coin as an asset. */
  readonly nativeAsset: AssetId
  readonly tokens: readonly EvmToken[]
  readonly internal: InternalMoves
  readonly metrics: Metrics
}
