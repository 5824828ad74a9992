import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { ChainDefinition } from './chain.ts'
import { arbitrum } from './definitions/arbitrum.ts'
import { base } from './definitions/base.ts'
import { bitcoin } from './definitions/bitcoin.ts'
import { bsc } from './definitions/bsc.ts'
import { dogecoin } from './definitions/dogecoin.ts'
import { ethereum } from './definitions/ethereum.ts'
import { litecoin } from './definitions/litecoin.ts'
import { polygon } from './definitions/polygon.ts'
import { solana } from './definitions/solana.ts'
import { tron } from './definitions/tron.ts'

/** Every network Paymesh knows, by id, in the order of the specification. A network is added here and nowhere else. */
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
