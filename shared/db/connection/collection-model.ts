import mongoose from 'mongoose'

/** One index as `migrate` creates it and `verifyIndexes` requires it. Names are fixed, because a renamed index is another index. */
export interface IndexDefinition {
  readonly name: string
  readonly key: Readonly<Record<string, 1 | -1>>
  readonly unique?: boolean
  readonly partialFilterExpression?: Readonly<Record<string, unknown>>
  /** Time to live in seconds, counted from the indexed date. */
  readonly expireAfterSeconds?: number
}

/** A collection: its name, the shape of its documents and its indexes. `T` is the stored document. */
export interface CollectionModel<T extends mongoose.mongo.Document> {
  readonly name: string
  readonly schema: mongoose.Schema
  readonly indexes: readonly IndexDefinition[]
  /** What the store requires of every document that is written. `migrate` sets it on collections that it creates. */
  readonly validator?: Readonly<Record<string, unknown>>
  /** Never set; carries the document type. */
  readonly documentType?: T
}

/**
 * Declares a collection. The schema documents and, in tests, checks the writes of repositories; at run time repositories
 * use the driver directly. Unknown fields throw, and mongoose adds no indexes, ids, versions or timestamps.
 */
export function defineCollection<T extends mongoose.mongo.Document>(
  name: string,
  fields: mongoose.SchemaDefinition,
  indexes: readonly IndexDefinition[],
  validator?: Readonly<Record<string, unknown>>,
): CollectionModel<T> {
  const schema = new mongoose.Schema(fields, {
    collection: name,
    strict: 'throw',
    autoIndex: false,
    autoCreate: false,
    timestamps: false,
    versionKey: false,
    minimize: false,
    id: false,
  })
  return { name, schema, indexes, ...(validator !== undefined && { validator }) }
}

/** Fields that every record of a tenant has. */
export const OWNED_FIELDS = {
  workspaceId: { type: String, required: true },
  mode: { type: String, enum: ['live', 'test'], required: true },
} as const

/** A required string. */
export const TEXT = { type: String, required: true } as const
/** A required integer or Unix-free count. */
export const COUNT = { type: Number, required: true } as const
/** A required BSON date. */
export const DATE = { type: Date, required: true } as const
/** A value that may be null or absent. */
export const optional = <T>(type: T): { type: T; default: undefined } => ({ type, default: undefined })
