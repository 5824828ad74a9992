import { createHash } from 'node:crypto'
import { MODELS } from '#shared/db/schema/models.ts'
import { canonical, type Doc, type Key } from './bson-values.ts'
import { writeConflict } from './driver-errors.ts'
import { createStoredCollection, type DocumentChange, type StoredCollection } from './stored-collection.ts'

/** What a simulated installation is told about its store. */
export interface MemoryStoreOptions {
  /** The store's clock in Unix milliseconds: `$$NOW`, `hello.localTime` and times to live follow it. */
  now(): number
  /** Hears of every committed write of a document, in order: what invariants over single changes hang on. */
  onChange?(change: DocumentChange): void
}

/** A transaction's writes; nobody else sees them before `commit`. */
export interface Transaction {
  /** Runs `work` on the store as this transaction sees it, and takes all it wrote back again. */
  run<T>(work: () => T): T
  /** Stores every write or none. Throws a write conflict when a document changed meanwhile. A second commit is no change. */
  commit(): void
}

/** The one store of a simulated installation. */
export interface MemoryStore {
  now(): Date
  collection(name: string): StoredCollection
  readonly names: readonly string[]
  /** Every document of a collection as it is stored: not copies, never changed in place, not to be changed by a reader. */
  documents(name: string): readonly Doc[]
  /** Deletes what outlived the time to live of its index, as the server does once a minute; how many went. */
  expire(): number
  beginTransaction(): Transaction
  /** From now on no write reaches the majority: reads at majority see what was there before. */
  holdBack(): void
  /** The majority has everything again. */
  catchUp(): void
  /** What `work` reads when it sees only what the majority has. Writes and unique indexes go by what is newest. */
  asCommitted<T>(work: () => T): T
  /** What `work` reads from a primary that was suspended at this time, in Unix milliseconds of `now`: at most `PAST_MS` ago. */
  asOf<T>(at: number, work: () => T): T
  /** SHA-256 over all documents in the order of their ids. */
  digest(): string
}

/** How far back `asOf` goes: as long as drivers and servers take a suspended primary for one, in milliseconds. */
export const PAST_MS = 30_000

/** An empty store with the collections and indexes of the product's own models. */
export function createMemoryStore(options: MemoryStoreOptions): MemoryStore {
  let journal: DocumentChange[] | null = null
  /** Writes that the majority does not have yet; null while it has all. */
  let held: DocumentChange[] | null = null
  /** Newest last; now and then cut to the last `PAST_MS`. */
  let past: { readonly at: number; readonly change: DocumentChange }[] = []
  let pastMax = 1_000
  const hear = (change: DocumentChange): void => {
    if (journal !== null) {
      journal.push(change)
      return
    }
    held?.push(change)
    past.push({ at: options.now(), change })
    if (past.length > pastMax) {
      const first = past.findIndex(({ at }) => at >= options.now() - PAST_MS)
      past = first < 0 ? [] : past.slice(first)
      pastMax = past.length + 1_000
    }
    options.onChange?.(change)
  }
  const collections = new Map(MODELS.map((model) => [model.name, createStoredCollection(model, hear)] as const))
  const collection = (name: string): StoredCollection => {
    const found = collections.get(name)
    if (found === undefined) throw new Error(`no model declares the collection ${name}`)
    return found
  }
  const now = (): Date => new Date(options.now())

  /** Runs `work`, tells what it wrote and puts everything back. */
  function rehearse<T>(prepare: () => void, work: () => T): { result: T; changes: readonly DocumentChange[] } {
    const log: DocumentChange[] = []
    journal = log
    try {
      prepare()
      const from = log.length
      const result = work()
      return { result, changes: log.slice(from) }
    } finally {
      journal = null
      for (const { collection: name, before, after } of log.reverse()) collection(name).restore(after, before)
    }
  }

  function without<T>(later: readonly DocumentChange[], work: () => T): T {
    for (const { collection: name, before, after } of later.toReversed()) collection(name).restore(after, before)
    try {
      return work()
    } finally {
      for (const { collection: name, before, after } of later) collection(name).restore(before, after)
    }
  }

  function asOf<T>(at: number, work: () => T): T {
    const from = past.findLastIndex((one) => one.at <= at) + 1
    return held !== null || from === past.length
      ? work()
      : without(
          past.slice(from).map(({ change }) => change),
          work,
        )
  }

  return {
    now,
    collection,
    asOf,
    holdBack: () => {
      held ??= []
    },
    catchUp: () => {
      held = null
    },
    asCommitted: (work) => (held === null || held.length === 0 ? work() : without([...held], work)),
    names: [...collections.keys()],
    documents: (name) => [...collection(name).documents.values()],
    expire: () => [...collections.values()].reduce((sum, one) => sum + expireOne(one, options.now()), 0),
    beginTransaction: () => createTransaction(collection, rehearse),
    digest: () => {
      const hash = createHash('sha256')
      for (const [name, { documents }] of collections) {
        const rows = [...documents.entries()].map(([id, document]) => `${canonical(id)}${canonical(document)}`)
        hash.update(`${name}\n${rows.sort().join('\n')}\n`)
      }
      return hash.digest('hex')
    },
  }
}

function expireOne(collection: StoredCollection, now: number): number {
  let gone = 0
  for (const { key, expireAfterSeconds } of collection.definitions) {
    if (expireAfterSeconds === undefined) continue
    const [path = ''] = Object.keys(key)
    const limit = new Date(now - expireAfterSeconds * 1_000)
    for (const document of collection.find({ [path]: { $lt: limit } }, limit)) {
      collection.put(document, null)
      gone++
    }
  }
  return gone
}

type Rehearse = <T>(prepare: () => void, work: () => T) => { result: T; changes: readonly DocumentChange[] }

/**
 * Optimistic: each operation runs over the transaction's earlier writes and is taken back, and the commit checks that every
 * document still is what the transaction first saw. A duplicate that came in between is a write conflict, as on a server.
 */
function createTransaction(collection: (name: string) => StoredCollection, rehearse: Rehearse): Transaction {
  const written = new Map<string, DocumentChange>()
  const current = ({ collection: name, id }: { collection: string; id: Key }): Doc | null =>
    collection(name).documents.get(id) ?? null
  const check = (): void => {
    for (const change of written.values()) if (current(change) !== change.before) throw writeConflict()
  }
  const apply = (): void => {
    for (const { collection: name, before, after } of written.values()) {
      if (before !== null || after !== null) collection(name).put(before, after)
    }
  }
  return {
    run: (work) => {
      check()
      const { result, changes } = rehearse(apply, work)
      for (const change of changes) {
        const place = `${change.collection} ${canonical(change.id)}`
        const first = written.get(place)
        written.set(place, first === undefined ? change : { ...change, before: first.before })
      }
      return result
    },
    commit: () => {
      check()
      // Unique indexes are checked against the others' writes before the first of ours is visible.
      try {
        rehearse(() => undefined, apply)
      } catch (error) {
        throw error instanceof Error && 'code' in error ? writeConflict() : error
      }
      apply()
      written.clear()
    },
  }
}
