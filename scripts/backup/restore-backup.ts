import { createReadStream } from 'node:fs'
import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { walkArchive } from '#shared/db/backup/archive-contents.ts'
import {
  prepareCollections,
  requireEmpty,
  type WriteBatch,
  writeArchive,
  writeOver,
} from '#shared/db/backup/restore-archive.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { createInstallationLifeRepository, startLife } from '#shared/db/restore/installation-life-repository.ts'
import { storeMarksCopy } from '#shared/db/restore/marks-copy.ts'
import { takePrecautions } from '#shared/db/restore/precautions.ts'
import { writeRestoreState } from '#shared/db/restore/restore-state.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { NEWEST_SCHEMA } from '#shared/db/schema/migrations/list.ts'
import { BORN } from '#shared/domain/marks/mark-fields.ts'
import type { IssuedNumbers, MarkPlace, Precautions } from '#shared/ports/marks.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import type { ArchiveSecret } from '#shared/runtime/secrets/archive-cipher.ts'
import { createPasswordHasher } from '#shared/runtime/secrets/password-hasher.ts'
import { settleRestoredAudit } from '#shared/usecases/audit/acknowledge-break.ts'
import { createAuditMarks } from '#shared/usecases/marks/audit-marks.ts'
import { issuedFrom } from '#shared/usecases/marks/continue-above-marks.ts'
import { writeMarks } from '#shared/usecases/marks/mark-records.ts'
import { markText } from '#shared/usecases/marks/mark-text.ts'
import { createMarks } from '#shared/usecases/marks/marks.ts'
import { deriveAhead, type HeadroomDeps } from '#shared/usecases/wallets/address-headroom.ts'
import { createIssuedEstimate, type IssuedEstimate } from './estimate-issued.ts'
import { type IssuedSince, readIssuedSince } from './issued-since.ts'
import { type TakenBackAgain, takeBackAgain, takenBackRows } from './take-back-again.ts'
import { readArchive, type VerifiedArchive } from './verify-backup.ts'
import { type VerifiedState, verifyState } from './verify-following.ts'

/** Addresses of each key that are derived and watched before the first process starts. */
const HEADROOM = 64

export interface RestoreDeps extends Omit<HeadroomDeps, 'marks'> {
  readonly db: Database
  /** Places that may hold what was issued since the archive was made. */
  readonly markPlaces: readonly MarkPlace[]
  readonly markKeys: AuditKeys
  readonly auditKeys: AuditKeys
}

export interface RestoreOptions {
  readonly file: string
  readonly secret: ArchiveSecret
  readonly actor: string
  /** Indexes of each key and invoice numbers of each series to skip, beyond what the marks name; null = the marks alone decide. */
  readonly skip: number | null
  /** How long listed addresses are not offered, milliseconds; null = as long as a lost invoice could still be paid. */
  readonly quarantineMs: number | null
  /** Restore the state of no later moment, milliseconds; null = the newest that the archive and the changes that follow it lead to. */
  readonly until: number | null
  /** Continue although some sealed values cannot be read any more. */
  readonly acceptUnreadable: boolean
  readonly onProgress: (collection: string, documents: number) => void
  /** Writes a batch of documents; a test exchanges it. */
  readonly write?: WriteBatch
}

export interface RestoredBackup extends VerifiedState {
  readonly precautions: Precautions
  /** When the marks were last written, ISO 8601; null when none were found. */
  readonly marksWrittenAt: string | null
  /** Whether they name all that was issued since the archive was made; otherwise --skip decided. */
  readonly areMarksCurrent: boolean
  /** What had been taken back after the archive was made, and was taken back again; in the order of the acts. */
  readonly takenBack: readonly TakenBackAgain[]
}

/**
 * Restores an archive, and the changes that follow it, into an empty database. All of it is verified, and the marks are read, before the first write; an interrupted restore leaves
 * a database in which no process starts. Afterwards the installation works, with addresses and numbers that were never given out, and sends
 * nothing until it is confirmed. Throws `NothingKnownOfIssued` when neither marks nor `skip` say where keys continue.
 */
export async function restoreBackup(deps: RestoreDeps, options: RestoreOptions): Promise<RestoredBackup> {
  const { db, clock } = deps
  const { file, secret, actor, skip, quarantineMs, acceptUnreadable } = options
  const verified = await verifyState(options, deps.secretBox)
  requireRestorable(verified, acceptUnreadable)
  const since = await readIssuedSince(deps, verified.facts)
  const takenBackSince = takenBackRows(since.marks)
  if (skip === null && !isKnown(since)) {
    const ageMs = clock.now() - Date.parse(verified.takenAt)
    throw new NothingKnownOfIssued(since, await estimateIssued([file, ...verified.changes], secret, ageMs))
  }
  await requireEmpty(db)
  const at = clock.now()
  const state = { takenAt: verified.takenAt, restoredAt: new Date(at).toISOString(), skip: skip ?? 0 }
  // Before anything else is written: no process may take what an interruption leaves for an installation.
  await writeRestoreState(db, { ...state, state: 'writing' })
  await writeState(db, verified, options)
  await migrate(db)
  const precautions = await takePrecautions(db, issuedAtMost(since, skip), { quarantineMs, at })
  const takenBack = await takeBackAgain({ ...deps, passwords: createPasswordHasher() }, takenBackSince)
  await beginLife(deps, since)
  // A payer with one of the skipped addresses may still pay: they are watched before the first block is read.
  await deriveAhead(
    { ...deps, marks: createMarks({ ...deps, installationLife: createInstallationLifeRepository(db) }) },
    HEADROOM,
  )
  await writeRestoreState(
    db,
    { ...state, state: 'held' },
    {
      id: `installation-restored:${state.restoredAt}`,
      at,
      actor,
      action: 'installation.restored',
      subject: 'installation',
      workspaceId: null,
      mode: null,
      detail: {
        ...{
          taken_at: verified.takenAt,
          skipped: skip,
          quarantine_hours: quarantineMs === null ? null : quarantineMs / 3_600_000,
        },
        taken_back_again: takenBack.filter(({ outcome }) => outcome === 'applied').length,
      },
    },
  )
  // Numbers of the lost minutes are not given out again: the row of this restore takes the first one above them.
  const audit = {
    ...deps,
    installationLife: createInstallationLifeRepository(db),
    auditChain: createAuditChainRepository(db),
  }
  const settled = createAuditMarks(audit)
  await settleRestoredAudit(
    {
      ...audit,
      auditMarks: { ...settled, highest: async () => Math.max((await settled.highest()) ?? 0, since.auditNumber) },
    },
    `installation-restored:${state.restoredAt}`,
  )
  const marksWrittenAt = since.writtenAt === null ? null : new Date(since.writtenAt).toISOString()
  const areMarksCurrent = isKnown(since)
  return { ...verified, precautions, marksWrittenAt, areMarksCurrent, takenBack }
}

/** Writes the documents of an archive, then those of each file of changes over them. */
export async function writeState(
  db: Database,
  { changes }: Pick<VerifiedState, 'changes'>,
  options: Pick<RestoreOptions, 'file' | 'secret' | 'onProgress' | 'write'>,
): Promise<void> {
  const { file, secret, onProgress, write } = options
  await prepareCollections(db)
  const writeFrom = async (name: string, how: WriteBatch | undefined): Promise<void> =>
    await readArchive(createReadStream(name), { secret }, async (source) => {
      await writeArchive(db, source, onProgress, how)
    })
  await writeFrom(file, write)
  for (const name of changes) await writeFrom(name, writeOver(write))
}

/** Whether all that was issued since the archive was made is known. */
const isKnown = ({ areCurrent, silent }: IssuedSince): boolean => areCurrent && silent.length === 0

function requireRestorable({ schemaVersion, sealed: { total, opened } }: VerifiedArchive, acceptUnreadable: boolean) {
  if (schemaVersion > NEWEST_SCHEMA) {
    throw new Error(`the archive has schema ${schemaVersion}, this version reads ${NEWEST_SCHEMA}: use a newer version`)
  }
  if (opened < total && !acceptUnreadable) {
    throw new Error(
      `${total - opened} of ${total} sealed values cannot be opened: PAYMESH_MASTER_KEY or PAYMESH_MASTER_KEYS_OLD must contain the keys that were in use when the backup was taken`,
    )
  }
}

/** Where keys and series continue: above the marks, above what the store derived, and by `skip` above what it issued. */
function issuedAtMost(since: IssuedSince, skip: number | null): IssuedNumbers {
  const marked = issuedFrom(since.marks)
  return {
    firstFree: (key) => Math.max(marked.firstFree(key), key.nextIndex + (skip ?? 0)),
    lastNumber: (series) => Math.max(marked.lastNumber(series), series.number + (skip ?? 0)),
    auditNumber: isKnown(since) ? since.auditNumber : Number.POSITIVE_INFINITY,
  }
}

/** The restored database gets its own marks, which begin with all that is known: a key that the archive lacks may be added again. */
async function beginLife({ db, markPlaces, markKeys }: RestoreDeps, { marks }: IssuedSince): Promise<void> {
  const record = await startLife(db)
  const all = [...marks.values(), { field: BORN, value: 1 }]
  await writeMarks(markPlaces, record, all, markKeys)
  const texts = Object.fromEntries(all.map((mark) => [mark.field, markText(record, mark, markKeys)]))
  await storeMarksCopy(db, record.life, texts)
}

async function estimateIssued(
  files: readonly string[],
  secret: ArchiveSecret,
  ageMs: number,
): Promise<readonly IssuedEstimate[]> {
  const estimate = createIssuedEstimate()
  for (const file of files) {
    await readArchive(createReadStream(file), { secret }, async (source) => {
      await walkArchive(source, estimate.add)
    })
  }
  return estimate.most(ageMs)
}

/** Lines that an operator reads; the largest estimates are the ones that decide. */
const ESTIMATES_SHOWN = 20

/** Nothing outside the database says what was issued after the archive was made: without a person's word, addresses could be issued twice. */
export class NothingKnownOfIssued extends Error {
  override readonly name = 'NothingKnownOfIssued'
  readonly estimates: readonly IssuedEstimate[]

  constructor({ silent, writtenAt }: IssuedSince, estimates: readonly IssuedEstimate[]) {
    const found =
      silent.length > 0
        ? `${silent.join(' and ')} did not answer, and may hold what was issued since the archive was made: start it and try again`
        : writtenAt === null
          ? 'No record was found of what was issued since the archive was made, neither in Redis nor in PAYMESH_MARKS_DIR'
          : `The record of what was issued is older than the archive (${new Date(writtenAt).toISOString()})`
    const rows = estimates.slice(0, ESTIMATES_SHOWN).map(({ of, most }) => `  ${of}: ${most}, so skip ${2 * most}`)
    const advice = `Nothing was written. Without that record the same addresses could be given to two customers. If it is lost, enter with --skip how many addresses of each key and invoice numbers to skip: at least twice the most that was issued in any stretch of time as long as the archive is old.`
    const rest = estimates.length - rows.length
    if (rest > 0) rows.push(`  and ${rest} more, of which fewer were issued`)
    super([`${found}.`, advice, ...(rows.length === 0 ? ['  The archive holds no invoice.'] : rows)].join('\n'))
    this.estimates = estimates
  }
}
