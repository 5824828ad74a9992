import type { ChainCommandKind, ChainPlan } from '#shared/contracts/chain-commands.ts'
import { invalidField, invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ChainCommand } from '#shared/ports/chain-commands.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { reasonOf } from '#shared/usecases/requests/begin-operation.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Dependencies of requests to a scanner. */
export type CommandDeps = Uses<'clock' | 'random' | 'cursors' | 'payments' | 'commands'>

/** An operator's request to the scanner of one network. */
export interface CommandInput {
  readonly mode: Mode
  readonly network: NetworkId
  readonly kind: ChainCommandKind
  /** First block of a rescan. */
  readonly from: number | null
  /** Last block of a rescan, by default the scanner's position; target of a rewind; last block that a skip may skip, null for no bound. */
  readonly to: number | null
  readonly acceptReorg: boolean
  readonly dryRun: boolean
  readonly actor: string
  readonly reason?: string | null
  /** Id of the operation: repeating it returns the request that it created. */
  readonly opId?: string
}

/** The stored request, or null when nothing was stored: a dry run, or nothing to do. */
export interface CommandResult {
  readonly plan: ChainPlan
  readonly command: ChainCommand | null
  /** True when the same request was already open. */
  readonly repeated: boolean
}

/**
 * Requests that the scanner of a network reads blocks again, goes back, resumes after a halt, or skips blocks that no node has any more. Only stores the request, with its
 * audit row; the holder of the network's lease runs it. Repeating an open request returns it, and so does repeating an operation by its id,
 * whatever became of the request and of the scanner meanwhile. Throws `VALIDATION_ERROR` for invalid heights, `NOT_FOUND` for a network that was never scanned and
 * `INVALID_STATE` when a different request of this kind is open, or a rescan of a halted network is requested.
 */
export async function requestCommand(deps: CommandDeps, input: CommandInput): Promise<CommandResult> {
  const { mode, network, kind } = input
  const cursor = await deps.cursors.find(mode, network)
  if (cursor === null) {
    throw new PaymeshError('NOT_FOUND', { message: `No block of ${network} has been scanned in ${mode} mode.` })
  }
  const earlier = input.opId === undefined ? null : await deps.commands.findById(input.opId)
  const range = earlier === null ? rangeOf(cursor, input) : rangeOfRequest(cursor, earlier)
  const counted =
    range === null
      ? { live: 0, confirmed: 0 }
      : await deps.payments.countInBlocks({ mode, network, from: range.readFrom, to: range.readTo })
  const plan = {
    height: cursor.height,
    status: cursor.status,
    from: range?.readFrom ?? null,
    to: range?.readTo ?? null,
    livePayments: counted.live,
    confirmedPayments: counted.confirmed,
  }
  if (earlier !== null) return { plan, command: earlier, repeated: true }
  if (kind === 'resume' && cursor.status !== 'halted') return { plan, command: null, repeated: false }
  const wanted = commandOf(deps, input, cursor)
  const openEnd = kind === 'rescan' && input.to === null
  const standing = (await deps.commands.listOpen(mode, network)).find((command) => command.kind === kind)
  if (standing !== undefined) return { plan, command: sameOrRefuse(standing, wanted, openEnd), repeated: true }
  if (input.dryRun) return { plan, command: null, repeated: false }
  const command = await deps.commands.request(wanted, {
    id: `${wanted.id}:requested`,
    at: wanted.requestedAt,
    actor: input.actor,
    action: `chain.${kind}`,
    subject: `${mode}:${network}`,
    workspaceId: null,
    mode,
    detail: {
      command: wanted.id,
      from: wanted.from,
      to: wanted.to,
      accept_reorg: wanted.acceptReorg,
      ...reasonOf(input),
    },
  })
  return { plan, command: sameOrRefuse(command, wanted, openEnd), repeated: command.id !== wanted.id }
}

/** The blocks that will be read again; null when only the scanner can determine them. */
function rangeOf(cursor: ChainCursor, { kind, from, to }: CommandInput): { readFrom: number; readTo: number } | null {
  if (kind === 'resume' || kind === 'skip') return null
  if (kind === 'rewind') {
    if (to === null || to < 0) throw invalidField('to', 'must be 0 or more')
    if (to >= cursor.height) throw invalidField('to', `must be below the block of the scanner, ${cursor.height}`)
    return { readFrom: to + 1, readTo: cursor.height }
  }
  if (from === null || from < 0) throw invalidField('from', 'must be 0 or more')
  const readTo = to ?? cursor.height
  if (from > cursor.height)
    throw invalidField('from', `the scanner is at block ${cursor.height} and will reach it automatically`)
  if (readTo < from) throw invalidField('to', `must not be below --from ${from}`)
  if (readTo > cursor.height)
    throw invalidField('to', `the scanner is at block ${cursor.height} and will reach it automatically`)
  if (cursor.status === 'halted') {
    throw invalidState('The scanner is halted: resume or rewind it first.')
  }
  return { readFrom: from, readTo }
}

/** The same of a stored request, which may have been carried out: nothing is left to read where the scanner is below. */
function rangeOfRequest(cursor: ChainCursor, { kind, from, to }: ChainCommand) {
  if (kind === 'rescan' && from !== null && to !== null) return { readFrom: from, readTo: to }
  return kind === 'rewind' && to !== null && to < cursor.height ? { readFrom: to + 1, readTo: cursor.height } : null
}

function commandOf(deps: CommandDeps, input: CommandInput, cursor: ChainCursor): ChainCommand {
  const { mode, network, kind, acceptReorg, actor } = input
  const isRescan = kind === 'rescan'
  return {
    id: input.opId ?? deps.random.uuid(),
    mode,
    network,
    kind,
    from: isRescan ? input.from : null,
    to: isRescan ? (input.to ?? cursor.height) : kind === 'resume' ? null : input.to,
    acceptReorg,
    nextHeight: isRescan ? input.from : null,
    changed: 0,
    status: 'open',
    outcome: null,
    requestedBy: actor,
    requestedAt: deps.clock.now(),
    finishedAt: null,
  }
}

function sameOrRefuse(standing: ChainCommand, wanted: ChainCommand, openEnd: boolean): ChainCommand {
  const { kind, from, to, acceptReorg } = standing
  // "Up to the scanner's position" is the same request however far the scanner came in between.
  const sameEnd = openEnd || wanted.to === to
  if (from === wanted.from && sameEnd && acceptReorg === wanted.acceptReorg) return standing
  const range = [from === null ? [] : `from ${from}`, to === null ? [] : `to ${to}`].flat().join(' ')
  throw invalidState(
    `Another ${kind} ${range} of this network was requested by ${standing.requestedBy} and is still running (${standing.id}).`,
  )
}

/** Dependencies of cancelling. */
export type CancelChainDeps = Uses<'clock' | 'commands'>

/** The network whose open requests are cancelled; `kind` null means all of them. */
export interface CancelChainInput {
  readonly mode: Mode
  readonly network: NetworkId
  readonly kind: ChainCommandKind | null
  readonly dryRun: boolean
  readonly actor: string
  readonly reason?: string | null
  /** Requests made later stay; absent = all. A repetition then cancels only requests that the first run could see. */
  readonly madeUntil?: Ms
}

/**
 * Closes open requests to the scanner of a network, each with its audit row. The results of a partial rescan stay: they are
 * correct. A request for which a scanner has begun to move its cursor cannot be cancelled any more. Repeating it
 * finds nothing open and changes nothing. `cancelled` were closed by this call, or in a dry run would be; `tooLate` ran, or were about to run.
 */
export async function cancelChainCommands(deps: CancelChainDeps, input: CancelChainInput) {
  const { mode, network, kind, dryRun, actor } = input
  const madeUntil = input.madeUntil ?? Number.POSITIVE_INFINITY
  const open = (await deps.commands.listOpen(mode, network)).filter(
    (one) => (kind === null || one.kind === kind) && one.requestedAt <= madeUntil,
  )
  const cancelled: ChainCommand[] = []
  const tooLate: ChainCommand[] = []
  for (const command of open) {
    if (dryRun) {
      ;(command.taken === true ? tooLate : cancelled).push(command)
      continue
    }
    const at = deps.clock.now()
    const outcome = outcomeOf(command, actor)
    const done = await deps.commands.cancel(
      command.id,
      { outcome, at },
      {
        id: `${command.id}:cancelled`,
        at,
        actor,
        action: `chain.${command.kind}_cancelled`,
        subject: `${mode}:${network}`,
        workspaceId: null,
        mode,
        detail: { command: command.id, outcome, ...reasonOf(input) },
      },
    )
    const now = (await deps.commands.findById(command.id)) ?? command
    ;(done || now.status === 'cancelled' ? cancelled : tooLate).push(now)
  }
  return { cancelled, tooLate }
}

function outcomeOf({ kind, from, nextHeight, changed }: ChainCommand, actor: string): string {
  const read =
    kind !== 'rescan' || from === null || nextHeight === null || nextHeight <= from
      ? 'It had not started.'
      : `Blocks ${from} to ${nextHeight - 1} had been rescanned; ${changed} payments were found or changed.`
  return `Cancelled by ${actor}. ${read}`
}
