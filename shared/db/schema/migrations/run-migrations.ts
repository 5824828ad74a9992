import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { readFact, writeFact } from '#shared/db/installation/facts.ts'
import type { Database } from '../../connection/connect.ts'
import { createLeaseRepository } from '../../installation/lease-repository.ts'
import { MODELS } from '../models.ts'
import { raiseReadable, SCHEMA_FACT, schemaVersion } from '../schema-version.ts'
import type { Migration } from './migration.ts'

const LEASE_ID = 'migrations'
const LEASE_MS = 60_000
const POLL_EVERY_MS = 500
const WAIT_MAX_MS = 600_000

const cursorFact = (id: number): string => `migration-cursor:${id}`
const doneFact = (id: number): string => `migration:${id}`

/**
 * Runs missing migrations, one process at a time; a second one waits and then finds nothing to do. Each migration is recorded at its end, together
 * with the resulting data version. Data without a version is that of the first release; an empty database gets the
 * newest version directly. Returns the ids that ran. `beforeWrite` is called before each record, for tests; `report` receives lines of progress.
 */
export async function runMigrations(
  db: Database,
  migrations: readonly Migration[],
  beforeWrite: () => void = () => undefined,
  report: (line: string) => void = () => undefined,
): Promise<readonly number[]> {
  const leases = createLeaseRepository(db)
  const owner = randomUUID()
  const hold = async (): Promise<boolean> => leases.acquire(LEASE_ID, owner, LEASE_MS)
  const newest = migrations.at(-1)?.id ?? 0
  if ((await schemaVersion(db)) >= newest && (await hasAuditRow(db))) return []
  for (let waited = 0; !(await hold()); waited += POLL_EVERY_MS) {
    if (waited >= WAIT_MAX_MS)
      throw new Error('another process runs migrations; wait for it and run paymesh migrate again')
    await wait(POLL_EVERY_MS)
  }
  const note = async (facts: Readonly<Record<string, string>>, readable = 0): Promise<void> => {
    beforeWrite()
    if (!(await hold())) throw new Error('another process took over the migrations')
    await raiseReadable(db, readable)
    for (const [name, value] of Object.entries(facts)) await writeFact(db, name, value)
  }
  try {
    if (!(await hasAuditRow(db)) && (await isFresh(db))) {
      await note({ [SCHEMA_FACT]: String(newest) }, readableBy(migrations))
      return []
    }
    const version = await schemaVersion(db)
    const ran: number[] = []
    for (const migration of migrations.filter(({ id }) => id > version)) {
      const { id } = migration
      const cursor = await readFact(db, cursorFact(id))
      const keep = (next: string) => note({ [cursorFact(id)]: next })
      await migration.up({ db, cursor, keep, report })
      // The version comes last: without it the migration is run again.
      await note({ [doneFact(id)]: migration.description, [SCHEMA_FACT]: String(id) }, readableBy(migrations, id))
      ran.push(id)
    }
    return ran
  } finally {
    await leases.release(LEASE_ID, owner)
  }
}

/** The oldest code that may work on data of a version: the strictest of all migrations up to it. */
function readableBy(migrations: readonly Migration[], upTo: number = Number.POSITIVE_INFINITY): number {
  return Math.max(0, ...migrations.filter(({ id }) => id <= upTo).map((migration) => migration.readableBy))
}

async function hasAuditRow(db: Database): Promise<boolean> {
  return (await readFact(db, SCHEMA_FACT)) !== null
}

/** Facts, leases and heartbeats do not count: processes that wait for `migrate` may have left them. */
async function isFresh(db: Database): Promise<boolean> {
  const passing = new Set(['installation', 'leases', 'processes'])
  for (const model of MODELS.filter(({ name }) => !passing.has(name))) {
    if ((await db.collection(model).findOne({}, { projection: { _id: 1 } })) !== null) return false
  }
  return true
}
