import type mongoose from 'mongoose'
import { z } from 'zod'
import { jsonSchemaOf } from '#shared/db/connection/json-schema.ts'
import { type Frozen, type Mapping, mappingOf } from '#shared/db/connection/record-mapping.ts'

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
  /** The stored fields. Its input is the document, its output has times in milliseconds and amounts as bigint. */
  readonly schema: z.ZodObject
  readonly indexes: readonly IndexDefinition[]
  /** What the store requires of every document that is written; `migrate` sets it. */
  readonly validator?: Readonly<Record<string, unknown>>
  /** Never set; carries the document type. */
  readonly documentType?: T
}

/** A collection whose documents have a record's form in code, which both functions follow from the fields. */
export interface RecordModel<T extends mongoose.mongo.Document, R, H extends PropertyKey> extends CollectionModel<T> {
  /** A document as a record: `_id` is `id`, times are milliseconds, amounts bigint, fields of the store alone are left out. Null stays null. */
  toRecord<D extends T | null>(document: D): R | Extract<D, null>
  /** The stored form of a record; fields of the store alone are the caller's to add. */
  toDocument(record: R): Omit<T, H>
  /** The stored form of some fields of a record, for an update. */
  toFields<F extends Partial<Omit<R, 'id'>>>(fields: F): { [K in keyof F & keyof T]: Exclude<T[K], undefined> }
  /** Never set; carries the record type. */
  readonly recordType?: R
}

/** The type of a collection's documents. */
export type StoredOf<M> = M extends { readonly documentType?: infer T } ? NonNullable<T> : never
/** The type of a collection's records. */
export type RecordOf<M> = M extends { readonly recordType?: infer R } ? NonNullable<R> : never

type InRecord<O, H> = {
  readonly [K in keyof O as K extends H ? never : K extends '_id' ? 'id' : K]: Frozen<O[K]>
}

type Fields = Readonly<Record<string, unknown>>

interface CollectionOptions<H> {
  /** Fields of the store alone, which records do not have. */
  readonly hidden?: readonly H[]
  /** Replaces the validator that follows from the fields; null = none. */
  readonly validator?: Readonly<Record<string, unknown>> | null
}

/**
 * Declares a collection. Its fields are the only statement of a document's shape: the types of documents and records, the mapping between
 * them and the store's validator follow from them. A field that may be absent is `exactOptional()`, so that null is refused there.
 */
export function defineCollection<const S extends z.ZodRawShape, const H extends keyof S = never>(
  name: string,
  fields: S,
  indexes: readonly IndexDefinition[],
  { hidden = [], validator }: CollectionOptions<H> = {},
): RecordModel<z.input<z.ZodObject<S>>, InRecord<z.output<z.ZodObject<S>>, H>, H> {
  const schema = z.object(fields)
  const mapping = mappingOf(schema.omit(Object.fromEntries(hidden.map((field) => [field, true])) as never)) as Mapping<
    Fields,
    Fields
  >
  const hasId = !hidden.some((field) => field === '_id')
  const required = validator === undefined ? { $jsonSchema: jsonSchemaOf(schema) } : validator
  return {
    name,
    schema,
    indexes,
    ...(required !== null && { validator: required }),
    toRecord: (document) => {
      if (document === null) return null as never
      const { _id, ...record } = mapping.toRecord(document)
      return (hasId ? { id: _id, ...record } : record) as never
    },
    toDocument: (record) =>
      mapping.toDocument(hasId ? { ...record, _id: (record as Fields)['id'] } : (record as Fields)) as never,
    toFields: (changed) => mapping.toDocument(changed) as never,
  }
}
