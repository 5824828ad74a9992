import { EventEmitter, once } from 'node:events'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Command } from 'commander'
import { errorText } from '#shared/contracts/error-text.ts'
import { beginChain, type ChainPosition, readChain } from '#shared/db/backup/change-chain.ts'
import { ChangesLost } from '#shared/db/backup/change-collector.ts'
import { readRestoreState } from '#shared/db/restore/restore-state.ts'
import { BACKUP_AHEAD_MAX_MS, backupAge } from '#shared/ports/verified-backups.ts'
import type { ArchiveSecret } from '#shared/runtime/secrets/archive-cipher.ts'
import { probeFolder, removeLeftovers, removeUnverified, unverifiedName } from '../backup/archive-folder.ts'
import { fileTarget, nameArchive } from '../backup/archive-target.ts'
import { type HeldLease, LEASE_ENDS_MS, LeaseTaken, underBackupLease } from '../backup/backup-lease.ts'
import { pruneChanges } from '../backup/changes-folder.ts'
import { archiveName, listPastArchives, pruneArchives, type Retention } from '../backup/prune-archives.ts'
import { type ChangesOrder, continueChain, takeChanges } from '../backup/take-changes.ts'
import { verifyBackup } from '../backup/verify-backup.ts'
import { versionHere } from '../service/version-here.ts'
import { type ArchiveSecretOptions, archiveSecret, withArchiveSecret } from './session/archive-secret.ts'
import { type BackupStore, withBackupStore } from './session/backup-store.ts'
import { recordedBackup, recordVerified, requireRecordable, total } from './session/recorded-backup.ts'
import { untilSignal } from './session/until-signal.ts'
import { type OutputOptions, print } from './text/output.ts'
import { snakeCase } from './text/snake-case.ts'
import { wholeNumber } from './text/whole-number.ts'

const KEEP = 7
const KEEP_DAYS = 30
const HOUR_MS = 3_600_000
/** After a failure the next attempt of `--every` waits this long, or one interval if that is shorter. */
const RETRY_MS = HOUR_MS
/** Changes are kept behind so many of the newest archives. */
const CHANGES_FOR = 2
/** An archive that a new chain of changes needs is made this long after the one before at the earliest. */
const CHAIN_PAUSE_MS = 600_000
/** While another process makes a back-up. */
const BUSY_MS = 60_000
/** Longest text of a failure that is stored for `doctor`. */
const FAILURE_MAX = 500
/** Name of the lease of the one process that copies changes. */
const CHANGES_LEASE = 'backup-changes'
/** From the moment of one file to the next: what is lost at most is this, the time of a copy, and that of its way to the target. */
const EVERY_MS = 30_000
/** After a failure. A change of the store's primary takes about as long. */
const CHANGES_RETRY_MS = 10_000

/** Emitted once a chain begins or is continued, and when neither is possible for now. */
const CHAIN_KNOWN = 'known'
/** Emitted when a chain begins: it needs an archive. */
const CHAIN_BEGUN = 'begun'
const STOPPED = { text: 'No verified back-up was made: the command was interrupted' }
const ENDED = { text: 'Scheduled back-ups ended', status: 0 }

type Options = OutputOptions & ArchiveSecretOptions & Retention & { readonly every?: number; readonly copied: string }

const positive = wholeNumber(/^[1-9]\d{0,5}$/, 'must be a whole number, at least 1')

interface Order {
  readonly folder: string
  readonly secret: ArchiveSecret
  readonly options: Options
}

/**
 * Back-up into a folder, verification, record and removal of old archives, in this order: a failure removes no archive. Until it is verified the archive has
 * another name, under which it is neither counted, nor kept, nor copied elsewhere. One process of an installation at a time does this.
 */
async function runOnce(store: BackupStore, order: Order, lease: HeldLease) {
  const { verifiedBackups, clock } = store
  const attempted = (await verifiedBackups.lastAttempt())?.name ?? null
  const attempt = { name: archiveName(clock.now()), startedAt: clock.now() }
  try {
    await removeLeftovers(order.folder, { attempted, now: await probeFolder(order.folder) })
    await verifiedBackups.recordAttempt({ ...attempt, failure: null })
    return await makeVerified(store, order, attempt.name, lease)
  } catch (error) {
    // An interruption is no failure, and after the loss of the lease the last attempt is that of another process.
    await lease.rethrowEnd()
    const failure = errorText(error).slice(0, FAILURE_MAX)
    await verifiedBackups.recordAttempt({ ...attempt, failure }).catch(() => undefined)
    throw error
  }
}

async function makeVerified(store: BackupStore, { folder, secret, options }: Order, name: string, lease: HeldLease) {
  const { signal } = lease
  const [file, unverified] = [join(folder, name), join(folder, unverifiedName(name))]
  const taken = await recordedBackup(store, { name, target: fileTarget(unverified), secret, signal })
  await removeUnverified(folder, await probeFolder(folder), { all: false })
  const verified = await verifyBackup(createReadStream(unverified, { signal }), secret, store.secretBox)
  requireRecordable(verified)
  await lease.require()
  await nameArchive(unverified, file)
  await recordVerified(store, verified)
  await lease.require()
  const own = await store.verifiedBackups.begunArchives()
  const removed = await pruneArchives(folder, options, { verified: name, now: store.clock.now(), own })
  const now = await probeFolder(folder)
  await removeUnverified(folder, now, { all: true })
  const kept = (await listPastArchives(folder, store.clock.now(), own)).slice(0, CHANGES_FOR)
  const archives = kept.map((archive) => archive.name)
  await pruneChanges(folder, archives, await store.installationLife.read(), { keepDays: options.keepDays, now })
  return { file, takenAt: verified.takenAt, documents: total(taken.counts), bytes: taken.bytes, removed }
}

function printDone({ options }: Order, done: Awaited<ReturnType<typeof runOnce>>): void {
  const removed = done.removed.length === 0 ? '' : `; removed ${done.removed.join(', ')}`
  print(
    options,
    snakeCase(done),
    `${done.file}: verified, ${done.documents} documents as of ${done.takenAt}, ${done.bytes} bytes${removed}`,
  )
}

/** One back-up now. */
async function runNow(order: Order, signal: AbortSignal): Promise<void> {
  await withBackupStore(async (store) => {
    const request = { owner: store.random.uuid(), signal, waitMs: LEASE_ENDS_MS }
    printDone(order, await underBackupLease(store.leases, request, (lease) => runOnce(store, order, lease)))
  })
}

interface DueBackup {
  readonly at: number
  readonly inMs: number
}

/**
 * A back-up if one is due, and the time of the next: one interval after our newest archive of the folder, or now when that archive is not the one that was
 * verified last: a process may have been killed before it recorded one, and anybody may put files into a folder. Sooner where a new chain of changes has
 * begun since, which only a new archive can lead to.
 */
async function runIfDue(order: Order, everyMs: number, signal: AbortSignal): Promise<DueBackup> {
  return await withBackupStore(async (store) => {
    const { clock, random, leases } = store
    const due = (at: number): DueBackup => ({ at, inMs: at - clock.now() })
    const before = await dueAt(store, order.folder, everyMs)
    if (before > clock.now()) return due(before)
    return await underBackupLease(leases, { owner: random.uuid(), signal, waitMs: 0 }, async (lease) => {
      // Another process may have made it a moment ago.
      if ((await dueAt(store, order.folder, everyMs)) <= clock.now())
        printDone(order, await runOnce(store, order, lease))
      return due(await dueAt(store, order.folder, everyMs))
    })
  })
}

/** Without a folder it is now: the attempt fails and says so. */
async function dueAt({ db, clock, verifiedBackups }: BackupStore, folder: string, everyMs: number): Promise<number> {
  const now = clock.now()
  const own = await verifiedBackups.begunArchives()
  const [newest] = await listPastArchives(folder, now, own).catch(() => [])
  if (newest === undefined) return now
  const age = Math.max(0, now - newest.at)
  const latest = await verifiedBackups.latest()
  if (backupAge(latest, now) > age + BACKUP_AHEAD_MAX_MS) return now
  const chain = await readChain(db)
  const isContinued = chain === null || chain.link.chain === latest?.chain
  return newest.at + (isContinued ? everyMs : Math.min(everyMs, CHAIN_PAUSE_MS))
}

/** Archives and the changes between them, until `signal`. */
async function runEvery(order: Order, everyMs: number, signal: AbortSignal): Promise<void> {
  const known = new EventEmitter()
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const first = once(known, CHAIN_KNOWN, { signal: either })
  // An archive that is begun before its chain could not be continued. Each of the two ends the other, and both have cleaned up before this returns.
  const archives = first.then(async () => await runArchives(order, everyMs, { signal: either, known }))
  const ended = [runChanges({ ...order, copied: order.options.copied }, either, known), archives].map((each) =>
    each.catch((error) => stop.abort(error)),
  )
  await Promise.all(ended)
  signal.throwIfAborted()
  throw stop.signal.reason
}

/** Runs until `signal`. Failures are printed; the next attempt follows after an hour, or one interval. */
async function runArchives(
  order: Order,
  everyMs: number,
  { signal, known }: { readonly signal: AbortSignal; readonly known: EventEmitter },
): Promise<never> {
  const pauseMs = Math.min(RETRY_MS, everyMs)
  let announcedAt = 0
  const onFailure = (error: unknown): number => {
    signal.throwIfAborted()
    if (error instanceof LeaseTaken) {
      process.stderr.write(`${errorText(error)}: waiting for it.\n`)
      return Math.min(BUSY_MS, pauseMs)
    }
    process.stderr.write(`The back-up failed, next attempt in ${minutes(pauseMs)}: ${errorText(error)}\n`)
    return pauseMs
  }
  for (;;) {
    const waitMs = await runIfDue(order, everyMs, signal).then(({ at, inMs }) => {
      if (at !== announcedAt) process.stderr.write(`The next back-up is due at ${new Date(at).toISOString()}.\n`)
      announcedAt = at
      // Never at once, whatever a clock says.
      return inMs > 0 ? Math.min(inMs, pauseMs) : pauseMs
    }, onFailure)
    await waitOrBegun(waitMs, signal, known)
  }
}

async function waitOrBegun(ms: number, signal: AbortSignal, known: EventEmitter): Promise<void> {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  const begun = once(known, CHAIN_BEGUN, { signal: either }).then(() => over.abort())
  begun.catch(() => undefined)
  await wait(ms, undefined, { signal: either }).catch(() => signal.throwIfAborted())
  over.abort()
}

const minutes = (ms: number): string => `${Math.round(ms / 60_000)} minutes`

/** `backup run`: what a schedule calls. */
export function addBackupRunCommand(backup: Command): void {
  withArchiveSecret(
    backup
      .command('run <folder>')
      .description(
        'Back up into a folder, verify the archive, record that for `doctor` and the alerts, then remove our old archives of the folder. Use one folder for each installation.',
      ),
  )
    .option('--keep <count>', 'how many of the newest archives are kept whatever their age', positive, KEEP)
    .option('--keep-days <days>', 'how many days all archives are kept', positive, KEEP_DAYS)
    .option(
      '--every <hours>',
      'run again and again, and copy what changed between twice a minute; without it, one archive',
      positive,
    )
    .option(
      '--copied <folder>',
      'with --every: folder with the times at which the last copies elsewhere began, in the files `archives` and `changes`; then `doctor` and the alerts report copies that fail',
      '',
    )
    .option('--json', 'print one JSON value')
    .action(async (folder: string, options: Options) => {
      const order: Order = { folder, secret: archiveSecret(options), options }
      const { every } = options
      await untilSignal(
        async (signal) => {
          if (every === undefined) await runNow(order, signal)
          else await runEvery(order, every * HOUR_MS, signal)
        },
        every === undefined ? STOPPED : ENDED,
      )
    })
}

/**
 * Copies what changed into the folder, twice a minute, until `signal`. One process of an installation at a time does this; another one stands by.
 * Failures are printed, of several with the same text the first.
 */
async function runChanges(
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
    await wait(CHANGES_RETRY_MS, undefined, { signal })
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
