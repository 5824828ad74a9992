import type { AssetId, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { TestnetId } from '#shared/domain/networks.ts'
import { ASSETS } from './assets.ts'
import type { AssetRow, NodeSettings } from './chain.ts'
import { CHAINS } from './registry.ts'

/**
 * A public testnet of a network: other nodes behind the same network id, in test mode only. Chain id, block 0, address prefixes and
 * version bytes are those of mode `test` in the network's definition, unless the row states others.
 */
export interface TestnetRow {
  /** As its people write it. */
  readonly name: string
  /** Contracts or mints that the issuer of a token names. An asset without one is refused there. */
  readonly tokens: Readonly<Partial<Record<AssetId, string>>>
  /** Hash of block 0 where it is not that of the definition. */
  readonly genesis?: string
  /** Block explorer of a transaction with `{tx}` in place of its id, where it is not that of the definition. */
  readonly explorerTx?: string
}

/**
 * Every testnet by network and id (`NETWORKS`). USDC: Circle's own, with 6 decimals as on the main networks. Sepolia, Base Sepolia
 * and Arbitrum Sepolia as in Circle's `use-usdc` (skills.sh/circlefin/skills/use-usdc, which names
 * developers.circle.com/stablecoins/usdc-contract-addresses as its source); Amoy and devnet as in Interlace's list of the same
 * addresses (developer.interlace.money/docs/usdc-on-testing-networks); both read 2026-11-23. Tether names no contract on any
 * testnet and Circle none on BSC's, so those assets are refused unless `contracts` of the settings names one. Signet: BIP 325 and
 * Bitcoin Core's chainparams; its addresses are those of testnet4.
 */
export const TESTNETS: Readonly<Record<NetworkId, Readonly<Partial<Record<TestnetId, TestnetRow>>>>> = {
  bitcoin: {
    testnet4: { name: 'Bitcoin testnet4', tokens: {} },
    signet: {
      name: 'Bitcoin signet',
      tokens: {},
      genesis: '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6',
      explorerTx: 'https://mempool.space/signet/tx/{tx}',
    },
  },
  litecoin: { testnet: { name: 'Litecoin testnet', tokens: {} } },
  dogecoin: { testnet: { name: 'Dogecoin testnet', tokens: {} } },
  ethereum: { sepolia: { name: 'Sepolia', tokens: { usdc_ethereum: '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238' } } },
  bsc: { testnet: { name: 'BSC testnet', tokens: {} } },
  polygon: { amoy: { name: 'Polygon Amoy', tokens: { usdc_polygon: '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582' } } },
  base: { sepolia: { name: 'Base Sepolia', tokens: { usdc_base: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' } } },
  arbitrum: {
    sepolia: { name: 'Arbitrum Sepolia', tokens: { usdc_arbitrum: '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d' } },
  },
  tron: { nile: { name: 'TRON Nile', tokens: {} } },
  solana: {
    devnet: { name: 'Solana devnet', tokens: { usdc_solana: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' } },
  },
}

/**
 * The testnet that nodes of test mode are on. Null for a local chain, whose settings name another chain id or another block 0, and
 * null without nodes: both have the contracts of the main network unless the settings name others.
 */
export function testnetOf(network: NetworkId, node: NodeSettings | undefined): TestnetRow | null {
  if (node === undefined) return null
  const rows = Object.entries(TESTNETS[network])
  const [first] = rows
  const chosen = rows.find(([id]) => id === node.testnet) ?? first
  if (chosen === undefined) return null
  const { chainIds } = CHAINS[network]
  if (chainIds !== null && (node.chainId ?? chainIds.test) !== chainIds.test) return null
  return (node.genesis ?? null) === null ? chosen[1] : null
}

/** The contract or mint that carries an asset in a mode: null for the network's coin, undefined where the asset is refused. */
export function contractOf(asset: AssetId, mode: Mode, network: NetworkId, node: NodeSettings | undefined) {
  const row: AssetRow = ASSETS[asset]
  if (row.contract === null) return null
  const named = node?.contracts?.[asset]
  if (named !== undefined) return named
  const testnet = mode === 'test' ? testnetOf(network, node) : null
  return testnet === null ? row.contract : testnet.tokens[asset]
}
