import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ChainCommand, ChainCommandKind } from '#shared/ports/chain-commands.ts'
import { reasonOf } from '#shared/usecases/audit/audit-reason.ts'
import type { Uses } from '#shared/usecases/uses.ts'

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
  readonly askedUntil?: Ms
}

/** Result for the open requests. */
export interface CancelledChain {
  /** Closed by this call, or in a dry run those that would be. */
  readonly cancelled: readonly ChainCommand[]
  /** Requests that ran, or were about to run, before they could be cancelled. */
  readonly tooLate: readonly ChainCommand[]
}

/**
 * Closes open requests to the scanner of a network, each with its audit row. The results of a partial rescan stay: they are
 * correct. A request for which a scanner has begun to move its cursor cannot be cancelled any more. Repeating it
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
      ? 'It had not started.'
      : `Blocks ${from} to ${nextHeight - 1} had been rescanned; ${changed} payments were found or changed.`
  return `Cancelled by ${actor}. ${read}`
}
