import { join } from 'node:path'
import { freePort } from '#scripts/embedded/free-port.ts'
import { type Stores, startStores } from '#scripts/embedded/stores.ts'
import { startExchangeSimulator } from '#scripts/exchange-simulator/simulator.ts'
import { startLocalChain } from '#scripts/local-chain/start-local-chain.ts'
import type { StackPorts } from './stack-options.ts'

/** Everything outside Paymesh that a development installation needs. */
export interface Surroundings extends Pick<Stores, 'mongoUrl' | 'redisUrl'> {
  /** Test-mode nodes by network. */
  readonly rpcUrls: Readonly<Record<string, string>>
  /** Base URL by rate source. */
  readonly rateSourceUrls: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** Chain id of local development chains, as Hardhat and Foundry use it. */
export const LOCAL_CHAIN_ID = 31_337

export interface SurroundingsOptions {
  readonly dataDir: string
  readonly ports: StackPorts
  readonly mongoUrl: string | null
  readonly redisUrl: string | null
  readonly report: (line: string) => void
}

/** Starts stores, chain and exchanges side by side. When one fails, the others are ended before the failure is passed on. */
export async function startSurroundings(options: SurroundingsOptions): Promise<Surroundings> {
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
    track(startStores({ dataDir, report, mongoUrl: options.mongoUrl, redisUrl: options.redisUrl })),
    track(startLocalChain({ port: ports.chain, dataDir: join(dataDir, 'chain'), chainId: LOCAL_CHAIN_ID, report })),
    track(startExchangeSimulator({ port: await freePort(ports.rates) })),
  ] as const
  try {
    const [stores, chain, exchanges] = await Promise.all(parts)
    const { mongoUrl, redisUrl } = stores
    return { mongoUrl, redisUrl, rpcUrls: { ethereum: chain.url }, rateSourceUrls: exchanges.sourceUrls, stop }
  } catch (error) {
    await Promise.allSettled(parts)
    await stop()
    throw error
  }
}
