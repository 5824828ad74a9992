import { join } from 'node:path'
import type { NodeSettings } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { errorText } from '#shared/contracts/error-text.ts'
import type { Family, NetworkId } from '#shared/domain/enumerations.ts'
import { startLitecoinNode, WITHOUT_MWEB } from './litecoin-node.ts'
import { startLocalChain } from './start-local-chain.ts'
import { startSurfpoolNode } from './surfpool-node.ts'
import { startTronNode } from './tron-node/start-tron-node.ts'

export interface LocalNodesOptions {
  readonly networks: readonly NetworkId[]
  /** Folder that keeps the chains over restarts; Solana's starts from scratch each time. */
  readonly dataDir: string
  /** Preferred port of the Ethereum node; 0: any. */
  readonly ethereumPort: number
  readonly report: (line: string) => void
}

interface StartedNode {
  readonly settings: NodeSettings
  stop(): Promise<void>
}

/** Chain id of the local Ethereum, as in Hardhat and Foundry; the other EVM networks get the following ones. */
const FIRST_CHAIN_ID = 31_337
/** Confirmations required on development networks. */
const CONFIRMATIONS = 3

/**
 * Starts one development node for each requested network in parallel; Litecoin's software is used for Bitcoin and
 * Dogecoin. A node that cannot be started is reported and left out, except the only one: then there is nothing to run.
 */
export async function startLocalNodes(options: LocalNodesOptions) {
  const networks = [...new Set(options.networks)]
  const results = await Promise.allSettled(networks.map((network) => START[CHAINS[network].family](network, options)))
  const started = new Map<NetworkId, StartedNode>()
  const failed: { readonly network: NetworkId; readonly reason: string }[] = []
  for (const [index, network] of networks.entries()) {
    const result = results[index]
    if (result?.status === 'fulfilled') started.set(network, result.value)
    else if (result !== undefined) failed.push({ network, reason: errorText(result.reason) })
  }
  const [first] = failed
  if (started.size === 0 && first !== undefined) throw new Error(first.reason)
  for (const { network, reason } of failed) options.report(`without ${network}: ${reason}`)
  return {
    /** In the form of `PAYMESH_NETWORKS`, for test mode. */
    settings: Object.fromEntries([...started].map(([network, { settings }]) => [network, settings])),
    async stop() {
      await Promise.all([...started.values()].map((node) => node.stop()))
    },
  }
}

type StartNode = (network: NetworkId, options: LocalNodesOptions) => Promise<StartedNode>

const START: Readonly<Record<Family, StartNode>> = {
  bitcoin: startLitecoin,
  litecoin: startLitecoin,
  dogecoin: startLitecoin,
  evm: startEvm,
  tron: startTron,
  solana: startSolana,
}

// A separate node for each: on a shared node the same script on two networks would be one payment.
async function startLitecoin(network: NetworkId, { dataDir }: LocalNodesOptions): Promise<StartedNode> {
  const node = await startLitecoinNode({ dataDir: join(dataDir, 'chains', network), flags: WITHOUT_MWEB })
  return { settings: { rpcUrls: [node.url], genesis: 'any', confirmations: CONFIRMATIONS }, stop: node.stop }
}

async function startEvm(
  network: NetworkId,
  { dataDir, ethereumPort, report }: LocalNodesOptions,
): Promise<StartedNode> {
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
  return { settings: { rpcUrls: [node.url], chainId, confirmations: CONFIRMATIONS }, stop: node.stop }
}

async function startTron(_network: NetworkId, { dataDir, report }: LocalNodesOptions): Promise<StartedNode> {
  const node = await startTronNode({ dataDir: join(dataDir, 'chains', 'tron'), report })
  return { settings: { rpcUrls: [node.url], genesis: 'any', confirmations: CONFIRMATIONS }, stop: node.stop }
}

async function startSolana(): Promise<StartedNode> {
  const node = await startSurfpoolNode()
  return { settings: { rpcUrls: [node.url], genesis: 'any', confirmations: CONFIRMATIONS }, stop: node.stop }
}
