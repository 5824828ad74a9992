import type { Database } from '#shared/db/connection/connect.ts'
import { type OverrunKey, skipPastSeen } from '#shared/db/restore/precautions.ts'
import { readRestoreState, writeRestoreState } from '#shared/db/restore/restore-state.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Uses } from '#shared/usecases/uses.ts'

export type ConfirmDeps = Uses<'clock' | 'cursors' | 'catalog'> & {
  readonly db: Database
}

/**
 * Allows webhooks and mails again after a restore. Refuses while a network with a node has not been scanned up to its head since, unless
 * `unscanned` accepts that. Returns the keys of which more addresses had been given out than were skipped.
 */
export async function confirmRestore(
  deps: ConfirmDeps,
  { actor, unscanned }: { readonly actor: string; readonly unscanned: boolean },
): Promise<{ readonly overrun: readonly OverrunKey[] }> {
  const { db, clock } = deps
  const state = await readRestoreState(db)
  if (state === null) throw new Error('this installation was not restored, so there is nothing to confirm')
  if (state.state === 'writing') throw new Error('the restore did not finish: drop the database and restore again')
  if (state.state === 'confirmed') return { overrun: [] }
  const behind = await networksBehind(deps, Date.parse(state.restoredAt))
  if (behind.length > 0 && !unscanned) {
    throw new Error(
      `not scanned to the head since the restore: ${behind.join(', ')}. Wait, or accept it with --unscanned`,
    )
  }
  const overrun = await skipPastSeen(db, { since: Date.parse(state.restoredAt), skip: state.skip })
  await writeRestoreState(
    db,
    { ...state, state: 'confirmed' },
    {
      id: `restore-confirmed:${state.restoredAt}`,
      at: clock.now(),
      actor,
      action: 'installation.restore_confirmed',
      subject: 'installation',
      workspaceId: null,
      mode: null,
      detail: { restored_at: state.restoredAt, overrun_keys: overrun.length, unscanned: behind.join(' ') || null },
    },
  )
  return { overrun }
}

async function networksBehind(deps: ConfirmDeps, since: number): Promise<readonly string[]> {
  const hasNode = (mode: Mode, network: NetworkId): boolean => deps.catalog.hasNode(network, mode)
  return (await deps.cursors.list())
    .filter(({ mode, network }) => hasNode(mode, network))
    .filter(
      ({ status, headSeenAt, height, headHeight, source }) =>
        // The cursor of a thrifty network rests below the head while no invoice is open.
        status !== 'live' || headSeenAt < since || (source !== 'thrifty' && height < headHeight - 2),
    )
    .map(({ id }) => id)
}
