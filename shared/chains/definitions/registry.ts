import type { NetworkId } from '#shared/domain/enumerations.ts'
import { arbitrum } from './arbitrum.ts'
import { base } from './base.ts'
import { bitcoin } from './bitcoin.ts'
import { bsc } from './bsc.ts'
import type { ChainDefinition } from './chain.ts'
import { dogecoin } from './dogecoin.ts'
import { ethereum } from './ethereum.ts'
import { litecoin } from './litecoin.ts'
import { polygon } from './polygon.ts'
import { solana } from './solana.ts'
import { tron } from './tron.ts'

/** Every network that Paymesh supports, by id, in the order of the specification. A network is added here and nowhere else. */
export const CHAINS = {
  bitcoin,
  litecoin,
  dogecoin,
  ethereum,
  bsc,
  polygon,
  base,
  arbitrum,
  tron,
  solana,
} as const satisfies Record<NetworkId, ChainDefinition>
