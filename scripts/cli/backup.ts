import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import type { Command } from 'commander'
import { type ArchiveTarget, fileTarget, streamTarget } from '../backup/archive-target.ts'
import type { TakenBackup } from '../backup/take-backup.ts'
import { verifyBackup } from '../backup/verify-backup.ts'
import { addBackupRunCommand } from './backup-run.ts'
import { addRestoreCommands } from './restore.ts'
import { type ArchiveSecretOptions, archiveSecret, withArchiveSecret } from './session/archive-secret.ts'
import { withBackupStore } from './session/backup-store.ts'
import { recordedBackup, recordVerified, total } from './session/recorded-backup.ts'
import { untilSignal } from './session/until-signal.ts'
import { type OutputOptions, print } from './text/output.ts'
import { snakeCase } from './text/snake-case.ts'

type Options = OutputOptions & ArchiveSecretOptions

/** Names stdout or stdin on the command line. */
const STREAM = '-'
const STDOUT = 'stdout'
const STOPPED = { text: 'No back-up was made: the command was interrupted' }

function targetOf(file: string): ArchiveTarget {
  if (file !== STREAM) return fileTarget(file)
  if (process.stdout.isTTY)
    throw new Error('an archive is binary: send it into a file or to a program, not to a terminal')
  return streamTarget(process.stdout, 'stdout')
}

async function createBackup(file: string, options: Options): Promise<void> {
  const order = {
    name: file === STREAM ? STDOUT : basename(file),
    target: targetOf(file),
    secret: archiveSecret(options),
  }
  await untilSignal(async (signal) => {
    const taken = await withBackupStore((store) => recordedBackup(store, { ...order, signal }))
    printTaken(taken, file, options)
  }, STOPPED)
}

function printTaken(taken: TakenBackup, file: string, options: Options): void {
  const takenAt = taken.takenAt.toISOString()
  const ignored = taken.ignored.length === 0 ? '' : `\nNot included, because unknown: ${taken.ignored.join(', ')}`
  const shown = file === STREAM ? STDOUT : file
  print(
    options,
    snakeCase({ ...taken, file: shown, takenAt }),
    `${shown}: ${total(taken.counts)} documents as of ${takenAt}, ${taken.bytes} bytes, ${taken.changed} read again because they changed${ignored}`,
    file === STREAM ? process.stderr : process.stdout,
  )
}

async function verify(file: string, options: Options & { readonly record?: boolean }): Promise<void> {
  if (file === STREAM && options.passphraseFile === STREAM)
    throw new Error('stdin holds either the archive or the passphrase: read one of them from a file')
  const secret = archiveSecret(options)
  await withBackupStore(async (store) => {
    const archive = file === STREAM ? process.stdin : createReadStream(file)
    const verified = await verifyBackup(archive, secret, store.secretBox)
    if (options.record === true) await recordVerified(store, verified)
    const { sealed, counts, takenAt } = verified
    const unread = sealed.total - sealed.opened
    const hint =
      unread === 0
        ? ''
        : `\n${unread} of ${sealed.total} sealed values cannot be opened with the configured master keys.`
    print(options, snakeCase(verified), `valid: ${total(counts)} documents as of ${takenAt}${hint}`)
  })
}

/** `backup create | run | verify | restore | confirm-restore`. */
export function addBackupCommands(program: Command): void {
  const backup = program
    .command('backup')
    .description('Encrypted backups. They do not contain the master key and the pepper: store those separately.')
  withArchiveSecret(
    backup
      .command('create <file>')
      .description(
        'Write all data, as of the moment at which the command ends, to an encrypted file; - writes to stdout, and messages to stderr. Processes keep running.',
      ),
  )
    .option('--json', 'print one JSON value')
    .action(createBackup)
  addBackupRunCommand(backup)
  withArchiveSecret(
    backup
      .command('verify <file>')
      .description('Read and check a complete archive; - reads it from stdin. Changes nothing, except with --record.'),
  )
    .option('--record', 'record it as the last verified back-up, for `doctor` and the alerts')
    .option('--json', 'print one JSON value')
    .action(verify)
  addRestoreCommands(backup)
}
