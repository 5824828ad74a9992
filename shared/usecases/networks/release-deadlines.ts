import type { ReleasePlan } from '#shared/contracts/chain-status.ts'
import { invalidField, invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { deadlinesPassUntil } from './known-until.ts'
import { stuckNetwork } from './stuck-network.ts'

/** Invoices are counted up to here; more are reported as "at least". */
const COUNT_MAX = 10_000

/** Dependencies of planning a release. */
export type PlanReleaseDeps = Uses<'clock' | 'cursors' | 'invoices' | 'catalog'>

/** The network whose deadlines are released, and up to when; `through` null means now. */
export interface PlanReleaseInput {
  readonly mode: Mode
  readonly network: NetworkId
  readonly through: Ms | null
}

/** An operator's request to let deadlines take effect without a scan. */
export interface ReleaseDeadlinesInput extends PlanReleaseInput {
  readonly through: Ms
  readonly actor: string
  readonly reason: string | null
  /** Id of the request: repeating it changes nothing and returns the same result. */
  readonly opId: string
}

/** Computes the effect of a release without releasing. Throws `NOT_FOUND` for a network that was never scanned. */
export async function planRelease(deps: PlanReleaseDeps, input: PlanReleaseInput): Promise<ReleasePlan> {
  return planFor(deps, input, await cursorOf(deps, input))
}

/**
 * Lets the deadlines of a stuck network take effect up to a moment although its blocks were not read: open invoices due by then
 * expire within seconds. The change and its audit row are one transaction. It applies only while the cursor stays at its block or, in
 * blocks that were read, while deadlines wait for the same proof; and a
 * payment that is read later is checked by its own time. Repeating it changes nothing; `changed` is false when everything had been released or read before. Throws `VALIDATION_ERROR` for a moment in the
 * future or a missing reason, `NOT_FOUND` for a network that was never scanned and `INVALID_STATE` when it advances, or while what skipped blocks paid is
 * searched.
 */
export async function releaseDeadlines(deps: PlanReleaseDeps & Uses<'commands'>, input: ReleaseDeadlinesInput) {
  const { mode, network, through, opId } = input
  const now = deps.clock.now()
  const reason = input.reason?.trim() ?? ''
  if (!Number.isSafeInteger(through) || through < 0) throw invalidField('through', 'a time is required')
  if (through > now) throw invalidField('through', 'must not be in the future')
  if (reason === '') throw invalidField('reason', 'enter a reason for the audit log')
  const cursor = await cursorOf(deps, input)
  const plan = await planFor(deps, input, cursor)
  if (cursor.released?.opId === opId) return { plan, changed: false }
  if (plan.stuck === null) throw advancing(network)
  if (through <= plan.passedUntil) return { plan, changed: false }
  const { skipped = null } = cursor
  // What is still unspent in skipped blocks is not stored yet, whatever the network waits for now.
  if (skipped !== null) await refuseWhileSearching(deps, input)
  if (skipped !== null && plan.stuck.cause === 'blocks_skipped') {
    const release = { through, by: input.actor, at: now, opId }
    const left = through >= skipped.until ? null : { ...skipped, since: through }
    const row = auditRow(input, plan, reason, now)
    return { plan, changed: await deps.cursors.releaseSkipped(mode, network, { release, from: skipped, left }, row) }
  }
  const { hash, unproven } = cursor
  const release = { through, hash, by: input.actor, at: now, opId, ...(unproven != null && { unproven }) }
  if (await deps.cursors.releaseDeadlines(mode, network, release, auditRow(input, plan, reason, now))) {
    return { plan, changed: true }
  }
  // Another operator released as much, or the cursor moved meanwhile: the network is no longer stuck at this block.
  const after = await cursorOf(deps, input)
  if (after.hash !== cursor.hash) throw advancing(network)
  return { plan: await planFor(deps, input, after), changed: false }
}

async function refuseWhileSearching(
  { commands }: Uses<'commands'>,
  { mode, network }: Pick<ReleaseDeadlinesInput, 'mode' | 'network'>,
): Promise<void> {
  if ((await commands.listOpen(mode, network)).some(({ kind }) => kind === 'skip')) throw searching(network)
}

async function cursorOf(deps: PlanReleaseDeps, { mode, network }: PlanReleaseInput): Promise<ChainCursor> {
  const cursor = await deps.cursors.find(mode, network)
  if (cursor !== null) return cursor
  throw new PaymeshError('NOT_FOUND', { message: `No block of ${network} has been scanned in ${mode} mode.` })
}

async function planFor(
  { clock, catalog, invoices }: PlanReleaseDeps,
  { mode, network, through }: PlanReleaseInput,
  cursor: ChainCursor,
): Promise<ReleasePlan> {
  const now = clock.now()
  const until = through ?? now
  const blockTimeMs = catalog.blockTimeMs(network, mode)
  return {
    mode,
    network,
    height: cursor.height,
    stuck: stuckNetwork(cursor, { now, hasNode: catalog.hasNode(network, mode), blockTimeMs }),
    passedUntil: Math.min(now, deadlinesPassUntil(cursor, blockTimeMs)),
    through: until,
    waiting: await invoices.countDueUnpaid(`${mode}:${network}`, until, COUNT_MAX),
  }
}

function auditRow(
  { mode, network, through, actor, opId }: ReleaseDeadlinesInput,
  { height, stuck, waiting, passedUntil }: ReleasePlan,
  reason: string,
  at: Ms,
): AuditRecord {
  return {
    id: `${opId}:deadlines_released`,
    at,
    actor,
    action: 'chain.deadlines_released',
    subject: `${mode}:${network}`,
    workspaceId: null,
    mode,
    detail: {
      through: new Date(through).toISOString(),
      read_until: new Date(passedUntil).toISOString(),
      block: height,
      cause: stuck?.sentence ?? null,
      invoices_waiting: waiting,
      reason,
    },
  }
}

function searching(network: NetworkId): PaymeshError {
  return invalidState(
    `What the skipped blocks of ${network} paid is still searched. Nothing was released. Repeat this when the skip is done.`,
  )
}

function advancing(network: NetworkId): PaymeshError {
  return invalidState(`${network} is not stuck, so its invoices expire as usual. Nothing was released.`)
}
