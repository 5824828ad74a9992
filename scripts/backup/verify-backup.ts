import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { ArchiveBatch, ArchiveContents } from '#shared/db/backup/archive-batch.ts'
import { walkArchive } from '#shared/db/backup/archive-contents.ts'
import { envelopesIn } from '#shared/db/maintenance/sealed-secret-repository.ts'
import { opens, type SecretBox } from '#shared/ports/secrets.ts'
import { type ArchiveHead, type ArchiveSecret, openArchive } from '#shared/runtime/secrets/archive-cipher.ts'
import type { ArchiveFacts } from './issued-since.ts'

export interface VerifiedArchive extends ArchiveContents {
  readonly head: ArchiveHead
  /** Number of sealed values, and how many of them the configured master keys decrypt. */
  readonly sealed: { readonly total: number; readonly opened: number }
  /** Facts of the installation, by name. */
  readonly facts: ArchiveFacts
}

/** Reads an archive to its end and checks all of it; nothing is written. Throws `ArchiveRefused`, or another fault of the archive. */
export async function verifyBackup(
  archive: Readable,
  secret: ArchiveSecret,
  secretBox: Pick<SecretBox, 'open'>,
): Promise<VerifiedArchive> {
  return await createVerification(secret, secretBox).add(archive)
}

/** Verifies archives one after the other, each of which changes the state that the ones before it left. */
export function createVerification(secret: ArchiveSecret, secretBox: Pick<SecretBox, 'open'>) {
  const sealed = sealedValues(secretBox)
  const facts = new Map<string, string>()
  return {
    /** As `verifyBackup`; facts and sealed values are those of all archives so far. */
    add: async (archive: Readable): Promise<VerifiedArchive> => {
      let head: ArchiveHead | undefined
      let contents: ArchiveContents | undefined
      const onHead = (found: ArchiveHead): void => {
        head = found
      }
      await readArchive(archive, { secret, onHead }, async (source) => {
        contents = await walkArchive(source, (batch) => {
          sealed.add(batch)
          if (batch.name !== 'installation') return
          for (const id of batch.gone) facts.delete(String(id))
          for (const { _id, value } of batch.documents) facts.set(String(_id), String(value))
        })
      })
      if (head === undefined || contents === undefined) throw new Error('the archive is empty')
      return { ...contents, head, sealed: sealed.counted(), facts }
    },
  }
}

/** Opens an archive for `work`. Throws the first error, not that of a stream which ended because of it. */
export async function readArchive(
  archive: Readable,
  { secret, onHead }: { readonly secret: ArchiveSecret; readonly onHead?: (head: ArchiveHead) => void },
  work: (source: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  const failed = (error: unknown): never => {
    failures.push(error)
    throw error
  }
  await pipeline(
    archive,
    async function* (source: AsyncIterable<Buffer>) {
      try {
        yield* openArchive(source, secret, onHead)
      } catch (error) {
        failed(error)
      }
    },
    createGunzip(),
    async (source: AsyncIterable<Buffer>) => await work(source).catch(failed),
  ).catch((error: unknown) => {
    throw failures[0] ?? error
  })
}

/** Counts sealed values. Where a later pass holds a document again, only its last state has to be readable. */
function sealedValues(secretBox: Pick<SecretBox, 'open'>) {
  let total = 0
  const closed = new Map<string, number>()
  return {
    add: ({ name, documents, gone }: ArchiveBatch): void => {
      for (const id of gone) closed.delete(`${name} ${String(id)}`)
      for (const document of documents) {
        const _id = String(document['_id'])
        const found = envelopesIn(name, { ...document, _id })
        const unread = found.filter(({ sealed, context }) => !opens(secretBox, sealed, context)).length
        total += found.length
        closed.delete(`${name} ${_id}`)
        if (unread > 0) closed.set(`${name} ${_id}`, unread)
      }
    },
    counted: () => ({ total, opened: total - [...closed.values()].reduce((sum, count) => sum + count, 0) }),
  }
}
