import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { Environment } from './environment.ts'
import type { Scale } from './scale.ts'

/** Preferred ports on 127.0.0.1; one in use is replaced by a free one, and 0 always takes a free one. */
export interface StackPorts {
  readonly api: number
  readonly checkout: number
  readonly admin: number
  readonly metrics: number
  readonly chain: number
  readonly rates: number
  readonly mail: number
}

/** The ports of `npm start`; none is on the list of ports that `fetch` and browsers refuse (WHATWG Fetch, "bad port"). */
export const DEVELOPMENT_PORTS: StackPorts = {
  api: 4100,
  checkout: 4101,
  admin: 4102,
  metrics: 4110,
  chain: 8545,
  rates: 4180,
  mail: 4105,
}

/** Free ports everywhere, for stacks that run in parallel with others. */
export const FREE_PORTS: StackPorts = { api: 0, checkout: 0, admin: 0, metrics: 0, chain: 0, rates: 0, mail: 0 }

export interface StackOptions {
  /** Folder that contains everything of this installation; created when missing. */
  readonly dataDir: string
  /** One process per Procfile line instead of all services in this process. Default false. */
  readonly processes?: boolean
  /** Everything in one process `paymesh serve` of its own, which can be killed. Default false. */
  readonly serve?: boolean
  /** With `processes`: number of each type, if not one. */
  readonly scale?: Scale
  /** Default: free ports. */
  readonly ports?: Partial<StackPorts>
  /** Networks of test mode that get a development node. Default: ethereum. */
  readonly networks?: readonly NetworkId[]
  /** Stores to use instead of started ones. Default: none. */
  readonly mongoUrl?: string | null
  readonly redisUrl?: string | null
  /** Database and key prefix, for given stores that others use as well. Default `paymesh`. */
  readonly database?: string
  readonly prefix?: string
  /** With `processes` or `serve`: starts a process again when it dies. Default true; with false only `restart` does. */
  readonly keepAlive?: boolean
  /** Settings that override those of development. */
  readonly env?: Environment
  /** Receives progress, a line at a time. Default: none. */
  readonly report?: (line: string) => void
}
