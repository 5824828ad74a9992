import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { RequestedConfirmations } from '#shared/domain/payment/confirmation-tiers.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'

/**
 * How long a payment in a block waits until it is confirmed, at the measured pace: the time of the required blocks, or
 * until its block is final where that is required and takes longer.
 */
export function confirmationWait(
  catalog: Pick<Catalog, 'blockTimeMs' | 'finalizesAfterMs' | 'needsFinality'>,
  { network, mode }: { readonly network: NetworkId; readonly mode: Mode },
  { confirmations, finality }: RequestedConfirmations,
): Ms {
  const waitsForFinality = finality || catalog.needsFinality(network)
  const final = waitsForFinality ? (catalog.finalizesAfterMs(network, mode) ?? 0) : 0
  return Math.max(confirmations * catalog.blockTimeMs(network, mode), final)
}
