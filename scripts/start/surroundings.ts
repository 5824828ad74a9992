import { freePort } from '#dev/embedded/free-port.ts'
import { type Stores, startMongoAlone, startStores } from '#dev/embedded/stores.ts'
import { startExchangeSimulator } from '#dev/exchange-simulator/simulator.ts'
import { startLocalNodes } from '#dev/local-chain/local-nodes.ts'
import type { NodeSettings } from '#shared/chains/definitions/chain.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { StackPorts } from './stack-options.ts'

/** Everything outside Paymesh that a development installation needs. */
export type Surroundings = Awaited<ReturnType<typeof startSurroundings>>

export interface SurroundingsOptions {
  readonly dataDir: string
  readonly ports: StackPorts
  readonly networks: readonly NetworkId[]
  readonly mongoUrl: string | null
  readonly redisUrl: string | null
  /** Whether the services run as separate processes, which wake each other over Redis. */
  readonly processes: boolean
  readonly report: (line: string) => void
}

async function openStores(
  options: SurroundingsOptions,
): Promise<Omit<Stores, 'redisUrl'> & { redisUrl: string | null }> {
  if (options.processes) return await startStores(options)
  return { ...(await startMongoAlone(options)), redisUrl: null }
}

/** Starts stores, chains and exchanges in parallel. When one fails, the others are ended before the failure is passed on. */
export async function startSurroundings(options: SurroundingsOptions) {
  const { dataDir, ports, report } = options
  const stops: (() => Promise<void> | void)[] = []
  const stop = async () => {
    await Promise.all(stops.splice(0).map((step) => step()))
  }
  const track = async <T extends { stop(): Promise<void> | void }>(starting: Promise<T>): Promise<T> => {
    const started = await starting
    stops.push(() => started.stop())
    return started
  }
  const parts = [
    track(openStores(options)),
    track(startLocalNodes({ networks: options.networks, dataDir, ethereumPort: ports.chain, report })),
    track(startExchangeSimulator({ port: await freePort(ports.rates) })),
  ] as const
  try {
    const [stores, chains, exchanges] = await Promise.all(parts)
    const { mongoUrl, redisUrl } = stores
    const nodes: Readonly<Partial<Record<NetworkId, NodeSettings>>> = chains.settings
    return {
      mongoUrl,
      /** Null without Redis. */
      redisUrl,
      /** Test-mode nodes by network, as in `PAYMESH_NETWORKS`. */
      nodes,
      /** Base URL by rate source. */
      rateSourceUrls: exchanges.sourceUrls,
      stop,
    }
  } catch (error) {
    await Promise.allSettled(parts)
    await stop()
    throw error
  }
}
