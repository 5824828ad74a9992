import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** Chain position reported by one node. */
export interface NodeState {
  /** Host and port; the rest of its URL may contain credentials. */
  readonly host: string
  readonly height: number | null
  readonly finalizedHeight: number | null
  readonly tookMs: Ms | null
  /** Why there is no position, or why it is not the newest of its network, with how far the node is; null otherwise. */
  readonly fault: string | null
}

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
  look(mode: Mode, network: NetworkId): Promise<readonly NodeState[]>
  /** The same for what the work needs: a dozen calls to each node, whose result is used for ten minutes. */
  probe(mode: Mode, network: NetworkId): Promise<readonly NodeProbe[]>
}
