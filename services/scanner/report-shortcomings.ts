import { MODES, type NetworkId } from '#shared/domain/enumerations.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { NodeCheck } from '#shared/ports/node-states.ts'
import type { Logger } from '#shared/ports/runtime.ts'

/** What reporting needs. */
export interface ShortcomingDeps {
  readonly catalog: Pick<Catalog, 'hasNode'>
  readonly nodes: Pick<NodeCheck, 'probe'>
  readonly logger: Logger
  readonly networks: readonly NetworkId[]
}

/** Logs a warning for each thing that the work needs and a node of these networks does not serve. Scanning does not wait for it. */
export async function reportShortcomings({ catalog, nodes, logger, networks }: ShortcomingDeps): Promise<void> {
  const scopes = MODES.flatMap((mode) =>
    networks.filter((network) => catalog.hasNode(network, mode)).map((network) => ({ mode, network })),
  )
  for (const { mode, network } of scopes) {
    try {
      for (const { host, shortcomings } of await nodes.probe(mode, network)) {
        for (const shortcoming of shortcomings) {
          logger.warn({ mode, network, host, ...shortcoming }, 'a node does not serve what the work needs')
        }
      }
    } catch (error) {
      logger.warn({ err: error, mode, network }, 'what the nodes serve could not be found out')
    }
  }
}
