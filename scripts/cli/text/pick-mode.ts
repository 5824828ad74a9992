import { InvalidArgumentError } from 'commander'
import { type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import { onlyMode } from '#shared/usecases/networks/only-mode.ts'
import type { Installation } from '../session/installation.ts'

/** A network id on the command line. */
export function parseNetwork(text: string): NetworkId {
  const network = NETWORK_IDS.find((known) => known === text)
  if (network === undefined) throw new InvalidArgumentError(`known networks: ${NETWORK_IDS.join(', ')}`)
  return network
}

/** A block height on the command line. */
export function parseHeight(text: string): number {
  if (!/^\d{1,12}$/.test(text)) throw new InvalidArgumentError('a block height must be a whole number')
  return Number(text)
}

/** The given mode, otherwise the only one in which the network has a node. */
export function pickMode({ catalog }: Installation, network: NetworkId, named: Mode | undefined): Mode {
  return named ?? onlyMode(catalog, network)
}
