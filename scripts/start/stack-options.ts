import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { Environment } from './environment.ts'
import type { Scale } from './scale.ts'

/** Preferred ports on 127.0.0.1; one that is taken is replaced by a free one, and 0 always takes a free one. */
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

/** Free ports everywhere, for stacks that run beside others. */
export const FREE_PORTS: StackPorts = { api: 0, checkout: 0, admin: 0, metrics: 0, chain: 0, rates: 0, mail: 0 }

export interface StackOptions {
  /** Folder that keeps everything of this installation; created when it is not there. */
  readonly dataDir: string
  /** One process per Procfile line instead of all services in this process. Default false. */
  readonly processes?: boolean
  /** With `processes`: how many of each type, where not one. */
  readonly scale?: Scale
  /** Default: free ports. */
  readonly ports?: Partial<StackPorts>
  /** Networks of test mode that get a development node. Default: ethereum. */
  readonly networks?: readonly NetworkId[]
  /** Stores to use instead of own ones. Default: none. */
  readonly mongoUrl?: string | null
  readonly redisUrl?: string | null
  /** Database and key prefix, for given stores that others use as well. Default `paymesh`. */
  readonly database?: string
  readonly prefix?: string
  /** With `processes`: starts a process again when it dies. Default true; false leaves that to `restart`. */
  readonly keepAlive?: boolean
  /** Settings over those of development. */
  readonly env?: Environment
  /** Hears what is going on, a line at a time. Default: nobody. */
  readonly report?: (line: string) => void
}
