import type { StuckNetwork } from '#shared/contracts/chain-status.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { stuckNetwork } from './stuck-network.ts'

/** After a downtime every cursor looks abandoned until its scanner is back: such a finding must persist. */
const OBSERVED_MS = 60_000
/** Causes that a scanner recorded within its last minutes, and that need no second check. */
const WITNESSED: ReadonlySet<StuckNetwork['cause']> = new Set([
  'halted',
  'node_refused',
  'block_unreadable',
  'scan_failed',
])

/** Dependencies of reporting. */
export type ReportStuckDeps = Uses<'clock' | 'cursors' | 'exceptions' | 'catalog'>

/** The reporter of one process; only memory holds how long it has seen a network stuck. */
export function createStuckReporter(deps: ReportStuckDeps) {
  const seenSince = new Map<string, Ms>()
  return {
    /**
     * Opens the exception of each stuck network, updates the text of an open one, and closes those of networks that advance
     * again. Safe to repeat and to run in several processes.
     */
    async run(): Promise<void> {
      const now = deps.clock.now()
      const advancing: string[] = []
      for (const cursor of await deps.cursors.list()) {
        const { mode, network } = cursor
        const hasNode = deps.catalog.hasNode(network, mode)
        const stuck = stuckNetwork(cursor, { now, hasNode, blockTimeMs: deps.catalog.blockTimeMs(network, mode) })
        // A network removed on purpose needs no alarm; `chain status` reports that its deadlines wait.
        if (stuck === null || stuck.cause === 'no_node') {
          seenSince.delete(cursor.id)
          advancing.push(stuckRowId(cursor))
          continue
        }
        const since = seenSince.get(cursor.id) ?? now
        seenSince.set(cursor.id, since)
        if (!WITNESSED.has(stuck.cause) && now - since < OBSERVED_MS) continue
        await deps.exceptions.report(stuckRow(cursor, detailOf(cursor, stuck), now))
      }
      await deps.exceptions.close(advancing, now)
    },
  }
}

/** Id of the only exception about a network that does not advance. */
export function stuckRowId({ mode, network }: { readonly mode: Mode; readonly network: NetworkId }): string {
  return `halted_chain:${mode}:${network}`
}

/** The exception about a network that does not advance. */
export function stuckRow(
  of: { readonly mode: Mode; readonly network: NetworkId },
  detail: string,
  openedAt: Ms,
): ExceptionRecord {
  const nothing = { workspaceId: null, invoiceId: null, paymentKey: null, closedAt: null }
  return { id: stuckRowId(of), kind: 'halted_chain', mode: of.mode, ...nothing, detail, openedAt }
}

/** A network as sentences name it. */
export function networkName(mode: Mode, network: NetworkId): string {
  return `${network} (${mode})`
}

function detailOf({ mode, network, height, headHeight }: ChainCursor, { sentence, advice }: StuckNetwork): string {
  const behind = Math.max(0, headHeight - height)
  const lag = behind === 0 ? '' : ` It is ${behind} blocks behind its node.`
  return `${networkName(mode, network)} is stuck at block ${height}. ${sentence}${lag} Its invoices do not expire until this is fixed. ${advice} If this takes long, "paymesh chain release-deadlines" lets invoices expire.`
}
