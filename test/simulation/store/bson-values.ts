import mongoose from 'mongoose'

const { Binary } = mongoose.mongo

/** A stored document. Nobody ever changes one in place: a write puts another in its place, so a reference is a snapshot. */
export type Doc = Readonly<Record<string, unknown>>

/** What the simulated store says to everything it was not taught. Never caught, so a test that meets it fails with its name. */
export function unsupported(what: string): Error {
  return new Error(`the simulated store knows no ${what}: teach it (test/simulation/store) or use what it knows`)
}

/** True for an object literal, which BSON calls a document. */
export function isDocument(value: unknown): value is Doc {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * A deep copy as a round trip through BSON would give it: undefined becomes null (the driver's `ignoreUndefined` is off),
 * bigint a number, bytes a Binary of subtype 0, and functions disappear. Throws for values that BSON would mangle.
 */
export function copy(value: unknown): unknown {
  if (typeof value !== 'object') return copyScalar(value)
  if (value === null) return null
  if (Array.isArray(value)) return value.map(copy)
  if (value instanceof Date) return new Date(value.getTime())
  if (isDocument(value)) return copyDocument(value)
  if (value instanceof Binary) return new Binary(Buffer.from(value.value()), value.sub_type)
  if (value instanceof Uint8Array) return new Binary(Buffer.from(value))
  throw unsupported(`value of type ${value.constructor.name}`)
}

/** `copy` of a document. */
export function copyDocument(value: Doc): Record<string, unknown> {
  const copied: Record<string, unknown> = {}
  for (const name in value) {
    const field = value[name]
    if (typeof field === 'function') continue
    copied[name] = typeof field === 'string' || typeof field === 'number' ? field : copy(field)
  }
  return copied
}

function copyScalar(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value === 'bigint') {
    const number = Number(value)
    if (!Number.isSafeInteger(number)) throw unsupported('integer above 2^53')
    return number
  }
  if (typeof value === 'symbol' || typeof value === 'function') throw unsupported(`value of type ${typeof value}`)
  return value
}

/** Ranks of BSON's comparison order; undefined stands for a missing field, which sorts before null. */
function rankOf(value: unknown): number {
  switch (typeof value) {
    case 'undefined':
      return 1
    case 'number':
      return 10
    case 'string':
      return 15
    case 'boolean':
      return 40
    default:
      if (value === null) return 5
      if (value instanceof Date) return 45
      if (Array.isArray(value)) return 25
      return value instanceof Binary ? 30 : 20
  }
}

/** BSON's total order over values of any type; missing is undefined and sorts before null. Negative, zero or positive. */
export function compare(one: unknown, other: unknown): number {
  // Documents share what a write did not touch.
  if (one === other) return 0
  const rank = rankOf(one)
  const byRank = rank - rankOf(other)
  if (byRank !== 0) return byRank
  if (typeof one === 'string') return compareText(one, other as string)
  if (typeof one === 'number') return compareNumber(one, other as number)
  if (one instanceof Date) return one.getTime() - (other as Date).getTime()
  if (typeof one === 'boolean') return Number(one) - Number(other)
  if (Array.isArray(one)) return compareLists(one, other as unknown[])
  if (one instanceof Binary) return compareBytes(one, other as mongoose.mongo.Binary)
  return rank === 20 ? compareDocuments(one as Doc, other as Doc) : 0
}

/** Equality of two values as an index or a filter sees it: the order of fields counts, null and missing are different. */
export const equal = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === typeof other && typeof one !== 'string' && compare(one, other) === 0)

/** True when both values belong to one bracket of comparison: `$lt` and its kin never cross it. */
export const comparable = (one: unknown, other: unknown): boolean => rankOf(one) === rankOf(other)

/** Strings compare by their UTF-8 bytes; UTF-16 units say the same but where surrogates meet other characters. */
function compareText(one: string, other: string): number {
  if (one === other) return 0
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const left = one.charCodeAt(at)
    const right = other.charCodeAt(at)
    if (left === right) continue
    if (left < 0xd800 || right < 0xd800) return left - right
    return Buffer.compare(Buffer.from(one), Buffer.from(other))
  }
  return one.length - other.length
}

function compareNumber(one: number, other: number): number {
  if (one === other) return 0
  if (Number.isNaN(one)) return Number.isNaN(other) ? 0 : -1
  if (Number.isNaN(other)) return 1
  return one < other ? -1 : 1
}

function compareLists(one: readonly unknown[], other: readonly unknown[]): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const order = compare(one[at], other[at])
    if (order !== 0) return order
  }
  return one.length - other.length
}

function compareDocuments(one: Doc, other: Doc): number {
  const names = Object.keys(one)
  const others = Object.keys(other)
  const length = Math.min(names.length, others.length)
  for (let at = 0; at < length; at++) {
    const name = names[at] ?? ''
    const otherName = others[at] ?? ''
    const byRank = rankOf(one[name]) - rankOf(other[otherName])
    if (byRank !== 0) return byRank
    const byName = compareText(name, otherName)
    if (byName !== 0) return byName
    const byValue = compare(one[name], other[otherName])
    if (byValue !== 0) return byValue
  }
  return names.length - others.length
}

function compareBytes(one: mongoose.mongo.Binary, other: mongoose.mongo.Binary): number {
  const left = one.value()
  const right = other.value()
  return left.length - right.length || one.sub_type - other.sub_type || Buffer.compare(left, right)
}

/** A value as the key of a Map: equal values have equal keys, and missing shares the key of null as in an index. */
export type Key = string | number | boolean | null

/** The key of a value. */
export function keyOf(value: unknown): Key {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return value instanceof Date ? `\u0000d${value.getTime()}` : `\u0000o${canonical(value)}`
}

/** One text per value, different for values of different types; for digests and compound keys. */
export function canonical(value: unknown): string {
  if (value === undefined || value === null) return 'n'
  if (typeof value === 'string') return `${value.length}"${value}`
  if (typeof value !== 'object') return String(value)
  if (value instanceof Date) return `d${value.getTime()}`
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (value instanceof Binary) return `b${Buffer.from(value.value()).toString('base64')}`
  return `{${Object.entries(value)
    .map(([name, field]) => `${name.length}:${name}${canonical(field)}`)
    .join()}}`
}
