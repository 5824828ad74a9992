import type { NodeState } from '#shared/contracts/chain-status.ts'
import { errorText } from '#shared/contracts/error-text.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { NodeCheck, NodeProbe } from '#shared/ports/node-states.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import { type ChainClient, NodeBehind, NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import { createChainClient } from './create-chain-client.ts'
import type { NetworkSettings } from './definitions/chain.ts'
import { CHAINS } from './definitions/registry.ts'
import { probeClient } from './probe-client.ts'

/** A node is queried again after this long, however many people watch. */
const LIFE_MS = 10_000
/** What a node serves is requested again after this long: it changes with a plan or a version. */
const PROBE_LIFE_MS = 600_000
const PATIENCE_MS = 5_000
const PROBE_PATIENCE_MS = 20_000

/**
 * Queries each node of a network for its position, and for what the work needs, with the scanner's own requests. Only the result
 * is cached, for ten seconds and for ten minutes; a node that does not respond in five seconds has its error as text.
 */
export function createNodeCheck(networks: NetworkSettings, metrics: Metrics): NodeCheck {
  const all = <T>(mode: Mode, network: NetworkId, request: (node: OneNode) => Promise<T>) =>
    Promise.all((networks[mode][network]?.rpcUrls ?? []).map((url) => request({ mode, network, url, metrics })))
  const look = shared(LIFE_MS, (mode, network) => all(mode, network, (node) => lookAt(networks, node)))
  const probe = shared(PROBE_LIFE_MS, (mode, network) => all(mode, network, (node) => probeOne(networks, node)))
  return { look, probe }
}

/** Runs a request once for all callers, and uses its result for a while. */
function shared<T>(lifeMs: number, request: (mode: Mode, network: NetworkId) => Promise<T>) {
  const known = new Map<string, { readonly at: Ms; readonly result: Promise<T> }>()
  return (mode: Mode, network: NetworkId): Promise<T> => {
    const key = `${mode}:${network}`
    const held = known.get(key)
    if (held !== undefined && performance.now() - held.at < lifeMs) return held.result
    const result = request(mode, network)
    known.set(key, { at: performance.now(), result })
    return result
  }
}

/** Hosts of a network's configured nodes, in their order; a URL may contain credentials elsewhere. */
export function nodeHosts(networks: NetworkSettings, mode: Mode, network: NetworkId): readonly string[] {
  return (networks[mode][network]?.rpcUrls ?? []).map((url) => new URL(url).host)
}

interface OneNode {
  readonly mode: Mode
  readonly network: NetworkId
  readonly url: string
  readonly metrics: Metrics
}

async function lookAt(networks: NetworkSettings, node: OneNode): Promise<NodeState> {
  // Credentials are often in the path or the query.
  const { host } = new URL(node.url)
  const startedAt = performance.now()
  try {
    const { height, finalizedHeight, fault } = await withClient(networks, node, PATIENCE_MS, positionOf)
    return { host, height, finalizedHeight, tookMs: Math.round(performance.now() - startedAt), fault }
  } catch (error) {
    return { host, height: null, finalizedHeight: null, tookMs: null, fault: faultOf(error, node) }
  }
}

/** The node's head, and why it is not current, where it is not. */
async function positionOf(client: ChainClient): Promise<Pick<NodeState, 'height' | 'finalizedHeight' | 'fault'>> {
  const { height, finalizedHeight } = await client.head()
  try {
    await client.currentHead?.()
    return { height, finalizedHeight, fault: null }
  } catch (error) {
    if (!(error instanceof NodeBehind)) throw error
    return { height, finalizedHeight, fault: error.message }
  }
}

async function probeOne(networks: NetworkSettings, node: OneNode): Promise<NodeProbe> {
  const { host } = new URL(node.url)
  const { blockTimeMs } = CHAINS[node.network]
  try {
    const request = (client: ChainClient) => probeClient(client, blockTimeMs)
    return { host, shortcomings: await withClient(networks, node, PROBE_PATIENCE_MS, request) }
  } catch (error) {
    if (!(error instanceof NodeUnreliable || error instanceof NodeMismatch)) throw error
    const words = faultOf(error, node)
    return { host, shortcomings: [{ need: 'its newest block', consequence: 'nothing is read from it now', words }] }
  }
}

/** Runs work on a client of this node alone. */
async function withClient<T>(
  networks: NetworkSettings,
  { mode, network, url, metrics }: OneNode,
  patienceMs: number,
  work: (client: ChainClient) => Promise<T>,
): Promise<T> {
  const settings = networks[mode][network]
  const alone: NetworkSettings = {
    ...{ live: {}, test: {} },
    ...(settings !== undefined && { [mode]: { [network]: { ...settings, rpcUrls: [url] } } }),
  }
  const client = createChainClient(alone, mode, network, metrics)
  if (client === null) throw new NodeUnreliable('not configured')
  let timer: NodeJS.Timeout | undefined
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new NodeUnreliable(`no response within ${patienceMs / 1_000} s`)), patienceMs)
    })
    return await Promise.race([work(client), late])
  } finally {
    clearTimeout(timer)
    await client.close().catch(() => undefined)
  }
}

function faultOf(error: unknown, { url }: OneNode): string {
  const { host } = new URL(url)
  return errorText(error).replaceAll(url, host).slice(0, 300)
}
