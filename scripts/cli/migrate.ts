import type { Command } from 'commander'
import { createAuditRepository } from '#shared/db/audit-repository.ts'
import { migrate } from '#shared/db/migrate.ts'
import { actorName } from './actor.ts'
import { type Installation, withInstallation } from './installation.ts'
import { type OutputOptions, print } from './output.ts'

/** Stored after the fact: before it there may be no collection to store it in. */
async function record({ db, clock, random }: Installation, report: Awaited<ReturnType<typeof migrate>>): Promise<void> {
  const [collections, indexes, migrations] = [
    report.collectionsCreated.length,
    report.indexesCreated.length,
    report.migrationsRun.length,
  ]
  if (collections + indexes + migrations === 0) return
  const about = { action: 'installation.migrated', subject: 'installation', workspaceId: null, mode: null }
  const detail = { collections, indexes, migrations }
  await createAuditRepository(db).insertMany([
    { id: `migrated:${random.uuid()}`, at: clock.now(), actor: actorName(), ...about, detail },
  ])
}

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
        await record(installation, report)
        print(
          options,
          report,
          `${report.collectionsCreated.length} collections and ${report.indexesCreated.length} indexes created, ${report.migrationsRun.length} migrations run`,
        )
      })
    })
}
