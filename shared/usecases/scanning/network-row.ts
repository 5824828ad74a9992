import type { ExceptionKind } from '#shared/domain/enumerations.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
import type { ScanSession } from './scan-session.ts'

/** An exception of the instance admins about a session's network, open from now on; what it is about makes its id. */
export function networkRow(
  { deps, source: { mode, network } }: Pick<ScanSession, 'deps' | 'source'>,
  kind: ExceptionKind,
  about: string,
  detail: string,
): ExceptionRecord {
  const nobody = { workspaceId: null, invoiceId: null, paymentKey: null, closedAt: null }
  return { id: `${kind}:${mode}:${network}:${about}`, kind, mode, ...nobody, detail, openedAt: deps.clock.now() }
}
