import { join } from 'node:path'
import type { NodeSettings } from '#shared/chains/chain.ts'
import { CHAINS } from '#shared/chains/registry.ts'
import type { Family, NetworkId } from '#shared/domain/enumerations.ts'
import { startLitecoinNode } from './litecoin-node.ts'
import { startLocalChain } from './start-local-chain.ts'
import { startSurfpoolNode } from './surfpool-node.ts'
import { startTronNode } from './tron-node/start-tron-node.ts'

/** The development nodes that came up, and what did not. */
export interface LocalNodes {
  /** As in `PAYMESH_NETWORKS`, for test mode. */
  readonly settings: Readonly<Partial<Record<NetworkId, NodeSettings>>>
  readonly missing: readonly MissingNode[]
  stop(): Promise<void>
}

/** Networks without a node on this machine, and why. */
export interface MissingNode {
  readonly networks: readonly NetworkId[]
  readonly reason: string
}

export interface LocalNodesOptions {
  readonly networks: readonly NetworkId[]
  /** Folder that keeps the chains over restarts; Solana's starts anew each time. */
  readonly dataDir: string
  /** Preferred port of the Ethereum node; 0: any. */
  readonly ethereumPort: number
  readonly report: (line: string) => void
}

interface StartedNodes {
  readonly settings: LocalNodes['settings']
  stop(): Promise<void>
}

/** Chain id of the local Ethereum, as Hardhat and Foundry use it; the other EVM networks get the following ones. */
const FIRST_CHAIN_ID = 31_337
/** Confirmations that development networks ask for. */
const CONFIRMATIONS = 3

/**
 * Starts one development node for each network asked for, side by side; one Litecoin node serves Bitcoin and Dogecoin as
 * well. A node that cannot be started is reported and left out, except the only one: then there is nothing to run.
 */
export async function startLocalNodes(options: LocalNodesOptions): Promise<LocalNodes> {
  const groups = groupsOf(options.networks)
  const results = await Promise.allSettled(groups.map((group) => startGroup(group, options)))
  const started = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const missing = results.flatMap((result, index) =>
    result.status === 'fulfilled' ? [] : [{ networks: groups[index] ?? [], reason: textOf(result.reason) }],
  )
  const stop = async () => {
    await Promise.all(started.map((node) => node.stop()))
  }
  const [first] = missing
  if (started.length === 0 && first !== undefined) throw new Error(first.reason)
  for (const { networks, reason } of missing) options.report(`without ${networks.join(', ')}: ${reason}`)
  return { settings: Object.assign({}, ...started.map((node) => node.settings)), missing, stop }
}

/** Networks that share a node. */
function groupsOf(networks: readonly NetworkId[]): readonly (readonly NetworkId[])[] {
  const groups = new Map<string, NetworkId[]>()
  for (const network of new Set(networks)) {
    const key = START[CHAINS[network].family] === startLitecoin ? 'litecoin' : network
    groups.set(key, [...(groups.get(key) ?? []), network])
  }
  return [...groups.values()]
}

type StartNode = (networks: readonly NetworkId[], options: LocalNodesOptions) => Promise<StartedNodes>

const START: Readonly<Record<Family, StartNode>> = {
  bitcoin: startLitecoin,
  litecoin: startLitecoin,
  dogecoin: startLitecoin,
  evm: startEvm,
  tron: startTron,
  solana: startSolana,
}

function startGroup(networks: readonly NetworkId[], options: LocalNodesOptions): Promise<StartedNodes> {
  const [network] = networks
  if (network === undefined) throw new Error('no network asked for')
  return START[CHAINS[network].family](networks, options)
}

async function startLitecoin(networks: readonly NetworkId[], { dataDir }: LocalNodesOptions): Promise<StartedNodes> {
  const node = await startLitecoinNode({ dataDir: join(dataDir, 'chains', 'litecoin') })
  const settings = { rpcUrls: [node.url], genesis: 'any', confirmations: CONFIRMATIONS }
  return { settings: Object.fromEntries(networks.map((network) => [network, settings])), stop: node.stop }
}

async function startEvm(
  [network = 'ethereum']: readonly NetworkId[],
  { dataDir, ethereumPort, report }: LocalNodesOptions,
): Promise<StartedNodes> {
  const others = Object.values(CHAINS).filter((chain) => chain.family === 'evm' && chain.id !== 'ethereum')
  const chainId = FIRST_CHAIN_ID + 1 + others.findIndex((chain) => chain.id === network)
  const isMain = network === 'ethereum'
  const node = await startLocalChain({
    port: isMain ? ethereumPort : 0,
    dataDir: isMain ? join(dataDir, 'chain') : join(dataDir, 'chains', network),
    chainId,
    network,
    report,
  })
  return { settings: { [network]: { rpcUrls: [node.url], chainId, confirmations: CONFIRMATIONS } }, stop: node.stop }
}

async function startTron(
  networks: readonly NetworkId[],
  { dataDir, report }: LocalNodesOptions,
): Promise<StartedNodes> {
  const node = await startTronNode({ dataDir: join(dataDir, 'chains', 'tron'), report })
  const settings = { rpcUrls: [node.url], chainId: node.chainId, confirmations: CONFIRMATIONS }
  return { settings: Object.fromEntries(networks.map((network) => [network, settings])), stop: node.stop }
}

async function startSolana(networks: readonly NetworkId[]): Promise<StartedNodes> {
  const node = await startSurfpoolNode()
  const settings = { rpcUrls: [node.url], genesis: 'any', confirmations: CONFIRMATIONS }
  return { settings: Object.fromEntries(networks.map((network) => [network, settings])), stop: node.stop }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
