import { leaseLifeMs, startLeasedLoop } from '#shared/runtime/process/leased-loop.ts'
import { createMarkKeeper, type KeepMarksDeps } from '#shared/usecases/marks/keep-marks.ts'
import { BLOCK_SIZE } from '#shared/usecases/quotes/addresses.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { deriveAhead, ensureSandboxMaterials, type HeadroomDeps } from '#shared/usecases/wallets/address-headroom.ts'
import { createHeadroomPlan } from '#shared/usecases/wallets/headroom-plan.ts'
import { createIndexReclaimer, type ReclaimDeps } from '#shared/usecases/wallets/reclaim-indexes.ts'
import { type ReleaseDeps, releaseClaims } from '#shared/usecases/wallets/release-claims.ts'
import { createPoolWatch, type WatchPoolsDeps } from '#shared/usecases/wallets/warn-low-pools.ts'

const LEASE_MS = 15_000
/** A round ends before the lease does and continues in the next. */
const ROUND_MS = 10_000
const PAUSE_MS = 1_000
/** Nobody derives for so long when the process that does is killed: its lease, one round of the next holder, and as much again. */
const GAP_MS = 2 * (leaseLifeMs(LEASE_MS) + ROUND_MS)
/** How often keys and pools are checked for one that is due; each is every ten minutes. */
const POLL_EVERY_MS = 15_000
/** How often expired claims are searched; they are held for days. */
const RELEASE_EVERY_MS = 60_000
/** Rounds end after 10 s; a loop silent for longer than this has died. */
const SILENCE_MAX_MS = 120_000
const PAUSE_AFTER_FAILURE_MS = 5_000

type LoopDeps = HeadroomDeps &
  KeepMarksDeps &
  ReclaimDeps &
  ReleaseDeps &
  WatchPoolsDeps &
  Uses<'wallets' | 'invoices' | 'leases'>

/**
 * Keeps the marks outside the store and every key's addresses derived ahead, ends expired claims and counts pools, in one process at a time. `headroom` is the least number of
 * addresses beyond the next one to be offered. Returns a function that ends the loop and frees the lease.
 */
export function startHeadroomLoop(deps: LoopDeps, headroom: number): () => Promise<void> {
  const plan = createHeadroomPlan(headroom, GAP_MS, BLOCK_SIZE)
  const keeper = createMarkKeeper(deps)
  const reclaimer = createIndexReclaimer(deps)
  const pools = createPoolWatch(deps)
  let releasedAt = Number.NEGATIVE_INFINITY
  let lookedAt = Number.NEGATIVE_INFINITY
  let sandboxReady = false
  return startLeasedLoop(deps, {
    id: 'address-headroom',
    leaseMs: LEASE_MS,
    pauseMs: PAUSE_MS,
    pauseAfterFailureMs: PAUSE_AFTER_FAILURE_MS,
    silenceMaxMs: SILENCE_MAX_MS,
    failures: 'address_headroom_failed_total',
    failed: 'address headroom round failed',
    round: async (signal) => {
      if (!sandboxReady) await ensureSandboxMaterials(deps)
      sandboxReady = true
      const endsAt = performance.now() + ROUND_MS
      const shouldStop = () => signal.aborted || performance.now() > endsAt
      // Before anything is derived or reclaimed: what the store says is compared with what was issued.
      plan.note(await keeper.run(), deps.clock.now())
      if ((await deps.wallets.isAnyBehind(headroom)) || plan.isAnyBehind()) await deriveAhead(deps, plan.of, shouldStop)
      const isLookDue = performance.now() - lookedAt >= POLL_EVERY_MS
      if (isLookDue) {
        lookedAt = performance.now()
        await reclaimer.run(shouldStop)
      }
      if (performance.now() - releasedAt >= RELEASE_EVERY_MS) {
        releasedAt = performance.now()
        await releaseClaims(deps, shouldStop)
      }
      if (isLookDue) await pools.run(shouldStop)
    },
  })
}
