import type mongoose from 'mongoose'
import { z } from 'zod'
import { CONVERSIONS, type Conversion } from './stored-fields.ts'

type Convert = (value: unknown) => unknown
type Fields = Readonly<Record<string, unknown>>

type Leaf = string | number | bigint | boolean | null | undefined | Date | Uint8Array | mongoose.mongo.Binary

/** A type whose fields, and theirs, cannot be assigned. */
export type Immutable<T> = unknown extends T ? T : T extends Leaf ? T : { readonly [K in keyof T]: Immutable<T[K]> }

/** The two directions between a stored form and that of records. Only fields that the schema names are taken over. */
export interface Mapping<D, R> {
  toRecord(document: D): R
  toDocument(record: R): D
}

/**
 * The mapping that follows from a schema: a field that may be absent stays absent, null stays null. Reading throws for a document that lacks a
 * field, so that nothing is decided on the rest of it.
 */
export function mappingOf<S extends z.ZodObject>(schema: S): Mapping<z.input<S>, Immutable<z.output<S>>> {
  return { toRecord: pick(schema, 'decode') as never, toDocument: pick(schema, 'encode') as never }
}

function pick(schema: z.ZodObject, direction: keyof Conversion): (value: Fields) => Fields {
  const fields = Object.entries(schema.shape).map(([name, field]) => {
    const isRequired = direction === 'decode' && !(field instanceof z.ZodExactOptional)
    return { name, isRequired, convert: conversionOf(field, direction) }
  })
  return (value) => {
    const picked: Record<string, unknown> = {}
    for (const { name, isRequired, convert } of fields) {
      const given = value[name]
      if (given !== undefined) picked[name] = convert === null ? given : convert(given)
      else if (isRequired) throw new Error(`a stored document has no ${name}`)
    }
    return picked
  }
}

/** How a value changes in a direction; null when both forms are the same. Fields in it that the schema does not name are kept. */
function conversionOf(schema: z.core.$ZodType, direction: keyof Conversion): Convert | null {
  const known = CONVERSIONS.get(schema)
  if (known !== undefined) return known[direction] as Convert
  if (schema instanceof z.ZodNullable) return unlessNull(conversionOf(schema.unwrap(), direction))
  if (schema instanceof z.ZodExactOptional) return conversionOf(schema.unwrap(), direction)
  if (schema instanceof z.ZodArray) return ofEach(conversionOf(schema.element, direction))
  if (schema instanceof z.ZodRecord) return ofValues(conversionOf(schema.valueType, direction))
  if (schema instanceof z.ZodDiscriminatedUnion) return ofOptions(schema, direction)
  if (schema instanceof z.ZodObject) return ofFields(schema, direction)
  return null
}

const unlessNull = (inner: Convert | null): Convert | null =>
  inner === null ? null : (value) => (value === null ? null : inner(value))

const ofEach = (inner: Convert | null): Convert | null =>
  inner === null ? null : (values) => (values as readonly unknown[]).map(inner)

const ofValues = (inner: Convert | null): Convert | null =>
  inner === null
    ? null
    : (values) => Object.fromEntries(Object.entries(values as Fields).map(([key, value]) => [key, inner(value)]))

/** The fields of each option may differ, their discriminator says which one a value is. */
function ofOptions(schema: z.ZodDiscriminatedUnion, direction: keyof Conversion): Convert | null {
  const { discriminator } = schema.def
  const byTag = new Map<unknown, Convert | null>()
  for (const option of schema.options as readonly z.ZodObject[]) {
    const tag = option.shape[discriminator]
    if (tag instanceof z.ZodLiteral) byTag.set(tag.value, conversionOf(option, direction))
  }
  return (value) => byTag.get((value as Fields)[discriminator])?.(value) ?? value
}

function ofFields(schema: z.ZodObject, direction: keyof Conversion): Convert | null {
  const converts: [string, Convert][] = []
  for (const [name, field] of Object.entries(schema.shape)) {
    const convert = conversionOf(field, direction)
    if (convert !== null) converts.push([name, convert])
  }
  if (converts.length === 0) return null
  return (value) => {
    const copy: Record<string, unknown> = { ...(value as Fields) }
    for (const [name, convert] of converts) {
      const given = copy[name]
      if (given !== undefined) copy[name] = convert(given)
    }
    return copy
  }
}
