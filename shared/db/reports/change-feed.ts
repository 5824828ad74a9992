import type mongoose from 'mongoose'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { ChangeKind, ChangeListener, StoreChange } from '#shared/ports/change-feed.ts'
import type { Logger } from '#shared/ports/runtime.ts'

type Document = mongoose.mongo.Document
type Stream = mongoose.mongo.ChangeStream<Document, Document>

/** Collections that are followed, with the fields whose change is reported; null = any. */
const FOLLOWED: Readonly<Record<ChangeKind, { model: CollectionModel<Document>; fields: readonly string[] | null }>> = {
  invoice: { model: INVOICES as CollectionModel<Document>, fields: ['version'] },
  payment: { model: PAYMENTS as CollectionModel<Document>, fields: ['version'] },
  exception: { model: EXCEPTIONS as CollectionModel<Document>, fields: null },
  delivery: { model: WEBHOOK_DELIVERIES as CollectionModel<Document>, fields: ['status', 'attempt', 'lastError'] },
  endpoint: { model: WEBHOOK_ENDPOINTS as CollectionModel<Document>, fields: null },
}
const KIND_BY_NAME = new Map(
  Object.entries(FOLLOWED).map(([kind, { model }]) => [model.name, kind as ChangeKind] as const),
)

/** Changes are reported together after this long, so that a busy moment costs one read. */
const GATHER_MS = 250
/** More concurrent changes are not named individually. */
const NAMED_MAX = 1_000
/** Pause between two attempts to follow, during which pages poll. */
const RETRY_MS = 5_000

interface Row {
  readonly kind: ChangeKind
  readonly id: string
  readonly isNew: boolean
}

/** Follows the store with one change stream. Opens nothing until there is a subscriber. */
export function createChangeFeed(db: Database, logger: Logger) {
  return {
    /**
     * Starts following, and calls `gap` once it is active. While the store cannot be followed, `gap` is called every few seconds, so
     * that a page polls instead. `stop` resolves when no more changes will be reported.
     */
    follow: (listener: ChangeListener): { stop(): Promise<void> } => {
      let stopped = false
      let stream: Stream | null = null
      let wake: () => void = () => undefined
      const run = async () => {
        while (!stopped) {
          stream = open(db)
          try {
            await pump(db, stream, listener, () => stopped)
          } catch (error) {
            if (!stopped) logger.warn({ error }, 'changes of the store cannot be followed; pages poll instead')
          }
          await stream.close().catch(() => undefined)
          if (stopped) return
          listener.gap()
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, RETRY_MS)
            wake = () => {
              clearTimeout(timer)
              resolve()
            }
          })
        }
      }
      const ended = run()
      return {
        stop: async () => {
          stopped = true
          wake()
          await stream?.close().catch(() => undefined)
          await ended
        },
      }
    },
  }
}

/** The type of what {@link createChangeFeed} returns. */
export type ChangeFeed = ReturnType<typeof createChangeFeed>

function open(db: Database): Stream {
  const worth = Object.values(FOLLOWED).map(({ model, fields }) => ({
    'ns.coll': model.name,
    operationType: 'update',
    ...(fields !== null && {
      $or: fields.map((field) => ({ [`updateDescription.updatedFields.${field}`]: { $exists: true } })),
    }),
  }))
  const names = [...KIND_BY_NAME.keys()]
  return db.connection
    .getClient()
    .db(db.name)
    .watch<Document, Document>(
      [
        { $match: { $or: [{ 'ns.coll': { $in: names }, operationType: 'insert' }, ...worth] } },
        { $project: { operationType: 1, 'ns.coll': 1, 'documentKey._id': 1 } },
      ],
      { maxAwaitTimeMS: 1_000 },
    )
}

/** Reads the stream until it breaks or is closed. */
async function pump(db: Database, stream: Stream, listener: ChangeListener, isStopped: () => boolean): Promise<void> {
  let first: Document | null = await stream.tryNext()
  listener.gap()
  while (!isStopped()) {
    const change = first ?? (await stream.tryNext())
    first = null
    if (change === null) continue
    const rows = new Map<string, Row>()
    note(rows, change)
    await new Promise((resolve) => setTimeout(resolve, GATHER_MS))
    // Changes that have arrived already are read without waiting.
    for (let more = await next(stream); more !== null && rows.size <= NAMED_MAX; more = await next(stream))
      note(rows, more)
    if (rows.size > NAMED_MAX) listener.gap()
    else listener.changes(await named(db, [...rows.values()]))
  }
}

async function next(stream: Stream): Promise<Document | null> {
  return stream.bufferedCount() > 0 ? await stream.tryNext() : null
}

function note(rows: Map<string, Row>, change: Document): void {
  const kind = KIND_BY_NAME.get(String(change['ns']?.coll))
  const id = change['documentKey']?._id
  if (kind === undefined || typeof id !== 'string') return
  const isNew = change['operationType'] === 'insert' || rows.get(`${kind} ${id}`)?.isNew === true
  rows.set(`${kind} ${id}`, { kind, id, isNew })
}

interface Owner {
  readonly workspaceId?: string | null
  readonly mode?: Mode | 'both' | null
}

/** The owners of the rows: one read per collection. Deleted and unowned rows are left out. */
async function named(db: Database, rows: readonly Row[]): Promise<readonly StoreChange[]> {
  const kinds = [...new Set(rows.map(({ kind }) => kind))]
  const owners = new Map<string, Owner>()
  await Promise.all(
    kinds.map(async (kind) => {
      const ids = rows.filter((row) => row.kind === kind).map(({ id }) => id)
      const found = await db
        .collection<Document>(FOLLOWED[kind].model)
        .find({ _id: { $in: ids } } as Document, { projection: { workspaceId: 1, mode: 1 } })
        .toArray()
      for (const stored of found) owners.set(`${kind} ${String(stored._id)}`, stored as Owner)
    }),
  )
  return rows.flatMap((row) => {
    const owner = owners.get(`${row.kind} ${row.id}`)
    if (typeof owner?.workspaceId !== 'string') return []
    const mode = owner.mode === 'live' || owner.mode === 'test' ? owner.mode : null
    return [{ ...row, workspaceId: owner.workspaceId, mode }]
  })
}
