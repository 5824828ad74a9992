import { createReadStream } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import type { ArchiveSecret } from '#shared/runtime/secrets/archive-cipher.ts'
import { fileTarget } from '../backup/archive-target.ts'
import { archiveName, listArchives, pruneArchives, type Retention } from '../backup/prune-archives.ts'
import { type VerifiedArchive, verifyBackup } from '../backup/restore-backup.ts'
import { type ArchiveSecretOptions, archiveSecret, withArchiveSecret } from './session/archive-secret.ts'
import { type BackupStore, withBackupStore } from './session/backup-store.ts'
import { recordedBackup, recordVerified, total } from './session/recorded-backup.ts'
import { type OutputOptions, print } from './text/output.ts'
import { snakeCase } from './text/snake-case.ts'

const KEEP = 7
const KEEP_DAYS = 30
const HOUR_MS = 3_600_000
/** After a failure the next attempt of `--every` waits this long, or one interval if that is shorter. */
const RETRY_MS = HOUR_MS

type Options = OutputOptions & ArchiveSecretOptions & Retention & { readonly every?: number }

const positive = (text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('must be a whole number, at least 1')
  return Number(text)
}

/** Back-up into a folder, verification, record and removal of old archives, in this order: a failure removes nothing. */
async function runOnce(store: BackupStore, folder: string, secret: ArchiveSecret, retention: Retention) {
  const name = archiveName(store.clock.now())
  const file = join(folder, name)
  const taken = await recordedBackup(store, { name, target: fileTarget(file), secret })
  const verified = await verifyAndRecord(store, file, secret)
  const removed = await pruneArchives(folder, retention, { verified: name, now: store.clock.now() })
  return { file, takenAt: verified.takenAt, documents: total(taken.counts), bytes: taken.bytes, removed }
}

/** An archive that is not valid, or was not recorded, gets another name: it is neither kept, nor copied, nor taken for the newest one. */
async function verifyAndRecord(store: BackupStore, file: string, secret: ArchiveSecret): Promise<VerifiedArchive> {
  try {
    const verified = await verifyBackup(createReadStream(file), secret, store.secretBox)
    await recordVerified(store, verified)
    return verified
  } catch (error) {
    await rename(file, `${file}.unverified`)
    throw error
  }
}

async function runAndPrint(folder: string, secret: ArchiveSecret, options: Options): Promise<void> {
  const done = await withBackupStore((store) => runOnce(store, folder, secret, options))
  const removed = done.removed.length === 0 ? '' : `; removed ${done.removed.join(', ')}`
  print(
    options,
    snakeCase(done),
    `${done.file}: verified, ${done.documents} documents as of ${done.takenAt}, ${done.bytes} bytes${removed}`,
  )
}

/** Runs until the process is ended. A restart makes no back-up before the newest archive has the age of one interval. */
async function runEvery(folder: string, secret: ArchiveSecret, options: Options, everyMs: number): Promise<never> {
  for (;;) {
    const [newest] = await listArchives(folder)
    const dueMs = newest === undefined ? 0 : newest.at + everyMs - Date.now()
    if (dueMs > 0) await wait(Math.min(dueMs, HOUR_MS))
    else {
      await runAndPrint(folder, secret, options).catch(async (error: unknown) => {
        process.stderr.write(`The back-up failed: ${error instanceof Error ? error.message : String(error)}\n`)
        await wait(Math.min(RETRY_MS, everyMs))
      })
    }
  }
}

/** `backup run`: what a schedule calls. */
export function addBackupRunCommand(backup: Command): void {
  withArchiveSecret(
    backup
      .command('run <folder>')
      .description(
        'Back up into a folder, verify the archive, record that for `doctor` and the alerts, then remove old archives of the folder: each installation needs its own folder.',
      ),
  )
    .option('--keep <count>', 'how many of the newest archives are kept whatever their age', positive, KEEP)
    .option('--keep-days <days>', 'how many days all archives are kept', positive, KEEP_DAYS)
    .option('--every <hours>', 'run again and again; without it, once', positive)
    .option('--json', 'print one JSON value')
    .action(async (folder: string, options: Options) => {
      const secret = archiveSecret(options)
      if (options.every === undefined) await runAndPrint(folder, secret, options)
      else await runEvery(folder, secret, options, options.every * HOUR_MS)
    })
}
