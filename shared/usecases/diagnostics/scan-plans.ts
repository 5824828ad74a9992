import type { ScanPlan } from '#shared/contracts/chain-status.ts'
import { MODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ScanChoice } from '#shared/ports/chain-catalog.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import type { OpenMethods } from '#shared/ports/invoices.ts'
import { knownUntil } from '#shared/usecases/networks/known-until.ts'
import { isRereading } from '#shared/usecases/networks/network-lag.ts'
import { type NodeCostDeps, nodeCosts } from '#shared/usecases/networks/node-costs.ts'
import { type ThriftyPace, usualPace } from '#shared/usecases/scanning/thrifty-pace.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Most open invoices of one network that are counted. */
const COUNT_MAX = 1_000
/** Higher than any block. */
const EVERY_HEIGHT = Number.MAX_SAFE_INTEGER

/** What reading the plans of all scanners needs. */
export type ScanPlanDeps = NodeCostDeps & Uses<'catalog' | 'cursors' | 'invoices' | 'payments'>

/** The plan of every network that was ever scanned, in the order of the specification, live before test. Reads the store alone. */
export async function scanPlans(deps: ScanPlanDeps): Promise<readonly ScanPlan[]> {
  const cursors = new Map((await deps.cursors.list()).map((cursor) => [cursor.id, cursor]))
  const isAnyThrifty = [...cursors.values()].some(({ source }) => source === 'thrifty')
  const quotas = isAnyThrifty ? (await nodeCosts(deps)).quotas : []
  const known = MODES.flatMap((mode) => NETWORK_IDS.flatMap((network) => cursors.get(`${mode}:${network}`) ?? []))
  return Promise.all(
    known.map(async (cursor) => {
      const { mode, network } = cursor
      const quota = quotas.find((one) => one.mode === mode && one.network === network)
      const scope = { mode, network, height: EVERY_HEIGHT, finalizedHeight: EVERY_HEIGHT }
      const [open, pending] = await Promise.all([
        deps.invoices.countOpenMethods(mode, network, cursor.time, COUNT_MAX),
        cursor.source === 'thrifty' ? deps.payments.dueForConfirmation(scope) : [],
      ])
      return scanPlan(cursor, {
        now: deps.clock.now(),
        pace: usualPace(deps.catalog.blockTimeMs(network, mode), async () => quota?.level === 'critical'),
        hasNode: deps.catalog.hasNode(network, mode),
        choice: deps.catalog.scanChoice(network, mode),
        open,
        isConfirming: pending.length > 0,
        isNearlySpent: quota?.level === 'critical',
      })
    }),
  )
}

/** What a plan depends on besides the cursor. */
export interface PlanScene {
  readonly now: Ms
  readonly pace: ThriftyPace
  readonly hasNode: boolean
  readonly choice: ScanChoice | null
  readonly open: OpenMethods
  /** A payment of the network is unconfirmed. */
  readonly isConfirming: boolean
  readonly isNearlySpent: boolean
}

/** The plan of one network. Follows `nextStep`; what only the scanner's memory holds, such as open pages, is in the text. Pure. */
export function scanPlan(cursor: ChainCursor, scene: PlanScene): ScanPlan {
  const { open, pace, choice } = scene
  const { source = 'full', looks } = cursor
  const next = nextLook(cursor, scene)
  return {
    id: cursor.id,
    source,
    choice,
    open: [...open.byAsset]
      .map(([asset, methods]) => ({ asset, methods }))
      .sort((one, other) => other.methods - one.methods || one.asset.localeCompare(other.asset)),
    isComplete: open.isComplete,
    ...next,
    nextLooks:
      looks == null
        ? null
        : {
            ...{ endedAt: looks.ended.at + pace.endedLookMs, endedHeight: looks.ended.height },
            ...{ allAt: looks.all.at + pace.allLookMs, allHeight: looks.all.height },
          },
  }
}

function nextLook(cursor: ChainCursor, scene: PlanScene): Pick<ScanPlan, 'nextLookAt' | 'reason' | 'isResting'> {
  const { headSeenAt, recheckThrough } = cursor
  const { now, pace, hasNode, open, isConfirming, isNearlySpent } = scene
  const never = (reason: string) => ({ nextLookAt: null, reason, isResting: false })
  const after = (ms: Ms, reason: string) => ({ nextLookAt: headSeenAt + ms, reason, isResting: false })
  if (!hasNode) return never('Nothing is read: the network has no node in the settings.')
  if (cursor.status === 'halted') return never('No block is read while the scan is halted.')
  if (cursor.source !== 'thrifty') return never('Every block is read as soon as the node has it.')
  if (isRereading(cursor)) {
    return never(`Every block up to ${recheckThrough} is read again.`)
  }
  const deadline = open.nextDeadline
  if (deadline !== null && deadline > knownUntil(cursor, pace.blockTimeMs) && deadline + pace.blockTimeMs <= now) {
    return {
      nextLookAt: now,
      reason: 'The deadline of an open invoice has passed: the time up to it is read now.',
      isResting: false,
    }
  }
  if (open.byAsset.size > 0) {
    const every = (ms: number) => `Open invoices wait for money: their balances are compared every ${ms / 1_000} s`
    if (isNearlySpent) return after(pace.slowMs, `${every(pace.slowMs)}, because 95 % of the quota is used.`)
    return after(pace.openMs, `${every(pace.openMs)}, more often while a payer has the page open.`)
  }
  if (isConfirming) {
    const reason = `A payment waits for its confirmation: the node is asked when it may be there, and before that every ${pace.confirmMs / 1_000} s, or after half of a longer wait.`
    return after(pace.confirmMs, reason)
  }
  const minutes = pace.restMs / 60_000
  const reason = `No open invoice waits for money on this network: only the newest block is asked for, every ${minutes} minutes.`
  return { nextLookAt: headSeenAt + pace.restMs, reason, isResting: true }
}
