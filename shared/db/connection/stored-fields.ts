import mongoose from 'mongoose'
import { z } from 'zod'
import { MODES } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** How a value of the store becomes one of a record, and back. */
export interface Conversion {
  readonly decode: (stored: never) => unknown
  readonly encode: (value: never) => unknown
}

const TIME_CONVERSION = { decode: (stored: Date): Ms => stored.getTime(), encode: (at: Ms) => new Date(at) }
const AMOUNT_CONVERSION = {
  decode: (stored: string) => BigInt(stored),
  encode: (amount: bigint) => amount.toString(),
}

/** A time: a BSON date in documents, Unix milliseconds in records. */
export const TIME = z.codec(z.date(), z.number(), TIME_CONVERSION)

const AMOUNT_PATTERN = /^-?[0-9]+$/
const AMOUNT_TEXT = z.string().regex(AMOUNT_PATTERN).meta({ bsonType: 'string', pattern: AMOUNT_PATTERN.source })

/** An amount: a decimal string in documents, because BSON has no integer type that holds them all, and a bigint in records. */
export const AMOUNT = z.codec(AMOUNT_TEXT, z.bigint(), AMOUNT_CONVERSION)

/** The conversions of those fields whose stored form differs from that of records. */
export const CONVERSIONS: ReadonlyMap<unknown, Conversion> = new Map<unknown, Conversion>([
  [TIME, TIME_CONVERSION],
  [AMOUNT, AMOUNT_CONVERSION],
])

/** A text of a type that the domain defines. The store requires a text, and not one of today's: a network or an action may be retired, its documents stay. */
export const textAs = <T extends string>(): z.ZodCustom<T, T> =>
  z.custom<T>((value) => typeof value === 'string').meta({ bsonType: 'string' })

/** An object of a type that the domain defines, stored as it is. */
export const objectAs = <T extends object>(): z.ZodCustom<T, T> =>
  z
    .custom<T>((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
    .meta({
      bsonType: 'object',
    })

/** Bytes: the driver reads them as `Binary` and accepts both. */
export const BYTES = z
  .custom<mongoose.mongo.Binary | Uint8Array>(
    (value) => value instanceof mongoose.mongo.Binary || value instanceof Uint8Array,
  )
  .meta({ bsonType: 'binData' })

/** The bytes of a stored value. */
export const bytesOf = (stored: mongoose.mongo.Binary | Uint8Array): Uint8Array =>
  stored instanceof mongoose.mongo.Binary ? stored.value() : stored

/** Fields that every record of a tenant has. */
export const OWNED_FIELDS = { workspaceId: z.string(), mode: z.enum(MODES) } as const
