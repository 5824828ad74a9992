import { join } from 'node:path'
import { findMongod } from '#dev/embedded/find-mongod.ts'
import { freePort } from '#dev/embedded/free-port.ts'
import type { LinkName } from './fault-deck.ts'
import { type Receivers, startReceivers } from './receivers.ts'
import { type ReplicaSet, startReplicaSet } from './replica-set.ts'
import { type Rig, type RigOptions, startRig } from './rig.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** A whole installation on real processes in which every link and every store can be made to fail. */
export interface Installation extends Rig {
  readonly mongo: ReplicaSet
  readonly receivers: Receivers
  /** URL of the API for merchants: through a proxy. */
  readonly apiUrl: string
  /** URL of the node for payers: directly. */
  readonly rpcUrl: string
  readonly links: Readonly<Record<LinkName, readonly TcpProxy[]>>
}

/** Starts everything on an empty folder. On failure nothing is left running. */
export async function startInstallation(options: {
  readonly dir: string
  readonly random: () => number
  readonly report: (line: string) => void
  readonly scale?: RigOptions['scale']
}): Promise<Installation> {
  const { dir, random, report, scale = {} } = options
  const undo: (() => Promise<void>)[] = []
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  const kept = async <T>(starting: Promise<T>, end: (started: T) => Promise<void>): Promise<T> => {
    const started = await starting
    undo.push(() => end(started))
    return started
  }
  try {
    const mongod = await findMongod(report)
    const mongo = await kept(startReplicaSet({ binary: mongod, dir: join(dir, 'mongo') }), (set) => set.stop())
    const receivers = await kept(startReceivers(random), (all) => all.close())
    const [apiPort, chainPort] = [await freePort(0), await freePort(0)]
    const api = await kept(
      startTcpProxy(() => apiPort),
      (link) => link.close(),
    )
    const chain = await kept(
      startTcpProxy(() => chainPort),
      (link) => link.close(),
    )
    const node = { rpcUrls: [`http://127.0.0.1:${chain.port}`], chainId: 31_337, confirmations: 3 }
    const starting = startRig({
      ...{ dir, report, scale },
      ports: { api: apiPort, chain: chainPort },
      mongoUrl: mongo.url,
      env: { PAYMESH_NETWORKS: JSON.stringify({ test: { ethereum: node } }) },
    })
    const rig = await kept(starting, (running) => running.stop())
    const links = { api: [api], redis: [rig.redis.link], chain: [chain], receiver: receivers.links, mongo: mongo.links }
    const rpcUrl = `http://127.0.0.1:${chainPort}`
    return { ...rig, mongo, receivers, apiUrl: `http://127.0.0.1:${api.port}/api/v1`, rpcUrl, links, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
