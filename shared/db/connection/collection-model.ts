import type mongoose from 'mongoose'
import { z } from 'zod'
import { type Immutable, type Mapping, mappingOf } from './record-mapping.ts'

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
interface RecordModel<T extends mongoose.mongo.Document, R, H extends PropertyKey> extends CollectionModel<T> {
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
  readonly [K in keyof O as K extends H ? never : K extends '_id' ? 'id' : K]: Immutable<O[K]>
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

/** A schema in the language of MongoDB's `$jsonSchema`. */
type BsonSchema = Readonly<Record<string, unknown>>

/**
 * What the store requires of a document or a value in it: the stored side of a schema. Fields that the schema does not name are
 * admitted, because an older process may still write one during an update. Throws for a kind of schema that no collection uses yet.
 */
function jsonSchemaOf(schema: z.core.$ZodType): BsonSchema {
  const { bsonType, pattern } = z.globalRegistry.get(schema) ?? {}
  if (bsonType !== undefined) return { bsonType, ...(pattern !== undefined && { pattern }) }
  if (schema instanceof z.ZodString) return { bsonType: 'string' }
  if (schema instanceof z.ZodNumber) return { bsonType: 'number' }
  if (schema instanceof z.ZodBoolean) return { bsonType: 'bool' }
  if (schema instanceof z.ZodDate) return { bsonType: 'date' }
  if (schema instanceof z.ZodEnum) return { enum: [...schema.options] }
  if (schema instanceof z.ZodLiteral) return { enum: [...schema.values] }
  if (schema instanceof z.ZodNullable) return orNull(jsonSchemaOf(schema.unwrap()))
  if (schema instanceof z.ZodPipe) return jsonSchemaOf(schema.in)
  if (schema instanceof z.ZodExactOptional) return jsonSchemaOf(schema.unwrap())
  if (schema instanceof z.ZodArray) return { bsonType: 'array', items: jsonSchemaOf(schema.element) }
  if (schema instanceof z.ZodTuple) return tupleOf(schema.def.items.map(jsonSchemaOf))
  if (schema instanceof z.ZodRecord) return { bsonType: 'object', additionalProperties: jsonSchemaOf(schema.valueType) }
  if (schema instanceof z.ZodUnion) return { anyOf: schema.options.map(jsonSchemaOf) }
  if (schema instanceof z.ZodObject) return objectOf(schema)
  throw new Error(`no $jsonSchema for a field of kind ${schema._zod.def.type}`)
}

function objectOf(schema: z.ZodObject): BsonSchema {
  const fields = Object.entries(schema.shape)
  const required = fields.filter(([, field]) => !(field instanceof z.ZodExactOptional)).map(([name]) => name)
  return {
    bsonType: 'object',
    // The store refuses an empty list.
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(fields.map(([name, field]) => [name, jsonSchemaOf(field)])),
  }
}

const tupleOf = (items: readonly BsonSchema[]): BsonSchema => ({
  bsonType: 'array',
  items,
  minItems: items.length,
  maxItems: items.length,
})

function orNull(schema: BsonSchema): BsonSchema {
  if (Array.isArray(schema['enum'])) return { ...schema, enum: [...schema['enum'], null] }
  if (typeof schema['bsonType'] === 'string') return { ...schema, bsonType: [schema['bsonType'], 'null'] }
  return { anyOf: [schema, { bsonType: 'null' }] }
}
