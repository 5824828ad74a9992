import type { ExceptionKind, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** A network, and the clock by which exceptions about it are opened, such as those of a scanner's session. */
interface Observer {
  readonly deps: Uses<'clock'>
  readonly source: { readonly mode: Mode; readonly network: NetworkId }
}

/** An exception of the instance admins about a network, open from now on; what it is about makes its id. */
export function networkRow(
  { deps, source: { mode, network } }: Observer,
  kind: ExceptionKind,
  about: string,
  detail: string,
): ExceptionRecord {
  const nobody = { workspaceId: null, invoiceId: null, paymentKey: null, closedAt: null }
  return { id: `${kind}:${mode}:${network}:${about}`, kind, mode, ...nobody, detail, openedAt: deps.clock.now() }
}
