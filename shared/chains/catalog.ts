import { base58 } from '@scure/base'
import {
  ASSET_IDS,
  type AssetId,
  MODES,
  type Mode,
  type NetworkId,
  networkOf,
  symbolOf,
} from '#shared/domain/enumerations.ts'
import { formatUnits, parseUnits } from '#shared/domain/money/money.ts'
import type { AssetInfo, Catalog, ChainPaces } from '#shared/ports/chain-catalog.ts'
import { blocksOf, chainFigures, compareFacts, rowAge } from './chain-figures.ts'
import { ASSETS } from './definitions/assets.ts'
import type { AssetRow, ChainDefinition, Depth, NetworkSettings } from './definitions/chain.ts'
import { largestAmount } from './definitions/largest-amount.ts'
import { CHAINS } from './definitions/registry.ts'
import { contractOf, testnetOf } from './definitions/testnets.ts'
import { chooseScan } from './scan-choice.ts'

/** Nothing was measured: every network has the figures of its row. */
export const NO_PACES: ChainPaces = { of: () => null }

/**
 * The registry with this installation's network settings applied: chain ids, contracts and confirmations in a
 * mode's settings replace the registry's. What the registry states in time follows the measured `paces`. Served from memory.
 */
export function createCatalog(networks: NetworkSettings, paces: ChainPaces = NO_PACES): Catalog {
  const infos = new Map<AssetId, AssetInfo>(ASSET_IDS.map((id) => [id, assetInfo(id)]))
  /** Undefined where the asset is refused. */
  const contracts = new Map(
    MODES.flatMap((mode) =>
      ASSET_IDS.map((id) => {
        const network = networkOf(id)
        return [`${mode}:${id}`, contractOf(id, mode, network, networks[mode][network])] as const
      }),
    ),
  )
  // Nobody may take a token that is refused for the coin of its network.
  const contract = (id: AssetId, mode: Mode): string | null => {
    const found = contracts.get(`${mode}:${id}`)
    return found === undefined ? ASSETS[id].contract : found
  }

  function chainId(network: NetworkId, mode: Mode): number | null {
    const { chainIds } = CHAINS[network]
    return chainIds === null ? null : (networks[mode][network]?.chainId ?? chainIds[mode])
  }

  return {
    ...factsOf(networks, paces),
    asset(id) {
      const info = infos.get(id)
      if (info === undefined) throw new TypeError(`no asset ${id}`)
      return info
    },
    sibling(network, contract) {
      const { siblings }: ChainDefinition = CHAINS[network]
      const found = siblings.find((one) => one.contract === contract)
      return found === undefined ? null : { ...assetInfo(found.like), symbol: found.symbol }
    },
    contract,
    accepts: (id, mode) => contracts.get(`${mode}:${id}`) !== undefined,
    needsFinality: (network) => CHAINS[network].confirmsByFinality,
    // Where coins are outputs, only work decides, and no block is ever final.
    knowsFinality: (network) => (CHAINS[network] as ChainDefinition).outputs === undefined,
    hasNode: (network, mode) => networks[mode][network] !== undefined,
    scanChoice(network, mode) {
      const node = networks[mode][network]
      return node === undefined || node.rpcUrls.length === 0 ? null : chooseScan(network, node)
    },
    chainId,
    publicNetwork(network, mode) {
      const { chainIds, publicRpc, explorerTx, name, nativeSymbol: coin }: ChainDefinition = CHAINS[network]
      const explorer = explorerTx[mode]
      if (publicRpc === undefined || chainIds === null || explorer === null) return null
      if (chainId(network, mode) !== chainIds[mode]) return null
      const testnet = mode === 'test' ? testnetOf(network, networks.test[network]) : null
      return { name: testnet?.name ?? name, rpcUrl: publicRpc[mode], explorerUrl: new URL(explorer).origin, coin }
    },
    walletChain(network, mode) {
      const { walletChains }: ChainDefinition = CHAINS[network]
      if (walletChains === undefined) return null
      return (networks[mode][network]?.genesis ?? null) === null ? walletChains[mode] : walletChains.local
    },
    paymentUri: ({ asset, mode, address, amountBase, reference }) =>
      paymentUri({
        chain: CHAINS[networkOf(asset)],
        contract: contract(asset, mode),
        chainId: chainId(networkOf(asset), mode),
        address,
        amountBase,
        decimals: ASSETS[asset].decimals,
        reference: reference ?? null,
      }),
    explorerTxUrl(network, mode, txHash) {
      const { chainIds, explorerTx } = CHAINS[network]
      const chainId = networks[mode][network]?.chainId ?? null
      // No explorer shows a local chain: a link there would show nothing, or an unrelated payment.
      if ((networks[mode][network]?.genesis ?? null) !== null) return null
      if (chainId !== null && chainIds !== null && chainId !== chainIds[mode]) return null
      const testnet = mode === 'test' ? testnetOf(network, networks.test[network]) : null
      return (testnet?.explorerTx ?? explorerTx[mode])?.replace('{tx}', txHash) ?? null
    },
  }
}

type Facts = Pick<
  Catalog,
  'confirmations' | 'confirmationTiers' | 'finalizesAfterMs' | 'blockTimeMs' | 'figures' | 'compareFacts' | 'rowAge'
>

/** What follows the measured pace of a network. An installation's own count of confirmations stays what it is, and applies to every value. */
function factsOf(networks: NetworkSettings, paces: ChainPaces): Facts {
  const figures = (network: NetworkId, mode: Mode) => chainFigures(CHAINS[network], paces.of(network, mode))
  const own = (network: NetworkId, mode: Mode) => networks[mode][network]?.confirmations ?? null
  const blocks = (depth: Depth, network: NetworkId, mode: Mode) =>
    blocksOf(depth, CHAINS[network], paces.of(network, mode))
  return {
    confirmations(id, mode) {
      const network = networkOf(id)
      return own(network, mode) ?? blocks(CHAINS[network].confirmations, network, mode)
    },
    confirmationTiers(id, mode) {
      const network = networkOf(id)
      const count = own(network, mode)
      if (count !== null) return [{ fromUsd: 0, confirmations: count }]
      return CHAINS[network].confirmationTiers.map(({ fromUsd, confirmations: depth }) => ({
        fromUsd,
        confirmations: depth === 'finalized' ? depth : blocks(depth, network, mode),
      }))
    },
    finalizesAfterMs: (network, mode) => figures(network, mode).finalizesAfterMs,
    blockTimeMs: (network, mode) => figures(network, mode).blockTimeMs,
    figures: (network, measured) => chainFigures(CHAINS[network], measured),
    compareFacts: (network, measured) => compareFacts(CHAINS[network], measured),
    rowAge: (network, now) => rowAge(CHAINS[network], now),
  }
}

function assetInfo(id: AssetId): AssetInfo {
  const row: AssetRow = ASSETS[id]
  const network = networkOf(id)
  return {
    id,
    network,
    family: CHAINS[network].family,
    symbol: symbolOf(id),
    name: row.name,
    decimals: row.decimals,
    displayDecimals: row.displayDecimals,
    minBase: parseUnits(row.minimum, row.decimals),
    maxBase: largestAmount(CHAINS[network].family, row.contract !== null),
    dustBase: parseUnits(row.dust, row.decimals),
  }
}

/** Content of a payment link. `contract` and `chainId` are those of the payment's mode. */
interface PaymentRequest {
  readonly chain: ChainDefinition
  readonly contract: string | null
  /** EIP-155 chain id; null for networks without one. */
  readonly chainId: number | null
  readonly address: string
  readonly amountBase: bigint
  /** Of the asset. */
  readonly decimals: number
  /** 32 bytes as hex that the transaction must include (Solana Pay); null for none. */
  readonly reference: string | null
}

/**
 * A link that a wallet turns into a prepared payment: EIP-681 for EVM (always with the chain id, so that a wallet on
 * another network refuses), BIP 21 and its Litecoin and Dogecoin forms, the Solana Pay transfer request. The plain address where wallets agree
 * on no form (TRON).
 */
function paymentUri(request: PaymentRequest): string {
  const { chain, contract, chainId, address, amountBase, decimals, reference } = request
  if (chain.uriScheme === null) return address
  if (chainId !== null) {
    return contract === null
      ? `${chain.uriScheme}:${address}@${chainId}?value=${amountBase}`
      : `${chain.uriScheme}:${contract}@${chainId}/transfer?address=${address}&uint256=${amountBase}`
  }
  const amount = formatUnits(amountBase, decimals)
  const token = contract === null ? '' : `&spl-token=${contract}`
  const named = reference === null ? '' : `&reference=${base58.encode(Buffer.from(reference, 'hex'))}`
  return `${chain.uriScheme}:${address}?amount=${amount}${token}${named}`
}
