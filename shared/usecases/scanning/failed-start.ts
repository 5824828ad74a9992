import type { Ms } from '#shared/domain/invoice/model.ts'
import { networkName, stuckRow } from '#shared/usecases/networks/report-stuck-networks.ts'
import type { ScanDeps, ScanSource } from './scan-session.ts'
import { scanFailure, troubleFacts } from './scan-trouble.ts'

/** A network that could not be started for this long is a person's business. */
const PATIENCE_MS = 60_000

/** Watches the first start of a network, which has no cursor yet that could carry the failure. */
export interface FailedStart {
  /**
   * Gives what `open` gives. Throws what it throws, and after a minute of failures opens the inbox row of the network; the row
   * closes as that of any stuck network once there is a cursor that advances.
   */
  watch<T>(open: () => Promise<T>): Promise<T>
}

/** Makes the watch of one scanner. */
export function createFailedStart({ clock, exceptions }: ScanDeps, { mode, network }: ScanSource): FailedStart {
  let failing: { readonly since: Ms; isReported: boolean } | null = null
  return {
    async watch(open) {
      try {
        const opened = await open()
        failing = null
        return opened
      } catch (error) {
        const now = clock.now()
        failing ??= { since: now, isReported: false }
        if (failing.isReported || now - failing.since <= PATIENCE_MS) throw error
        failing.isReported = true
        const { reason, host, method } = troubleFacts(error, 0)
        const at = [host, method].filter((part) => part !== null && !reason.includes(part)).join(', ')
        const what = scanFailure(error) === 'mismatch' ? 'its node is refused' : 'its node gives no usable answer'
        const detail = `${networkName(mode, network)} was never scanned: ${what}${at === '' ? '' : ` (${at})`}: ${reason}. Correct its node in PAYMESH_NETWORKS and restart the scanner.`
        await exceptions.report(stuckRow({ mode, network }, detail, now))
        throw error
      }
    },
  }
}
