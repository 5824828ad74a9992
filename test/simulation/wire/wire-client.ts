import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { RpcFailure } from '#shared/chains/nodes/rpc-failure.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import type { Prng } from '../kernel/prng.ts'
import type { SimProcess } from '../kernel/sim-process.ts'
import type { SimBlock, SimChain } from '../world/chain.ts'
import type { createPortCaller } from '../world/port-call.ts'
import type { Sim } from '../world/sim.ts'
import { listenAt } from './http-endpoint.ts'
import { solanaWire } from './solana-wire.ts'
import { tronWire } from './tron-wire.ts'
import type { NodeView, WireAnswer, WireForm } from './wire-node.ts'

/** Blocks above one that make it final. */
export const WIRE_FINAL_DEPTH = 20

const FORMS: Partial<Record<SimChain['family'], WireForm>> = { tron: tronWire, solana: solanaWire }
const NODES = [0, 1] as const
const SILENT: Metrics = { count: () => undefined, gauge: () => undefined, observe: () => undefined }

/** Whether the product's own client reads a chain, from nodes that speak its wire format. */
export const isWired = ({ family }: SimChain): boolean => FORMS[family] !== undefined

/** The product's client of a chain as one process opens it: two nodes, each with its faults. */
export function createWiredClient(
  sim: Sim,
  chain: SimChain,
  { call, process }: { readonly call: ReturnType<typeof createPortCaller>; readonly process: SimProcess },
  luck: Prng,
): OpenChainClient {
  const form = FORMS[chain.family]
  const hostOf = (which: number) => `node-${which}.${process.name.replace(/[^a-z0-9.-]/gi, '-')}.test`
  for (const which of NODES) {
    listenAt(hostOf(which), ({ what, path, body, timeoutMs }) => {
      const faulty = luck.chance(sim.mix.nodeFault)
      const stall = faulty && luck.chance(0.1)
      return call({
        what: `${chain.id} node ${which} ${what}`,
        latencyMs: stall ? Math.min(timeoutMs, luck.between(2_000, 12_000)) : luck.between(1, 12),
        crash: sim.mix.crashPerRead,
        effect: () => {
          if (faulty) {
            sim.fault('F9 node')
            throw new RpcFailure('retry', `${what}: simulated fault of a node`, { isSilent: true })
          }
          if (sim.scheduler.now < chain.conditions.awayUntil)
            throw new RpcFailure('retry', `${what}: no connection`, { isSilent: true, isAway: true })
          const answer = form?.(chain, viewOf(sim, chain, which, luck), { method: path?.slice(1) ?? what, body })
          return { status: answer?.status ?? 404, text: (answer as WireAnswer).body, retryAfterMs: null }
        },
      })
    })
  }
  const rpcUrls = NODES.map((which) => `http://${hostOf(which)}/`)
  const settings = { rpcUrls, genesis: chain.blocks[0]?.hash ?? '' }
  const networks = { live: {}, test: {}, [chain.mode]: { [chain.network]: settings } }
  const client = createChainClient(networks, chain.mode, chain.network, SILENT)
  if (client === null) throw new Error(`no client of ${chain.id}`)
  return client
}

/** Lists lack the newest blocks, or one among them. */
const isUnlisted = (depth: number, listed: number): boolean => (listed > 3 ? depth === listed - 3 : depth < listed)

/** The best branch as one node shows it: some blocks behind it, or for a while the branch that lost. */
function viewOf(sim: Sim, chain: SimChain, which: number, luck: Prng): NodeView {
  const { now } = sim.scheduler
  chain.sync(now)
  const { lostBranch, blocks, conditions } = chain
  const lag = which === 1 && luck.chance(sim.mix.nodeFault / 3) ? luck.between(1, 4) : 0
  const isLost = which === 1 && lostBranch !== null && lostBranch.until > now && sim.mix.nodeDisagrees > 0
  if (isLost) sim.fault('F9 lost branch')
  const branch = isLost ? [...blocks.slice(0, lostBranch.fork + 1), ...lostBranch.blocks] : blocks
  const head = Math.max(0, branch.length - 1 - lag)
  const has = (index: number): SimBlock | null => (index <= head ? (branch[index] ?? null) : null)
  const { late, keptFrom, stands } = conditions
  const isKept = (index: number): boolean => index === 0 || index >= keptFrom
  const final = Math.max(0, head - WIRE_FINAL_DEPTH)
  return {
    head,
    final: which === 1 && stands !== null ? Math.min(final, stands.at) : final,
    block: (index) => (isKept(index) ? (index > head - late.blocks ? null : has(index)) : 'gone'),
    lists: (index) => isKept(index) && !isUnlisted(head - index, late.listed) && has(index) !== null,
  }
}
