import type { Command } from 'commander'
import { migrate } from '#shared/db/migrate.ts'
import { withInstallation } from './installation.ts'
import { type OutputOptions, print } from './output.ts'

/** `migrate`: safe to repeat; every process refuses to start while something is missing. */
export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description(
      'Create the collections and indexes that this version needs and bring stored data up to it. Safe to stop and to repeat.',
    )
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions) => {
      await withInstallation(async (installation) => {
        const report = await migrate(installation.db)
        print(
          options,
          report,
          `${report.collectionsCreated.length} collections and ${report.indexesCreated.length} indexes created, ${report.migrationsRun.length} migrations run`,
        )
      })
    })
}
