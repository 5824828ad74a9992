import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import type { ChainDefinition } from '../../definitions/chain.ts'

/** An accepted token of the network in the client's mode. */
export interface EvmToken {
  readonly asset: AssetId
  readonly contract: string
  readonly decimals: number
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
  /** The chain logs every transfer of its native coin: a local node with the chain's definition does not. */
  readonly logsCoins: boolean
  readonly metrics: Metrics
}
