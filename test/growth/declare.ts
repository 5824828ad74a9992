import type { Database } from '#shared/db/connection/connect.ts'
import type { Facts } from './facts.ts'

/** Who waits for the answer of a question. `idle` is what the product asks again and again when nothing happens. */
export type Caller = 'rest' | 'dashboard' | 'workers' | 'idle' | 'command line'

/**
 * A method that names documents by `_id` or another unique key and by nothing else, or only adds some. It reads as many as it is
 * given, however many there are, and is not asked.
 */
export const BY_KEY = 'by key'

type Query<R> = (on: R, facts: Facts) => unknown

/** The size of a seeded installation. */
type Size = Pick<Facts, 'invoices'>
/** Most documents, and most keys, that a question examines: always so many, or so many in an installation of this size. */
type Most = number | ((size: Size) => number)

/** A question that may examine more than its answer accounts for, up to a bound that its code states. */
export interface BoundedQuery<R> {
  readonly query: Query<R>
  readonly atMost: Most
  readonly because: string
}

/** States the bound of a question. */
export const bounded = <R>(atMost: Most, because: string, query: Query<R>): BoundedQuery<R> => ({
  atMost,
  because,
  query,
})

type Question<R> = Query<R> | BoundedQuery<R>
type Methods<R> = { [M in keyof R]: R[M] extends (...args: never[]) => Promise<unknown> ? M : never }[keyof R]

/**
 * Every method of a repository with the question, or the questions by name, that it is measured by. A method that is missing here
 * does not compile: a new query is covered by being declared in its port.
 */
export type DeclaredQueries<R> = {
  readonly [M in Methods<R>]: Question<R> | Readonly<Record<string, Question<R>>> | typeof BY_KEY
}

/** A question by its name, ready to be asked of a seeded database. */
export interface NamedQuestion {
  /** `invoices.list by status` */
  readonly name: string
  readonly caller: Caller
  /** The stated bound; null when only what it returns bounds it. */
  readonly atMost: Most | null
  readonly because: string | null
  query(db: Database, facts: Facts): unknown
}

/** Declares the questions of a repository. `create` opens it on the seeded database. */
export function questionsOf<R>(
  repository: string,
  caller: Caller,
  create: (db: Database) => R,
  declared: DeclaredQueries<R>,
): readonly NamedQuestion[] {
  const named = (name: string, question: Question<R>): NamedQuestion => {
    const { query, atMost, because } =
      typeof question === 'function' ? { query: question, atMost: null, because: null } : question
    return { name, caller, atMost, because, query: (db, facts) => query(create(db), facts) }
  }
  const entries = Object.entries(declared) as [string, DeclaredQueries<R>[Methods<R>]][]
  return entries.flatMap(([method, entry]) => {
    if (entry === BY_KEY) return []
    if (typeof entry === 'function' || isBounded(entry)) return [named(`${repository}.${method}`, entry)]
    return Object.entries(entry).map(([how, question]) => named(`${repository}.${method} ${how}`, question))
  })
}

function isBounded<R>(entry: object): entry is BoundedQuery<R> {
  return 'query' in entry && typeof entry.query === 'function'
}

/** Every question reads its answer with room to spare: twenty per document of it, and the fixed costs of a few commands. */
export const mostExamined = ({ atMost }: Pick<NamedQuestion, 'atMost'>, returned: number, size: Size): number =>
  Math.max(typeof atMost === 'function' ? atMost(size) : (atMost ?? 0), 20 * returned + 200)
