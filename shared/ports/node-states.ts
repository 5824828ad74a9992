import type { NodeState } from '#shared/contracts/chain-status.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'

/** Something that the work needs and a node did not serve when it was requested. */
export interface Shortcoming {
  /** What was requested, in plain words: `balances of a day ago`. */
  readonly need: string
  /** What goes wrong without it, a clause. */
  readonly consequence: string
  /** The call, the host and the provider's own words; never more of a URL than its host. */
  readonly words: string
}

/** What one node did not serve; empty where it serves everything. Of a node that does not respond it is the newest block alone. */
export interface NodeProbe {
  readonly host: string
  readonly shortcomings: readonly Shortcoming[]
}

/** Queries nodes for their position and for what they serve; only for display, never for crediting. */
export interface NodeCheck {
  /** In the order of the configuration; empty when the network has no node in that mode. */
  look(mode: Mode, network: NetworkId): Promise<NodeState[]>
  /** The same for what the work needs: a dozen calls to each node, whose result is used for ten minutes. */
  probe(mode: Mode, network: NetworkId): Promise<readonly NodeProbe[]>
}
