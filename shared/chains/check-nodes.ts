import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { NodeCheck, NodeState } from '#shared/ports/node-states.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import { createChainClient } from './create-chain-client.ts'
import type { NetworkSettings } from './definitions/chain.ts'

/** A node is queried again after this long, however many people watch. */
const LIFE_MS = 10_000
const PATIENCE_MS = 5_000

/**
 * Queries each node of a network for its position, with the scanner's own requests. Only the result is cached,
 * for ten seconds; a node that does not respond in five has its error as text.
 */
export function createNodeCheck(networks: NetworkSettings, metrics: Metrics): NodeCheck {
  const known = new Map<string, { readonly at: Ms; readonly states: Promise<readonly NodeState[]> }>()
  return {
    look: (mode, network) => {
      const key = `${mode}:${network}`
      const held = known.get(key)
      if (held !== undefined && performance.now() - held.at < LIFE_MS) return held.states
      const urls = networks[mode][network]?.rpcUrls ?? []
      const states = Promise.all(urls.map((url) => lookAt(networks, { mode, network, url, metrics })))
      known.set(key, { at: performance.now(), states })
      return states
    },
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

async function lookAt(networks: NetworkSettings, { mode, network, url, metrics }: OneNode): Promise<NodeState> {
  const settings = networks[mode][network]
  // Credentials are often in the path or the query.
  const { host } = new URL(url)
  if (settings === undefined)
    return { host, height: null, finalizedHeight: null, tookMs: null, fault: 'not configured' }
  const alone: NetworkSettings = { live: {}, test: {}, [mode]: { [network]: { ...settings, rpcUrls: [url] } } }
  const client = createChainClient(alone, mode, network, metrics)
  if (client === null) return { host, height: null, finalizedHeight: null, tookMs: null, fault: 'not configured' }
  const startedAt = performance.now()
  let timer: NodeJS.Timeout | undefined
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no response within ${PATIENCE_MS / 1_000} s`)), PATIENCE_MS)
    })
    const { height, finalizedHeight } = await Promise.race([client.head(), late])
    return { host, height, finalizedHeight, tookMs: Math.round(performance.now() - startedAt), fault: null }
  } catch (error) {
    const fault = error instanceof Error ? error.message.replaceAll(url, host).slice(0, 300) : 'unknown fault'
    return { host, height: null, finalizedHeight: null, tookMs: null, fault }
  } finally {
    clearTimeout(timer)
    await client.close().catch(() => undefined)
  }
}
