import { waiting } from './scan-reorg.ts'
import { moveCursor, type ScanSession } from './scan-session.ts'

/** Payments that have waited this long for a silent node are reported. */
const PATIENCE_MS = 15 * 60_000

/**
 * Reports why payments are not confirmed when the second node is silent: at the cursor and its gauge at once, to operators
 * after 15 minutes. Withdraws both when nothing waits any more or all nodes respond. `held` payments were not confirmed by a second node just now.
 */
export async function reportNodeTimeout(session: ScanSession, held: number): Promise<void> {
  const { deps, silence } = session
  const hosts = await whoIsMissed(session, held)
  const now = deps.clock.now()
  if (hosts.length > 0) {
    const reason = `Payments are waiting for confirmation by a second node: ${hosts.join(' and ')} did not respond.`
    const { since = now, isReported = false } = silence ?? {}
    const isDue = !isReported && now - since > PATIENCE_MS
    if (isDue) await deps.exceptions.open([silentNodes(session, hosts)])
    session.silence = { reason, since, isReported: isReported || isDue }
    await tell(session, reason)
    return
  }
  // A process that just started does not know the silent nodes yet: an earlier report stays until then.
  if (silence === null || (silence === undefined && held > 0)) return
  await deps.exceptions.close([silentId(session)], now)
  session.silence = null
  if (silence !== undefined) await tell(session, null)
}

/** Hosts of silent nodes that payments wait for. */
async function whoIsMissed({ deps, source, cursor }: ScanSession, held: number): Promise<readonly string[]> {
  const { hosts, answering } = source.client.silence?.() ?? { hosts: [], answering: 0 }
  if (held > 0 || hosts.length === 0 || answering > 1) return held > 0 ? hosts : []
  // Payments that must be final are not due with the response of one node.
  const { mode, network } = source
  const buried = { mode, network, height: cursor.height, finalizedHeight: cursor.height }
  return (await deps.payments.dueForConfirmation(buried)).length > 0 ? hosts : []
}

async function tell(session: ScanSession, reason: string | null): Promise<void> {
  const change = waiting(session, reason)
  if (Object.keys(change).length > 0) await moveCursor(session, change)
}

function silentNodes(session: ScanSession, hosts: readonly string[]) {
  const { mode, network } = session.source
  return {
    id: silentId(session),
    kind: 'halted_chain',
    workspaceId: null,
    mode,
    invoiceId: null,
    paymentKey: null,
    detail: `Payments on ${network} (${mode}) have waited 15 minutes for confirmation by a second node: ${hosts.join(' and ')} does not respond. Repair it, or remove it from PAYMESH_NETWORKS.`,
    openedAt: session.deps.clock.now(),
    closedAt: null,
  } as const
}

const silentId = ({ source }: ScanSession) => `halted_chain:${source.mode}:${source.network}:silent_node`
