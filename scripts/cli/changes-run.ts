import type { EventEmitter } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { errorText } from '#shared/contracts/error-text.ts'
import { beginChain, type ChainPosition, readChain } from '#shared/db/backup/change-chain.ts'
import { ChangesLost } from '#shared/db/backup/change-collector.ts'
import { readRestoreState } from '#shared/db/restore/restore-state.ts'
import { probeFolder } from '../backup/archive-folder.ts'
import { LeaseTaken, underBackupLease } from '../backup/backup-lease.ts'
import { type ChangesOrder, continueChain, takeChanges } from '../backup/take-changes.ts'
import { versionHere } from '../service/version-here.ts'
import { type BackupStore, withBackupStore } from './session/backup-store.ts'

/** Name of the lease of the one process that copies changes. */
const CHANGES_LEASE = 'backup-changes'
/** From the moment of one file to the next: what is lost at most is this, the time of a copy, and that of its way to the target. */
const EVERY_MS = 30_000
/** After a failure. A change of the store's primary takes about as long. */
const RETRY_MS = 10_000

/** Emitted once a chain begins or is continued, and when neither is possible for now. */
export const CHAIN_KNOWN = 'known'
/** Emitted when a chain begins: it needs an archive. */
export const CHAIN_BEGUN = 'begun'

/**
 * Copies what changed into the folder, twice a minute, until `signal`. One process of an installation at a time does this; another one stands by.
 * Failures are printed, of several with the same text the first.
 */
export async function runChanges(
  { folder, copied, secret }: Pick<ChangesOrder, 'folder' | 'copied' | 'secret'>,
  signal: AbortSignal,
  known: EventEmitter,
): Promise<never> {
  let told = ''
  const onFailure = (error: unknown): void => {
    signal.throwIfAborted()
    known.emit(CHAIN_KNOWN)
    const text =
      error instanceof LeaseTaken
        ? 'Another process copies changes: standing by'
        : `Changes were not copied: ${errorText(error)}`
    if (text !== told) process.stderr.write(`${text}.\n`)
    told = text
  }
  for (;;) {
    await withBackupStore(async (store) => {
      const request = { name: CHANGES_LEASE, owner: store.random.uuid(), signal, waitMs: 0 }
      await underBackupLease(store.leases, request, async (lease) => {
        const order = { folder, copied, secret, version: versionHere(), signal: lease.signal, require: lease.require }
        await follow(store, order, known, () => {
          if (told !== '') process.stderr.write('Changes are copied again.\n')
          told = ''
        }).catch(async (error: unknown) => {
          await lease.rethrowEnd()
          throw error
        })
      })
    }).catch(onFailure)
    await wait(RETRY_MS, undefined, { signal })
  }
}

/** One file after the other, in one chain; a new one where the store does not have all changes since the last any more. */
async function follow(
  store: BackupStore,
  order: ChangesOrder,
  known: EventEmitter,
  onTaken: () => void,
): Promise<never> {
  await requireRestored(store)
  await probeFolder(order.folder)
  let position: ChainPosition = await continueChain(store, order)
  known.emit(CHAIN_KNOWN)
  if (position.link.after === null) known.emit(CHAIN_BEGUN)
  for (;;) {
    const begun = performance.now()
    try {
      position = (await takeChanges(store, order, position)).position
      onTaken()
    } catch (error) {
      if (!(error instanceof ChangesLost)) throw error
      await order.require()
      await requireRestored(store)
      process.stderr.write(`A new chain of changes begins, and needs a new archive: ${errorText(error)}\n`)
      position = await beginChain(store.db, await readChain(store.db))
      known.emit(CHAIN_BEGUN)
    }
    await wait(Math.max(0, EVERY_MS - (performance.now() - begun)), undefined, { signal: order.signal })
  }
}

async function requireRestored({ db }: BackupStore): Promise<void> {
  if ((await readRestoreState(db))?.state === 'writing') throw new Error('a restore into the database did not end')
}
