import { createWriteStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Where an archive goes. */
export interface ArchiveTarget {
  /** Writes all of `source` and returns the number of bytes. After an error, nothing there can be mistaken for an archive. */
  write(source: AsyncIterable<Buffer>): Promise<number>
}

/**
 * A file. It gets its name only when it is complete and on disk; until then it is `<file>.partial`, which one process at a time
 * writes. It is readable only by this user. `write` throws when either file exists.
 */
export function fileTarget(file: string): ArchiveTarget {
  const partial = `${file}.partial`
  return {
    write: async (source) => {
      const handle = await open(partial, 'wx', 0o600).catch((error: unknown) => {
        throw isTaken(error)
          ? new Error(`${partial} exists: another back-up is writing it, or one was interrupted; then remove it`)
          : error
      })
      try {
        if (await exists(file)) throw new Error(`${file} already exists`)
        await pipeline(source, createWriteStream(partial, { fd: handle.fd, autoClose: false }))
        await handle.sync()
        const { size } = await handle.stat()
        await handle.close()
        await nameArchive(partial, file)
        return size
      } catch (error) {
        await handle.close().catch(() => undefined)
        await rm(partial, { force: true })
        throw explained(error, file)
      }
    },
  }
}

/** Gives an archive its name, which survives a loss of power. Throws when a file of that name exists. */
export async function nameArchive(from: string, to: string): Promise<void> {
  if (await exists(to)) throw new Error(`${to} already exists`)
  await rename(from, to)
  await syncFolder(dirname(to))
}

/** A stream, such as stdout into a pipe. An archive that was cut off is recognised by its reader: it has no end. */
export function streamTarget(stream: Writable, name: string): ArchiveTarget {
  return {
    write: async (source) => {
      let bytes = 0
      let failure: Error | null = null
      const onError = (error: Error): void => {
        failure = error
      }
      stream.on('error', onError)
      try {
        for await (const part of source) {
          if (failure !== null) throw failure
          await written(stream, part)
          bytes += part.length
        }
        return bytes
      } catch (error) {
        throw explained(error, name)
      } finally {
        stream.off('error', onError)
        // A late error of a broken pipe has no listener any more.
        stream.on('error', () => undefined)
      }
    },
  }
}

function written(stream: Writable, part: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(part, (error) => (error ? reject(error) : resolve()))
  })
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  )

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)
const isTaken = (error: unknown): boolean => codeOf(error) === 'EEXIST'

/** The cause in plain words, for what an operator can change. */
function explained(cause: unknown, target: string): unknown {
  const code = codeOf(cause)
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new Error(`no space is left for ${target}: no back-up was made`, { cause })
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED')
    return new Error(`the program that reads ${target} closed it: no back-up was made`, { cause })
  return cause
}

/** The new name survives a loss of power. File systems without this operation keep it anyway, or not at all. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null)
  await handle?.sync().catch(() => undefined)
  await handle?.close()
}
