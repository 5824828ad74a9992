import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ChainCommand, ChainCommandKind, ChainCommandRepository } from '#shared/ports/chain-commands.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { reasonOf } from '#shared/usecases/audit/audit-reason.ts'

/** What cancelling needs. */
export interface CancelChainDeps {
  readonly clock: Clock
  readonly commands: Pick<ChainCommandRepository, 'listOpen' | 'cancel' | 'findById'>
}

/** Whose open requests are cancelled; `kind` null means all of them. */
export interface CancelChainInput {
  readonly mode: Mode
  readonly network: NetworkId
  readonly kind: ChainCommandKind | null
  readonly dryRun: boolean
  readonly actor: string
  readonly reason?: string | null
  /** Requests that were asked for later stay; absent = all. A repetition then cancels nothing that the first run could not see. */
  readonly askedUntil?: Ms
}

/** What became of the open requests. */
export interface CancelledChain {
  /** Closed by this call, or in a dry run those that would be. */
  readonly cancelled: readonly ChainCommand[]
  /** Carried out, or about to be, before they could be cancelled. */
  readonly tooLate: readonly ChainCommand[]
}

/**
 * Closes open requests to the scanner of a network, each with its audit row. What a rescan has read so far stays: it only found
 * what is true. A request that a scanner has begun to move its cursor for cannot be cancelled any more. Repeating it
 * finds nothing open and changes nothing.
 */
export async function cancelChainCommands(deps: CancelChainDeps, input: CancelChainInput): Promise<CancelledChain> {
  const { mode, network, kind, dryRun, actor } = input
  const askedUntil = input.askedUntil ?? Number.POSITIVE_INFINITY
  const open = (await deps.commands.listOpen(mode, network)).filter(
    (one) => (kind === null || one.kind === kind) && one.askedAt <= askedUntil,
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
      ? 'Nothing had been done.'
      : `Blocks ${from} to ${nextHeight - 1} had been read again; ${changed} payments were found or changed.`
  return `Cancelled by ${actor}. ${read}`
}
