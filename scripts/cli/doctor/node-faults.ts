import type { ChainStatus } from '#shared/contracts/chain-status.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Installation } from '../session/installation.ts'

/** A network whose node responded within this time has a node that the scanner uses. */
const HEAD_AGE_MAX_MS = 60_000

/** Asks every node of a network, as its scanner does before it reads anything: for the right chain, its head and its finality. Returns how many there are, and `host: reason` of each that is refused or does not respond. */
export async function nodeFaults({ nodes }: Pick<Installation, 'nodes'>, mode: Mode, network: NetworkId) {
  const states = await nodes.look(mode, network)
  return {
    nodes: states.length,
    faults: states.flatMap(({ host, fault }) => (fault === null ? [] : [`${host}: ${fault}`])),
  }
}

/** A line for each thing that the work needs and a node of the network does not serve. */
export async function nodeShortcomings(
  { nodes }: Pick<Installation, 'nodes'>,
  mode: Mode,
  network: NetworkId,
): Promise<readonly string[]> {
  const probes = await nodes.probe(mode, network)
  return probes.flatMap(({ host, shortcomings }) =>
    shortcomings.map(
      ({ need, consequence, words }) => `node ${host} does not serve ${need}: ${consequence} (${words})`,
    ),
  )
}

/** Whether the reason of a network's silence is to be looked for at its nodes. */
export const isNodeInQuestion = ({ hasNode, headAgeMs, trouble, stuck }: ChainStatus): boolean =>
  hasNode && (headAgeMs === null || headAgeMs > HEAD_AGE_MAX_MS || trouble !== null || stuck !== null)

/** A line for each node that is refused or does not respond, of the networks that do not advance, and for what the nodes of the others do not serve. */
export async function nodeNotes(installation: Installation, found: readonly ChainStatus[]): Promise<readonly string[]> {
  const notes = await Promise.all(
    found
      .filter(({ hasNode }) => hasNode)
      .map(async (one) => {
        const { mode, network } = one
        const { faults } = isNodeInQuestion(one) ? await nodeFaults(installation, mode, network) : { faults: [] }
        const lacking = faults.length > 0 ? [] : await nodeShortcomings(installation, mode, network)
        return [...faults.map((fault) => `node ${fault}`), ...lacking].map((note) => `${mode} ${network}: ${note}`)
      }),
  )
  return notes.flat()
}
