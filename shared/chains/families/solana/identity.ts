import type { Mode } from '#shared/domain/enumerations.ts'
import { NodeMismatch } from '#shared/ports/scanning.ts'
import type { RpcClient } from '../../nodes/json-rpc.ts'
import { genesisSchema, versionSchema } from './wire.ts'

/** Hash of the first block: mainnet-beta and devnet (solana.com/docs, "Clusters"). */
const GENESIS: Readonly<Record<Mode, string>> = {
  live: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  test: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
}

/** The chain of the node in use. */
export interface NodeIdentity {
  readonly genesisHash: string
  /**
   * True on a Surfpool development node. Its blocks have inconsistent parents, hashes and times, so nothing
   * may be concluded from them; it never forks and skips no slot.
   */
  readonly simulated: boolean
}

/** Keeps the chain of the node that was identified last. */
export interface IdentityTest {
  identify(call: RpcClient['call'], host: string): Promise<void>
  /** Null before the first call. */
  readonly current: NodeIdentity | null
}

/**
 * Accepts nodes whose first block has the hash `genesis`, by default that of mainnet-beta in live mode and of devnet in
 * test mode. With `any`, which is for development, it accepts every node and detects whether it is a Surfpool. Any other
 * node is a `NodeMismatch`, and so are a Surfpool and another node behind one network.
 */
export function createIdentityTest(mode: Mode, genesis: string | null): IdentityTest {
  const expected = genesis ?? GENESIS[mode]
  let current: NodeIdentity | null = null
  return {
    get current() {
      return current
    },
    async identify(call, host) {
      const genesisHash = await call('getGenesisHash', [], genesisSchema)
      if (expected !== 'any' && genesisHash !== expected) {
        throw new NodeMismatch(`the node at ${host} is on the chain with genesis ${genesisHash}, not ${expected}`)
      }
      const version = expected === 'any' ? await call('getVersion', [], versionSchema) : null
      const simulated = version?.['surfnet-version'] !== undefined
      if (current !== null && current.simulated !== simulated) {
        throw new NodeMismatch(`the node at ${host} is on another kind of chain than the one used before`)
      }
      current = { genesisHash, simulated }
    },
  }
}
