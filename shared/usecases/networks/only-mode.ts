import { PaymeshError } from '#shared/contracts/errors.ts'
import { MODES, type Mode, type NetworkId } from '#shared/domain/enumerations.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'

/** The only mode in which a network has a node. Throws `VALIDATION_ERROR` about `mode` when there is none, or one in both. */
export function onlyMode(catalog: Pick<Catalog, 'hasNode'>, network: NetworkId): Mode {
  const [mode, ...others] = MODES.filter((one) => catalog.hasNode(network, one))
  if (mode !== undefined && others.length === 0) return mode
  const message = `${network} has ${mode === undefined ? 'no node' : 'nodes in both modes'}: set live or test`
  throw new PaymeshError('VALIDATION_ERROR', { details: [{ path: 'mode', message }] })
}
