import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { MarkPlace, MarkRecordId } from '#shared/ports/marks.ts'

/** Files of other writers are merged and removed once they are this old: a living writer of that age has nothing half written. */
const MERGE_AFTER_MS = 3_600_000
const FILE = /^([0-9a-f-]{36})\.([0-9a-f-]{36})\.([0-9a-f-]{36})\.marks$/

const textsSchema = z.record(z.string(), z.string())
type Texts = ReadonlyMap<string, string>

interface ReadFile {
  readonly version: string
  readonly texts: Texts
}

/**
 * Marks in a folder, for instance of a volume that survives the database. Each process writes one file for each life, replaced as a whole, so
 * that writers never overwrite each other and a crash leaves the former one; readers take the highest text of each field.
 */
export function createFolderMarkPlace(folder: string, writer: string = randomUUID()): MarkPlace {
  /** Parsed files by name, for as long as the file is the same. */
  const known = new Map<string, ReadFile>()
  const own = new Map<string, Map<string, string>>()
  /** Writes of this process, one after the other. */
  let writing: Promise<void> = Promise.resolve()

  /** Before the first writing there is no folder. */
  const allNames = async (): Promise<readonly string[]> => (await readdir(folder).catch(unlessMissing)) ?? []
  const names = async ({ installation, life }: MarkRecordId): Promise<readonly string[]> =>
    (await allNames()).filter((name) => FILE.test(name) && name.startsWith(`${installation}.${life}.`))

  const readOne = async (name: string): Promise<Texts> => {
    const path = join(folder, name)
    const version = await versionOf(path)
    const before = known.get(name)
    if (before?.version === version) return before.texts
    const texts = new Map(Object.entries(textsSchema.parse(JSON.parse(await readFile(path, 'utf8')))))
    known.set(name, { version, texts })
    return texts
  }

  const readAll = async (record: MarkRecordId): Promise<Texts> => {
    const merged = new Map<string, string>()
    for (const name of await names(record)) {
      // Another process may have merged and removed it meanwhile.
      const texts = await readOne(name).catch(unlessMissing)
      for (const [field, text] of texts ?? []) keepHigher(merged, field, text)
    }
    return merged
  }

  /** The first write of a process holds everything that is known, so that old files of ended processes can go. */
  const beginOwn = async (record: MarkRecordId): Promise<Map<string, string>> => {
    const merged = new Map(await readAll(record))
    own.set(record.life, merged)
    return merged
  }

  const write = async (record: MarkRecordId, change: (texts: Map<string, string>) => void): Promise<void> => {
    await mkdir(folder, { recursive: true })
    const texts = own.get(record.life) ?? (await beginOwn(record))
    change(texts)
    const name = `${record.installation}.${record.life}.${writer}.marks`
    await replaceFile(folder, name, JSON.stringify(Object.fromEntries(texts)))
  }

  const afterOthers = async (run: () => Promise<void>): Promise<void> => {
    const mine = writing.then(run, run)
    writing = mine.catch(() => undefined)
    await mine
  }

  return {
    name: 'folder',
    read: async (record, fields) => {
      const all = await readAll(record)
      if (fields === 'all') return all
      return new Map(fields.flatMap((field) => (all.has(field) ? [[field, all.get(field) ?? '']] : [])))
    },
    lives: async (installation) => {
      const found = (await allNames()).map((name) => FILE.exec(name))
      return [...new Set(found.flatMap((match) => (match?.[1] === installation ? (match[2] ?? []) : [])))]
    },
    raise: (record, texts) =>
      afterOthers(async () => {
        const isFirst = !own.has(record.life)
        await write(record, (mine) => {
          for (const [field, text] of texts) keepHigher(mine, field, text)
        })
        if (isFirst) await removeMerged(folder, await names(record), { writer, record: own.get(record.life) })
      }),
    remove: (record, fields) =>
      afterOthers(async () => {
        for (const name of await names(record)) {
          const texts = new Map(await readOne(name))
          for (const field of fields) texts.delete(field)
          await replaceFile(folder, name, JSON.stringify(Object.fromEntries(texts)))
        }
        for (const field of fields) own.get(record.life)?.delete(field)
      }),
  }
}

const numberOf = (text: string): number => Number.parseInt(text, 10)

function keepHigher(texts: Map<string, string>, field: string, text: string): void {
  const former = texts.get(field)
  if (former === undefined || numberOf(former) <= numberOf(text) || Number.isNaN(numberOf(former)))
    texts.set(field, text)
}

async function versionOf(path: string): Promise<string> {
  const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}`
}

function unlessMissing(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
  throw error
}

/** Replaces a file by one that is on the disk as a whole. */
async function replaceFile(folder: string, name: string, content: string): Promise<void> {
  const draft = join(folder, `${name}.${randomUUID()}.draft`)
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, join(folder, name))
  const directory = await open(folder, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Removes files of ended processes whose every text the merged record holds. */
async function removeMerged(
  folder: string,
  names: readonly string[],
  { writer, record = new Map() }: { readonly writer: string; readonly record?: Texts | undefined },
): Promise<void> {
  for (const name of names) {
    const path = join(folder, name)
    if (FILE.exec(name)?.[3] === writer) continue
    const before = await stat(path).catch(unlessMissing)
    if (before === null || Date.now() - before.mtimeMs < MERGE_AFTER_MS) continue
    const texts = textsSchema.parse(JSON.parse(await readFile(path, 'utf8')))
    const isHeld = Object.entries(texts).every(([field, text]) => numberOf(record.get(field) ?? '-1') >= numberOf(text))
    if (isHeld) await unlink(path).catch(unlessMissing)
  }
}
