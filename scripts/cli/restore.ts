import { type Command, InvalidArgumentError } from 'commander'
import { confirmRestore } from '../backup/confirm-restore.ts'
import { restoreBackup } from '../backup/restore-backup.ts'
import { actorName } from './session/actor.ts'
import { type ArchiveSecretOptions, archiveSecret, withArchiveSecret } from './session/archive-secret.ts'
import { withInstallation } from './session/installation.ts'
import { type OutputOptions, print } from './text/output.ts'
import { progressTeller } from './text/progress-teller.ts'
import { snakeCase } from './text/snake-case.ts'

/** Longest life of a lock, a day of grace and the week before an address or amount is free again. */
const QUARANTINE_HOURS = 9 * 24
const SKIP = 1_000

type Options = OutputOptions &
  ArchiveSecretOptions & {
    readonly skip: number
    readonly quarantineHours: number
    readonly acceptUnreadable?: boolean
  }

const whole = (text: string): number => {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('a whole number is needed')
  return Number(text)
}

/** `restore archive | confirm`. */
export function addRestoreCommands(program: Command): void {
  const restore = program.command('restore').description('Bring an installation back from a back-up.')
  withArchiveSecret(
    restore
      .command('archive <file>')
      .description(
        'Verify all of an archive, then write it into the empty database of the settings. Nothing is sent until `restore confirm`.',
      ),
  )
    .option('--skip <count>', 'addresses of each key and invoice numbers that are left out', whole, SKIP)
    .option('--quarantine-hours <hours>', 'how long listed addresses are not offered', whole, QUARANTINE_HOURS)
    .option('--accept-unreadable', 'go on although secrets sealed under a lost master key stay unreadable')
    .option('--json', 'print one JSON value')
    .action(async (file: string, options: Options) => {
      const secret = archiveSecret(options)
      await withInstallation(async (installation) => {
        const tell = progressTeller()
        const restored = await restoreBackup(installation, {
          file,
          secret,
          actor: actorName(),
          skip: options.skip,
          quarantineMs: options.quarantineHours * 3_600_000,
          acceptUnreadable: options.acceptUnreadable === true,
          onProgress: (collection, documents) => tell(`${collection}: ${documents} documents`),
        })
        const documents = Object.values(restored.counts).reduce((sum, count) => sum + count, 0)
        print(
          options,
          snakeCase(restored),
          `${documents} documents of ${restored.takenAt} are back. Start the processes, look around, then run \`paymesh restore confirm\`: until then no webhook and no mail goes out.`,
        )
      })
    })
  restore
    .command('confirm')
    .description('Let webhooks and mails go out, once every network was scanned up to its head.')
    .option('--unscanned', 'although a network was not')
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions & { readonly unscanned?: boolean }) => {
      await withInstallation(async (installation) => {
        const { overrun } = await confirmRestore(installation, {
          actor: actorName(),
          unscanned: options.unscanned === true,
        })
        const warnings = overrun.map(
          ({ materialId, seenIndex }) =>
            `More addresses of ${materialId} had been given out than were skipped: index ${seenIndex} received money. New invoices since the restore may share an address with old ones; look through the inbox.`,
        )
        print(options, snakeCase({ overrun }), ['Confirmed: webhooks and mails go out.', ...warnings].join('\n'))
      })
    })
}
