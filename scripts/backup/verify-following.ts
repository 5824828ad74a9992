import { createReadStream } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorText } from '#shared/contracts/error-text.ts'
import { CHAIN_FACT, type ChainLink, linkOf } from '#shared/db/backup/change-chain.ts'
import { LIFE_FACT, lifeSchema } from '#shared/db/restore/installation-life-repository.ts'
import type { SecretBox } from '#shared/ports/secrets.ts'
import type { ArchiveSecret } from '#shared/runtime/secrets/archive-cipher.ts'
import { type ChangesFile, changesAbout, followingChanges, listChanges } from './changes-folder.ts'
import { createVerification, type VerifiedArchive, verifyBackup } from './verify-backup.ts'

/** An archive with all changes that follow it. */
export interface VerifiedState extends VerifiedArchive {
  /** Files of changes, in the order in which they are written over the archive. */
  readonly changes: readonly string[]
}

interface StateOrder {
  readonly file: string
  readonly secret: ArchiveSecret
  /** The state of no later moment, milliseconds; null = the newest. */
  readonly until: number | null
}

/**
 * Verifies an archive and the changes that follow it in its folder, up to the newest or to `until`. Throws, with what would be lost, when a file between them is
 * missing, was altered or cannot be opened, and when the changes that the archive expects are not there at all.
 */
export async function verifyState(order: StateOrder, secretBox: Pick<SecretBox, 'open'>): Promise<VerifiedState> {
  const { file, secret, until } = order
  const verification = createVerification(secret, secretBox)
  const base = await verification.add(createReadStream(file))
  if (changesAbout.safeParse(base.head.about).success)
    throw new Error(`${file} holds changes: restore the archive that they follow, which finds them beside it`)
  const baseAt = Date.parse(base.takenAt)
  if (until !== null && until < baseAt) throw new Error(`the archive is of ${base.takenAt}, later than --until`)
  const folder = dirname(file)
  const { files, unread } = await listChanges(folder)
  const own = files.filter(({ life }) => life === lifeOf(base))
  const from = newestLink(base)
  const { path, beyond } = from === null ? { path: [], beyond: [] } : followingChanges(own, from)
  const isReached = (takenAt: string): boolean => until !== null && until <= Date.parse(takenAt)
  let [last, documents, isPast] = [base, base.documents, false]
  const changes: string[] = []
  for (const next of path) {
    const name = join(folder, next.name)
    try {
      isPast = isReached(last.takenAt) || (until !== null && (await takenAtOf(name, order, secretBox)) > until)
      if (isPast) break
      last = await verifyNext(verification, name, next)
    } catch (error) {
      throw new ChangesMissing(last.takenAt, [...path, ...beyond], [`${next.name}: ${errorText(error)}`])
    }
    documents += last.documents
    changes.push(name)
  }
  if (!isPast && !isReached(last.takenAt)) {
    if (from !== null && !own.some(({ chain }) => chain === from.chain)) throw noneAtAll(base, folder)
    const later = own.filter(({ chain, createdAt }) => chain !== from?.chain && createdAt > Date.parse(last.takenAt))
    if (beyond.length + later.length > 0) throw new ChangesMissing(last.takenAt, [...beyond, ...later], unread)
  }
  return { ...last, counts: base.counts, documents, changes }
}

/** The moment of a file of changes. It is verified on its own first: one of a later moment must change nothing. */
async function takenAtOf(name: string, { secret }: StateOrder, secretBox: Pick<SecretBox, 'open'>): Promise<number> {
  return Date.parse((await verifyBackup(createReadStream(name), secret, secretBox)).takenAt)
}

async function verifyNext(
  verification: ReturnType<typeof createVerification>,
  name: string,
  { link, after }: ChangesFile,
): Promise<VerifiedArchive> {
  const verified = await verification.add(createReadStream(name))
  const about = changesAbout.parse(verified.head.about)
  if (about.link !== link || about.after !== after) throw new Error('it was exchanged while it was read')
  return verified
}

/** The newest link of the chain as of the archive; null when no changes were copied then. */
export function newestLink({ facts }: Pick<VerifiedArchive, 'facts'>): ChainLink | null {
  const text = facts.get(CHAIN_FACT)
  return text === undefined ? null : linkOf(text)
}

function lifeOf({ facts }: VerifiedArchive): string | null {
  const text = facts.get(LIFE_FACT)
  return text === undefined ? null : lifeSchema.parse(JSON.parse(text)).life
}

const noneAtAll = ({ takenAt }: VerifiedArchive, folder: string): Error =>
  new Error(
    `Nothing was written. The archive was made while changes were copied every half minute, and ${folder} has no file of them: everything after ${takenAt} would be lost. Copy the files paymesh-*.changes there; if they are lost, restore the archive alone with --until ${takenAt}`,
  )

/** Changes between the archive and later ones cannot be applied. */
export class ChangesMissing extends Error {
  override readonly name = 'ChangesMissing'

  constructor(reachedAt: string, files: readonly ChangesFile[], faults: readonly string[]) {
    const times = files.map(({ createdAt }) => createdAt).filter((at) => at > Date.parse(reachedAt))
    const newest = Math.max(Date.parse(reachedAt), ...times)
    const lost = Math.ceil((newest - Date.parse(reachedAt)) / 1_000)
    super(
      [
        `Nothing was written. The changes right after ${reachedAt} are missing or altered, or follow another archive; later ones, up to ${new Date(newest).toISOString()}, cannot be applied without them.`,
        ...faults.map((fault) => `  ${fault}`),
        `Copy the files paymesh-*.changes from the other place of your back-ups, or restore a newer archive. With --until ${reachedAt} the state of that moment is restored, and ${lost} s of changes are lost.`,
      ].join('\n'),
    )
  }
}
