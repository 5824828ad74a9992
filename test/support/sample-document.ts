import mongoose from 'mongoose'
import { z } from 'zod'

/** A stored value that a field admits: the smallest one of its type. Throws for a kind of field that no collection uses. */
export function sampleValue(schema: z.core.$ZodType): unknown {
  const { bsonType, pattern } = z.globalRegistry.get(schema) ?? {}
  if (pattern !== undefined) return '1'
  if (bsonType !== undefined) return SAMPLES[String(Array.isArray(bsonType) ? bsonType[0] : bsonType)]
  if (schema instanceof z.ZodString) return 'a'
  if (schema instanceof z.ZodNumber) return 1
  if (schema instanceof z.ZodBoolean) return true
  if (schema instanceof z.ZodDate) return new Date(0)
  if (schema instanceof z.ZodEnum) return schema.options[0]
  if (schema instanceof z.ZodLiteral) return [...schema.values][0]
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodExactOptional) return sampleValue(schema.unwrap())
  if (schema instanceof z.ZodPipe) return sampleValue(schema.in)
  if (schema instanceof z.ZodArray) return [sampleValue(schema.element)]
  if (schema instanceof z.ZodTuple) return schema.def.items.map(sampleValue)
  if (schema instanceof z.ZodRecord) return { a: sampleValue(schema.valueType) }
  if (schema instanceof z.ZodUnion) return schema.options[0] === undefined ? null : sampleValue(schema.options[0])
  if (schema instanceof z.ZodObject) return sampleDocument(schema)
  throw new Error(`no sample for a field of kind ${schema._zod.def.type}`)
}

/** A stored document with every field, the optional ones too. */
export function sampleDocument(schema: z.ZodObject): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema.shape).map(([name, field]) => [name, sampleValue(field)]))
}

const SAMPLES: Readonly<Record<string, unknown>> = {
  string: 'a',
  number: 1,
  object: {},
  binData: new mongoose.mongo.Binary(new Uint8Array([1])),
}
