import { compare, type Doc, isDocument, unsupported } from './bson-values.ts'

/** What an aggregation expression is evaluated against. */
export interface Scope {
  readonly root: Doc
  /** `$$NOW`: one instant for a whole command. */
  readonly now: Date
  /** `$$this`, `$$value`. */
  readonly variables?: Readonly<Record<string, unknown>>
}

type Operator = (operand: unknown, scope: Scope) => unknown

/**
 * The value of an aggregation expression; undefined is a missing value, which is not null. Operators compare across types,
 * as the aggregation language does and filters do not. Throws for an operator or a variable that is not implemented.
 */
export function evaluate(expression: unknown, scope: Scope): unknown {
  if (typeof expression === 'string') return expression.startsWith('$') ? valueOfPath(expression, scope) : expression
  if (typeof expression !== 'object' || expression === null) return expression
  if (Array.isArray(expression)) return expression.map((item) => evaluate(item, scope) ?? null)
  if (!isDocument(expression)) return expression
  for (const name in expression) {
    if (!name.startsWith('$')) break
    const operator = OPERATORS[name]
    if (operator === undefined) throw unsupported(`expression operator ${name}`)
    return operator(expression[name], scope)
  }
  const built: Record<string, unknown> = {}
  for (const name in expression) {
    const value = evaluate(expression[name], scope)
    if (value !== undefined) built[name] = value
  }
  return built
}

interface Path {
  /** Null for a field of the document. */
  readonly variable: string | null
  readonly parts: readonly string[]
}

/** Paths are few and are evaluated without end. */
const PATHS = new Map<string, Path>()

function parsePath(text: string): Path {
  const known = PATHS.get(text)
  if (known !== undefined) return known
  const [name = '', ...rest] = text.slice(2).split('.')
  const path = text.startsWith('$$')
    ? { variable: name, parts: rest }
    : { variable: null, parts: text.slice(1).split('.') }
  PATHS.set(text, path)
  return path
}

function valueOfPath(text: string, scope: Scope): unknown {
  const path = parsePath(text)
  return descend(path.variable === null ? scope.root : variable(path.variable, scope), path.parts, 0)
}

function variable(name: string, scope: Scope): unknown {
  if (name === 'NOW') return scope.now
  if (name === 'ROOT' || name === 'CURRENT') return scope.root
  if (name === 'REMOVE') return undefined
  if (scope.variables !== undefined && name in scope.variables) return scope.variables[name]
  throw unsupported(`variable $$${name}`)
}

/** A path through an array gives the array of what its elements have there. */
function descend(value: unknown, parts: readonly string[], at: number): unknown {
  const part = parts[at]
  if (part === undefined) return value
  if (Array.isArray(value)) {
    return value.map((item) => descend(item, parts, at)).filter((item) => item !== undefined)
  }
  return isDocument(value) ? descend(value[part], parts, at + 1) : undefined
}

const isNullish = (value: unknown): boolean => value === undefined || value === null
const isTrue = (value: unknown): boolean => !(isNullish(value) || value === false || value === 0)

function list(operand: unknown, scope: Scope): unknown[] {
  return Array.isArray(operand) ? operand.map((item) => evaluate(item, scope)) : [evaluate(operand, scope)]
}

const comparison =
  (evaluate: (order: number) => boolean): Operator =>
  (operand, scope) => {
    const [one, other] = list(operand, scope)
    return evaluate(compare(one, other))
  }

function array(value: unknown, operator: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${operator} wants an array`)
  return value
}

/** Sum of numbers, or of one date and milliseconds; null when any operand is. */
const add: Operator = (operand, scope) => {
  let sum = 0
  let isDate = false
  for (const value of list(operand, scope)) {
    if (isNullish(value)) return null
    if (value instanceof Date) isDate = true
    else if (typeof value !== 'number') throw new Error('$add wants numbers or a date')
    sum += Number(value)
  }
  return isDate ? new Date(sum) : sum
}

const subtract: Operator = (operand, scope) => {
  const [one, other] = list(operand, scope)
  if (isNullish(one) || isNullish(other)) return null
  const difference = Number(one) - Number(other)
  return one instanceof Date && typeof other === 'number' ? new Date(difference) : difference
}

/** `$max` and `$min` of a list, or of the elements of one array; null and missing do not take part. */
const extreme =
  (sign: 1 | -1): Operator =>
  (operand, scope) => {
    const values = list(operand, scope)
    const [only] = values
    const among = values.length === 1 && Array.isArray(only) ? only : values
    let best: unknown = null
    for (const value of among) {
      if (!isNullish(value) && (best === null || sign * compare(value, best) > 0)) best = value
    }
    return best
  }

const cond: Operator = (operand, scope) => {
  const branches = isDocument(operand) ? [operand['if'], operand['then'], operand['else']] : array(operand, '$cond')
  return evaluate(isTrue(evaluate(branches[0], scope)) ? branches[1] : branches[2], scope)
}

const ifNull: Operator = (operand, scope) => {
  const choices = array(operand, '$ifNull')
  for (const choice of choices.slice(0, -1)) {
    const value = evaluate(choice, scope)
    if (!isNullish(value)) return value
  }
  return evaluate(choices.at(-1), scope)
}

function fieldsOf(operand: unknown, operator: string): Doc {
  if (!isDocument(operand)) throw new Error(`${operator} wants an object`)
  return operand
}

const filter: Operator = (operand, scope) => {
  const { input, cond: condition, as = 'this' } = fieldsOf(operand, '$filter')
  const items = evaluate(input, scope)
  if (isNullish(items)) return null
  return array(items, '$filter').filter((item) =>
    isTrue(evaluate(condition, { ...scope, variables: { ...scope.variables, [String(as)]: item } })),
  )
}

const reduce: Operator = (operand, scope) => {
  const { input, initialValue, in: step } = fieldsOf(operand, '$reduce')
  const items = evaluate(input, scope)
  if (isNullish(items)) return null
  return array(items, '$reduce').reduce(
    (value, item) => evaluate(step, { ...scope, variables: { ...scope.variables, value, this: item } }),
    evaluate(initialValue, scope),
  )
}

const concat: Operator = (operand, scope) => {
  const texts = list(operand, scope)
  return texts.some(isNullish) ? null : texts.join('')
}

const setUnion: Operator = (operand, scope) => {
  const sets = list(operand, scope)
  if (sets.some(isNullish)) return null
  const sorted = sets.flatMap((set) => array(set, '$setUnion')).sort(compare)
  return sorted.filter((value, at) => at === 0 || compare(value, sorted[at - 1]) !== 0)
}

const sortArray: Operator = (operand, scope) => {
  const { input, sortBy } = fieldsOf(operand, '$sortArray')
  if (sortBy !== 1 && sortBy !== -1) throw unsupported('$sortArray by fields')
  const items = evaluate(input, scope)
  return isNullish(items) ? null : [...array(items, '$sortArray')].sort((one, other) => sortBy * compare(one, other))
}

const slice: Operator = (operand, scope) => {
  const values = list(operand, scope)
  const [items, first, count] = values
  if (isNullish(items)) return null
  const all = array(items, '$slice')
  const from = Number(first)
  if (values.length === 2) return from >= 0 ? all.slice(0, from) : all.slice(from)
  const start = from >= 0 ? from : Math.max(0, all.length + from)
  if (!(Number(count) > 0)) throw new Error('$slice wants a positive count')
  return all.slice(start, start + Number(count))
}

const first: Operator = (operand, scope) => {
  const [items] = Array.isArray(operand) && operand.length !== 1 ? [list(operand, scope)] : list(operand, scope)
  return isNullish(items) ? null : array(items, '$first')[0]
}

/** Missing and null operands make `$concatArrays` null. */
const concatArrays: Operator = (operand, scope) => {
  const lists = list(operand, scope)
  return lists.some(isNullish) ? null : lists.flatMap((items) => array(items, '$concatArrays'))
}

const arrayElemAt: Operator = (operand, scope) => {
  const [items, at] = list(operand, scope)
  return isNullish(items) || isNullish(at) ? null : array(items, '$arrayElemAt').at(Number(at))
}

const indexOfArray: Operator = (operand, scope) => {
  const [items, value] = list(operand, scope)
  return isNullish(items) ? null : array(items, '$indexOfArray').findIndex((item) => compare(item, value) === 0)
}

const mergeObjects: Operator = (operand, scope) =>
  Object.assign({}, ...list(operand, scope).map((each) => (isNullish(each) ? {} : fieldsOf(each, '$mergeObjects'))))

const typeNames = (value: unknown): string => {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'double'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  if (value instanceof Date) return 'date'
  if (Array.isArray(value)) return 'array'
  return isDocument(value) ? 'object' : 'binData'
}

/** Names of the implemented variables, but those of `$filter` and `$reduce`. */
export const VARIABLES: readonly string[] = ['NOW', 'ROOT', 'CURRENT', 'REMOVE']

/** Every implemented expression operator by name. */
const OPERATORS: Readonly<Record<string, Operator>> = {
  $literal: (operand) => operand,
  $eq: comparison((order) => order === 0),
  $ne: comparison((order) => order !== 0),
  $gt: comparison((order) => order > 0),
  $gte: comparison((order) => order >= 0),
  $lt: comparison((order) => order < 0),
  $lte: comparison((order) => order <= 0),
  $and: (operand, scope) => array(operand, '$and').every((item) => isTrue(evaluate(item, scope))),
  $or: (operand, scope) => array(operand, '$or').some((item) => isTrue(evaluate(item, scope))),
  $in: (operand, scope) => {
    const [value, items] = list(operand, scope)
    return array(items, '$in').some((item) => compare(item, value) === 0)
  },
  $add: add,
  $subtract: subtract,
  $max: extreme(1),
  $min: extreme(-1),
  $cond: cond,
  $ifNull: ifNull,
  $filter: filter,
  $reduce: reduce,
  $concat: concat,
  $concatArrays: concatArrays,
  $arrayElemAt: arrayElemAt,
  $indexOfArray: indexOfArray,
  $mergeObjects: mergeObjects,
  $setUnion: setUnion,
  $sortArray: sortArray,
  $size: (operand, scope) => array(list(operand, scope)[0], '$size').length,
  $slice: slice,
  $first: first,
  $type: (operand, scope) => typeNames(list(operand, scope)[0]),
}

/** Names of the implemented expression operators; for the test that reads what the repositories use. */
export const EXPRESSION_OPERATORS: readonly string[] = Object.keys(OPERATORS)
