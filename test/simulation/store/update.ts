import { compare, type Doc, equal, isDocument, unsupported } from './bson-values.ts'
import { serverError } from './driver-errors.ts'
import { evaluate, type Scope } from './expression.ts'
import { compileFilter, isOperators } from './filter.ts'

/** An update as the driver takes it: operators, or a pipeline. */
export type Update = Doc | readonly Doc[]

/** When and where an update is applied. */
export interface UpdateScope {
  readonly now: Date
  /** True when the document is made by an upsert, for `$setOnInsert`. */
  readonly inserting: boolean
}

const CONFLICTING_UPDATE = 40
const BAD_VALUE = 2
const TYPE_MISMATCH = 14

/**
 * The document after the update; the very same object when nothing changed. The update must have been copied before, because
 * the new document keeps parts of it.
 */
export function applyUpdate(document: Doc, update: Update, scope: UpdateScope): Doc {
  const after = Array.isArray(update)
    ? applyStages(document, update, scope.now)
    : applyOperators(document, update as Doc, scope)
  return after !== document && compare(after, document) === 0 ? document : after
}

/** What an upsert starts from: the fields that the filter wants to be equal to something. */
export function upsertSeed(filter: Doc): Doc {
  const seed: Record<string, unknown> = {}
  for (const name in filter) {
    const operand = filter[name]
    if (name.startsWith('$') || name.includes('.')) throw unsupported(`upsert with ${name} in its filter`)
    if (!isOperators(operand)) seed[name] = operand
  }
  return seed
}

interface Change {
  readonly path: string
  readonly operator: string
  readonly operand: unknown
}

/** Changes in the order of their paths, because the server adds new fields in that order. */
function changesOf(update: Doc): readonly Change[] {
  const changes: Change[] = []
  for (const operator in update) {
    if (!(operator in UPDATE_OPERATORS)) throw unsupported(`update operator ${operator}`)
    const fields = update[operator]
    if (!isDocument(fields)) throw serverError(BAD_VALUE, `${operator} wants fields`)
    for (const path in fields) changes.push({ path, operator, operand: fields[path] })
  }
  changes.sort((one, other) => compare(one.path, other.path))
  for (const [at, { path }] of changes.entries()) {
    const before = changes[at - 1]?.path
    if (before !== undefined && (before === path || path.startsWith(`${before}.`))) {
      throw serverError(CONFLICTING_UPDATE, `Updating the path '${path}' would create a conflict at '${before}'`)
    }
  }
  return changes
}

function applyOperators(document: Doc, update: Doc, scope: UpdateScope): Doc {
  const next: Record<string, unknown> = { ...document }
  for (const { path, operator, operand } of changesOf(update)) {
    const apply = UPDATE_OPERATORS[operator]
    if (apply === undefined || (operator === '$setOnInsert' && !scope.inserting)) continue
    assign(next, path.split('.'), 0, (value) => apply(value, operand, scope))
  }
  return next
}

/** Changes the field at the path of a document that is the caller's own; what lies below it is copied before it changes. */
function assign(
  target: Record<string, unknown>,
  parts: readonly string[],
  at: number,
  change: (value: unknown) => unknown,
) {
  const part = parts[at] ?? ''
  if (/^(\$.*|\d+)$/.test(part)) throw unsupported(`update of an array position (${parts.join('.')})`)
  if (at === parts.length - 1) {
    const value = change(target[part])
    if (value === undefined) delete target[part]
    else target[part] = value
    return
  }
  const below = target[part]
  if (below === undefined && change(undefined) === undefined) return
  if (below !== undefined && !isDocument(below)) throw serverError(28, `Cannot create field in '${part}'`)
  const inner = { ...below }
  assign(inner, parts, at + 1, change)
  target[part] = inner
}

type Operator = (value: unknown, operand: unknown, scope: UpdateScope) => unknown

function listOf(value: unknown, operator: string): readonly unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw serverError(BAD_VALUE, `${operator} wants an array field`)
  return value
}

function eachOf(operand: unknown, modifiers: readonly string[]): readonly unknown[] {
  if (!isOperators(operand)) return [operand]
  const other = Object.keys(operand).find((name) => name !== '$each' && !modifiers.includes(name))
  if (other !== undefined) throw unsupported(`update modifier ${other}`)
  return listOf(operand['$each'], '$each')
}

const push: Operator = (value, operand) => {
  const longer = [...listOf(value, '$push'), ...eachOf(operand, ['$slice'])]
  if (!isOperators(operand) || operand['$slice'] === undefined) return longer
  const count = Number(operand['$slice'])
  return count < 0 ? longer.slice(count) : longer.slice(0, count)
}

const addToSet: Operator = (value, operand) => {
  const members = [...listOf(value, '$addToSet')]
  for (const item of eachOf(operand, [])) {
    if (!members.some((member) => equal(member, item))) members.push(item)
  }
  return members
}

/** The members that do not match a condition on a value. */
const pull: Operator = (value, operand, { now }) => {
  if (value === undefined) return undefined
  if (!isOperators(operand)) throw unsupported('$pull of a value')
  const isPulled = compileFilter({ member: operand })
  return listOf(value, '$pull').filter((member) => !isPulled({ member }, now))
}

const increment: Operator = (value, operand) => {
  if (value !== undefined && typeof value !== 'number') throw serverError(TYPE_MISMATCH, 'cannot $inc a non-number')
  return Number(value ?? 0) + Number(operand)
}

const currentDate: Operator = (_value, operand, { now }) => {
  if (operand !== true) throw unsupported('$currentDate with a type')
  return now
}

const UPDATE_OPERATORS: Readonly<Record<string, Operator>> = {
  $set: (_value, operand) => operand,
  $setOnInsert: (_value, operand) => operand,
  $unset: () => undefined,
  $inc: increment,
  $min: (value, operand) => (value === undefined || compare(operand, value) < 0 ? operand : value),
  $max: (value, operand) => (value === undefined || compare(operand, value) > 0 ? operand : value),
  $push: push,
  $addToSet: addToSet,
  $pull: pull,
  $currentDate: currentDate,
}

/** Names of the implemented update operators and modifiers; for the test that reads what the repositories use. */
export const UPDATE_OPERATOR_NAMES: readonly string[] = [...Object.keys(UPDATE_OPERATORS), '$each', '$slice']

/** Names of the implemented stages of update pipelines. */
export const UPDATE_STAGES: readonly string[] = ['$set', '$unset', '$replaceWith']

function applyStages(document: Doc, stages: readonly Doc[], now: Date): Doc {
  let current = document
  for (const stage of stages) current = applyStage(current, stage, now)
  return current
}

function applyStage(document: Doc, stage: Doc, now: Date): Doc {
  const [name = ''] = Object.keys(stage)
  const operand = stage[name]
  const scope = { root: document, now }
  if (name === '$set') return setFields(document, operand as Doc, scope)
  if (name === '$unset') return withoutFields(document, Array.isArray(operand) ? operand : [operand])
  if (name !== '$replaceWith') throw unsupported(`update stage ${name}`)
  const replacement = evaluate(operand, scope)
  if (!isDocument(replacement)) throw serverError(40_228, '$replaceWith wants a document')
  return replacement
}

/** `$set` of a pipeline: an object without operators goes into the object that is there, field by field. */
function setFields(target: unknown, fields: Doc, scope: Scope): Record<string, unknown> {
  const next: Record<string, unknown> = isDocument(target) ? { ...target } : {}
  for (const name in fields) {
    if (name.includes('.')) throw unsupported(`pipeline $set of a path (${name})`)
    const value = computed(next[name], fields[name], scope)
    if (value === undefined) delete next[name]
    else next[name] = value
  }
  return next
}

function computed(there: unknown, operand: unknown, scope: Scope): unknown {
  if (!isDocument(operand) || isOperators(operand) || Object.keys(operand).length === 0) return evaluate(operand, scope)
  return Array.isArray(there) ? there.map((item) => setFields(item, operand, scope)) : setFields(there, operand, scope)
}

function withoutFields(document: Doc, names: readonly unknown[]): Doc {
  const next: Record<string, unknown> = { ...document }
  for (const name of names) {
    if (String(name).includes('.')) throw unsupported(`pipeline $unset of a path (${String(name)})`)
    delete next[String(name)]
  }
  return next
}
