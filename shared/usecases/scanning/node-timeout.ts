import type { Silence } from '#shared/ports/scanning.ts'
import { standingStill, waiting } from './scan-reorg.ts'
import { moveCursor, type ScanSession } from './scan-session.ts'

/** Payments that have waited this long for a silent node are reported. */
const PATIENCE_MS = 15 * 60_000

/**
 * Reports why payments are not confirmed when the second node is silent, or its blocks stand still: at the cursor and its gauge at once, to
 * operators after 15 minutes. Withdraws both when nothing waits any more or all nodes respond with current blocks. `held` payments were not confirmed by a second node just now.
 */
export async function reportNodeTimeout(session: ScanSession, held: number): Promise<void> {
  const { deps, silence } = session
  const missed = await whoIsMissed(session, held)
  const now = deps.clock.now()
  if (missed !== null) {
    const reason = `Payments are waiting for confirmation by a second node: ${missed}.`
    const { since = now, isReported = false } = silence ?? {}
    const isDue = !isReported && now - since > PATIENCE_MS
    if (isDue) await deps.exceptions.open([silentNodes(session, missed)])
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

/** Which nodes payments wait for, and why these confirm nothing; null when none waits for such a node. */
async function whoIsMissed({ deps, source, cursor }: ScanSession, held: number): Promise<string | null> {
  const silence = source.client.silence?.() ?? null
  const missed = silence === null ? '' : missedNodes(silence)
  if (silence === null || missed === '') return null
  if (held > 0) return missed
  if (silence.answering > 1) return null
  // Payments that must be final are not due with the response of one node.
  const { mode, network } = source
  const buried = { mode, network, height: cursor.height, finalizedHeight: cursor.height }
  return (await deps.payments.dueForConfirmation(buried)).length > 0 ? missed : null
}

/** Names the nodes and what is wrong with each; empty when none is down or stands still. */
function missedNodes({ hosts, outdated }: Silence): string {
  const silent = hosts.length === 0 ? [] : [`${hosts.join(' and ')} did not respond`]
  return [...silent, ...standingStill(outdated)].join(', and ')
}

async function tell(session: ScanSession, reason: string | null): Promise<void> {
  const change = waiting(session, reason)
  if (Object.keys(change).length > 0) await moveCursor(session, change)
}

function silentNodes(session: ScanSession, missed: string) {
  const { mode, network } = session.source
  return {
    id: silentId(session),
    kind: 'halted_chain',
    workspaceId: null,
    mode,
    invoiceId: null,
    paymentKey: null,
    detail: `Payments on ${network} (${mode}) have waited 15 minutes for confirmation by a second node: ${missed}. Repair it, or remove it from PAYMESH_NETWORKS.`,
    openedAt: session.deps.clock.now(),
    closedAt: null,
  } as const
}

const silentId = ({ source }: ScanSession) => `halted_chain:${source.mode}:${source.network}:silent_node`
