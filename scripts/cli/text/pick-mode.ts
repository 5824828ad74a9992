import { InvalidArgumentError } from 'commander'
import { MODES, type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
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
  if (named !== undefined) return named
  const [first, ...rest] = MODES.filter((mode) => catalog.hasNode(network, mode))
  if (first === undefined || rest.length > 0) {
    throw new Error(
      `${network} has ${first === undefined ? 'no node' : 'nodes in both modes'}: set --mode live or --mode test`,
    )
  }
  return first
}
