import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { MarkPlace, MarkRecordId } from '#shared/ports/marks.ts'

/** Files of other writers are merged and removed once they are this old: a living writer of that age has nothing half written. */
const MERGE_AFTER_MS = 3_600_000
const DRAFT = '.draft'
const FILE = /^([0-9a-f-]{36})\.([0-9a-f-]{36})\.([0-9a-f-]{36})\.marks$/

const textsSchema = z.record(z.string(), z.string())
type Texts = ReadonlyMap<string, string>

interface ReadFile {
  readonly version: string
  readonly texts: Texts | null
}

/** The places of marks that a process has: that in Redis, where it uses one, and the operator's folder, where one is configured. */
export function markPlacesOf(inRedis: MarkPlace | null, folder: string | null): readonly MarkPlace[] {
  return [...(inRedis === null ? [] : [inRedis]), ...(folder === null ? [] : [createFolderMarkPlace(folder)])]
}

/**
 * Marks in a folder, for instance of a volume that survives the database. Each process writes one file for each life, replaced as a whole, so
 * that writers never overwrite each other and a crash leaves the former one. A file that is damaged hides nothing of the others.
 */
export function createFolderMarkPlace(folder: string, writer: string = randomUUID()): MarkPlace {
  const readOne = createFileReader(folder)
  const own = new Map<string, Map<string, string>>()
  /** Lives of which this process removed the files of ended processes. */
  const merged = new Set<string>()
  const afterOthers = createTurns()

  /** Before the first writing there is no folder. */
  const allNames = async (): Promise<readonly string[]> => (await readdir(folder).catch(unlessMissing)) ?? []
  const names = async ({ installation, life }: MarkRecordId): Promise<readonly string[]> =>
    (await allNames()).filter((name) => FILE.test(name) && name.startsWith(`${installation}.${life}.`))

  const readAll = async (record: MarkRecordId): Promise<ReadonlyMap<string, readonly string[]>> => {
    const found = new Map<string, string[]>()
    for (const name of await names(record)) {
      for (const [field, text] of (await readOne(name)) ?? []) {
        const others = found.get(field)
        if (others === undefined) found.set(field, [text])
        else if (!others.includes(text)) others.push(text)
      }
    }
    return found
  }

  /** The first write of a process holds everything that is known, so that old files of ended processes can go. */
  const beginOwn = async (record: MarkRecordId): Promise<Map<string, string>> => {
    const known = new Map<string, string>()
    for (const [field, texts] of await readAll(record)) for (const text of texts) keepHigher(known, field, text)
    own.set(record.life, known)
    return known
  }

  const write = async (record: MarkRecordId, change: (texts: Map<string, string>) => void): Promise<void> => {
    await mkdir(folder, { recursive: true })
    const texts = own.get(record.life) ?? (await beginOwn(record))
    change(texts)
    const name = `${record.installation}.${record.life}.${writer}.marks`
    await replaceFile(folder, name, JSON.stringify(Object.fromEntries(texts)))
  }

  return {
    name: 'folder',
    read: async (record, fields) => {
      const all = await readAll(record)
      if (fields === 'all') return all
      return new Map(fields.flatMap((field) => (all.has(field) ? [[field, all.get(field) ?? []]] : [])))
    },
    lives: async (installation) => {
      const lives = new Set<string>()
      for (const name of await allNames()) {
        const [, of, life = ''] = FILE.exec(name) ?? []
        if (of !== installation) continue
        if ((await readOne(name)) === null && (await versionOf(join(folder, name)).catch(unlessMissing)) !== null)
          throw new Error(`the file ${name} of the marks is damaged`)
        lives.add(life)
      }
      return [...lives]
    },
    raise: (record, texts) =>
      afterOthers(async () => {
        await write(record, (mine) => {
          for (const [field, text] of texts) keepHigher(mine, field, text)
        })
        if (merged.has(record.life)) return
        await removeMerged(folder, await names(record), { writer, record: own.get(record.life) })
        merged.add(record.life)
      }),
    remove: (record, texts) =>
      afterOthers(async () => {
        const without = (held: Texts) => new Map([...held].filter(([field, text]) => !texts.get(field)?.includes(text)))
        for (const name of await names(record)) {
          const held = await readOne(name)
          if (held === null || without(held).size === held.size) continue
          await replaceFile(folder, name, JSON.stringify(Object.fromEntries(without(held))))
        }
        const mine = own.get(record.life)
        if (mine !== undefined) own.set(record.life, without(mine))
      }),
  }
}

/** Runs one thing after the other, whether or not the one before failed. */
function createTurns(): (run: () => Promise<void>) => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return async (run) => {
    const mine = last.then(run, run)
    last = mine.catch(() => undefined)
    await mine
  }
}

/** Reads a file of marks, again only after it changed. Null for a damaged file, and for one that another process merged and removed. */
function createFileReader(folder: string): (name: string) => Promise<Texts | null> {
  const known = new Map<string, ReadFile>()
  return async (name) => {
    const path = join(folder, name)
    const version = await versionOf(path).catch(unlessMissing)
    if (version === null) return null
    const before = known.get(name)
    if (before?.version === version) return before.texts
    const content = await readFile(path, 'utf8').catch(unlessMissing)
    const texts = content === null ? null : textsIn(content)
    known.set(name, { version, texts })
    return texts
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

function textsIn(content: string): Texts | null {
  try {
    return new Map(Object.entries(textsSchema.parse(JSON.parse(content))))
  } catch {
    return null
  }
}

/** Replaces a file by one that is on the disk as a whole. */
async function replaceFile(folder: string, name: string, content: string): Promise<void> {
  const draft = join(folder, `${name}.${randomUUID()}${DRAFT}`)
  try {
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, join(folder, name))
  } catch (error) {
    // A full volume is tried again each second: what each try left would use up what the operator frees.
    await unlink(draft).catch(() => undefined)
    throw error
  }
  const directory = await open(folder, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Removes what writers that were killed in the middle left. */
async function removeDrafts(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter((one) => one.endsWith(DRAFT))) {
    const draft = join(folder, name)
    const left = await stat(draft).catch(unlessMissing)
    if (left !== null && Date.now() - left.mtimeMs >= MERGE_AFTER_MS) await unlink(draft).catch(unlessMissing)
  }
}

/** Removes files of ended processes whose every text the merged record holds, and sets damaged ones aside. */
async function removeMerged(
  folder: string,
  names: readonly string[],
  { writer, record = new Map() }: { readonly writer: string; readonly record?: Texts | undefined },
): Promise<void> {
  await removeDrafts(folder)
  for (const name of names) {
    const path = join(folder, name)
    if (FILE.exec(name)?.[3] === writer) continue
    const before = await stat(path).catch(unlessMissing)
    if (before === null || Date.now() - before.mtimeMs < MERGE_AFTER_MS) continue
    const content = await readFile(path, 'utf8').catch(unlessMissing)
    const texts = content === null ? null : textsIn(content)
    const isHeld = (field: string, text: string): boolean => {
      const mine = record.get(field) ?? '-1'
      return mine === text || numberOf(mine) > numberOf(text)
    }
    if (texts === null) await rename(path, `${path}.damaged`).catch(unlessMissing)
    else if ([...texts].every(([field, text]) => isHeld(field, text))) await unlink(path).catch(unlessMissing)
  }
}
