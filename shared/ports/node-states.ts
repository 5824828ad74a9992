import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** Chain position reported by one node. */
export interface NodeState {
  /** Host and port; the rest of its URL may contain credentials. */
  readonly host: string
  readonly height: number | null
  readonly finalizedHeight: number | null
  readonly tookMs: Ms | null
  /** Why there is no position; null when there is one. */
  readonly fault: string | null
}

/** Queries nodes for their position; only for display, never for crediting. */
export interface NodeCheck {
  /** In the order of the configuration; empty when the network has no node in that mode. */
  look(mode: Mode, network: NetworkId): Promise<readonly NodeState[]>
}
