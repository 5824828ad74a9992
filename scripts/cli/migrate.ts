import type { Command } from 'commander'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createStoreClock } from '#shared/db/connection/clock.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { migrate, requireWholeRestore } from '#shared/db/schema/migrate.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { actorName } from './session/actor.ts'
import { findConfig } from './session/find-config.ts'
import { type OutputOptions, print } from './text/output.ts'

type Report = Awaited<ReturnType<typeof migrate>>

/** Stored afterwards: before the migration there may be no collection for it. */
async function record(
  db: Database,
  { clock, random }: Pick<Runtime, 'clock' | 'random'>,
  report: Report,
): Promise<void> {
  const [collections, indexes, migrations] = [
    report.collectionsCreated.length,
    report.indexesCreated.length,
    report.migrationsRun.length,
  ]
  if (collections + indexes + migrations === 0) return
  const about = { action: 'installation.migrated' as const, subject: 'installation', workspaceId: null, mode: null }
  const detail = { collections, indexes, migrations }
  await createAuditRepository(db).insertMany([
    { id: `migrated:${random.uuid()}`, at: clock.now(), actor: actorName(), ...about, detail },
  ])
}

/** Opens only the database: a process that runs before an update receives no key and no Redis. */
async function migrateDatabase(): Promise<Report> {
  const { stores } = findConfig('migrate')
  const logger = createLogger({ name: 'cli', level: 'silent' })
  const db = await connectDatabase({ url: stores.mongoUrl, name: stores.mongoDatabase, logger })
  try {
    await requireWholeRestore(db)
    const clock = await createStoreClock(db, logger)
    try {
      // On stderr, so that the output of `--json` remains one value.
      const report = await migrate(db, (line) => void process.stderr.write(`${line}\n`))
      await record(db, { clock, random: createRandom(clock.now) }, report)
      return report
    } finally {
      clock.stop()
    }
  } finally {
    await db.close()
  }
}

/** `migrate`: safe to repeat; no process starts before it is complete. */
export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description(
      'Create the collections and indexes of this version and migrate stored data. Safe to stop and to repeat.',
    )
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions) => {
      const report = await migrateDatabase()
      print(
        options,
        report,
        `${report.collectionsCreated.length} collections and ${report.indexesCreated.length} indexes created, ${report.migrationsRun.length} migrations run`,
      )
    })
}
