import { createNodeCheck, nodeHosts } from '#shared/chains/check-nodes.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Installation } from './installation.ts'

/** What the go-live check works with, without wake-ups: a mail is found by the mailer's sweep. */
export function goLiveDeps(installation: Installation) {
  const { config, metrics } = installation
  return {
    ...installation,
    lookups: installation.deliveryLookups,
    nodes: createNodeCheck(config.networks, metrics),
    nodeHosts: (mode: Mode, network: NetworkId) => nodeHosts(config.networks, mode, network),
    notifier: { notify: () => undefined },
  }
}
