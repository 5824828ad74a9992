import { z } from 'zod'

/** A schema in the language of MongoDB's `$jsonSchema`. */
export type BsonSchema = Readonly<Record<string, unknown>>

/**
 * What the store requires of a document or a value in it: the stored side of a schema. Fields that the schema does not name are
 * admitted, because an older process may still write one during an update. Throws for a kind of schema that no collection uses yet.
 */
export function jsonSchemaOf(schema: z.core.$ZodType): BsonSchema {
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
