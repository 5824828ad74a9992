import mongoose from 'mongoose'
import { comparable, compare, type Doc, equal, isDocument, unsupported } from './bson-values.ts'
import { evaluate } from './expression.ts'

/** Whether a document matches; `now` is the `$$NOW` of the command. */
export type Matches = (document: Doc, now: Date) => boolean

/** Checks one value at a path; a field that is missing is undefined. */
type Test = (value: unknown) => boolean

/** A filter that is read once and matched often. Throws for an operator that is not implemented. */
export function compileFilter(filter: Doc): Matches {
  const parts: Matches[] = []
  for (const name in filter) parts.push(compilePart(name, filter[name]))
  const [first, second] = parts
  if (first === undefined) return () => true
  if (second === undefined) return first
  return (document, now) => {
    for (const part of parts) if (!part(document, now)) return false
    return true
  }
}

function compilePart(name: string, operand: unknown): Matches {
  if (!name.startsWith('$')) return compileField(name, operand)
  if (name === '$expr') return (document, now) => evaluate(operand, { root: document, now }) === true
  if (name === '$nor') return not(compilePart('$or', operand))
  if (name !== '$or' && name !== '$and') throw unsupported(`filter operator ${name}`)
  const choices = (operand as Doc[]).map(compileFilter)
  return name === '$or'
    ? (document, now) => choices.some((choice) => choice(document, now))
    : (document, now) => choices.every((choice) => choice(document, now))
}

function compileField(path: string, operand: unknown): Matches {
  if (!isOperators(operand)) return atPath(path, equality(operand))
  const parts: Matches[] = []
  for (const operator in operand) parts.push(compileOperator(path, operator, operand[operator]))
  const [first] = parts
  return first !== undefined && parts.length === 1
    ? first
    : (document, now) => parts.every((part) => part(document, now))
}

/** True for `{ $gt: … }`, false for a value to be equal to. */
export function isOperators(operand: unknown): operand is Doc {
  if (!isDocument(operand)) return false
  for (const name in operand) return name.startsWith('$')
  return false
}

/** Names of the implemented filter operators; for the test that reads what the repositories use. */
export const FILTER_OPERATORS: readonly string[] = [
  ...['$or', '$nor', '$and', '$expr', '$eq', '$ne', '$in', '$nin', '$gt', '$gte', '$lt', '$lte'],
  ...['$exists', '$type', '$elemMatch'],
]

function compileOperator(path: string, operator: string, operand: unknown): Matches {
  switch (operator) {
    case '$eq':
      return atPath(path, equality(operand))
    case '$ne':
      return not(atPath(path, equality(operand)))
    case '$in':
      return atPath(path, membership(operand as unknown[]))
    case '$nin':
      return not(atPath(path, membership(operand as unknown[])))
    case '$gt':
      return atPath(
        path,
        ordered(operand, (order) => order > 0, false),
      )
    case '$gte':
      return atPath(
        path,
        ordered(operand, (order) => order >= 0, true),
      )
    case '$lt':
      return atPath(
        path,
        ordered(operand, (order) => order < 0, false),
      )
    case '$lte':
      return atPath(
        path,
        ordered(operand, (order) => order <= 0, true),
      )
    case '$exists':
      return operand === true ? atPath(path, exists) : not(atPath(path, exists))
    case '$type':
      return atPath(path, typed(String(operand)))
    case '$elemMatch':
      return elementMatch(path, operand as Doc)
    default:
      throw unsupported(`filter operator ${operator}`)
  }
}

const not =
  (matches: Matches): Matches =>
  (document, now) =>
    !matches(document, now)

const exists: Test = (value) => value !== undefined

/** Tests the value at the path; a path through arrays tests what each of their elements has there. */
function atPath(path: string, test: Test): Matches {
  if (!path.includes('.')) return (document) => test(document[path])
  const parts = path.split('.')
  return (document) => anyAt(document, parts, 0, test)
}

function anyAt(value: unknown, parts: readonly string[], at: number, test: Test): boolean {
  const part = parts[at]
  if (part === undefined) return test(value)
  if (Array.isArray(value)) {
    if (/^\d+$/.test(part) && anyAt(value[Number(part)], parts, at + 1, test)) return true
    return value.some((item) => isDocument(item) && anyAt(item, parts, at, test))
  }
  return anyAt(isDocument(value) ? value[part] : undefined, parts, at + 1, test)
}

/** A test of the value or, when it is an array, of any of its elements. */
const orElement =
  (test: Test): Test =>
  (value) =>
    test(value) || (Array.isArray(value) && value.some(test))

function equality(wanted: unknown): Test {
  if (wanted === null) return orElement((value) => value === undefined || value === null)
  if (typeof wanted !== 'object') return orElement((value) => value === wanted)
  return orElement((value) => equal(value, wanted))
}

function membership(wanted: readonly unknown[]): Test {
  if (!Array.isArray(wanted)) throw new Error('$in wants an array')
  if (wanted.every((value) => typeof value === 'string')) {
    const names = new Set<unknown>(wanted)
    return orElement((value) => names.has(value))
  }
  const tests = wanted.map(equality)
  return (value) => tests.some((test) => test(value))
}

function ordered(bound: unknown, evaluate: (order: number) => boolean, orEqual: boolean): Test {
  if (bound === null) return orElement((value) => orEqual && (value === undefined || value === null))
  return orElement((value) => comparable(value, bound) && evaluate(compare(value, bound)))
}

function typed(name: string): Test {
  const tests: Readonly<Record<string, Test>> = {
    date: (value) => value instanceof Date,
    string: (value) => typeof value === 'string',
    number: (value) => typeof value === 'number',
    bool: (value) => typeof value === 'boolean',
    null: (value) => value === null,
    object: isDocument,
    binData: (value) => value instanceof mongoose.mongo.Binary,
  }
  const test = tests[name]
  if (test === undefined) throw unsupported(`$type ${name}`)
  return orElement(test)
}

function elementMatch(path: string, operand: Doc): Matches {
  const isScalar = isOperators(operand)
  // Conditions on a value are those on the only field of a document.
  const element = isScalar ? compileField('value', operand) : compileFilter(operand)
  const some = (item: unknown, now: Date): boolean =>
    isScalar ? !Array.isArray(item) && element({ value: item }, now) : isDocument(item) && element(item, now)
  return (document, now) =>
    atPath(path, (value) => Array.isArray(value) && value.some((item) => some(item, now)))(document, now)
}
