import type { SealedSecretRepository } from '#shared/db/maintenance/sealed-secret-repository.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { SealedHolder } from '#shared/ports/sealed-secrets.ts'
import type { SecretRotation } from '#shared/ports/secrets.ts'
import type { Uses } from '#shared/usecases/uses.ts'

const PAGE = 200
/** A document that changes constantly is tried again in the next round. */
const ROUNDS_MAX = 20
const RACES_MAX = 5
/** Unreadable values that are listed at most. */
const NAMED_MAX = 20
/** A process writes a heartbeat every 15 s. */
const ALIVE_MS = 60_000

export type RotateMasterKeyDeps = Uses<'audits' | 'installationReads' | 'clock' | 'random'> & {
  readonly sealed: SealedSecretRepository
  readonly rotation: SecretRotation
  /** Extends the audit chain, so that its end is signed under the present key; false when it differs from the signed end. */
  readonly signAudit: () => Promise<boolean>
}

export interface RotateMasterKeyInput {
  readonly actor: string
  /** Reads and decrypts, and changes nothing. */
  readonly dryRun: boolean
  readonly onProgress?: (progress: {
    readonly collection: string
    readonly seen: number
    readonly total: number
  }) => void
}

export interface RotationReport {
  /** The key under which everything is sealed now. */
  readonly keyId: string
  /** Values moved in this run, by collection. */
  readonly moved: Readonly<Record<string, number>>
  /** Values that the last round found under another key, by collection; with `dryRun` all that would be moved. */
  readonly left: Readonly<Record<string, number>>
  /** Values that no configured key decrypts: how many, and the first of them as `<collection> <id> <path>`. */
  readonly unreadable: { readonly count: number; readonly first: readonly string[] }
  /** False when the audit chain could not be signed under this key: `audit verify` reports why. */
  readonly auditSigned: boolean
  /** True when a whole round over the store found nothing under another key, and the audit chain is signed under it. */
  readonly complete: boolean
  /**
   * Running processes that seal or decrypt and do not have the present key, as `<name> on <host> (<pid>)`: without the former key
   * they could decrypt nothing. A process of a version that does not report its keys counts as one of them.
   */
  readonly processesWithout: readonly string[]
}

interface Round {
  readonly moved: Record<string, number>
  readonly left: Record<string, number>
  readonly unreadable: string[]
}

/**
 * Writes an audit row, then seals every stored secret under the present master key: one document at a time, and only if it is unchanged since it was read, so that it may
 * run beside other work, be stopped at any point and be run again. Rounds over the store continue until one finds nothing
 * under another key; that round is the proof. Finally the audit chain gets a checkpoint under the present key. Processes must have
 * both keys before it starts. With `dryRun` nothing is written.
 */
export async function rotateMasterKey(deps: RotateMasterKeyDeps, input: RotateMasterKeyInput): Promise<RotationReport> {
  if (!input.dryRun) await note(deps, input.actor, 'keys.rotation_begun', { key_id: deps.rotation.keyId })
  const moved: Record<string, number> = {}
  let round: Round = { moved: {}, left: {}, unreadable: [] }
  for (let nth = 0; nth < ROUNDS_MAX; nth += 1) {
    round = { moved: {}, left: {}, unreadable: [] }
    for (const collection of deps.sealed.collections) await walk(deps, input, collection, round)
    for (const [name, count] of Object.entries(round.moved)) add(moved, name, count)
    if (input.dryRun || (sum(round.left) === 0 && sum(round.moved) === 0)) break
    // Values that no key decrypts stay unchanged; another round would not help.
    if (sum(round.moved) === 0 && sum(round.left) === round.unreadable.length) break
  }
  const report: RotationReport = {
    keyId: deps.rotation.keyId,
    moved,
    left: round.left,
    unreadable: { count: round.unreadable.length, first: round.unreadable.slice(0, NAMED_MAX) },
    auditSigned: true,
    complete: sum(round.left) === 0 && sum(round.moved) === 0,
    processesWithout: await processesWithout(deps),
  }
  if (!input.dryRun) {
    const { keyId: key_id, unreadable } = report
    const detail = { key_id, moved: sum(moved), left: sum(report.left), unreadable: unreadable.count }
    if (sum(moved) > 0) await note(deps, input.actor, 'keys.master_rotated', detail)
    const auditSigned = await deps.signAudit()
    return { ...report, auditSigned, complete: report.complete && auditSigned }
  }
  return report
}

async function processesWithout({
  installationReads,
  rotation,
  clock,
}: RotateMasterKeyDeps): Promise<readonly string[]> {
  const alive = await installationReads.processes(clock.now() - ALIVE_MS)
  return alive
    .filter(({ masterKeys }) => masterKeys.length > 0 && !masterKeys.includes(rotation.keyId))
    .map(({ name, host, pid }) => `${name} on ${host} (${pid})`)
}

async function walk(
  deps: RotateMasterKeyDeps,
  { dryRun, onProgress }: RotateMasterKeyInput,
  collection: string,
  round: Round,
): Promise<void> {
  const total = await deps.sealed.size(collection)
  let seen = 0
  let after: string | null = null
  for (;;) {
    const page: readonly SealedHolder[] = await deps.sealed.page(collection, after, PAGE)
    for (const holder of page) {
      const { moved, left, unreadable } = await moveOne(deps, collection, holder, dryRun)
      add(round.moved, collection, moved)
      add(round.left, collection, left)
      round.unreadable.push(...unreadable.map((path) => `${collection} ${holder.id} ${path}`))
    }
    seen += page.length
    onProgress?.({ collection, seen, total: Math.max(seen, total) })
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    after = last.id
  }
}

async function moveOne(deps: RotateMasterKeyDeps, collection: string, found: SealedHolder, dryRun: boolean) {
  let holder: SealedHolder | null = found
  for (let races = 0; holder !== null; races += 1) {
    const { changes, unreadable } = resealed(deps.rotation, holder)
    const left = unreadable.length + (dryRun || races === RACES_MAX ? changes.length : 0)
    if (changes.length === 0 || dryRun || races === RACES_MAX) return { moved: 0, left, unreadable }
    if (await deps.sealed.replace(collection, holder.id, changes)) {
      return { moved: changes.length, left, unreadable }
    }
    holder = await deps.sealed.findOne(collection, holder.id)
  }
  return { moved: 0, left: 0, unreadable: [] }
}

function resealed(rotation: SecretRotation, holder: SealedHolder) {
  const unreadable: string[] = []
  const changes = holder.envelopes
    .filter(({ sealed }) => !sealed.startsWith(rotation.prefix))
    .flatMap(({ path, sealed, context }) => {
      try {
        return [{ path, from: sealed, to: rotation.reseal(sealed, context) }]
      } catch {
        unreadable.push(path)
        return []
      }
    })
  return { changes, unreadable }
}

async function note(
  { audits, random, clock }: RotateMasterKeyDeps,
  actor: string,
  action: 'keys.rotation_begun' | 'keys.master_rotated',
  detail: AuditRecord['detail'],
): Promise<void> {
  const about = { subject: 'installation', workspaceId: null, mode: null }
  await audits.insertMany([{ id: `${action}:${random.uuid()}`, at: clock.now(), actor, action, ...about, detail }])
}

function add(counts: Record<string, number>, name: string, count: number): void {
  if (count > 0) counts[name] = (counts[name] ?? 0) + count
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0)
