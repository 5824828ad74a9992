import { type OverrunKey, skipPastSeen } from '#shared/db/backup/prepare-restored-database.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { readRestoreState, writeRestoreState } from '#shared/db/restore/restore-state.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { CursorRepository } from '#shared/ports/scanning.ts'

export interface ConfirmDeps {
  readonly db: Database
  readonly clock: Clock
  readonly cursors: Pick<CursorRepository, 'list'>
  readonly catalog: Pick<Catalog, 'hasNode'>
}

/**
 * Lets webhooks and mails go out again after a restore. Refuses while a network with a node is not scanned up to its head since, unless
 * `unscanned` says that this is accepted. Returns the keys of which more had been given out than was skipped.
 */
export async function confirmRestore(
  deps: ConfirmDeps,
  { actor, unscanned }: { readonly actor: string; readonly unscanned: boolean },
): Promise<{ readonly overrun: readonly OverrunKey[] }> {
  const { db, clock } = deps
  const state = await readRestoreState(db)
  if (state === null) throw new Error('this installation was not restored: there is nothing to confirm')
  if (state.state === 'writing') throw new Error('the restore did not end: drop the database and restore again')
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
      ({ status, headSeenAt, height, headHeight }) =>
        status !== 'live' || headSeenAt < since || height < headHeight - 2,
    )
    .map(({ id }) => id)
}
