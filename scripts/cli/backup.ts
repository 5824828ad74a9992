import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { type ArchiveTarget, fileTarget, streamTarget } from '../backup/archive-target.ts'
import { confirmRestore } from '../backup/confirm-restore.ts'
import { type RestoredBackup, restoreBackup } from '../backup/restore-backup.ts'
import type { TakenBackAgain } from '../backup/take-back-again.ts'
import type { TakenBackup } from '../backup/take-backup.ts'
import { verifyBackup } from '../backup/verify-backup.ts'
import { addBackupRunCommand } from './backup-run.ts'
import { actorName } from './session/actor.ts'
import { type ArchiveSecretOptions, archiveSecret, withArchiveSecret } from './session/archive-secret.ts'
import { withBackupStore } from './session/backup-store.ts'
import { withInstallation } from './session/installation.ts'
import { recordedBackup, recordVerified, total } from './session/recorded-backup.ts'
import { untilSignal } from './session/until-signal.ts'
import { type OutputOptions, print } from './text/output.ts'
import { progressPrinter } from './text/progress-printer.ts'
import { snakeCase } from './text/snake-case.ts'
import { wholeNumber } from './text/whole-number.ts'

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

type RestoreOptions = Options & {
  readonly skip?: number
  readonly quarantineHours?: number
  readonly acceptUnreadable?: boolean
  readonly until?: number
}

const whole = wholeNumber(/^\d{1,7}$/, 'must be a whole number')

const moment = (text: string): number => {
  const at = Date.parse(text)
  if (!/^[0-9:.T-]{16,40}Z$/.test(text) || Number.isNaN(at))
    throw new InvalidArgumentError('must be a time such as 2026-01-31T14:05:00Z')
  return at
}

const continuesText = ({ marksWrittenAt, areMarksCurrent }: RestoredBackup): string => {
  if (areMarksCurrent)
    return `Keys and invoice numbers continue above all that was issued, as recorded at ${marksWrittenAt}.`
  const marks = marksWrittenAt === null ? '' : ', and above the incomplete record'
  return `Keys and invoice numbers continue where --skip says${marks}: what was issued since the archive was made is not known.`
}

/** What was taken back again, in one sentence, and a line for each that a person has to do something about. */
const takenBackText = ({ takenBack }: RestoredBackup): readonly string[] => {
  if (takenBack.length === 0) return []
  const count = (outcome: TakenBackAgain['outcome']) => takenBack.filter((one) => one.outcome === outcome).length
  const [applied, missing] = [count('applied'), count('not in the archive')]
  const tasks = takenBack.flatMap(({ advice }) => (advice === null ? [] : [`  ${advice}`]))
  const summary = `Taken back again, as after the archive was made: ${applied}; not in the archive: ${missing}.`
  return [summary, ...new Set(tasks)]
}

function addRestoreCommands(backup: Command): void {
  withArchiveSecret(
    backup
      .command('restore <file>')
      .description(
        'Verify an archive and the changes that follow it in the same folder, then write them to the configured, empty database. No webhooks or emails are sent until `backup confirm-restore`.',
      ),
  )
    .option(
      '--skip <count>',
      'how many addresses of each key, and invoice numbers, to skip; needed only when neither Redis nor PAYMESH_MARKS_DIR holds what was issued',
      whole,
    )
    .option(
      '--quarantine-hours <hours>',
      'how long pool and single addresses are not used; without it, as long as a lost invoice could still be paid: 38 days, or more by the settings of a workspace',
      whole,
    )
    .option(
      '--until <time>',
      'the state of no later moment, for instance of the minute before a wrong command; changes after it may be missing',
      moment,
    )
    .option('--accept-unreadable', 'continue although secrets sealed under a lost master key stay unreadable')
    .option('--json', 'print one JSON value')
    .action(async (file: string, options: RestoreOptions) => {
      const secret = archiveSecret(options)
      await withBackupStore(async (store) => {
        const tell = progressPrinter()
        const restored = await restoreBackup(store, {
          file,
          secret,
          actor: actorName(),
          skip: options.skip ?? null,
          quarantineMs: options.quarantineHours === undefined ? null : options.quarantineHours * 3_600_000,
          acceptUnreadable: options.acceptUnreadable === true,
          until: options.until ?? null,
          onProgress: (collection, documents) => tell(`${collection}: ${documents} documents`),
        })
        const documents = Object.values(restored.counts).reduce<number>((sum, count) => sum + (count ?? 0), 0)
        print(
          options,
          snakeCase({ ...restored, facts: undefined }),
          [
            `${documents} documents and ${restored.changes.length} files of changes were restored: the state of ${restored.takenAt}. ${continuesText(restored)}`,
            ...takenBackText(restored),
            'Start the processes, check the data, then run `paymesh backup confirm-restore`. Until then no webhooks or emails are sent.',
          ].join('\n'),
        )
      })
    })
  addConfirmCommand(backup)
}

function addConfirmCommand(backup: Command): void {
  backup
    .command('confirm-restore')
    .description('Allow webhooks and emails again once every network is scanned up to its head.')
    .option('--unscanned', 'even if a network is not')
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions & { readonly unscanned?: boolean }) => {
      await withInstallation(async (installation) => {
        const { overrun } = await confirmRestore(installation, {
          actor: actorName(),
          unscanned: options.unscanned === true,
        })
        const warnings = overrun.map(
          ({ materialId, seenIndex }) =>
            `More addresses of ${materialId} were in use than were skipped: index ${seenIndex} received a payment. New invoices since the restore may share an address with old ones. Check the exceptions.`,
        )
        print(
          options,
          snakeCase({ overrun }),
          ['Confirmed: webhooks and emails are being sent.', ...warnings].join('\n'),
        )
      })
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
