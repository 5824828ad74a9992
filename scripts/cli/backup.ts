import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { verifyBackup } from '../backup/restore-backup.ts'
import { takeBackup } from '../backup/take-backup.ts'
import { type ArchiveSecretOptions, archiveSecret, withArchiveSecret } from './session/archive-secret.ts'
import { withInstallation } from './session/installation.ts'
import { type OutputOptions, print } from './text/output.ts'
import { progressTeller } from './text/progress-teller.ts'
import { snakeCase } from './text/snake-case.ts'

type Options = OutputOptions & ArchiveSecretOptions

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0)

function packageVersion(): string {
  try {
    return String(JSON.parse(readFileSync(join(process.cwd(), 'package.json'), 'utf8')).version)
  } catch {
    return 'unknown'
  }
}

/** `backup create | verify`. */
export function addBackupCommands(program: Command): void {
  const backup = program
    .command('backup')
    .description(
      'Encrypted back-ups. The master key and the pepper are not in them: keep those elsewhere, and keep them.',
    )
  withArchiveSecret(
    backup
      .command('create <file>')
      .description('Write everything as of one moment into an encrypted file, beside running processes.'),
  )
    .option('--json', 'print one JSON value')
    .action(async (file: string, options: Options) => {
      const secret = archiveSecret(options)
      await withInstallation(async ({ db }) => {
        const tell = progressTeller()
        const onProgress = ({ collection, documents }: { collection: string; documents: number }) =>
          tell(`${collection}: ${documents} documents`)
        const taken = await takeBackup(db, { file, secret, version: packageVersion(), onProgress })
        const ignored = taken.ignored.length === 0 ? '' : `\nNot in it, because unknown: ${taken.ignored.join(', ')}`
        print(
          options,
          snakeCase({ ...taken, takenAt: taken.takenAt.toISOString() }),
          `${file}: ${total(taken.counts)} documents as of ${taken.takenAt.toISOString()}, ${taken.bytes} bytes${ignored}`,
        )
      })
    })
  withArchiveSecret(
    backup.command('verify <file>').description('Read an archive to its end, check all of it, change nothing.'),
  )
    .option('--json', 'print one JSON value')
    .action(async (file: string, options: Options) => {
      const secret = archiveSecret(options)
      await withInstallation(async ({ secretBox }) => {
        const verified = await verifyBackup(file, secret, secretBox)
        const { sealed, counts, takenAt } = verified
        const unread = sealed.total - sealed.opened
        const hint =
          unread === 0 ? '' : `\n${unread} of ${sealed.total} sealed values do not open under the master keys given.`
        print(options, snakeCase(verified), `sound: ${total(counts)} documents as of ${takenAt}${hint}`)
      })
    })
}
