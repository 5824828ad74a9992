import type { Ms } from '#shared/domain/invoice/model.ts'
import { NodeBehind } from '#shared/ports/scanning.ts'
import { networkName, stuckRow } from '#shared/usecases/networks/report-stuck-networks.ts'
import type { ScanDeps, ScanSource } from './scan-session.ts'
import { scanFailure, troubleFacts } from './scan-trouble.ts'

/** A network that has failed to start for this long is reported. */
const PATIENCE_MS = 60_000

/** Watches the first start of a network, which has no cursor yet to store the failure. */
export interface FailedStart {
  /**
   * Returns the result of `open`. Passes on its errors, and after a minute of failures opens the network's exception, which
   * closes like that of any stuck network once there is a cursor that advances.
   */
  watch<T>(open: () => Promise<T>): Promise<T>
}

/** Makes the start watch of one scanner. */
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
        const what = scanFailure(error) === 'mismatch' ? 'its node was rejected' : 'its node returns no usable response'
        const detail =
          error instanceof NodeBehind
            ? `${networkName(mode, network)} has not been scanned: ${reason}. The scanner starts when the node is current.`
            : `${networkName(mode, network)} has not been scanned: ${what}${at === '' ? '' : ` (${at})`}: ${reason}. Correct its node in PAYMESH_NETWORKS and restart the scanner.`
        await exceptions.report(stuckRow({ mode, network }, detail, now))
        throw error
      }
    },
  }
}
